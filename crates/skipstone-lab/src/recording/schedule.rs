//! What one player's side of a recording sends, moment by moment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skipstone::{RecordedEvent, RecordedMessage, RecordingReader, RecordingSide};

use crate::units::Span;

/// Which messages of a recording are played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayedRecording {
    /// The file; a plan's is beside the plan.
    pub(crate) file: PathBuf,
    /// To the player, or from the player.
    #[serde(default)]
    pub(crate) direction: PlayedDirection,
    /// The player, by the index in the recording; the one with the most messages, if it does not say.
    pub(crate) player: Option<u32>,
}

/// One of a connection's two directions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum PlayedDirection {
    /// From the server to the player.
    #[default]
    Down,
    /// From the player to the server.
    Up,
}

/// Messages by the moments in which they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) source: PlayedRecording,
    player: u32,
    /// By entity: the channel that it had.
    channels: Vec<u16>,
    /// In the order of time, since the first message.
    moments: Vec<Moment>,
    messages: Vec<ScheduledMessage>,
    /// Messages that were longer than played here, or shorter.
    stretched: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moment {
    at: Duration,
    /// Where its messages begin.
    first: usize,
}

/// A message of a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScheduledMessage {
    pub(crate) entity: u16,
    pub(crate) bytes: u32,
}

/// What is sent within so long is sent at once: a game's tick, whose calls follow each other.
const MOMENT: Duration = Duration::from_millis(1);
/// Hours of a busy player; more would take more memory than a comparison should.
const MESSAGES_MAX: usize = 5_000_000;
/// As many as a plan's entities.
const CHANNELS_MAX: usize = 200;

impl Schedule {
    /// Reads the recording. The sizes that can be played are `bytes`.
    pub(crate) fn read(source: &PlayedRecording, bytes: std::ops::RangeInclusive<u64>) -> Result<Schedule, String> {
        let player = match source.player {
            Some(player) => player,
            None => busiest(source)?,
        };
        let mut schedule = Schedule {
            source: source.clone(),
            player,
            channels: Vec::new(),
            moments: Vec::new(),
            messages: Vec::new(),
            stretched: 0,
        };
        let mut begin = None;
        for_each_message(source, |at, messages| {
            let Some(message) = messages.of(player) else { return Ok(()) };
            let at = at - *begin.get_or_insert(at);
            schedule.add(at, message, &bytes)
        })?;
        if schedule.messages.is_empty() {
            let direction = source.direction;
            return Err(format!("the recording {} has no message {direction} of player {player}", name(source)));
        }
        Ok(schedule)
    }

    fn add(
        &mut self,
        at: Duration,
        message: RecordedMessage,
        bytes: &std::ops::RangeInclusive<u64>,
    ) -> Result<(), String> {
        if message.bytes > *bytes.end() {
            let (name, most) = (name(&self.source), bytes.end());
            return Err(format!("the recording {name} has a message of {} bytes: {most} is the most", message.bytes));
        }
        if self.messages.len() == MESSAGES_MAX {
            let name = name(&self.source);
            return Err(format!("the recording {name} has more than {MESSAGES_MAX} messages of this player"));
        }
        if self.moments.last().is_none_or(|moment| at >= moment.at + MOMENT) {
            self.moments.push(Moment { at, first: self.messages.len() });
        }
        let entity = self.entity(message.channel)?;
        self.stretched += u64::from(message.bytes < *bytes.start());
        self.messages.push(ScheduledMessage { entity, bytes: message.bytes.max(*bytes.start()) as u32 });
        Ok(())
    }

    fn entity(&mut self, channel: u16) -> Result<u16, String> {
        if let Some(at) = self.channels.iter().position(|known| *known == channel) {
            return Ok(at as u16);
        }
        if self.channels.len() == CHANNELS_MAX {
            let name = name(&self.source);
            return Err(format!("the recording {name} has more than {CHANNELS_MAX} channels of this player"));
        }
        self.channels.push(channel);
        Ok(self.channels.len() as u16 - 1)
    }

    /// How many channels are used, each of which is an entity's.
    pub(crate) fn entities(&self) -> u16 {
        self.channels.len() as u16
    }

