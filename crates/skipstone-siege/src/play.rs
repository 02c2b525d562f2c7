//! Plays an attack: a server and good clients, without the attack, under it, and with the same attack on a decoy.

use crate::attack::Attack;
use crate::good::{Connects, Good};
use crate::memory::{self, Peak};
use crate::operator::{self, Shift};
use crate::process::Running;
use crate::row::{Lines, Memory, Round, Row, SLACK_BYTES};
use crate::sent::Sent;
use crate::server::Server;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// How attacks are played.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The tool `skipstone`, of any version.
    pub tool: PathBuf,
    /// This program, which is started again as the attackers.
    pub attacker: PathBuf,
    /// How often; the verdict is on the medians.
    pub rounds: u32,
    /// How long attackers attack in each.
    pub lasting: Duration,
}

/// Plays one attack.
///
/// # Errors
/// A program does not start, or its output is wrong.
pub fn play(attack: &Attack, terms: &Terms) -> Result<Row, String> {
    let server = Server::start(&terms.tool, attack.server)?;
    let (mut rounds, mut memory) = (Vec::new(), Memory::default());
    for number in 0..terms.rounds {
        let calm = terms.good(&server)?.result(terms.patience());
        if calm.p99_ms.is_none() {
            return Err("`skipstone stress` has no result, without any attack".into());
        }
        let decoy = || {
            let good = terms.good(&server)?;
            let attackers = terms.attackers(attack, &["--decoy"])?;
            let lines = good.result(terms.patience());
            terms.sent(attackers).map(|_| lines)
        };
        let before = memory::resident_bytes(server.pid());
        if number == 0 {
            memory.before = before;
        }
        let mut round = terms.under(attack, &server, calm, &mut memory)?;
        let back = memory::back_to(memory.before + SLACK_BYTES, server.pid(), BACK_MAX);
        memory.back_s = back.map(|span| span.as_secs_f64());
        round.decoy = attack.has_decoy().then(decoy).transpose()?;
        rounds.push(round);
    }
    let guesses_per_second_max = attack.guesses_per_second_max;
    Ok(Row { name: attack.name.clone(), kind: attack.kind.into(), guesses_per_second_max, rounds, memory })
}

impl Terms {
    /// Good clients, once all of them are connected.
    fn good(&self, server: &Server) -> Result<Good, String> {
        let good = Good::start(&self.tool, &server.url, CONNECTING + self.lasting)?;
        std::thread::sleep(CONNECTING);
        Ok(good)
    }

    /// A round without its decoy.
    fn under(&self, attack: &Attack, server: &Server, calm: Lines, memory: &mut Memory) -> Result<Round, String> {
        let good = self.good(server)?;
        let peak = Peak::watch(server.pid());
        let shift = Shift::begin(server.doors, attack.operator_hesitates);
        let attackers = self.attackers(attack, &["--at", &server.address(attack.door).to_string()])?;
        std::thread::sleep(self.lasting / 5);
        let connects = Connects::start(&self.tool, &server.url, self.lasting / 2)?;
        std::thread::sleep(self.lasting * 4 / 5);
        let operator = shift.end();
        let under = good.result(self.patience());
        let newcomers = connects.result(self.patience());
        let sent = self.sent(attackers)?;
        memory.peak = memory.peak.max(peak.bytes());
        let round_cost_max_ms = operator::metric(server.doors, ROUND_COST).map(|seconds| seconds * 1e3);
        Ok(Round { calm, under, decoy: None, newcomers, operator, sent, round_cost_max_ms })
    }

    fn attackers(&self, attack: &Attack, victim: &[&str]) -> Result<Running, String> {
        // WHY nice: on their own machine they would take nothing from good clients.
        let mut attackers = Command::new("nice");
        attackers.args(["-n", "19"]).arg(&self.attacker).args(["attack", &attack.name]).args(victim);
        attackers.args(["--millis", &self.lasting.as_millis().to_string()]);
        Running::start(attackers)
    }

    fn sent(&self, mut attackers: Running) -> Result<Sent, String> {
        let said = attackers.ends_by(self.patience()).ok_or("the attackers do not end")?;
        serde_json::from_str(&said).map_err(|error| format!("the attackers said `{said}`: {error}"))
    }

    /// A frozen server has this long to thaw after the attack.
    fn patience(&self) -> Instant {
        Instant::now() + self.lasting + THAW
    }
}

/// The figure of a server's `/metrics`, in seconds.
const ROUND_COST: &str = "skipstone_driver_round_cost_max_seconds";
/// 50 clients are connected after a tenth of it.
const CONNECTING: Duration = Duration::from_secs(1);
const THAW: Duration = Duration::from_secs(40);
const BACK_MAX: Duration = Duration::from_secs(60);
