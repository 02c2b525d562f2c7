//! What is in a recording: how long it is, its players, and each channel's messages in both directions.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use skipstone::{RecordedEvent, RecordingEnd, RecordingReader, RecordingSide};

/// The JSON of `skipstone record show --json`.
#[derive(Debug, Serialize)]
pub(super) struct RecordingSummary {
    /// The side of the traffic: `server` or `client`.
    pub(super) side: &'static str,
    pub(super) seconds: f64,
    /// Connections that were seen to begin.
    pub(super) connections: u64,
    /// The greatest number at the same time.
    pub(super) at_once: usize,
    /// Why it ends; null if its program was killed.
    pub(super) end: Option<&'static str>,
    /// By channel.
    pub(super) channels: BTreeMap<u16, ChannelSummary>,
}

/// A channel's messages as they were on the way: a broadcast is a message to each.
#[derive(Debug, Default, Serialize)]
pub(super) struct ChannelSummary {
    pub(super) mode: Option<String>,
    pub(super) up: MessageCount,
    pub(super) down: MessageCount,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct MessageCount {
    pub(super) messages: u64,
    pub(super) bytes: u64,
}

impl MessageCount {
    fn add(&mut self, messages: u64, bytes: u64) {
        self.messages = self.messages.saturating_add(messages);
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(messages));
    }
}

impl RecordingSummary {
    pub(super) fn read(path: &str) -> Result<RecordingSummary, String> {
        let cannot = |error| format!("cannot read the recording {path}: {error}");
        let reader = RecordingReader::open(path).map_err(cannot)?;
        let is_server = reader.side() == RecordingSide::Server;
        let mut summary = RecordingSummary {
            side: if is_server { "server" } else { "client" },
            seconds: 0.0,
            connections: 0,
            at_once: 0,
            end: None,
            channels: BTreeMap::new(),
        };
        let mut connected = BTreeSet::new();
        for event in reader {
            let (at, event) = event.map_err(cannot)?;
            summary.take(at, event, is_server, &mut connected);
        }
        Ok(summary)
    }

    fn take(&mut self, at: Duration, event: RecordedEvent, is_server: bool, connected: &mut BTreeSet<u32>) {
        self.seconds = at.as_secs_f64();
        match event {
            RecordedEvent::Connected { peer } => {
                self.connections += u64::from(connected.insert(peer));
                self.at_once = self.at_once.max(connected.len());
            }
            RecordedEvent::Closed { peer } => drop(connected.remove(&peer)),
            RecordedEvent::Channel { channel, mode } => self.of(channel).mode = Some(format!("{mode:?}")),
            RecordedEvent::Sent(message) => self.of(message.channel).way(is_server).add(1, message.bytes),
            RecordedEvent::Received(message) => self.of(message.channel).way(!is_server).add(1, message.bytes),
            RecordedEvent::Broadcast { channel, bytes } => {
                self.of(channel).down.add(connected.len() as u64, bytes);
            }
            RecordedEvent::End(end) => self.end = Some(told(end)),
            _ => {}
        }
    }

    fn of(&mut self, channel: u16) -> &mut ChannelSummary {
        self.channels.entry(channel).or_default()
    }
}

impl ChannelSummary {
    fn way(&mut self, is_down: bool) -> &mut MessageCount {
        if is_down { &mut self.down } else { &mut self.up }
    }
}

fn told(end: RecordingEnd) -> &'static str {
    match end {
        RecordingEnd::Complete => "complete",
        RecordingEnd::Full => "full",
        RecordingEnd::Behind => "the disk was too slow",
        _ => "unknown",
    }
}