    /// From the first moment until another would follow the last.
    pub(crate) fn length(&self) -> Duration {
        let (count, last) = (self.moments.len() as u32, self.moments.last().expect("it is not empty").at);
        last + if count > 1 { (last / (count - 1)).max(MOMENT) } else { MOMENT }
    }

    /// How many moments begin before this.
    pub(crate) fn moments_before(&self, end: Duration) -> u64 {
        self.moments.partition_point(|moment| moment.at < end) as u64
    }

    /// When a moment is, since the first; the end behind the last one.
    pub(crate) fn at(&self, moment: u64) -> Duration {
        self.moments.get(moment as usize).map_or_else(|| self.length(), |moment| moment.at)
    }

    /// The messages of a moment.
    pub(crate) fn messages_at(&self, moment: u64) -> &[ScheduledMessage] {
        let [first, next] = [moment, moment + 1]
            .map(|moment| self.moments.get(moment as usize).map_or(self.messages.len(), |moment| moment.first));
        &self.messages[first..next]
    }

    /// Of the first so many moments: messages and their bytes.
    pub(crate) fn sums(&self, moments: u64) -> (u64, u64) {
        let end = self.moments.get(moments as usize).map_or(self.messages.len(), |moment| moment.first);
        (end as u64, self.messages[..end].iter().map(|message| u64::from(message.bytes)).sum())
    }

    /// Moments a second, at least one.
    pub(crate) fn moments_per_second(&self) -> u32 {
        (self.moments.len() as f64 / self.length().as_secs_f64()).round().max(1.0) as u32
    }

    /// Bytes of a message, on average.
    pub(crate) fn mean_bytes(&self) -> usize {
        let (messages, bytes) = self.sums(self.moments.len() as u64);
        (bytes as f64 / messages as f64).round() as usize
    }

    /// In words, for people and results.
    pub(crate) fn words(&self) -> String {
        let moments = self.moments.len() as u64;
        let (messages, bytes) = self.sums(moments);
        let played = if self.stretched == 0 { String::new() } else { format!(", {} made longer", self.stretched) };
        format!(
            "{}, player {} {}: {messages} messages of {bytes} bytes in {moments} moments of {}{played}",
            name(&self.source),
            self.player,
            self.source.direction,
            Span(Duration::from_millis(self.length().as_millis() as u64)),
        )
    }
}

/// The messages of an event, in the direction that is asked for.
#[derive(Debug, Clone, Copy)]
enum Messages<'a> {
    One(RecordedMessage),
    /// To all of these.
    All {
        channel: u16,
        bytes: u64,
        connected: &'a BTreeMap<u32, u64>,
    },
}

impl Messages<'_> {
    fn of(self, player: u32) -> Option<RecordedMessage> {
        match self {
            Messages::One(message) => (message.peer == player).then_some(message),
            Messages::All { channel, bytes, connected } => {
                connected.contains_key(&player).then_some(RecordedMessage { peer: player, channel, bytes })
            }
        }
    }
}

