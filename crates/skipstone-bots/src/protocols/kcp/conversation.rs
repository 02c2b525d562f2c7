//! One KCP conversation without socket and clock: messages in, datagrams out, and back. Both ends are alike. What is
//! left out is KCP's congestion window, which games switch off (`nc = 1`).

use super::incoming::IncomingSegments;
use super::outgoing::{OutgoingSegments, PeerState, ResendRules};
use super::round_trip::RoundTrip;
use super::segment::{Command, HEADER, NotSegments, Segment, decode, distance};
use super::settings::KcpSettings;
use crate::protocol::{ProtocolCounts, ProtocolFigures};
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::VecDeque;

/// One end of a conversation.
#[derive(Debug)]
pub(in crate::protocols) struct Conversation {
    settings: KcpSettings,
    /// The zero of its clock on the wire.
    epoch: Time,
    outgoing: OutgoingSegments,
    incoming: IncomingSegments,
    round_trip: RoundTrip,
    peer_window: PeerWindow,
    flushed: Option<Time>,
    is_gone: bool,
    datagrams: VecDeque<Vec<u8>>,
    messages: VecDeque<Bytes>,
}

/// What the peer has room for, and questions about it.
#[derive(Debug)]
struct PeerWindow {
    segments: u16,
    must_tell_ours: bool,
    ask_at: Option<Time>,
    ask_after: Duration,
}

/// Why a conversation cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocols) enum KcpFault {
    /// The datagram is no valid run of segments, and was dropped; the conversation goes on.
    Datagram,
    /// The fragments make no message: the peer's bytes are not KCP's.
    Message,
}

/// The floor of the time after which a segment is sent again (`nodelay = 1`).
const RESEND_FLOOR: Duration = Duration::from_millis(30);
/// The window that is assumed until the peer tells its own.
const WINDOW_FIRST: u16 = 128;
/// When a closed window is asked for: at first, and at most.
const ASK_FIRST: Duration = Duration::from_secs(7);
const ASK_MAX: Duration = Duration::from_secs(120);
/// A time on the wire that is older was not ours.
const SAMPLE_MAX_MS: u32 = 60_000;

impl Conversation {
    pub(in crate::protocols) fn new(now: Time, settings: KcpSettings) -> Self {
        assert!(settings.datagram_bytes > HEADER, "a datagram holds a header and data");
        let rules = ResendRules { skips: settings.resend_skips, transmissions_max: settings.transmissions_max };
        Conversation {
            settings,
            epoch: now,
            outgoing: OutgoingSegments::new(rules),
            incoming: IncomingSegments::new(settings.window),
            round_trip: RoundTrip::new(RESEND_FLOOR, settings.interval),
            peer_window: PeerWindow {
                segments: WINDOW_FIRST,
                must_tell_ours: false,
                ask_at: None,
                ask_after: Duration::ZERO,
            },
            flushed: None,
            is_gone: false,
            datagrams: VecDeque::new(),
            messages: VecDeque::new(),
        }
    }

    /// Queues a message of at most [`KcpSettings::message_bytes_max`].
    pub(in crate::protocols) fn send(&mut self, message: Bytes) {
        self.outgoing.push(message, self.settings.segment_bytes());
    }

    /// A datagram of the peer.
    pub(in crate::protocols) fn handle_datagram(&mut self, now: Time, datagram: &[u8]) -> Result<(), KcpFault> {
        let segments = decode(datagram, self.settings.conversation).map_err(|NotSegments| KcpFault::Datagram)?;
        let mut newest: Option<u32> = None;
        for segment in &segments {
            self.peer_window.segments = segment.window;
            self.sample(now, segment);
            self.outgoing.on_unacknowledged(segment.unacknowledged);
            match segment.command {
                Command::Acknowledge => {
                    self.outgoing.on_acknowledged(segment.number);
                    newest = Some(newest.map_or(segment.number, |number| later(number, segment.number)));
                }
                Command::Push => {
                    self.incoming.on_push(segment, &mut self.messages).map_err(|_| KcpFault::Message)?;
                }
                Command::AskWindow => self.peer_window.must_tell_ours = true,
                Command::TellWindow => {}
            }
        }
        if let Some(number) = newest {
            self.outgoing.on_skipped_until(now, number);
        }
        Ok(())
    }

    /// The next whole message.
    pub(in crate::protocols) fn poll_message(&mut self) -> Option<Bytes> {
        self.messages.pop_front()
    }

    /// The next datagram.
    pub(in crate::protocols) fn poll_datagram(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.datagrams.is_empty() && self.deadline().is_some_and(|due| due <= now) {
            self.flush(now);
        }
        self.datagrams.pop_front()
    }

    /// Everything that the window has room for is ready now: the conversation ends.
    pub(in crate::protocols) fn finish(&mut self, now: Time) {
        self.flush(now);
    }

