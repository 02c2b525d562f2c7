//! What one client of a recording did: its packets with their times, and which of them answered the server.

use super::entry::{FlowEvent, FlowId, FlowProtocol};
use super::reader::FlowRecording;
use std::collections::BTreeMap;
use std::time::Duration;

/// A client of a recording.
#[derive(Clone, Debug)]
pub struct Player {
    /// Which flow it is.
    pub flow: FlowId,
    /// What it sent, in order.
    pub packets: Vec<PlayedPacket>,
    /// What it received, by first byte: how many messages, their least size and their greatest.
    pub heard: BTreeMap<u8, (u64, usize, usize)>,
    /// Its stream ended before the server's.
    pub closes: bool,
    /// The server ended the stream.
    pub is_closed: bool,
}

/// A packet of a client: a datagram, or what it wrote into its stream at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayedPacket {
    /// When it was sent, since the client began.
    pub at: Duration,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// If it answered a message of the server: the message's first byte, and how long the client took.
    pub answers: Option<(u8, Duration)>,
}

/// An answer comes this soon: a client that looks for messages once a frame, at 60 Hz.
const REACTION_MAX: Duration = Duration::from_millis(20);
/// Packets so close belong together.
const BURST: Duration = Duration::from_millis(2);
/// What the relay reads of a stream at once.
const PIECE_BYTES: usize = 1_448;

impl FlowRecording {
    /// All clients, in the order in which they began.
    pub fn flows(&self) -> Vec<FlowId> {
        let mut flows = Vec::new();
        let mut known = std::collections::HashSet::new();
        for entry in &self.entries {
            if known.insert(entry.flow) {
                flows.push(entry.flow);
            }
        }
        flows
    }
}

impl Player {
    /// A client of a recording, as far as it played within this time.
    pub fn of(recording: &FlowRecording, flow: FlowId, until: Option<Duration>) -> Player {
        let mut player = Player { flow, packets: Vec::new(), heard: BTreeMap::new(), closes: false, is_closed: false };
        let mut opening = Opening::default();
        let mut began = None;
        for entry in recording.entries.iter().filter(|entry| entry.flow == flow) {
            let at = entry.at.saturating_sub(*began.get_or_insert(entry.at));
            if until.is_some_and(|until| at > until) {
                break;
            }
            let bytes = recording.bytes(entry);
            match entry.event {
                FlowEvent::Up if player.continues(at) => {
                    player.packets.last_mut().expect("it continues one").bytes.extend_from_slice(bytes);
                }
                FlowEvent::Up => {
                    let answers = opening.on_up(at);
                    player.packets.push(PlayedPacket { at, bytes: bytes.to_vec(), answers });
                }
                FlowEvent::Down => {
                    player.hear(bytes);
                    opening.last_down = Some((at, bytes.first().copied().unwrap_or(0)));
                }
                FlowEvent::UpEnded => player.closes = !player.is_closed,
                FlowEvent::DownEnded => player.is_closed = !player.closes,
                FlowEvent::Opened => {}
            }
        }
        player
    }

    /// Whether more of a stream belongs to the last packet: a full piece was read, and the next at once.
    fn continues(&self, at: Duration) -> bool {
        let is_piece = |last: &PlayedPacket| last.bytes.len().is_multiple_of(PIECE_BYTES) && at - last.at <= BURST;
        self.flow.protocol == FlowProtocol::Tcp && self.packets.last().is_some_and(is_piece)
    }

    fn hear(&mut self, bytes: &[u8]) {
        let first = bytes.first().copied().unwrap_or(0);
        let of = self.heard.entry(first).or_insert((0, usize::MAX, 0));
        *of = (of.0 + 1, of.1.min(bytes.len()), of.2.max(bytes.len()));
    }
}

/// The beginning of a client, in which each packet answers the server: a handshake, a login. It ends with the first
/// packet that the client sends of its own accord; after that, an answer and a tick look the same.
#[derive(Default)]
struct Opening {
    is_over: bool,
    last_up: Option<Duration>,
    last_down: Option<(Duration, u8)>,
}

impl Opening {
    fn on_up(&mut self, at: Duration) -> Option<(u8, Duration)> {
        let heard = self.last_down.take();
        let before = self.last_up.replace(at);
        let answered = heard.filter(|(heard_at, _)| !self.is_over && at - *heard_at <= REACTION_MAX);
        let is_of_burst = heard.is_none() && before.is_none_or(|before| at - before <= BURST);
        self.is_over |= answered.is_none() && !is_of_burst;
        answered.map(|(heard_at, first)| (first, at - heard_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(events: &[(FlowEvent, u64)]) -> Vec<bool> {
        let mut opening = Opening::default();
        let of = |(event, ms): &(FlowEvent, u64)| {
            let at = Duration::from_millis(*ms);
            match event {
                FlowEvent::Up => return Some(opening.on_up(at).is_some()),
                _ => opening.last_down = Some((at, 7)),
            }
            None
        };
        events.iter().filter_map(of).collect()
    }

    #[test]
    fn a_handshake_is_answers_and_ticks_are_not() {
        use FlowEvent::{Down, Up};
        let found = answers(&[
            (Up, 0),
            (Down, 30),
            (Up, 31),
            (Up, 32),
            (Down, 60),
            (Up, 70),
            (Up, 103),
            (Down, 130),
            (Up, 136),
            (Up, 169),
        ]);
        assert_eq!(found, [false, true, false, true, false, false, false]);
        assert_eq!(answers(&[(Down, 5), (Up, 6), (Down, 40), (Up, 90), (Down, 95), (Up, 96)]), [true, false, false]);
    }
}
