//! What a player takes along to another node: who it is, and how much of the chat it has heard.

use bytes::Bytes;
use skipstone_fleet::feed::{Position, Positions};
use skipstone_lab::workload::{Guest, StressTurn};
use std::time::Duration;

/// The state of a player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::serve) struct Baggage {
    pub(in crate::serve) guest: Guest,
    pub(in crate::serve) turn: StressTurn,
    /// Lines that it has sent.
    pub(in crate::serve) lines: u64,
    /// How long it has been there, at all nodes.
    pub(in crate::serve) age: Duration,
    /// The line of another node that its next line follows.
    pub(in crate::serve) after: Option<Position>,
    /// What it has heard.
    pub(in crate::serve) heard: Positions,
}

/// The form of these bytes.
const VERSION: u8 = 1;

impl Baggage {
    /// The version, the token with its length, the turn, lines, age in ms, whether it follows a line and which,
    /// positions.
    pub(in crate::serve) fn encode(&self) -> Bytes {
        let token = self.guest.token();
        let mut bytes = vec![VERSION];
        bytes.extend_from_slice(&(token.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&token);
        bytes.push(match self.turn {
            StressTurn::Own => 0,
            StressTurn::Waits => 1,
            StressTurn::Runs => 2,
        });
        bytes.extend_from_slice(&self.lines.to_be_bytes());
        bytes.extend_from_slice(&(self.age.as_millis() as u64).to_be_bytes());
        bytes.push(u8::from(self.after.is_some()));
        self.after.iter().for_each(|after| after.encode(&mut bytes));
        self.heard.encode(&mut bytes);
        bytes.into()
    }

    /// Nothing if the bytes are no player of this version.
    pub(in crate::serve) fn decode(bytes: &[u8]) -> Option<Baggage> {
        let (&VERSION, rest) = bytes.split_first()? else { return None };
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (token, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        let guest = Guest::from_token(token)?;
        let (turn, rest) = rest.split_first()?;
        let turn = match turn {
            0 => StressTurn::Own,
            1 => StressTurn::Waits,
            2 => StressTurn::Runs,
            _ => return None,
        };
        let (lines, rest) = rest.split_first_chunk::<8>()?;
        let (age, rest) = rest.split_first_chunk::<8>()?;
        let (follows, mut rest) = rest.split_first()?;
        let after = match follows {
            0 => None,
            1 => Some(Position::decode(&mut rest)?),
            _ => return None,
        };
        let (lines, age) = (u64::from_be_bytes(*lines), Duration::from_millis(u64::from_be_bytes(*age)));
        Some(Baggage { guest, turn, lines, age, after, heard: Positions::decode(rest)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_fleet::directory::NodeName;
    use skipstone_fleet::feed::{Feed, FeedSettings};

    #[test]
    fn a_player_returns_from_its_bytes_and_other_bytes_are_none() {
        let name = NodeName::new("n1").unwrap();
        let feed = Feed::new(FeedSettings::new(name.clone(), 7));
        let zoe = Baggage {
            guest: Guest::Chat("Zoë".into()),
            turn: StressTurn::Runs,
            lines: 12,
            age: Duration::from_millis(2_500),
            after: Some(Position { node: name, process: 3, number: 4 }),
            heard: feed.positions(),
        };
        let plain = Baggage { after: None, guest: Guest::Stress(299), ..zoe.clone() };
        for player in [zoe, plain] {
            let bytes = player.encode();
            assert_eq!(Baggage::decode(&bytes), Some(player));
            assert_eq!(Baggage::decode(&bytes[..9]), None);
            assert_eq!(Baggage::decode(&[&[9], &bytes[1..]].concat()), None, "another version");
        }
    }
}