    /// The next datagram that is ready already.
    pub(in crate::protocols) fn pop_datagram(&mut self) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    /// When `poll_datagram` has something. Segments and acknowledgements that are ready within one interval leave
    /// together.
    pub(in crate::protocols) fn deadline(&self) -> Option<Time> {
        let earliest = self.flushed.map_or(self.epoch, |flushed| flushed + self.settings.interval);
        let is_ready = self.incoming.has_acknowledgements()
            || self.peer_window.must_tell_ours
            || self.outgoing.may_send(self.window_to_send())
            // The time to ask is set by a flush.
            || (self.peer_window.segments == 0 && self.peer_window.ask_at.is_none() && !self.outgoing.is_idle());
        if is_ready {
            return Some(earliest);
        }
        let ask_at = self.peer_window.ask_at.filter(|_| !self.outgoing.is_idle());
        let wanted = [self.outgoing.resend_at(), ask_at].into_iter().flatten().min()?;
        Some(wanted.max(earliest))
    }

    /// Whether a segment was sent as often as the settings allow, without an answer.
    pub(in crate::protocols) fn is_peer_gone(&self) -> bool {
        self.is_gone
    }

    /// Messages that wait or are not acknowledged, each fragment with its cost.
    pub(in crate::protocols) fn queued_bytes(&self) -> usize {
        self.outgoing.bytes()
    }

    /// Of a client that dropped so many datagrams as invalid itself. Segments outside of the window, or beyond the
    /// bound in bytes, are invalid, too; the peer sends them again.
    pub(in crate::protocols) fn figures(&self, invalid: u64) -> ProtocolFigures {
        let counts = ProtocolCounts {
            invalid: invalid + self.incoming.refused(),
            retransmitted: self.outgoing.retransmitted(),
            duplicates: self.incoming.duplicates(),
            dropped: 0,
        };
        ProtocolFigures { rtt: self.round_trip.smoothed(), counts }
    }

    /// An acknowledgement repeats the time of the transmission that it answers, so retransmissions are samples, too.
    fn sample(&mut self, now: Time, segment: &Segment<'_>) {
        let age = self.clock(now).wrapping_sub(segment.timestamp);
        let is_answer = segment.command == Command::Acknowledge && self.outgoing.is_in_flight(segment.number);
        if is_answer && age <= SAMPLE_MAX_MS {
            self.round_trip.on_sample(Duration::from_millis(age.into()));
        }
    }

    fn flush(&mut self, now: Time) {
        self.flushed = Some(now);
        self.peer_window.look(now, self.outgoing.is_idle());
        let window = self.window_to_send();
        let mut writer = Writer {
            settings: self.settings,
            clock: self.clock(now),
            window: self.incoming.window(),
            unacknowledged: self.incoming.next(),
            datagram: Vec::new(),
            datagrams: &mut self.datagrams,
        };
        while let Some(acknowledgement) = self.incoming.pop_acknowledgement() {
            writer.acknowledge(acknowledgement.number, acknowledgement.timestamp);
        }
        if self.peer_window.asks(now) {
            writer.command(Command::AskWindow);
        }
        if core::mem::take(&mut self.peer_window.must_tell_ours) {
            writer.command(Command::TellWindow);
        }
        let state = self
            .outgoing
            .flush(now, window, &self.round_trip, |due| writer.push(due.number, due.fragments_left, &due.data));
        self.is_gone |= state == PeerState::Gone;
        writer.finish();
    }

    fn window_to_send(&self) -> usize {
        self.settings.window.min(self.peer_window.segments).into()
    }

    /// Milliseconds on the wire, which wrap after seven weeks.
    fn clock(&self, now: Time) -> u32 {
        now.since(self.epoch).as_millis() as u32
    }
}

impl PeerWindow {
    /// Plans a question if the window is closed while something waits.
    fn look(&mut self, now: Time, is_idle: bool) {
        if self.segments > 0 || is_idle {
            self.ask_at = None;
        } else if self.ask_at.is_none() {
            self.ask_after = ASK_FIRST;
            self.ask_at = Some(now + ASK_FIRST);
        }
    }

    fn asks(&mut self, now: Time) -> bool {
        let asks = self.ask_at.is_some_and(|at| at <= now);
        if asks {
            self.ask_after = (self.ask_after + self.ask_after / 2).min(ASK_MAX);
            self.ask_at = Some(now + self.ask_after);
        }
        asks
    }
}

/// Fills datagrams with segments.
struct Writer<'a> {
    settings: KcpSettings,
    clock: u32,
    window: u16,
    unacknowledged: u32,
    datagram: Vec<u8>,
    datagrams: &'a mut VecDeque<Vec<u8>>,
}

