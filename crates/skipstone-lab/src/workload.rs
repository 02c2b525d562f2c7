//! The protocol between the tool's server and its clients: the channel table, the tokens, the control messages.

use crate::clean;
use serde::{Deserialize, Serialize};
use skipstone::{ChannelRule, DeliveryMode, Overflow, Redundancy, Settings};

/// Lines: each is delivered to all clients, including its sender.
pub const LINES: u16 = 0;
/// Words between the server and one client.
pub const CONTROL: u16 = 1;
/// Moves to other servers, where these can be.
const MOVES: u16 = 2;
/// The number of stress clients whose sockets are read before the application gets their events.
pub const SOCKETS_AT_ONCE: usize = 32;

/// The server's settings: lines and words, reliable and in order. A client that does not read is disconnected when this
/// many bytes wait for it.
pub fn settings(queue_bytes_max: u32, redundancy: Redundancy) -> Settings {
    let rule = |channel: u16, priority| ChannelRule {
        priority,
        overflow: Overflow::Disconnect,
        queue_messages_max: 1 << 20,
        queue_bytes_max,
        ..ChannelRule::new(channel..=channel, DeliveryMode::ReliableOrdered)
    };
    Settings { channels: vec![rule(LINES, 1), rule(CONTROL, 0)], redundancy, ..Settings::default() }
}

/// The same for a server that can move its clients to others with these settings.
pub fn with_moves(mut settings: Settings) -> Settings {
    settings
        .channels
        .push(ChannelRule { priority: 0, ..ChannelRule::new(MOVES..=MOVES, DeliveryMode::ReliableOrdered) });
    settings.moves_channel = MOVES.into();
    settings
}

/// The fate of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
pub enum Workload {
    /// The line goes to every client, the sender included
    Broadcast,
    /// The line goes back to its sender
    Echo,
}

/// The identity that a client gives in its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guest {
    /// A person.
    Chat(String),
    /// One of a stress run's clients, by its number.
    Stress(u32),
}

impl Guest {
    /// The token that says so.
    pub fn token(&self) -> Vec<u8> {
        match self {
            Self::Chat(name) => format!("chat {name}").into_bytes(),
            Self::Stress(number) => format!("stress {number}").into_bytes(),
        }
    }

    /// The guest that a token names; `None` if the token is not one of this tool.
    pub fn from_token(token: &[u8]) -> Option<Self> {
        match std::str::from_utf8(token).ok()?.split_once(' ')? {
            ("chat", name) => {
                let name: String = name.chars().filter(|letter| !letter.is_control()).collect();
                let name: String = clean::line(&name).chars().take(NAME_MAX).collect();
                (!name.trim().is_empty()).then(|| Self::Chat(name.trim().into()))
            }
            ("stress", number) => number.parse().ok().map(Self::Stress),
            _ => None,
        }
    }
}

/// Letters of a name.
const NAME_MAX: usize = 32;

/// A message of the server to one client on [`CONTROL`].
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Text for people.
    Say(String),
    /// The answer to `who`.
    Who(String),
    /// Stress clients begin, at this rate.
    StressOn(String),
    /// Stress clients stop.
    StressOff,
}

impl Word {
    /// As it is sent.
    pub fn encode(&self) -> String {
        match self {
            Self::Say(text) => format!("say {text}"),
            Self::Who(text) => format!("who {text}"),
            Self::StressOn(rate) => format!("stress on {rate}"),
            Self::StressOff => "stress off".into(),
        }
    }

    /// As it was sent; `None` if it is no word of the server's.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(message).ok()?;
        if text == "stress off" {
            return Some(Self::StressOff);
        }
        if let Some(rate) = text.strip_prefix("stress on ") {
            return Some(Self::StressOn(rate.into()));
        }
        match text.split_once(' ')? {
            ("say", rest) => Some(Self::Say(rest.into())),
            ("who", rest) => Some(Self::Who(rest.into())),
            _ => None,
        }
    }
}

/// A client's question to the server on [`CONTROL`]: the list of guests.
pub const WHO: &str = "who";

/// The state of a stress client, reported to the server on [`CONTROL`]. Only clients that obey [`Word::StressOn`]
/// report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StressTurn {
    /// It has not reported a state: it follows its own plan.
    #[default]
    Own,
    /// It waits for [`Word::StressOn`].
    Waits,
    /// It sends until [`Word::StressOff`].
    Runs,
}

impl StressTurn {
    /// The text that is sent; `None` for a state that is not reported.
    pub fn encode(self) -> Option<&'static str> {
        match self {
            Self::Own => None,
            Self::Waits => Some("stress waits"),
            Self::Runs => Some("stress runs"),
        }
    }

    /// As it was sent; `None` if the message is something else.
    pub fn decode(message: &[u8]) -> Option<Self> {
        [Self::Waits, Self::Runs].into_iter().find(|turn| turn.encode().is_some_and(|text| text.as_bytes() == message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_words_round_trip() {
        for guest in [Guest::Chat("Zoë".into()), Guest::Stress(299)] {
            assert_eq!(Guest::from_token(&guest.token()), Some(guest));
        }
        assert_eq!(Guest::from_token("chat \u{202e}eoZ\x1b\u{9b}".as_bytes()), Some(Guest::Chat("eoZ".into())));
        for bad in [&b"chat  "[..], "chat \u{202e}".as_bytes(), b"stress x", b"", b"\xff\xff", b"admin 1"] {
            assert_eq!(Guest::from_token(bad), None);
        }
        for word in [Word::Say("a b".into()), Word::Who("1 Zoe".into()), Word::StressOn("1/s".into()), Word::StressOff]
        {
            assert_eq!(Word::decode(word.encode().as_bytes()), Some(word));
        }
        assert_eq!(Word::decode(b"\xff"), None);
        for turn in [StressTurn::Waits, StressTurn::Runs] {
            assert_eq!(StressTurn::decode(turn.encode().expect("it is announced").as_bytes()), Some(turn));
        }
        assert_eq!((StressTurn::Own.encode(), StressTurn::decode(b"stress on 1/s")), (None, None));
    }
}
