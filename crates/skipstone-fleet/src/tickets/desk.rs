//! Admits players with tickets at a node.

use super::error::TicketError;
use super::keys::FleetKeys;
use super::ticket::Ticket;
use super::time::UnixTime;
use super::used::{USED_MAX, Use, UsedTickets};
use crate::directory::{Epoch, NodeName, RoomName};
use std::collections::BTreeMap;

/// What a node admits players by. A restart forgets which tickets were used; the rooms' epochs change with it, so that
/// tickets from before are refused.
#[derive(Debug)]
pub struct TicketDesk {
    keys: FleetKeys,
    node: NodeName,
    used: UsedTickets,
    stats: TicketStats,
}

/// Counters of a desk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TicketStats {
    /// Tickets that were admitted.
    pub admitted: u64,
    /// Those refused, by [`TicketError::label`].
    pub refused: BTreeMap<&'static str, u64>,
    /// Used tickets that are remembered.
    pub remembered: usize,
}

impl TicketDesk {
    /// The desk of this node.
    pub fn new(keys: FleetKeys, node: NodeName) -> TicketDesk {
        TicketDesk { keys, node, used: UsedTickets::default(), stats: TicketStats::default() }
    }

    /// Judges the token of a connection, and notes the ticket as used. `epoch_of` gives a room's epoch at this node,
    /// nothing if the node does not run it.
    ///
    /// # Errors
    /// The player is to be refused, for this reason, which is counted.
    pub fn admit(
        &mut self,
        token: &[u8],
        now: UnixTime,
        epoch_of: impl FnOnce(&RoomName) -> Option<Epoch>,
    ) -> Result<Ticket, TicketError> {
        let admitted = self.judge(token, now, epoch_of);
        match &admitted {
            Ok(_) => self.stats.admitted += 1,
            Err(error) => *self.stats.refused.entry(error.label()).or_default() += 1,
        }
        admitted
    }

    /// Counters.
    pub fn stats(&self) -> TicketStats {
        TicketStats { remembered: self.used.count(), ..self.stats.clone() }
    }

