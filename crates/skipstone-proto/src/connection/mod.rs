//! One connection: its handshake, its packets in both directions, its timers, its end.
//!
//! ```text
//! client   Hello ──CHALLENGE──> Opening ──ACCEPT──> Established ──close──> Lingering ──all acked──> Closing
//! server                        Requested ─accept─> Established                                        │
//!          any state ──CLOSE received, idle, carrier lost──> Drained ──a few probe timeouts──> Dead <──┘
//! ```
//! Split by direction: `receive`, `transmit` (and `alone`, for packets that hold one thing), `timer`, `close`, `handshake`,
//! `encryption`; `redundancy` serves both, `roaming` follows the peer's address, `sizing` the path's. The mechanisms know nothing of
//! each other; they meet here.

mod alone;
mod close;
mod encryption;
pub mod event;
pub(crate) mod events;
pub(crate) mod handshake;
mod receive;
mod redundancy;
mod roaming;
mod sizing;
pub mod stats;
mod timer;
mod transmit;

use crate::channel::Submission;
use crate::channel::bundle::Bundle;
use crate::channel::classes::Classes;
use crate::channel::inbox::Inbox;
use crate::channel::lanes::{Lanes, Queued};
use crate::channel::outgoing::Receipt;
use crate::congestion::{Algorithm, Controller};
use crate::mtu::Mtu;
use crate::path::Path;
use crate::recovery::{Ledger, Received, Resolved};
use crate::rtt::Rtt;
use crate::security::Security;
use crate::time::{Duration, Time};
use crate::wire::settings::{Merging, Settings};
use close::Ending;
use event::{Event, PeerId};
use events::Events;
use handshake::ClientHandshake;
use redundancy::Redundant;
use roaming::Roaming;
use skipstone_prefetch::prefetch;
use stats::Stats;
use std::sync::Arc;
use timer::{Merge, Timers};

/// What a call into a connection may touch besides the connection.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) events: &'a mut Events,
    pub(crate) scratch: &'a mut Scratch,
}

/// Lists that are filled and emptied within one call, kept for their memory.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    resolved: Vec<Resolved>,
    inbox: Inbox,
    receipts: Vec<Receipt>,
}

/// Which end of the connection this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It asked to be let in.
    Client,
    /// It let somebody in.
    Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hello,
    Opening,
    Requested,
    Established,
    Lingering,
    Closing,
    Drained,
    Dead,
}

/// Connection ids of both directions; the remote one is 0 until it is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ids {
    pub(crate) local: u32,
    pub(crate) remote: u32,
}

/// Frames of the connection's own that wait to be sent.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    accept: bool,
    connect: bool,
    ping: bool,
    /// Packets that may leave although the congestion window is full: probes.
    probes: u8,
}

/// What this side tells the peer about its receive window.
#[derive(Clone, Copy, Debug, Default)]
struct ReceiveWindow {
    /// Cost of the messages that wait for the application.
    undelivered: u64,
    /// What the last acknowledgement told the peer, if that was less than all of it.
    told: Option<u64>,
    /// The peer was told that there is room again, in a packet of this number or a later one, and has not confirmed it.
    news_from: Option<u64>,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Connection {
    peer: PeerId,
    side: Side,
    state: State,
    path: Path,
    ids: Ids,
    security: Security,
    settings: Arc<Settings>,
    merging: Merging,
    /// The merging is this side's choice, not that of the settings.
    is_merging_own: bool,
    handshake: Option<Box<ClientHandshake>>,
    received: Received,
    ledger: Ledger,
    rtt: Rtt,
    congestion: Controller,
    mtu: Mtu,
    roaming: Roaming,
    lanes: Lanes,
    redundancy: Redundant,
    pending: Pending,
    receive_window: ReceiveWindow,
    /// Greatest number of a packet whose acknowledgement set the send window.
    window_from: u64,
    /// New messages wait because the congestion window is full.
    is_limited: bool,
    /// When the pace lets the next packet leave, if one waits for it.
    pace_due: Time,
    timers: Timers,
    ending: Option<Box<Ending>>,
    stats: Stats,
}

/// When a message that was queued may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    Now,
    /// It waits for company until a time, or for the flush before.
    Later,
    AtFlush,
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// There is no such connection (any more), or it does not stand yet, or it is closing.
    NotConnected,
    /// No rule of the settings holds this channel.
    NoSuchChannel,
    /// The message is longer than the settings allow.
    TooLong,
    /// The channel's queue is full.
    QueueFull,
}

