//! Fetches evidence from agents' disks, piece by piece, whatever it is evidence of.

use super::super::talk::AgentOrder;
use super::party::{Party, understood};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// All evidence of a run, and why agents have none.
#[derive(Debug)]
pub(in super::super) struct Gathered<E> {
    pub(in super::super) evidence: Vec<E>,
    pub(in super::super) lost: BTreeMap<String, String>,
}

/// Evidence as it lies on a disk, of an agent.
#[derive(Debug)]
pub(in super::super) struct RawEvidence {
    pub(in super::super) agent: String,
    pub(in super::super) json: Vec<u8>,
}

/// One attempt at a piece.
const PIECE: Duration = Duration::from_secs(2);
/// Evidence beyond this is not read: no run is that large.
const BYTES_MAX: usize = 1 << 30;

/// That of all agents that have some. NATS may be away for `patience`.
pub(super) fn from_party(party: &mut Party, patience: Duration) -> Gathered<RawEvidence> {
    let mut gathered = Gathered::default();
    for agent in 0..party.agents.len() {
        let view = &party.agents[agent];
        let (name, lost) = (view.name.clone(), view.lost.clone().or_else(|| view.failure()));
        let fetched = match lost {
            Some(why) => Err(why),
            None => fetch(party, agent, patience),
        };
        match fetched {
            Ok(json) => gathered.evidence.push(RawEvidence { agent: name, json }),
            Err(why) => drop(gathered.lost.insert(name, why)),
        }
    }
    gathered
}

/// That of one agent. The error is one sentence.
pub(in super::super) fn fetch(party: &mut Party, agent: usize, patience: Duration) -> Result<Vec<u8>, String> {
    let run = party.run.clone();
    let (mut bytes, mut heard): (Vec<u8>, _) = (Vec::new(), Instant::now());
    loop {
        let order = AgentOrder::Hand { run: run.clone(), from: bytes.len() as u64 };
        let asked = party.try_order(agent, &order, PIECE);
        match asked {
            Ok(Some(piece)) if piece.is_empty() => break,
            Ok(Some(piece)) => {
                heard = Instant::now();
                // A piece of evidence is no reply; a refusal is one.
                if bytes.is_empty() && understood(&piece).is_err_and(|why| why.starts_with("no evidence")) {
                    return Err("it has no evidence".into());
                }
                bytes.extend_from_slice(&piece);
            }
            Ok(None) | Err(_) => {
                if heard.elapsed() > patience {
                    let seconds = patience.as_secs();
                    return Err(format!("its evidence could not be fetched for {seconds} s; it keeps it"));
                }
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        if bytes.len() > BYTES_MAX {
            return Err("its evidence has more than 1 GiB".into());
        }
    }
    Ok(bytes)
}

impl<E> Default for Gathered<E> {
    fn default() -> Self {
        Gathered { evidence: Vec::new(), lost: BTreeMap::new() }
    }
}

impl Gathered<RawEvidence> {
    /// The same, read. What cannot be read is lost.
    pub(in super::super) fn read<E: DeserializeOwned>(self) -> Gathered<E> {
        let mut gathered = Gathered { evidence: Vec::new(), lost: self.lost };
        for RawEvidence { agent, json } in self.evidence {
            match serde_json::from_slice(&json) {
                Ok(evidence) => gathered.evidence.push(evidence),
                Err(error) => drop(gathered.lost.insert(agent, format!("its evidence cannot be read: {error}"))),
            }
        }
        gathered
    }
}
