//! A simulated TLS 1.3 for simulated runs: seeded, with the packet and flight sizes of the real one.
//!
//! IT PROTECTS NOTHING: its key follows from cleartext bytes. Real suites draw entropy and clocks of their own, which a
//! simulated run must not. A test of the library (`crates/skipstone/tests`) holds the sizes below to those of the real
//! ones; its rules for opening, dropping and repeating are the same: sequence numbers of 16 bits, a replay window of 64
//! records, flights that are sent again after 200 ms, then at doubled intervals up to 1 s.

use super::session::{HANDSHAKE_COST, Session, Suites};
use crate::cost::Cost;
use crate::rng::Rng;
use crate::time::{Duration, Time};
use crate::wire::datagram::SUITE_TLS_1_3;
use core::ops::Range;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::collections::VecDeque;
use std::hash::Hasher;

/// Suites that protect nothing. Not for sockets.
#[derive(Clone, Copy, Debug)]
pub struct SimulatedSuites {
    seed: u64,
    handshake_cost: Cost,
}

impl SimulatedSuites {
    /// A simulated TLS 1.3, from this seed.
    pub fn new(seed: u64) -> Self {
        SimulatedSuites { seed, handshake_cost: HANDSHAKE_COST }
    }

    /// The same with handshakes that cost the server this much.
    pub fn costing(self, handshake_cost: Cost) -> Self {
        SimulatedSuites { handshake_cost, ..self }
    }

    fn session(&self, now: Time, suite: u8, transcript: &[u8], role: Role) -> Option<Box<dyn Session>> {
        if suite != SUITE_TLS_1_3 {
            return None;
        }
        let covered = SipHasher13::new_with_keys(0, 0).hash(transcript).h1;
        let mut rng = Rng::new(self.seed ^ covered.rotate_left(17) ^ role as u64);
        let share = rng.next_u64();
        let mut session = SimulatedSession {
            role,
            share,
            covered,
            stage: Stage::Waiting,
            came: 0,
            key: 0,
            outgoing: VecDeque::new(),
            resend: None,
            next: 0,
            replay: ReplayWindow::default(),
            was_replay: false,
            rng,
        };
        if role == Role::Client {
            session.say(now, HandshakeFlight::Hello);
        }
        Some(Box::new(session))
    }
}

impl Suites for SimulatedSuites {
    fn offered(&self) -> u8 {
        SUITE_TLS_1_3
    }

    fn client(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        self.session(now, suite, transcript, Role::Client)
    }

    fn server(&self, now: Time, suite: u8, transcript: &[u8]) -> Option<Box<dyn Session>> {
        self.session(now, suite, transcript, Role::Server)
    }

    fn handshake_cost(&self) -> Cost {
        self.handshake_cost
    }
}

/// Sizes of the real suite's handshake and records, in bytes, with a self-signed server certificate.
#[derive(Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The client's first flight.
    pub hello: usize,
    /// The server's answer, datagram by datagram.
    pub answer: &'static [usize],
    /// The client's last flight.
    pub finish: usize,
    /// The server's last word.
    pub confirm: usize,
    /// Bytes by which a packet is longer than its plaintext.
    pub record_overhead: usize,
}

/// TLS 1.3 with packets of this protocol's own; in reality they have counters of 32 bits, and a window of 128.
pub const TLS_1_3: Sizes = Sizes { hello: 800, answer: &[657], finish: 60, confirm: 24, record_overhead: 20 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Client = 1,
    Server = 2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Waits for the peer's first flight.
    Waiting,
    /// Waits for the peer's last flight.
    Answered,
    /// All handshake bytes were exchanged.
    Done,
}

/// The flights of the handshake: each of their datagrams begins with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeFlight {
    Hello = 1,
    Answer = 2,
    Finish = 3,
    Confirm = 4,
}

#[derive(Debug)]
struct SimulatedSession {
    role: Role,
    /// This side's contribution to the key.
    share: u64,
    /// The transcript's contribution to the key.
    covered: u64,
    stage: Stage,
    /// The datagrams of the answer that have come, one bit each.
    came: u32,
    key: u64,
    outgoing: VecDeque<Vec<u8>>,
    /// The flight that is sent again, the time of that, and the interval after it.
    resend: Option<(HandshakeFlight, Time, Duration)>,
    next: u64,
    replay: ReplayWindow,
    was_replay: bool,
    rng: Rng,
}

const RESEND_FIRST: Duration = Duration::from_millis(200);
const RESEND_MAX: Duration = Duration::from_secs(1);
/// Kind, number within the flight, share.
const FLIGHT_HEADER_BYTES: usize = 10;
const TAG_BYTES: usize = 16;