impl core::fmt::Display for SendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            SendError::NotConnected => "the connection does not stand",
            SendError::NoSuchChannel => "no rule of the server's channel table holds this channel",
            SendError::TooLong => "the message is longer than the server's settings allow",
            SendError::QueueFull => "the channel's queue is full",
        })
    }
}

impl core::error::Error for SendError {}

/// What a connection is doing, for whoever watches.
#[derive(Clone, Debug)]
pub struct Overview {
    /// Its counters.
    pub stats: Stats,
    /// Round-trip time.
    pub rtt: Rtt,
    /// Where the peer is.
    pub path: Path,
    /// How full its queues are.
    pub depth: crate::channel::lanes::Depth,
    /// Bytes in flight, and how many may be.
    pub bytes_in_flight: u32,
    /// The congestion window; `u64::MAX` without one.
    pub congestion_window: u64,
    /// Bytes of a datagram at present: what the path is known to carry.
    pub datagram_bytes: u16,
}

impl Connection {
    /// The parts that both sides begin with.
    #[expect(clippy::too_many_arguments, reason = "each has a type of its own, and there are two callers")]
    fn new(
        peer: PeerId,
        side: Side,
        state: State,
        path: Path,
        ids: Ids,
        security: Security,
        settings: Arc<Settings>,
        timers: Timers,
    ) -> Self {
        let algorithm = if path.carrier.is_reliable { Algorithm::Off } else { Algorithm::default() };
        Connection {
            peer,
            side,
            state,
            path,
            ids,
            security,
            merging: settings.merging,
            is_merging_own: false,
            lanes: Lanes::new(settings.window_bytes, Classes::new(&settings)),
            redundancy: Redundant::new(&settings),
            congestion: Controller::new(algorithm, settings.datagram_bytes_max),
            settings,
            handshake: None,
            received: Received::default(),
            ledger: Ledger::default(),
            rtt: Rtt::new(),
            mtu: Mtu::default(),
            roaming: Roaming::default(),
            pending: Pending::default(),
            receive_window: ReceiveWindow::default(),
            window_from: 0,
            is_limited: false,
            pace_due: Time::NEVER,
            timers,
            ending: None,
            stats: Stats::default(),
        }
    }

    /// Begins to fetch what this points to: first what it points to itself, then what that does. It is in the caches itself.
    pub(crate) fn prefetch(&self, is_second: bool) {
        if let Security::Session(session) = &self.security {
            if is_second { session.prefetch() } else { prefetch(&**session) }
        }
        self.lanes.prefetch(is_second);
        if !is_second {
            self.ledger.prefetch();
        }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.peer
    }

    pub(crate) fn side(&self) -> Side {
        self.side
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn ids(&self) -> Ids {
        self.ids
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.settings
    }

    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// Chooses the controller of a connection that has sent nothing yet. A reliable carrier has its own.
    pub(crate) fn set_congestion(&mut self, algorithm: Algorithm) {
        if !self.path.carrier.is_reliable {
            self.congestion = Controller::new(algorithm, self.settings.datagram_bytes_max);
        }
    }

    /// What waits for the end of the old merging leaves at once.
    pub(crate) fn set_merging(&mut self, merging: Merging) {
        self.merging = merging;
        self.is_merging_own = true;
        if self.lanes.has_new() {
            self.timers.merge.end(Time::ZERO);
        }
    }

    /// Whether its `Closed` event was given.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, State::Drained | State::Dead)
    }

    /// Whether it can be forgotten.
    pub(crate) fn is_dead(&self) -> bool {
        self.state == State::Dead
    }

    /// Queues a message.
    pub(crate) fn send(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        message: Submission,
    ) -> Result<Leaves, SendError> {
        if message.payload.len() > self.settings.message_bytes_max as usize {
            return Err(if self.state == State::Established { SendError::TooLong } else { SendError::NotConnected });
        }
        let (leaves, messages) = self.send_all(cx, channel, core::iter::once(message))?;
        if messages > 0 { Ok(leaves) } else { Err(SendError::QueueFull) }
    }

    /// Queues messages of one channel, and returns how many it took. Those that are too long are left out.
    pub(crate) fn send_all(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        messages: impl Iterator<Item = Submission>,
    ) -> Result<(Leaves, u32), SendError> {
        self.begin_queueing()?;
        let length_max = self.settings.message_bytes_max as usize;
        let messages = messages.filter(|message| message.payload.len() <= length_max);
        let queued = self.lanes.queue(&self.settings, channel, messages, &mut cx.scratch.receipts);
        self.end_queueing(cx, channel, queued)
    }