    fn judge(
        &mut self,
        token: &[u8],
        now: UnixTime,
        epoch_of: impl FnOnce(&RoomName) -> Option<Epoch>,
    ) -> Result<Ticket, TicketError> {
        let claims = self.keys.open(token)?;
        claims.check_time(now)?;
        let ticket = &claims.ticket;
        if ticket.node != self.node {
            return Err(TicketError::WrongNode(ticket.node.clone(), self.node.clone()));
        }
        match epoch_of(&ticket.room) {
            Some(epoch) if epoch == ticket.epoch => {}
            Some(now) if now > ticket.epoch => {
                return Err(TicketError::OldEpoch { room: ticket.room.clone(), ticket: ticket.epoch, now });
            }
            _ => return Err(TicketError::NoRoom(ticket.room.clone())),
        }
        match self.used.note(claims.id, claims.over_at(), now) {
            Use::First => Ok(claims.ticket),
            Use::Again => Err(TicketError::Reused),
            Use::NoPlace => Err(TicketError::TooMany(USED_MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tickets::TicketSigner;

    const NOW: UnixTime = UnixTime(1_796_000_000);
    const EPOCH: Epoch = Epoch(7);

    #[test]
    fn a_ticket_is_admitted_once() {
        let (mut desk, signer) = desk();
        let token = signer.issue_as(&ticket("n1"), 1, NOW).unwrap();
        assert_eq!(admit(&mut desk, &token, NOW), Ok(ticket("n1")));
        assert_eq!(admit(&mut desk, &token, later(30)), Err(TicketError::Reused));
        let another = signer.issue_as(&ticket("n1"), 2, NOW).unwrap();
        assert_eq!(admit(&mut desk, &another, later(30)), Ok(ticket("n1")));
        let stats = desk.stats();
        assert_eq!((stats.admitted, stats.refused["reused"], stats.remembered), (2, 1, 2));
    }

    #[test]
    fn a_ticket_counts_within_its_time_and_a_small_difference_of_clocks() {
        let (mut desk, signer) = desk();
        let token = signer.issue_as(&ticket("n1"), 1, NOW).unwrap();
        assert_eq!(admit(&mut desk, &token, later(36)), Err(TicketError::Expired(6)));
        assert_eq!(admit(&mut desk, &token, UnixTime(NOW.0 - 6)), Err(TicketError::NotYetValid(6)));
        assert_eq!(admit(&mut desk, &token, UnixTime(NOW.0 - 5)), Ok(ticket("n1")));
        assert_eq!(admit(&mut desk, &token, later(35)), Err(TicketError::Reused));
        let minutes = admit(&mut desk, &token, UnixTime(NOW.0 - 240)).unwrap_err().to_string();
        assert!(minutes.contains("valid in 240 s only: the clocks") && minutes.contains("NTP"), "{minutes}");
        let minutes = admit(&mut desk, &token, later(270)).unwrap_err().to_string();
        assert!(minutes.contains("expired 240 s ago") && minutes.contains("clocks"), "{minutes}");
        let seconds = admit(&mut desk, &token, later(40)).unwrap_err().to_string();
        assert_eq!(seconds, "the ticket expired 10 s ago; ask for another");
    }

    #[test]
    fn a_ticket_of_another_key_or_with_a_changed_byte_is_forged() {
        let (mut desk, signer) = desk();
        let other = FleetKeys::parse(&FleetKeys::generate().unwrap()).unwrap().signer().unwrap();
        let token = other.issue_as(&ticket("n1"), 1, NOW).unwrap();
        assert_eq!(admit(&mut desk, &token, NOW), Err(TicketError::Forged));
        let mut token = signer.issue_as(&ticket("n1"), 1, NOW).unwrap().into_bytes();
        token[40] = if token[40] == b'A' { b'B' } else { b'A' };
        assert_eq!(desk.admit(&token, NOW, |_| Some(EPOCH)), Err(TicketError::Forged));
        assert_eq!(desk.stats().refused["forged"], 2);
    }

    #[test]
    fn a_ticket_of_another_node_room_or_epoch_is_refused_and_stays_unused() {
        let (mut desk, signer) = desk();
        let elsewhere = signer.issue_as(&ticket("n2"), 1, NOW).unwrap();
        let error = admit(&mut desk, &elsewhere, NOW).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the ticket is for the node n2, and this is n1; connect to the address that came with the ticket"
        );
        let token = signer.issue_as(&ticket("n1"), 2, NOW).unwrap();
        let error = desk.admit(token.as_bytes(), NOW, |_| Some(Epoch(9))).unwrap_err();
        assert_eq!(error.to_string(), "the ticket is for epoch 7 of the room lobby, which has 9 now; ask for another");
        for epoch in [None, Some(Epoch(6))] {
            let error = desk.admit(token.as_bytes(), NOW, |_| epoch).unwrap_err();
            assert_eq!(error, TicketError::NoRoom(room()));
        }
        assert_eq!(admit(&mut desk, &token, NOW), Ok(ticket("n1")));
    }

    #[test]
    fn a_token_that_is_no_ticket_is_malformed() {
        let (mut desk, signer) = desk();
        let sign = |json: &str| signer.sign(json).into_bytes();
        let claims = |from: &str, to: &str| {
            let json = r#"{"sub":"zoe","aud":"n1","room":"lobby","epoch":7,"jti":"00000000000000000000000000000001","iat":"2026-11-27T10:00:00Z","nbf":"2026-11-27T10:00:00Z","exp":"2026-11-27T10:00:30Z"}"#;
            sign(&json.replace(from, to))
        };
        let wrong = [
            b"".to_vec(),
            b"chat zoe".to_vec(),
            b"v4.public.".to_vec(),
            b"v4.public.AAAA".to_vec(),
            b"v4.local.AAAA".to_vec(),
            [b"v4.public.".to_vec(), vec![b'A'; 2_000]].concat(),
            [b"v4.public.".to_vec(), vec![0xff; 200]].concat(),
            sign("7"),
            sign("no JSON"),
            claims("zoe", ""),
            claims("zoe", "z\\u0007e"),
            claims("lobby", "lobby.>"),
            claims(r#""epoch":7"#, r#""epoch":"7""#),
            claims("000000001", "1"),
            claims("10:00:30Z", "10:00:30"),
            claims("10:00:30Z", "10:00:31Z"),
            claims("10:00:30Z", "09:00:30Z"),
            claims(r#","iat":"2026-11-27T10:00:00Z""#, ""),
        ];
        for token in &wrong {
            let result = desk.admit(token, NOW, |_| Some(EPOCH));
            assert!(matches!(result, Err(TicketError::Malformed(_))), "{result:?}: {}", String::from_utf8_lossy(token));
        }
        assert_eq!(desk.stats().refused["malformed"], wrong.len() as u64);
    }

    #[test]
    fn the_longest_names_fit_into_a_connections_token() {
        let (mut desk, signer) = desk();
        let long = Ticket {
            player: "\"".repeat(128),
            room: RoomName::new(&"r".repeat(64)).unwrap(),
            node: NodeName::new("n1").unwrap(),
            epoch: Epoch(u64::MAX),
        };
        let far = Ticket { node: NodeName::new(&"n".repeat(64)).unwrap(), ..long.clone() };
        assert!(signer.issue_as(&far, u128::MAX, NOW).unwrap().len() <= 1_024);
        let token = signer.issue_as(&long, u128::MAX, NOW).unwrap();
        assert_eq!(desk.admit(token.as_bytes(), NOW, |_| Some(Epoch(u64::MAX))), Ok(long.clone()));
        for player in [String::new(), "p".repeat(129), "a\nb".into()] {
            let error = signer.issue_as(&Ticket { player, ..long.clone() }, 1, NOW).unwrap_err().to_string();
            assert!(error.contains("1 to 128 bytes"), "{error}");
        }
    }

    #[test]
    fn keys_follow_each_other_and_public_ones_admit_alone() {
        let (old, new) = (FleetKeys::generate().unwrap(), FleetKeys::generate().unwrap());
        let public = FleetKeys::parse(&format!("# {new}\n{new}{old}")).unwrap();
        let mut desk = TicketDesk::new(FleetKeys::parse(&public.public_lines()).unwrap(), NodeName::new("n1").unwrap());
        for (id, secret) in [(1, &old), (2, &new)] {
            let signer = FleetKeys::parse(secret).unwrap().signer().unwrap();
            let token = signer.issue_as(&ticket("n1"), id, NOW).unwrap();
            assert_eq!(admit(&mut desk, &token, NOW), Ok(ticket("n1")));
        }
        assert!(public.signer().is_ok() && FleetKeys::parse(&public.public_lines()).unwrap().signer().is_err());
        let error = |text: &str| FleetKeys::parse(text).unwrap_err().to_string();
        assert!(error(&format!("{old}\nk4.secret.AAAA")).contains("line 3 is no key"));
        assert!(error("# none\n").contains("skipstone fleet key FILE"));
        assert!(error(&old.repeat(5)).contains("5 keys, and 4 at most"));
    }

    fn desk() -> (TicketDesk, TicketSigner) {
        let keys = FleetKeys::parse(&FleetKeys::generate().unwrap()).unwrap();
        let signer = keys.signer().unwrap();
        (TicketDesk::new(keys, NodeName::new("n1").unwrap()), signer)
    }

    fn admit(desk: &mut TicketDesk, token: &str, now: UnixTime) -> Result<Ticket, TicketError> {
        desk.admit(token.as_bytes(), now, |_| Some(EPOCH))
    }

    fn ticket(node: &str) -> Ticket {
        Ticket { player: "zoe".into(), room: room(), node: NodeName::new(node).unwrap(), epoch: EPOCH }
    }

    fn room() -> RoomName {
        RoomName::new("lobby").unwrap()
    }

    fn later(seconds: u64) -> UnixTime {
        UnixTime(NOW.0 + seconds)
    }
}
