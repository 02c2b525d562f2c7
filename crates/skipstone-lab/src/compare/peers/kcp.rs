//! KCP from its crate: `nodelay 1, interval 10, resend 2, nc 1`, a window of 4,096 segments, the default MTU of 1,400.
//! It does not encrypt and has no handshake.
//!
//! As kcp-go's sessions do, an end flushes when its application has written, and otherwise on its own 10 ms clock,
//! which begins at a moment that the seed chooses. `Stream` packs what is written at one moment; `PacketPerMessage`
//! flushes after each message and acknowledges at once. Who knows KCP flushes on input, too (`Flushes::OnInput`), and
//! sends each datagram twice or three times (blocks of one).

mod blocks;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;

use bytes::Bytes;
use kcp::Kcp;
use skipstone_proto::{Duration, Time};

use super::ends::{Ends, EndsSetup};
use crate::compare::payload::entity_of;
use crate::compare::peers::peer::{Peer, Update};
use crate::framing::{FramedMessages, framed};
use crate::measure::splitmix::splitmix;
use blocks::{BlockSize, Decoder, Encoder};

/// How messages share packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// A stream of messages, each with its length. Messages of the same moment share segments.
    Stream,
    /// Each message in its own packet.
    PacketPerMessage,
}

/// When an end flushes, in addition to its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flushes {
    /// After its application has written.
    OnWrite,
    /// Also when a datagram arrived, so that acknowledgements do not wait for the clock.
    OnInput,
}

/// How KCP is driven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KcpStyle {
    packing: Packing,
    flushes: Flushes,
    /// Reed-Solomon over the datagrams.
    parity: Option<BlockSize>,
}

impl KcpStyle {
    /// A stream, as kcp-go drives it.
    pub(super) const STREAM: Self = Self { packing: Packing::Stream, flushes: Flushes::OnWrite, parity: None };
    /// A packet for each message.
    pub(super) const PER_MESSAGE: Self =
        Self { packing: Packing::PacketPerMessage, flushes: Flushes::OnInput, parity: None };
    /// A stream that acknowledges at once.
    pub(super) const PROMPT: Self = Self { flushes: Flushes::OnInput, ..KcpStyle::STREAM };

    /// The same settings with FEC in blocks.
    pub(super) const fn in_blocks(self, data: usize, parity: usize) -> Self {
        Self { parity: Some(BlockSize { data, parity }), ..self }
    }
}

pub(super) fn ends(style: KcpStyle, setup: EndsSetup<'_>) -> Ends {
    let mut seed = setup.seed;
    // KCP has one queue for all updates, and counts segments. A segment of a stream may hold several updates.
    let of_all = |each: u32| each as usize * usize::from(setup.condition.entities);
    let waiting_max = setup.condition.waiting_max.map_or(usize::MAX, of_all);
    let mut end = |to| {
        let phase = Duration::from_micros(splitmix(&mut seed) % INTERVAL.as_micros() as u64);
        Box::new(KcpEnd { waiting_max, ..KcpEnd::new(style, setup.now, phase, to) })
    };
    Ends { client: end(Some(setup.server)), server: end(None) }
}

struct KcpEnd {
    kcp: Kcp<Outgoing>,
    style: KcpStyle,
    parity: Option<(Encoder, Decoder)>,
    /// Where KCP puts its datagrams.
    outgoing: Outgoing,
    /// Datagrams as they leave.
    ready: VecDeque<Vec<u8>>,
    framing: FramedMessages,
    /// The address from which the peer last sent.
    to: Option<SocketAddr>,
    /// The zero of its clock.
    epoch: Time,
    next_update: Time,
    is_unflushed: bool,
    buffer: Vec<u8>,
    /// Segments that may wait, or be on their way.
    waiting_max: usize,
}

/// Datagrams of KCP's, one per call.
#[derive(Clone, Default)]
struct Outgoing(Rc<RefCell<Vec<Vec<u8>>>>);

impl io::Write for Outgoing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const CONVERSATION: u32 = 0x5EED;
const INTERVAL: Duration = Duration::from_millis(10);
const MTU: usize = 1_400;
const WINDOW: u16 = 4_096;

