//! A client and a server over a link whose every fault is chosen by the bytes, checked against the delivery rules.

use crate::input::Input;
use core::net::SocketAddr;
use skipstone_proto::MessageId;
use skipstone_proto::Plain;
use skipstone_proto::wire::cursor::Reader;
use skipstone_proto::wire::datagram::{self, Datagram};
use skipstone_proto::wire::frame::{Frame, Frames};
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{ChannelRule, DeliveryMode, Merging, Settings};
use skipstone_proto::{Config, Endpoint, Event, PeerId};
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Redundancy, RedundancyMode};
use std::collections::VecDeque;

const MODES: [DeliveryMode; 5] = [
    DeliveryMode::Unreliable,
    DeliveryMode::UnreliableSequenced,
    DeliveryMode::ReliableOrdered,
    DeliveryMode::ReliableUnordered,
    DeliveryMode::ReliableSequenced,
];
/// Number of channels of each mode.
const CHANNELS: usize = 3;
const STEPS_MAX: usize = 1_000;
const BUDGET: usize = 100_000;

/// One end, and the datagrams in flight towards it.
struct End {
    endpoint: Endpoint,
    path: Path,
    peer: Option<PeerId>,
    inbox: VecDeque<Vec<u8>>,
    /// One of this number of datagrams towards this end is lost; 0 for no loss.
    loses_one_of: usize,
    /// Number of datagrams towards this end so far.
    coming: usize,
    /// By channel: the messages that this end sent, and the other end's messages that arrived here.
    sent: Vec<Vec<usize>>,
    got: Vec<Vec<u32>>,
    fates: Vec<Vec<u8>>,
}

/// Plays the bytes; panics if a delivery rule is violated, or if a reliable message does not arrive after the faults
/// end.
pub fn pair(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let settings = settings(&mut input);
    let mut now = Time::from_micros(1_000_000);
    let mut ends = [End::new(Config::client(), 1), End::new(Config::server(settings), 2)];
    let peer = ends[0].endpoint.connect(now, ends[0].path, b"token").expect("it may connect");
    ends[0].peer = Some(peer);
    let mut plain = None;
    for _ in 0..20 {
        exchange(&mut now, &mut ends, Duration::from_millis(20));
        plain = plain.or_else(|| ends[0].inbox.iter().find_map(|datagram| key(datagram)));
    }
    let plain = plain.expect("the server has sent a CHALLENGE");
    let mut buffer = vec![0; 1 << 16];
    let mut budget = BUDGET;
    for _ in 0..STEPS_MAX {
        if input.is_empty() {
            break;
        }
        let which = input.u8();
        let at = usize::from(which >> 7);
        match which & 0x7f {
            0..40 => ends[at].send(now, &mut input, &mut budget),
            40..60 => ends[at].deliver(now, &mut input),
            fault @ 60..80 => ends[at].disturb(fault, &mut input),
            80..100 => now += Duration::from_micros(u64::from(input.u16())),
            100..105 => ends[at].endpoint.flush(now),
            105 => ends[at].inbox.clear(),
            106..110 => {
                let (byte, flip) = (usize::from(input.u16()), input.u8().max(1));
                let End { inbox, coming, .. } = &mut ends[at];
                let _ = inbox.iter_mut().any(|datagram| lie(&plain, datagram, *coming as u64, byte, flip));
            }
            // Sets the loss of datagrams towards one end.
            110..114 => ends[at].loses_one_of = 2 + usize::from(input.u8() % 32),
            _ => {
                ends[at].endpoint.handle_timeout(now);
                transmit(now, at, &mut ends, &mut buffer);
                ends[at].poll(now);
            }
        }
    }
    ends.iter_mut().for_each(|end| end.loses_one_of = 0);
    let standing = (0..4_000).any(|_| {
        exchange(&mut now, &mut ends, Duration::from_millis(20));
        ends.iter_mut().all(End::is_quiet)
    });
    if !standing {
        let views = ends.each_mut().map(|end| end.peer.and_then(|peer| end.endpoint.overview(peer)));
        panic!("not everything arrived within 80 s: {views:#?}");
    }
    for (at, end) in ends.iter().enumerate() {
        end.check(&ends[1 - at]);
    }
}