    /// Queues a bundle's messages, and returns how many it took.
    pub(crate) fn send_bundle(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        bundle: &Arc<Bundle>,
    ) -> Result<(Leaves, u32), SendError> {
        if bundle.payload_bytes_max() > self.settings.message_bytes_max as usize {
            return self.send_all(cx, channel, bundle.submissions());
        }
        self.begin_queueing()?;
        let queued = self.lanes.queue_bundle(&self.settings, channel, bundle, &mut cx.scratch.receipts);
        self.end_queueing(cx, channel, queued)
    }

    fn begin_queueing(&mut self) -> Result<(), SendError> {
        if self.state != State::Established {
            return Err(SendError::NotConnected);
        }
        if !self.lanes.has_new() {
            self.timers.merge = Merge::default();
        }
        Ok(())
    }

    /// Says when what was queued leaves, and how many messages that are.
    fn end_queueing(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        queued: Option<Queued>,
    ) -> Result<(Leaves, u32), SendError> {
        let queued = queued.ok_or(SendError::NoSuchChannel)?;
        self.push_receipts(cx);
        self.stats.queue_overflows += u64::from(queued.overflows);
        if queued.is_over {
            let reason = format!("the queue of channel {channel} is full");
            self.close(cx, event::code::QUEUE_OVERFLOW, reason.into(), Duration::ZERO);
            return Err(SendError::QueueFull);
        }
        let is_due = match self.merging {
            Merging::Immediate => true,
            Merging::After(span) => {
                let full = usize::from(self.datagram_bytes());
                self.timers.merge.on_messages(cx.now, span, queued.bytes, full)
            }
            Merging::Flush => self.timers.merge.is_over(cx.now),
        };
        let leaves = match self.merging {
            _ if is_due => Leaves::Now,
            Merging::Flush => Leaves::AtFlush,
            _ => Leaves::Later,
        };
        Ok((leaves, queued.messages))
    }

    /// Lets everything queued leave.
    pub(crate) fn flush(&mut self, now: Time) {
        self.timers.merge.end(now);
    }

    /// The application took messages off the queue that held so much of the window. True if the peer is to be told that there
    /// is room again.
    pub(crate) fn on_polled(&mut self, now: Time, cost: u64) -> bool {
        let free_before = self.receive_window_free();
        self.receive_window.undelivered -= cost;
        self.tell_window_if_freed(now, free_before)
    }

    /// After room was made outside of a packet's handling.
    fn tell_window_if_freed(&mut self, now: Time, free_before: u64) -> bool {
        let window = u64::from(self.settings.window_bytes);
        let Some(told) = self.receive_window.told else { return false };
        // In steps, so that not every message that is taken costs a packet.
        let (free, step) = (self.receive_window_free(), (window / 4).max(1));
        let is_worth_it = free >= window && free_before < window || free >= told.saturating_add(step);
        if is_worth_it {
            self.receive_window.told = Some(free);
            self.receive_window.news_from = Some(self.ledger.next());
            self.tell_window(now);
        }
        is_worth_it
    }

    /// Asks for an acknowledgement, so that the news is repeated if it is lost.
    fn tell_window(&mut self, now: Time) {
        self.pending.ping = true;
        self.received.ack_now(now);
    }

    /// Window cost that this side can still take: twice the window, so that the whole of it is always free for a peer
    /// of which little is held.
    fn receive_window_free(&self) -> u64 {
        let taken = self.lanes.held_bytes() + self.receive_window.undelivered;
        (2 * u64::from(self.settings.window_bytes)).saturating_sub(taken)
    }

    fn push_receipts(&mut self, cx: &mut Context<'_>) {
        if cx.scratch.receipts.is_empty() {
            return;
        }
        let peer = self.peer;
        for (id, fate) in cx.scratch.receipts.drain(..) {
            cx.events.push(match fate {
                Ok(()) => Event::Acknowledged { peer, id },
                Err(why) => Event::GivenUp { peer, id, why },
            });
        }
    }

    pub(crate) fn overview(&self) -> Overview {
        Overview {
            stats: self.stats,
            rtt: self.rtt,
            path: self.path,
            depth: self.lanes.depth(),
            bytes_in_flight: self.ledger.bytes_in_flight(),
            congestion_window: self.congestion.window(),
            datagram_bytes: self.datagram_bytes(),
        }
    }
}