impl KcpEnd {
    fn new(style: KcpStyle, now: Time, phase: Duration, to: Option<SocketAddr>) -> Self {
        let outgoing = Outgoing::default();
        let mut kcp = match style.packing {
            Packing::Stream => Kcp::new_stream(CONVERSATION, outgoing.clone()),
            Packing::PacketPerMessage => Kcp::new(CONVERSATION, outgoing.clone()),
        };
        kcp.set_nodelay(true, INTERVAL.as_millis() as i32, 2, true);
        kcp.set_wndsize(WINDOW, WINDOW);
        // A path that is down for long must not end the comparison.
        kcp.set_maximum_resend_times(u32::MAX);
        let parity = style.parity.map(|size| (Encoder::new(size), Decoder::new(size)));
        let beside = if parity.is_some() { blocks::OVERHEAD_BYTES } else { 0 };
        kcp.set_mtu(MTU - beside).expect("there is room for a segment");
        let epoch = now + phase;
        Self {
            kcp,
            style,
            parity,
            outgoing,
            ready: VecDeque::new(),
            framing: FramedMessages::default(),
            to,
            epoch,
            next_update: epoch,
            is_unflushed: false,
            buffer: vec![0; 1 << 16],
            waiting_max: usize::MAX,
        }
    }

    /// Brings KCP's clock up to now. KCP flushes when its interval is over; looks at the clock that a stall of the
    /// machine missed are made up for, each at its own time, as KCP would count its intervals from the end of the
    /// stall.
    fn update(&mut self, now: Time) {
        while self.next_update <= now {
            self.look(self.next_update);
            self.next_update += INTERVAL;
        }
        self.look(now);
    }

    fn look(&mut self, now: Time) {
        let millis = now.since(self.epoch).as_millis() as u32;
        self.kcp.update(millis).expect("writing to a queue succeeds");
        self.collect();
    }

    fn flush(&mut self, now: Time) {
        self.update(now);
        self.kcp.flush().expect("it was updated, and writing to a queue succeeds");
        self.is_unflushed = false;
        self.collect();
    }

    /// Collects the segments that KCP has written.
    fn collect(&mut self) {
        for datagram in self.outgoing.0.borrow_mut().drain(..) {
            match &mut self.parity {
                None => self.ready.push_back(datagram),
                Some((encoder, _)) => encoder.encode(&datagram, &mut self.ready),
            }
        }
    }

    fn input(&mut self, datagram: &[u8]) {
        // KCP drops invalid datagrams itself.
        let _ = self.kcp.input(datagram);
    }

    fn receive(&mut self) -> Option<Bytes> {
        if self.style.packing == Packing::PacketPerMessage {
            let bytes = self.kcp.recv(&mut self.buffer).ok()?;
            return Some(Bytes::copy_from_slice(&self.buffer[..bytes]));
        }
        loop {
            if let Some(payload) = self.framing.next() {
                return Some(payload);
            }
            let bytes = self.kcp.recv(&mut self.buffer).ok()?;
            self.framing.add(&self.buffer[..bytes]);
        }
    }
}

impl Peer for KcpEnd {
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, datagram: &mut Vec<u8>) {
        self.to = Some(from);
        // Round trips are measured by its clock.
        self.update(now);
        match &mut self.parity {
            None => self.input(datagram),
            Some((_, decoder)) => {
                for datagram in decoder.decode(datagram) {
                    self.input(&datagram);
                }
            }
        }
        self.is_unflushed |= self.style.flushes == Flushes::OnInput;
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.next_update {
            self.update(now);
        }
    }

    fn poll_timeout(&mut self) -> Time {
        self.next_update
    }

    fn poll_transmit(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SocketAddr> {
        if self.is_unflushed {
            self.flush(now);
        }
        let to = self.to?;
        *datagram = self.ready.pop_front()?;
        Some(to)
    }

    fn is_connected(&self) -> bool {
        true
    }

    fn send(&mut self, now: Time, update: Update) -> bool {
        if self.kcp.wait_snd() >= self.waiting_max {
            return false;
        }
        match self.style.packing {
            Packing::Stream => {
                self.kcp.send(&framed(&update.payload)).expect("an update is short");
                self.is_unflushed = true;
            }
            Packing::PacketPerMessage => {
                self.kcp.send(&update.payload).expect("an update is short");
                self.flush(now);
            }
        }
        true
    }

    fn poll_message(&mut self, _now: Time) -> Option<Update> {
        let payload = self.receive()?;
        Some(Update { entity: entity_of(&payload), payload, age: Duration::ZERO })
    }
}