fn settings(input: &mut Input<'_>) -> Settings {
    let choice = input.u8();
    let own = [
        None,
        Some(RedundancyMode::Repeat { bursts: 1 + choice % 8 }),
        Some(RedundancyMode::Lean),
        Some(RedundancyMode::Adaptive),
        Some(RedundancyMode::Fixed { sources: 4, repairs: 1 }),
    ];
    let rule = |(at, mode): (usize, &DeliveryMode)| {
        let first = (at * CHANNELS) as u16;
        // A mode for each rule, or one for all rules.
        let redundancy = if choice & 0x80 != 0 { own[(usize::from(choice) + at) % own.len()] } else { None };
        // Where a newer message replaces an older one, repeat mode is refused.
        let can_repeat = *mode != DeliveryMode::ReliableSequenced;
        let redundancy = redundancy.filter(|own| can_repeat || !matches!(own, RedundancyMode::Repeat { .. }));
        let rule = ChannelRule::new(first..=first + CHANNELS as u16 - 1, *mode);
        ChannelRule { receipts: at % 2 == 1, redundancy, ..rule }
    };
    let redundancies = [
        RedundancyMode::Adaptive,
        RedundancyMode::Off,
        RedundancyMode::Lean,
        RedundancyMode::Fixed { sources: 1 + choice % 7, repairs: 1 + choice % 3 },
    ];
    let mode = redundancies[usize::from(choice) % redundancies.len()];
    let rules: Vec<ChannelRule> = MODES.iter().enumerate().map(rule).collect();
    let modes = rules.iter().filter_map(|rule| rule.redundancy).chain([mode]);
    // A block code is refused without a sufficient budget.
    let needed = modes.map(RedundancyMode::budget_percent_min).max().unwrap_or(0);
    Settings {
        redundancy: Redundancy { mode, budget_percent: [125, 20, 400][usize::from(choice) % 3].max(needed) },
        message_bytes_max: 4_000,
        window_bytes: 4_400 + 100 * u32::from(choice),
        // The minimum that has room for the channel table.
        datagram_bytes_max: [if choice & 0x80 != 0 { 320 } else { 256 }, 600, 1_472][input.below(3)],
        merging: [Merging::Immediate, Merging::After(Duration::from_millis(3)), Merging::Flush][input.below(3)],
        idle_timeout: Duration::from_secs(3_600),
        keepalive: Duration::from_secs(5),
        channels: rules,
        ..Settings::default()
    }
}

/// Without loss: everything in flight arrives after `step`.
fn exchange(now: &mut Time, ends: &mut [End; 2], step: Duration) {
    let mut buffer = vec![0; 1 << 16];
    *now += step;
    for at in 0..2 {
        while let Some(mut datagram) = ends[at].inbox.pop_front() {
            let path = ends[at].path;
            ends[at].endpoint.handle_datagram(*now, path, &mut datagram);
        }
        ends[at].endpoint.flush(*now);
        ends[at].endpoint.handle_timeout(*now);
        ends[at].poll(*now);
        ends[at].accept(*now);
        transmit(*now, at, ends, &mut buffer);
    }
}

fn transmit(now: Time, at: usize, ends: &mut [End; 2], buffer: &mut [u8]) {
    while let Some(transmit) = ends[at].endpoint.poll_transmit(now, buffer) {
        for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
            let to = &mut ends[1 - at];
            to.coming += 1;
            if to.loses_one_of == 0 || !to.coming.is_multiple_of(to.loses_one_of) {
                to.inbox.push_back(datagram.to_vec());
            }
        }
    }
}

/// The suite that a CHALLENGE selects.
fn key(datagram: &[u8]) -> Option<Plain> {
    match datagram::decode(datagram) {
        Ok(Datagram::Challenge(challenge)) => Some(Plain::new(challenge.cookie)),
        _ => None,
    }
}

/// Changes a byte of the REPAIR frame of a packet whose number is near this one, and seals it again, so that it is
/// authentic. False if the packet has none.
fn lie(plain: &Plain, datagram: &mut [u8], near: u64, byte: usize, flip: u8) -> bool {
    let Some(opened) = plain.open(datagram, datagram::HEADER_BYTES, near) else { return false };
    let mut reader = Reader::new(&datagram[opened.clone()]);
    let Ok(number) = reader.truncated() else { return false };
    let mut frames = Frames::new(reader.rest());
    let mut before = frames.remaining();
    while let Some(frame) = frames.next() {
        if let Ok(Frame::Repair(_)) = frame {
            // It extends to the end; its type stays.
            datagram[opened.end - before + 1 + byte % (before - 1)] ^= flip;
            plain.seal(datagram, opened, number.resolve(near));
            return true;
        }
        before = frames.remaining();
    }
    false
}

impl End {
    fn new(config: Config, number: u8) -> Self {
        let all = MODES.len() * CHANNELS;
        let remote = SocketAddr::from(([192, 0, 2, number], 7_777));
        End {
            endpoint: Endpoint::new(config, [number; 32]).expect("a good configuration"),
            path: Path { socket: 0, local: None, remote, carrier: Carrier::UDP },
            peer: None,
            inbox: VecDeque::new(),
            loses_one_of: 0,
            coming: 0,
            sent: vec![Vec::new(); all],
            got: vec![Vec::new(); all],
            fates: vec![Vec::new(); all],
        }
    }