fn for_each_message(
    source: &PlayedRecording,
    mut take: impl FnMut(Duration, Messages<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let cannot = |error| format!("cannot read the recording {}: {error}", name(source));
    let reader = RecordingReader::open(&source.file).map_err(cannot)?;
    let is_down_sent = reader.side() == RecordingSide::Server;
    let takes_sent = is_down_sent == (source.direction == PlayedDirection::Down);
    let mut connected = BTreeMap::new();
    for event in reader {
        let (at, event) = event.map_err(cannot)?;
        match event {
            RecordedEvent::Connected { peer } => drop(connected.insert(peer, 0)),
            RecordedEvent::Closed { peer } => drop(connected.remove(&peer)),
            RecordedEvent::Sent(message) if takes_sent => take(at, Messages::One(message))?,
            RecordedEvent::Received(message) if !takes_sent => take(at, Messages::One(message))?,
            RecordedEvent::Broadcast { channel, bytes } if takes_sent => {
                take(at, Messages::All { channel, bytes, connected: &connected })?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// The player with the most messages; of several the first.
fn busiest(source: &PlayedRecording) -> Result<u32, String> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for_each_message(source, |_, messages| {
        match messages {
            Messages::One(message) => *counts.entry(message.peer).or_default() += 1,
            Messages::All { connected, .. } => {
                connected.keys().for_each(|peer| *counts.entry(*peer).or_default() += 1);
            }
        }
        Ok(())
    })?;
    let busiest = counts.into_iter().max_by_key(|(peer, count)| (*count, std::cmp::Reverse(*peer)));
    let none = || format!("the recording {} has no message {}", name(source), source.direction);
    busiest.map(|(peer, _)| peer).ok_or_else(none)
}

fn name(source: &PlayedRecording) -> String {
    source.file.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recording by hand: entries as the library's `recording/entry.rs` has them.
    fn source(name: &str, side: u8, entries: &[&[u8]], direction: PlayedDirection) -> PlayedRecording {
        let file = std::env::temp_dir().join(format!("skipstone-schedule-{name}-{}.rec", std::process::id()));
        let head = [b"SKIPREC\x01".as_slice(), &[side]].concat();
        std::fs::write(&file, [head, entries.concat()].concat()).expect("a file");
        PlayedRecording { file, direction, player: None }
    }

    fn read(source: &PlayedRecording) -> Result<Schedule, String> {
        let read = Schedule::read(source, 8..=1_000);
        std::fs::remove_file(&source.file).expect("it is ours");
        read
    }

    const CONNECTED: u8 = 2;
    const CLOSED: u8 = 3;
    const SENT: u8 = 4;
    const RECEIVED: u8 = 5;
    const BROADCAST: u8 = 6;

    #[test]
    fn a_player_gets_what_was_sent_to_it_and_to_all_while_it_was_connected() {
        let ms = |count: u64| [0x80 | (count * 1_000) as u8 & 0x7F, ((count * 1_000) >> 7) as u8];
        let [two, _] = [ms(2), ms(3)];
        let entries: [&[u8]; 9] = [
            &[CONNECTED, 0, 7],
            &[BROADCAST, 5, 1, 20],
            &[SENT, 5, 7, 3, 30],
            &[CONNECTED, 0, 8],
            &[RECEIVED, 0, 8, 1, 9],
            &[SENT, 0, 8, 3, 31],
            &[BROADCAST, two[0], two[1], 1, 21],
            &[CLOSED, 0, 7],
            &[BROADCAST, two[0], two[1], 1, 22],
        ];
        let all = read(&source("down", 0, &entries, PlayedDirection::Down)).expect("it is one");
        // Player 8 has as many, and a higher index.
        assert_eq!((all.player, all.entities(), all.moments_before(Duration::MAX)), (7, 2, 2));
        let of = |moment| all.messages_at(moment).iter().map(|it| (it.entity, it.bytes)).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![(0, 20), (1, 30)], vec![(0, 21)]));
        assert_eq!(all.sums(2), (3, 71));
        assert_eq!((all.at(0), all.at(1)), (Duration::ZERO, Duration::from_micros(2_005)));
        let up = read(&source("up", 0, &entries, PlayedDirection::Up)).expect("it is one");
        assert_eq!((up.player, up.sums(1)), (8, (1, 9)));
        // What a client received came down.
        let client = read(&source("client", 1, &entries[4..5], PlayedDirection::Down)).expect("it is one");
        assert_eq!(client.sums(1), (1, 9));
    }

    #[test]
    fn what_cannot_be_played_is_said() {
        let said = |name, entries: &[&[u8]]| read(&source(name, 0, entries, PlayedDirection::Down)).unwrap_err();
        assert!(said("none", &[&[CONNECTED, 0, 7]]).ends_with("has no message down"));
        assert!(said("long", &[&[SENT, 0, 7, 1, 0xFF, 0x7F]]).contains("a message of 16383 bytes: 1000 is the most"));
        assert!(said("cut", &[&[SENT, 0, 7]]).contains("it is cut off: the entry at byte 9 is not whole"));
        let short = read(&source("short", 0, &[&[SENT, 0, 7, 1, 3]], PlayedDirection::Down)).unwrap();
        assert!(
            short.words().ends_with("1 messages of 8 bytes in 1 moments of 1ms, 1 made longer"),
            "{}",
            short.words()
        );
    }
}
