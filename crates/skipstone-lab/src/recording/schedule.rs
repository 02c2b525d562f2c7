//! What one player sends and receives in a recording, moment by moment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skipstone::{DeliveryMode, RecordedEvent, RecordedMessage, RecordingReader, RecordingSide};

use crate::units::Span;

/// Which messages of a recording are played.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlayedRecording {
    /// The file, relative to the folder of the plan.
    pub(crate) file: PathBuf,
    /// To the player, from the player, or both.
    #[serde(default)]
    pub(crate) direction: PlayedDirection,
    /// The player, by the index in the recording, or each of them; the one with the most messages, if it does not say.
    pub(crate) player: Option<PlayedPlayer>,
}

/// The player whose messages are replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a player is an index in the recording, or \"each\"")]
pub(crate) enum PlayedPlayer {
    Index(u32),
    Each(Each),
}

/// The word for all players, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Each {
    Each,
}

/// One of a connection's two directions, played as echoes; or both, each played one-way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum PlayedDirection {
    /// From the server to the player.
    #[default]
    Down,
    /// From the player to the server.
    Up,
    /// From each end to the other.
    Both,
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sender {
    Client,
    Server,
}

/// Messages by the moments in which they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schedule {
    pub(crate) source: PlayedRecording,
    player: u32,
    /// By entity: the channel that it had. Those that deliver alike follow each other.
    channels: Vec<PlayedChannel>,
    /// Moments in the order of time, counted from the first message.
    moments: Vec<Moment>,
    messages: Vec<ScheduledMessage>,
    /// Messages that were longer than played here, or shorter.
    stretched: u64,
}

/// A channel in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlayedChannel {
    channel: u16,
    sender: Sender,
    mode: Option<DeliveryMode>,
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

/// Messages sent within this time belong together: the calls of one game tick.
const MOMENT: Duration = Duration::from_millis(1);
/// Hours of a busy player; more would take more memory than a comparison should.
const MESSAGES_MAX: usize = 5_000_000;
/// The same limit as a plan's entities.
const CHANNELS_MAX: usize = 200;