impl SimulatedSession {
    /// Queues a flight; all but the last word are sent again until they are answered.
    fn say(&mut self, now: Time, flight: HandshakeFlight) {
        let sizes: &[usize] = match flight {
            HandshakeFlight::Hello => &[TLS_1_3.hello],
            HandshakeFlight::Answer => TLS_1_3.answer,
            HandshakeFlight::Finish => &[TLS_1_3.finish],
            HandshakeFlight::Confirm => &[TLS_1_3.confirm],
        };
        for (number, size) in sizes.iter().enumerate() {
            let mut bytes = vec![flight as u8, number as u8];
            bytes.extend(self.share.to_be_bytes());
            bytes.resize_with((*size).max(FLIGHT_HEADER_BYTES), || self.rng.next_u64() as u8);
            self.outgoing.push_back(bytes);
        }
        self.resend = (flight != HandshakeFlight::Confirm).then_some((flight, now + RESEND_FIRST, RESEND_FIRST));
    }

    fn on_flight(&mut self, now: Time, kind: u8, number: u8, share: u64) -> bool {
        let (role, stage) = (self.role, self.stage);
        match (role, kind) {
            (Role::Server, 1) if stage == Stage::Waiting => {
                self.key = share ^ self.share ^ self.covered;
                self.stage = Stage::Answered;
                self.say(now, HandshakeFlight::Answer);
            }
            (Role::Server, 1) if stage == Stage::Answered => self.say(now, HandshakeFlight::Answer),
            (Role::Server, 3) if stage != Stage::Waiting => {
                self.stage = Stage::Done;
                self.say(now, HandshakeFlight::Confirm);
            }
            (Role::Client, 2) if stage == Stage::Waiting && usize::from(number) < TLS_1_3.answer.len() => {
                self.came |= 1 << number;
                if self.came.count_ones() as usize == TLS_1_3.answer.len() {
                    self.key = share ^ self.share ^ self.covered;
                    self.stage = Stage::Answered;
                    self.say(now, HandshakeFlight::Finish);
                }
            }
            (Role::Client, 4) if stage == Stage::Answered => {
                self.stage = Stage::Done;
                self.resend = None;
            }
            // The peer retransmits: it has not received the answer.
            (Role::Client, 2) if stage == Stage::Answered => self.say(now, HandshakeFlight::Finish),
            (Role::Client, 2 | 4) | (Role::Server, 1) => {}
            _ => return false,
        }
        true
    }

    /// The peer's and this side's records differ by the id in their header, which the tag covers.
    fn tag(&self, header: &[u8], sequence: u64, ciphertext: &[u8]) -> [u8; TAG_BYTES] {
        let mut hasher = SipHasher13::new_with_keys(self.key, sequence);
        hasher.write(header);
        hasher.write(ciphertext);
        hasher.finish128().as_bytes()
    }

    /// Exclusive or with a stream of bytes that key and sequence determine.
    fn mask(&self, sequence: u64, bytes: &mut [u8]) {
        let mut stream = Rng::new(self.key ^ sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for chunk in bytes.chunks_mut(8) {
            let word = stream.next_u64().to_be_bytes();
            chunk.iter_mut().zip(word).for_each(|(byte, mask)| *byte ^= mask);
        }
    }
}

impl Session for SimulatedSession {
    fn is_established(&self) -> bool {
        match self.role {
            // A client may send packets after its last flight, before it has the server's last flight.
            Role::Client => self.stage != Stage::Waiting,
            Role::Server => self.stage == Stage::Done,
        }
    }

    fn failure(&self) -> Option<&str> {
        None
    }

    fn progress(&self) -> u64 {
        u64::from(self.came.count_ones()) + self.stage as u64
    }

    fn handshake_bytes(&self) -> usize {
        // The same limit as in the real TLS suite.
        8_192
    }

    fn will_sign(&self) -> bool {
        self.role == Role::Server && self.stage == Stage::Waiting
    }

    fn handle_handshake(&mut self, now: Time, bytes: &[u8]) -> bool {
        let Some((header, _)) = bytes.split_first_chunk::<FLIGHT_HEADER_BYTES>() else { return false };
        let [kind, number, share @ ..] = *header;
        self.on_flight(now, kind, number, u64::from_be_bytes(share))
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some((flight, at, interval)) = self.resend
            && at <= now
        {
            self.say(now, flight);
            let next = (interval * 2).min(RESEND_MAX);
            self.resend = Some((flight, now + next, next));
        }
    }

    fn poll_handshake(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let bytes = self.outgoing.pop_front()?;
        buffer.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(bytes.len())
    }

    fn poll_timeout(&self) -> Time {
        self.resend.map_or(Time::NEVER, |(_, at, _)| at)
    }

    fn overhead(&self) -> usize {
        TLS_1_3.record_overhead
    }

    fn seal(&mut self, datagram: &mut [u8], plaintext: Range<usize>) -> usize {
        let (sequence, start) = (self.next, plaintext.start);
        self.next += 1;
        // The sequence is in front, the rest of a real record's overhead at the end.
        let body = start + 2..plaintext.end + 2;
        datagram.copy_within(plaintext, body.start);
        datagram[start..body.start].copy_from_slice(&(sequence as u16).to_be_bytes());
        self.mask(sequence, &mut datagram[body.clone()]);
        let end = body.end - 2 + TLS_1_3.record_overhead;
        datagram[body.end..end].fill(0);
        let tag = self.tag(&datagram[..start], sequence, &datagram[body.start..end - TAG_BYTES]);
        datagram[end - TAG_BYTES..end].copy_from_slice(&tag);
        end
    }