impl Writer<'_> {
    fn acknowledge(&mut self, number: u32, timestamp: u32) {
        self.write(Segment { number, timestamp, ..self.empty(Command::Acknowledge) });
    }

    fn push(&mut self, number: u32, fragments_left: u8, data: &[u8]) {
        self.write(Segment { number, fragments_left, data, ..self.empty(Command::Push) });
    }

    fn command(&mut self, command: Command) {
        self.write(self.empty(command));
    }

    fn empty<'d>(&self, command: Command) -> Segment<'d> {
        let (timestamp, window, unacknowledged) = (self.clock, self.window, self.unacknowledged);
        Segment { command, fragments_left: 0, window, timestamp, number: 0, unacknowledged, data: &[] }
    }

    fn write(&mut self, segment: Segment<'_>) {
        if self.datagram.len() + HEADER + segment.data.len() > self.settings.datagram_bytes {
            self.finish();
        }
        segment.encode(self.settings.conversation, &mut self.datagram);
    }

    fn finish(&mut self) {
        if !self.datagram.is_empty() {
            self.datagrams.push_back(core::mem::take(&mut self.datagram));
        }
    }
}

fn later(one: u32, other: u32) -> u32 {
    if distance(one, other) > 0 { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const SETTINGS: KcpSettings = KcpSettings {
        conversation: 7,
        datagram_bytes: 124,
        interval: Duration::from_millis(10),
        window: 16,
        resend_skips: 2,
        transmissions_max: 20,
    };

    fn ends() -> (Conversation, Conversation) {
        (Conversation::new(Time::ZERO, SETTINGS), Conversation::new(Time::ZERO, SETTINGS))
    }

    fn datagrams(end: &mut Conversation, now: Time) -> Vec<Vec<u8>> {
        core::iter::from_fn(|| end.poll_datagram(now)).collect()
    }

    #[test]
    fn a_long_message_arrives_in_several_datagrams() {
        let (mut client, mut server) = ends();
        let message = Bytes::from((0..950_u32).map(|at| at as u8).collect::<Vec<u8>>());
        client.send(message.clone());
        let sent = datagrams(&mut client, Time::ZERO);
        assert_eq!(sent.len(), 10);
        assert!(sent.iter().all(|datagram| datagram.len() <= SETTINGS.datagram_bytes));
        for datagram in sent {
            server.handle_datagram(Time::ZERO, &datagram).expect("valid");
        }
        assert_eq!(server.poll_message(), Some(message));
    }

    #[test]
    fn messages_of_one_interval_share_a_datagram() {
        let (mut client, mut server) = ends();
        client.send("a".into());
        assert_eq!(datagrams(&mut client, Time::ZERO).len(), 1);
        client.send("b".into());
        client.send("c".into());
        assert_eq!(client.deadline(), Some(Time::ZERO + 10 * MS));
        assert_eq!(datagrams(&mut client, Time::ZERO + 9 * MS).len(), 0);
        let sent = datagrams(&mut client, Time::ZERO + 10 * MS);
        assert_eq!(sent.len(), 1);
        server.handle_datagram(Time::ZERO, &sent[0]).expect("valid");
        assert_eq!(server.poll_message(), None, "the first one is missing");
    }

    #[test]
    fn an_idle_conversation_needs_no_timer() {
        let (mut client, mut server) = ends();
        assert_eq!(client.deadline(), None);
        client.send("a".into());
        for datagram in datagrams(&mut client, Time::ZERO) {
            server.handle_datagram(Time::ZERO + 5 * MS, &datagram).expect("valid");
        }
        for datagram in datagrams(&mut server, Time::ZERO + 5 * MS) {
            client.handle_datagram(Time::ZERO + 10 * MS, &datagram).expect("valid");
        }
        assert_eq!((client.deadline(), server.deadline()), (None, None));
        assert_eq!(client.figures(0).rtt, Some(10 * MS));
        assert_eq!(client.queued_bytes(), 0);
    }

    #[test]
    fn a_closed_window_is_asked_for() {
        let (mut client, _) = ends();
        client.send("a".into());
        client.peer_window.segments = 0;
        assert_eq!(datagrams(&mut client, Time::ZERO).len(), 0);
        let at = client.deadline().expect("a question is planned");
        assert_eq!(at, Time::ZERO + ASK_FIRST);
        let asked = datagrams(&mut client, at);
        assert_eq!(decode(&asked[0], 7).expect("valid")[0].command, Command::AskWindow);
        let (_, mut server) = ends();
        server.handle_datagram(at, &asked[0]).expect("valid");
        let told = datagrams(&mut server, at);
        client.handle_datagram(at, &told[0]).expect("valid");
        assert_eq!(datagrams(&mut client, at + 10 * MS).len(), 1);
    }

    #[test]
    fn a_foreign_clock_is_no_sample() {
        let (mut client, _) = ends();
        client.send("a".into());
        datagrams(&mut client, Time::ZERO);
        let mut datagram = Vec::new();
        Segment {
            command: Command::Acknowledge,
            fragments_left: 0,
            window: 9,
            timestamp: 99,
            number: 0,
            unacknowledged: 0,
            data: &[],
        }
        .encode(7, &mut datagram);
        client.handle_datagram(Time::ZERO, &datagram).expect("valid");
        assert_eq!((client.figures(0).rtt, client.queued_bytes()), (None, 0));
    }
}