impl Schedule {
    /// Reads the recording. The sizes that can be played are `bytes`.
    pub(crate) fn read(source: &PlayedRecording, bytes: std::ops::RangeInclusive<u64>) -> Result<Schedule, String> {
        let player = match source.player {
            Some(PlayedPlayer::Index(player)) => player,
            _ => *players(source)?.first().expect("a player has messages"),
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
        let modes = for_each_message(source, |at, sender, messages| {
            let Some(message) = messages.of(player) else { return Ok(()) };
            let at = at - *begin.get_or_insert(at);
            schedule.add(at, sender, message, &bytes)
        })?;
        if schedule.messages.is_empty() {
            let direction = source.direction;
            return Err(format!("the recording {} has no message {direction} of player {player}", name(source)));
        }
        schedule.sort_channels(&modes);
        Ok(schedule)
    }

    fn add(
        &mut self,
        at: Duration,
        sender: Sender,
        message: RecordedMessage,
        bytes: &std::ops::RangeInclusive<u64>,
    ) -> Result<(), String> {
        if message.bytes > *bytes.end() {
            let (name, most) = (name(&self.source), bytes.end());
            return Err(format!(
                "the recording {name} has a message of {} bytes: the maximum is {most}",
                message.bytes
            ));
        }
        if self.messages.len() == MESSAGES_MAX {
            let name = name(&self.source);
            return Err(format!("the recording {name} has more than {MESSAGES_MAX} messages of this player"));
        }
        if self.moments.last().is_none_or(|moment| at >= moment.at + MOMENT) {
            self.moments.push(Moment { at, first: self.messages.len() });
        }
        let entity = self.entity(message.channel, sender)?;
        self.stretched += u64::from(message.bytes < *bytes.start());
        self.messages.push(ScheduledMessage { entity, bytes: message.bytes.max(*bytes.start()) as u32 });
        Ok(())
    }

    fn entity(&mut self, channel: u16, sender: Sender) -> Result<u16, String> {
        let is_it = |known: &PlayedChannel| (known.channel, known.sender) == (channel, sender);
        if let Some(at) = self.channels.iter().position(is_it) {
            return Ok(at as u16);
        }
        if self.channels.len() == CHANNELS_MAX {
            let name = name(&self.source);
            return Err(format!("the recording {name} has more than {CHANNELS_MAX} channels of this player"));
        }
        self.channels.push(PlayedChannel { channel, sender, mode: None });
        Ok(self.channels.len() as u16 - 1)
    }

    /// Gives each channel its mode, and channels with the same delivery consecutive numbers, so that a few rules
    /// describe all.
    fn sort_channels(&mut self, modes: &BTreeMap<u16, DeliveryMode>) {
        self.channels.iter_mut().for_each(|of| of.mode = modes.get(&of.channel).copied());
        let mut order: Vec<usize> = (0..self.channels.len()).collect();
        order.sort_by_key(|at| self.channels[*at].mode.map(|mode| mode as u64));
        let mut numbers = vec![0; order.len()];
        (0..).zip(&order).for_each(|(number, at)| numbers[*at] = number);
        self.channels = order.iter().map(|at| self.channels[*at]).collect();
        self.messages.iter_mut().for_each(|message| message.entity = numbers[usize::from(message.entity)]);
    }

    /// How an entity's channel delivered; `None` if the recording does not report it.
    pub(crate) fn mode_of(&self, entity: u16) -> Option<DeliveryMode> {
        self.channels.get(usize::from(entity))?.mode
    }

    /// The sender of an entity's messages. Messages of a one-way source are all sent by the client, and echoed.
    pub(crate) fn sender_of(&self, entity: u16) -> Sender {
        match self.channels.get(usize::from(entity)) {
            Some(of) if self.is_both_ways() => of.sender,
            _ => Sender::Client,
        }
    }

    /// Whether each end sends its own messages.
    pub(crate) fn is_both_ways(&self) -> bool {
        self.source.direction == PlayedDirection::Both
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

    /// The time of a moment since the first one; after the last one, the end.
    pub(crate) fn at(&self, moment: u64) -> Duration {
        self.moments.get(moment as usize).map_or_else(|| self.length(), |moment| moment.at)
    }

    /// The messages of a moment.
    pub(crate) fn messages_at(&self, moment: u64) -> &[ScheduledMessage] {
        let [first, next] = [moment, moment + 1]
            .map(|moment| self.moments.get(moment as usize).map_or(self.messages.len(), |moment| moment.first));
        &self.messages[first..next]
    }

    /// Messages and bytes of the first moments.
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

    /// A description for people and results.
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

/// The modes of the channels, by channel, after all messages were taken.
fn for_each_message(
    source: &PlayedRecording,
    mut take: impl FnMut(Duration, Sender, Messages<'_>) -> Result<(), String>,
) -> Result<BTreeMap<u16, DeliveryMode>, String> {
    let cannot = |error| format!("cannot read the recording {}: {error}", name(source));
    let reader = RecordingReader::open(&source.file).map_err(cannot)?;
    let (own, other) = match reader.side() {
        RecordingSide::Server => (Sender::Server, Sender::Client),
        RecordingSide::Client => (Sender::Client, Sender::Server),
    };
    let is_played = |sender| match source.direction {
        PlayedDirection::Down => sender == Sender::Server,
        PlayedDirection::Up => sender == Sender::Client,
        PlayedDirection::Both => true,
    };
    let (mut connected, mut modes) = (BTreeMap::new(), BTreeMap::new());
    for event in reader {
        let (at, event) = event.map_err(cannot)?;
        match event {
            RecordedEvent::Connected { peer } => drop(connected.insert(peer, 0)),
            RecordedEvent::Closed { peer } => drop(connected.remove(&peer)),
            RecordedEvent::Channel { channel, mode } => drop(modes.insert(channel, mode)),
            RecordedEvent::Sent(message) if is_played(own) => take(at, own, Messages::One(message))?,
            RecordedEvent::Received(message) if is_played(other) => take(at, other, Messages::One(message))?,
            RecordedEvent::Broadcast { channel, bytes } if is_played(own) => {
                take(at, own, Messages::All { channel, bytes, connected: &connected })?;
            }
            _ => {}
        }
    }
    Ok(modes)
}

/// The players that have messages in the played directions, the busiest first; there is at least one.
pub(crate) fn players(source: &PlayedRecording) -> Result<Vec<u32>, String> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for_each_message(source, |_, _, messages| {
        match messages {
            Messages::One(message) => *counts.entry(message.peer).or_default() += 1,
            Messages::All { connected, .. } => {
                connected.keys().for_each(|peer| *counts.entry(*peer).or_default() += 1);
            }
        }
        Ok(())
    })?;
    if counts.is_empty() {
        return Err(format!("the recording {} has no message {}", name(source), source.direction));
    }
    let mut players: Vec<(u32, u64)> = counts.into_iter().collect();
    players.sort_by_key(|(peer, count)| (std::cmp::Reverse(*count), *peer));
    Ok(players.into_iter().map(|(peer, _)| peer).collect())
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

    const CHANNEL: u8 = 1;
    const CONNECTED: u8 = 2;
    const CLOSED: u8 = 3;
    const SENT: u8 = 4;
    const RECEIVED: u8 = 5;
    const BROADCAST: u8 = 6;

    #[test]
    fn a_player_gets_its_messages_and_the_broadcasts_while_connected() {
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
        let both = read(&source("both", 0, &entries, PlayedDirection::Both)).expect("it is one");
        let senders = |entity| (both.sender_of(entity), both.mode_of(entity));
        assert_eq!((both.player, both.sums(9), both.entities()), (8, (4, 83), 3), "both ways it has the most");
        assert_eq!([0, 1].map(senders), [(Sender::Client, None), (Sender::Server, None)]);
        assert_eq!(
            (all.sender_of(0), all.is_both_ways()),
            (Sender::Client, false),
            "what goes there and back is the client's"
        );
        // Messages that a client received were sent down.
        let client = read(&source("client", 1, &entries[4..5], PlayedDirection::Down)).expect("it is one");
        assert_eq!(client.sums(1), (1, 9));
    }

    #[test]
    fn each_direction_has_its_channels_grouped_by_delivery() {
        let (unreliable, ordered) = (DeliveryMode::Unreliable as u8, DeliveryMode::ReliableOrdered as u8);
        let entries: [&[u8]; 8] = [
            &[CONNECTED, 0, 7],
            &[CHANNEL, 0, 3, ordered],
            &[SENT, 0, 7, 3, 30],
            &[CHANNEL, 0, 1, unreliable],
            &[RECEIVED, 0, 7, 1, 10],
            &[SENT, 0, 7, 1, 20],
            &[RECEIVED, 0, 7, 3, 11],
            &[RECEIVED, 0, 8, 3, 12],
        ];
        let both = read(&source("ways", 0, &entries, PlayedDirection::Both)).expect("it is one");
        let of = |entity| (both.sender_of(entity), both.mode_of(entity).map(|mode| mode as u8));
        let all: Vec<_> = both.messages_at(0).iter().map(|it| (of(it.entity), it.bytes)).collect();
        let expected = [
            ((Sender::Server, Some(ordered)), 30),
            ((Sender::Client, Some(unreliable)), 10),
            ((Sender::Server, Some(unreliable)), 20),
            ((Sender::Client, Some(ordered)), 11),
        ];
        assert_eq!(all, expected);
        let modes: Vec<_> = (0..both.entities()).map(|entity| of(entity).1).collect();
        assert_eq!(modes, [unreliable, unreliable, ordered, ordered].map(Some));
        let everybody = source("everybody", 0, &entries, PlayedDirection::Both);
        assert_eq!(players(&everybody), Ok(vec![7, 8]));
        std::fs::remove_file(&everybody.file).expect("it is ours");
    }

    #[test]
    fn an_unplayable_recording_is_reported() {
        let said = |name, entries: &[&[u8]]| read(&source(name, 0, entries, PlayedDirection::Down)).unwrap_err();
        assert!(said("none", &[&[CONNECTED, 0, 7]]).ends_with("has no message down"));
        assert!(
            said("long", &[&[SENT, 0, 7, 1, 0xFF, 0x7F]]).contains("a message of 16383 bytes: the maximum is 1000")
        );
        assert!(said("cut", &[&[SENT, 0, 7]]).contains("it is cut off: the entry at byte 9 is not whole"));
        let short = read(&source("short", 0, &[&[SENT, 0, 7, 1, 3]], PlayedDirection::Down)).unwrap();
        assert!(
            short.words().ends_with("1 messages of 8 bytes in 1 moments of 1ms, 1 made longer"),
            "{}",
            short.words()
        );
    }
}