    fn was_replay(&self) -> bool {
        self.was_replay
    }

    fn open(&mut self, datagram: &mut [u8], header: usize) -> Option<Range<usize>> {
        self.was_replay = false;
        let end = datagram.len().checked_sub(TLS_1_3.record_overhead - 2)?;
        let short = u16::from_be_bytes(datagram.get(header..header + 2)?.try_into().ok()?);
        let body = header + 2..end;
        if body.end < body.start {
            return None;
        }
        let sequence = self.replay.restore(short);
        if !self.replay.is_new(sequence) {
            self.was_replay = true;
            return None;
        }
        let (covered, tag) = datagram.split_at(datagram.len() - TAG_BYTES);
        if self.tag(&covered[..header], sequence, &covered[body.start..]) != tag {
            return None;
        }
        self.replay.note(sequence);
        self.mask(sequence, &mut datagram[body.clone()]);
        Some(body)
    }
}

/// The last 64 records, as RFC 9147 section 4.5.1 recommends: an older record counts as a replay.
#[derive(Clone, Copy, Debug, Default)]
struct ReplayWindow {
    next: u64,
    /// Bit n: record `next - 1 - n` has come.
    seen: u64,
}

impl ReplayWindow {
    /// The sequence nearest to the next one with these low bits.
    fn restore(self, short: u16) -> u64 {
        let above = self.next + u64::from(short.wrapping_sub(self.next as u16));
        if above - self.next < 1 << 15 { above } else { above.checked_sub(1 << 16).unwrap_or(above) }
    }

    fn is_new(self, sequence: u64) -> bool {
        match self.next.checked_sub(sequence + 1) {
            None => true,
            Some(age) => age < 64 && self.seen & 1 << age == 0,
        }
    }

    fn note(&mut self, sequence: u64) {
        if sequence >= self.next {
            let step = sequence + 1 - self.next;
            self.seen = self.seen.checked_shl(step as u32).filter(|_| step < 64).unwrap_or(0) | 1;
            self.next = sequence + 1;
        } else {
            self.seen |= 1 << (self.next - 1 - sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Box<dyn Session>, Box<dyn Session>) {
        let suites = SimulatedSuites::new(3);
        let mut client = suites.client(Time::ZERO, SUITE_TLS_1_3, b"transcript").expect("it is offered");
        let mut server = suites.server(Time::ZERO, SUITE_TLS_1_3, b"transcript").expect("it is offered");
        let mut buffer = [0; 2_000];
        for _ in 0..4 {
            while let Some(length) = client.poll_handshake(&mut buffer) {
                assert!(server.handle_handshake(Time::ZERO, &buffer[..length]));
            }
            while let Some(length) = server.poll_handshake(&mut buffer) {
                assert!(client.handle_handshake(Time::ZERO, &buffer[..length]));
            }
        }
        assert!(client.is_established() && server.is_established());
        (client, server)
    }

    #[test]
    fn a_sealed_packet_opens_once_and_damage_is_detected() {
        let (mut client, mut server) = pair();
        let overhead = client.overhead();
        let mut datagram = [0; 100];
        datagram[4..12].copy_from_slice(b"in clear");
        let length = client.seal(&mut datagram, 4..12);
        assert_eq!(length, 12 + overhead);
        let sealed = datagram[..length].to_vec();
        assert!(!sealed.windows(8).any(|window| window == b"in clear"));
        for bit in 0..length * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(server.open(&mut damaged, 4).is_none(), "bit {bit}");
        }
        let mut copy = sealed.clone();
        let range = server.open(&mut copy, 4).expect("it is genuine");
        assert_eq!(&copy[range], b"in clear");
        assert!(server.open(&mut sealed.clone(), 4).is_none(), "a replay");
        assert!(server.open(&mut sealed[..5].to_vec(), 4).is_none(), "cut short");
    }

    #[test]
    fn records_overtaken_by_64_others_are_dropped() {
        let (mut client, mut server) = pair();
        let mut sealed = Vec::new();
        for _ in 0..70_000 {
            let mut datagram = vec![7; 40];
            let length = client.seal(&mut datagram, 4..10);
            datagram.truncate(length);
            sealed.push(datagram);
        }
        let skipped = [0, 100, 66_000];
        for (number, datagram) in sealed.iter().enumerate().filter(|(number, _)| !skipped.contains(number)) {
            assert!(server.open(&mut datagram.clone(), 4).is_some());
            if number == 163 {
                assert!(server.open(&mut sealed[100].clone(), 4).is_some(), "63 later ones have come");
            }
            if number == 66_064 {
                assert!(server.open(&mut sealed[66_000].clone(), 4).is_none(), "64 later ones have come");
            }
        }
    }
}