    fn send(&mut self, now: Time, input: &mut Input<'_>, budget: &mut usize) {
        let Some(peer) = self.peer else { return };
        let channel = input.below(self.sent.len());
        let length = 4 + [0, 10, 200, 1_000, 3_900][input.below(5)] + input.below(60);
        for _ in 0..1 + input.below(40) {
            if *budget < length + 20 {
                return;
            }
            *budget -= length + 20;
            let number = self.sent[channel].len();
            let id = MessageId((channel << 32 | number) as u64);
            let payload = content(channel, number as u32, length);
            if self.endpoint.send(now, peer, channel as u16, payload.into(), id).is_ok() {
                self.sent[channel].push(length);
                self.fates[channel].push(0);
            }
        }
    }

    fn deliver(&mut self, now: Time, input: &mut Input<'_>) {
        for _ in 0..1 + input.below(4) {
            let Some(mut datagram) = self.inbox.pop_front() else { return };
            self.endpoint.handle_datagram(now, self.path, &mut datagram);
        }
    }

    /// Loses, duplicates, reorders or damages datagrams in flight towards this end.
    fn disturb(&mut self, fault: u8, input: &mut Input<'_>) {
        match fault {
            60..65 => drop(self.inbox.pop_front()),
            65..70 => {
                let copy = self.inbox.front().cloned();
                self.inbox.extend(copy);
            }
            70..75 => {
                let count = self.inbox.len().max(1);
                self.inbox.rotate_left(input.below(count) % count);
            }
            _ => {
                if let Some(byte) = self.inbox.front_mut().and_then(|first| first.last_mut()) {
                    *byte ^= 1;
                }
            }
        }
    }

    fn accept(&mut self, now: Time) {
        if let Some(peer) = self.peer {
            self.endpoint.accept(now, peer);
        }
    }

    fn poll(&mut self, now: Time) {
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Requested { peer, .. } => self.peer = Some(peer),
                Event::Message { channel, payload, .. } => {
                    let number = u32::from_le_bytes(payload[..4].try_into().expect("4 bytes"));
                    assert!(content(usize::from(channel), number, payload.len()) == payload, "{number} was changed");
                    self.got[usize::from(channel)].push(number);
                }
                Event::Acknowledged { id, .. } | Event::GivenUp { id, .. } => {
                    self.fates[(id.0 >> 32) as usize][id.0 as u32 as usize] += 1;
                }
                Event::Connected { .. } => {}
                Event::PathChanged { path, .. } => panic!("nobody moved to {path:?}"),
                Event::Closed { close, .. } => panic!("nobody closed: {close:?}"),
                other => panic!("nobody asked for {other:?}"),
            }
        }
    }

    fn is_quiet(&mut self) -> bool {
        let Some(overview) = self.peer.and_then(|peer| self.endpoint.overview(peer)) else { return false };
        let depth = overview.depth;
        (depth.messages, depth.held_bytes, depth.channels, overview.bytes_in_flight) == (0, 0, 0, 0)
    }

    /// Checks the messages that arrived from the other end against the rules of the channels.
    fn check(&self, other: &End) {
        for (channel, (sent, got)) in other.sent.iter().zip(&self.got).enumerate() {
            let mode = MODES[channel / CHANNELS];
            let all: Vec<u32> = (0..sent.len() as u32).collect();
            let mut sorted = got.clone();
            sorted.sort_unstable();
            assert!(sorted.is_sorted_by(|a, b| a < b), "channel {channel}: twice");
            assert!(sorted.iter().all(|number| (*number as usize) < sent.len()), "channel {channel}: never sent");
            match mode {
                DeliveryMode::ReliableOrdered => assert_eq!(*got, all, "channel {channel}"),
                DeliveryMode::ReliableUnordered => assert_eq!(sorted, all, "channel {channel}"),
                DeliveryMode::ReliableSequenced => assert_eq!(got.last(), all.last(), "channel {channel}: the newest"),
                DeliveryMode::Unreliable | DeliveryMode::UnreliableSequenced => {}
            }
            assert!(!mode.is_sequenced() || *got == sorted, "channel {channel}: not in order");
            let expected = u8::from((channel / CHANNELS) % 2 == 1);
            // Superseded messages are given up with an event on each reliable channel.
            let is_superseding = mode == DeliveryMode::ReliableSequenced && expected == 0;
            let is_wrong = |fates: &u8| if is_superseding { *fates > 1 } else { *fates != expected };
            let wrong = other.fates[channel].iter().position(is_wrong);
            assert_eq!(wrong, None, "channel {channel}: as many fates as asked for");
        }
    }
}

fn content(channel: usize, number: u32, length: usize) -> Vec<u8> {
    let mut content = number.to_le_bytes().to_vec();
    content.extend((4..length).map(|at| (at as u8) ^ (at >> 8) as u8 ^ (channel as u8) << 4 ^ number as u8));
    content
}
