//! One connection: its handshake, its packets in both directions, its timers, its end.
//!
//! ```text
//! client   Hello ──CHALLENGE──> Opening ──ACCEPT──> Established ──close──> Lingering ──all acked──> Closing
//! server                        Requested ─accept─> Established                                        │
//!          any state ──CLOSE received, idle, carrier lost──> Drained ──a few probe timeouts──> Dead <──┘
//! ```
//! Split by direction: `receive`, `transmit` (and `control_packet`, for packets that hold one thing), `timer`, `close`, `handshake`,
//! `encryption`; `redundancy` serves both, `roaming` follows the peer's address, `sizing` the path's, `server_time` the
//! server's clock. The mechanisms know nothing of
//! each other; they meet here.

mod close;
mod control_packet;
mod encryption;
pub(crate) mod event;
pub(crate) mod events;
pub(crate) mod handshake;
mod identity;
mod inbound;
mod path_state;
mod receive;
mod receiving;
mod redundancy;
mod roaming;
mod sending;
mod server_time;
mod sizing;
pub(crate) mod stats;
mod terms;
mod timer;
mod transmit;

use crate::channel::channels::{Channels, Queued};
use crate::channel::classes::Classes;
use crate::channel::encoded_batch::EncodedBatch;
use crate::channel::inbox::Inbox;
use crate::channel::outgoing::Receipt;
use crate::channel::transfers::Transfers;
use crate::channel::{GivenUp, Submission};
use crate::congestion::{Bandwidth, Congestion, Controller};
use crate::path::Path;
use crate::recovery::Resolved;
use crate::rtt::Rtt;
use crate::security::Security;
use crate::time::{Duration, Time};
use crate::wire::settings::{Merging, Settings};
use close::Ending;
use event::{Event, PeerId};
use events::Events;
use handshake::ClientHandshake;
pub(crate) use identity::ConnectionIds;
use identity::Identity;
pub use identity::Side;
use path_state::PathState;
use receiving::Receiving;
use redundancy::Redundant;
use sending::Sending;
pub use server_time::ServerTime;
use server_time::TimeExchange;
use skipstone_prefetch::{Step, prefetch};
use stats::Stats;
use std::sync::Arc;
use terms::Terms;
use timer::{MergeTimer, Timers};

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

/// Where in its life a connection is: the picture above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConnectionState {
    Hello,
    Opening,
    Requested,
    Established,
    Lingering,
    Closing,
    Drained,
    Dead,
}

/// One connection. Its state is grouped by purpose; each group has a file of its own.
#[derive(Debug)]
pub(crate) struct Connection {
    identity: Identity,
    state: ConnectionState,
    /// What a client asks with until it is let in.
    handshake: Option<Box<ClientHandshake>>,
    /// The end that has begun.
    ending: Option<Box<Ending>>,
    timers: Timers,
    terms: Terms,
    security: Security,
    path: PathState,
    receiving: Receiving,
    sending: Sending,
    channels: Channels,
    redundancy: Redundant,
    time: TimeExchange,
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
    /// No connection ever had this name.
    UnknownPeer,
    /// The connection is not established yet, is closing, or has ended.
    NotConnected,
    /// No rule of the settings holds this channel.
    NoSuchChannel,
    /// An inbound rule leaves this channel to the clients.
    WrongDirection,
    /// The message is longer than the settings, or the channel's queue, allow.
    TooLong {
        /// Bytes of a message on this channel at most.
        bytes_max: usize,
    },
    /// The channel's queue is full.
    QueueFull,
}

impl core::fmt::Display for SendError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            SendError::UnknownPeer => "no connection ever had this name",
            SendError::NotConnected => "the connection is not established",
            SendError::NoSuchChannel => "no rule of the server's channel table holds this channel",
            SendError::WrongDirection => "only clients may send on this channel, by the server's inbound rules",
            SendError::TooLong { bytes_max } => {
                return write!(
                    f,
                    "the message is longer than the {bytes_max} bytes that the settings allow on this channel"
                );
            }
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
    pub depth: crate::channel::channels::Depth,
    /// Share of this side's packets that the path loses, 0 to 1.
    pub loss: f32,
    /// How many packets the peer has sent, as far as their numbers tell.
    pub packets_due: u64,
    /// How many of them came.
    pub packets_received: u64,
    /// Bytes in flight, and how many may be.
    pub bytes_in_flight: u32,
    /// The congestion window; `u64::MAX` without one.
    pub congestion_window: u64,
    /// Bytes of a datagram at present: what the path is known to carry.
    pub datagram_bytes: u16,
}

impl Connection {
    /// The parts that both sides begin with.
    fn new(
        identity: Identity,
        state: ConnectionState,
        path: Path,
        security: Security,
        settings: Arc<Settings>,
        timers: Timers,
    ) -> Self {
        Connection {
            identity,
            state,
            handshake: None,
            ending: None,
            timers,
            security,
            path: PathState::new(path, settings.datagram_bytes_max),
            receiving: Receiving::default(),
            sending: Sending::default(),
            channels: Channels::new(settings.window_bytes, Classes::new(&settings)),
            redundancy: Redundant::new(&settings),
            time: TimeExchange::default(),
            terms: Terms::new(settings),
            stats: Stats::default(),
        }
    }

    pub(crate) fn peer(&self) -> PeerId {
        self.identity.peer
    }

    pub(crate) fn side(&self) -> Side {
        self.identity.side
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path.current
    }

    pub(crate) fn ids(&self) -> ConnectionIds {
        self.identity.ids
    }

    pub(crate) fn settings(&self) -> &Arc<Settings> {
        &self.terms.settings
    }

    /// Begins to fetch what this points to, or what that does. It is in the caches itself.
    pub(crate) fn prefetch(&self, step: Step) {
        match (&self.security, step) {
            (Security::Session(session), Step::Beyond) => session.prefetch(),
            (Security::Session(session), _) => prefetch(&**session),
            (Security::Plain(_), _) => {}
        }
        self.channels.prefetch(step);
        if step == Step::Pointees {
            self.sending.ledger.prefetch();
        }
    }

    pub(crate) fn stats_mut(&mut self) -> &mut Stats {
        &mut self.stats
    }

    /// Chooses the controller of a connection that has sent nothing yet. A reliable carrier has its own.
    pub(crate) fn set_congestion(&mut self, congestion: Congestion) {
        if !self.path.current.carrier.is_reliable {
            self.path.congestion = Controller::new(congestion, self.terms.settings.datagram_bytes_max);
        }
    }

    /// Caps what goes to the peer, in bytes per second with IP headers.
    pub(crate) fn set_bandwidth(&mut self, bytes_per_second: Option<u64>) {
        self.sending.bandwidth = bytes_per_second.map(|rate| Box::new(Bandwidth::new(rate)));
    }

    /// Until then, messages wait for their share of what the endpoint may send.
    pub(crate) fn hold_until(&mut self, until: Time) {
        (self.sending.held_until, self.sending.is_held) = (until, false);
    }

    /// Whether messages wait for that share, and for nothing else.
    pub(crate) fn is_held(&self) -> bool {
        self.sending.is_held
    }

    /// What waits for the end of the old merging leaves at once.
    pub(crate) fn set_merging(&mut self, merging: Merging) {
        self.terms.merging = merging;
        self.terms.is_merging_own = true;
        if self.channels.has_new() {
            self.timers.merge.end(Time::ZERO);
        }
    }

    /// Whether its `Closed` event was given.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.state, ConnectionState::Drained | ConnectionState::Dead)
    }

    /// Whether it can be forgotten.
    pub(crate) fn is_dead(&self) -> bool {
        self.state == ConnectionState::Dead
    }

    /// Queues a message.
    pub(crate) fn send(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        message: Submission,
    ) -> Result<Leaves, SendError> {
        self.begin_queueing(channel)?;
        let rule = self.terms.settings.rule(channel).ok_or(SendError::NoSuchChannel)?;
        let bytes_max = self.terms.settings.message_bytes_max.min(rule.queue_bytes_max) as usize;
        if message.payload.len() > bytes_max {
            return Err(SendError::TooLong { bytes_max });
        }
        let id = message.id;
        let queued =
            self.channels.queue(&self.terms.settings, channel, core::iter::once(message), &mut cx.scratch.receipts);
        // The caller hears of a refusal by the error, and of nothing else.
        cx.scratch.receipts.retain(|receipt| receipt.id != id || receipt.fate != Err(GivenUp::QueueFull));
        let (leaves, messages) = self.end_queueing(cx, channel, queued)?;
        if messages > 0 { Ok(leaves) } else { Err(SendError::QueueFull) }
    }

    /// Queues messages of one channel that were accepted before, and returns how many it took. Those for which there is no
    /// room are given up with an event, if the channel is reliable or has receipts; so are those that are too long.
    pub(crate) fn send_all(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        messages: impl Iterator<Item = Submission>,
    ) -> Result<(Leaves, u32), SendError> {
        self.begin_queueing(channel)?;
        let queued = self.channels.queue(&self.terms.settings, channel, messages, &mut cx.scratch.receipts);
        self.end_queueing(cx, channel, queued)
    }

    /// Queues a batch's messages, and returns how many it took.
    pub(crate) fn send_batch(
        &mut self,
        cx: &mut Context<'_>,
        channel: u16,
        batch: &Arc<EncodedBatch>,
    ) -> Result<(Leaves, u32), SendError> {
        if batch.payload_bytes_max() > self.terms.settings.message_bytes_max as usize {
            return self.send_all(cx, channel, batch.submissions());
        }
        self.begin_queueing(channel)?;
        let queued = self.channels.queue_batch(&self.terms.settings, channel, batch, &mut cx.scratch.receipts);
        self.end_queueing(cx, channel, queued)
    }

    fn begin_queueing(&mut self, channel: u16) -> Result<(), SendError> {
        if self.state != ConnectionState::Established {
            return Err(SendError::NotConnected);
        }
        if self.receiving.inbound.as_ref().is_some_and(|limits| !limits.let_server_send(channel)) {
            return Err(SendError::WrongDirection);
        }
        if !self.channels.has_new() {
            self.timers.merge = MergeTimer::default();
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
        let is_due = match self.terms.merging {
            Merging::Immediate => true,
            Merging::After(span) => {
                let full = usize::from(self.datagram_bytes());
                self.timers.merge.on_messages(cx.now, span, queued.bytes, full)
            }
            Merging::Flush => self.timers.merge.is_over(cx.now),
        };
        let leaves = match self.terms.merging {
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
        self.receiving.window.undelivered -= cost;
        self.tell_window_if_freed(now, free_before)
    }

    /// After room was made outside of a packet's handling.
    fn tell_window_if_freed(&mut self, now: Time, free_before: u64) -> bool {
        let window = u64::from(self.terms.settings.window_bytes);
        let Some(told) = self.receiving.window.told else { return false };
        // In steps, so that not every message that is taken costs a packet.
        let (free, step) = (self.receive_window_free(), (window / 4).max(1));
        let is_worth_it = free >= window && free_before < window || free >= told.saturating_add(step);
        if is_worth_it {
            self.receiving.window.told = Some(free);
            self.receiving.window.news_from = Some(self.sending.ledger.next());
            self.tell_window(now);
        }
        is_worth_it
    }

    /// Asks for an acknowledgement, so that the news is repeated if it is lost.
    fn tell_window(&mut self, now: Time) {
        self.sending.pending.ping = true;
        self.receiving.received.ack_now(now);
    }

    /// Window cost that this side can still take: twice the window, so that the whole of it is always free for a peer
    /// of which little is held.
    fn receive_window_free(&self) -> u64 {
        let taken = self.channels.held_bytes() + self.receiving.window.undelivered;
        (2 * u64::from(self.terms.settings.window_bytes)).saturating_sub(taken)
    }

    /// Messages and their bytes that wait on a channel or are in flight.
    pub(crate) fn queued(&self, channel: u16) -> (u64, u64) {
        self.channels.queued(channel)
    }

    /// The messages of so many bytes and more that are under way.
    pub(crate) fn transfers(&self, bytes_min: usize) -> Transfers {
        self.channels.transfers(bytes_min)
    }

    fn push_receipts(&mut self, cx: &mut Context<'_>) {
        if cx.scratch.receipts.is_empty() {
            return;
        }
        let peer = self.identity.peer;
        for Receipt { id, channel, fate } in cx.scratch.receipts.drain(..) {
            cx.events.push(match fate {
                Ok(()) => Event::Acknowledged { peer, id, channel },
                Err(why) => Event::GivenUp { peer, id, channel, why },
            });
        }
    }

    pub(crate) fn overview(&self) -> Overview {
        Overview {
            stats: self.stats,
            rtt: self.path.rtt,
            path: self.path.current,
            depth: self.channels.depth(),
            loss: if self.path.current.carrier.is_reliable { 0.0 } else { self.sending.ledger.losses().rate() },
            packets_due: self.receiving.received.next(),
            packets_received: self.receiving.received.count(),
            bytes_in_flight: self.sending.ledger.bytes_in_flight(),
            congestion_window: self.path.congestion.window(),
            datagram_bytes: self.datagram_bytes(),
        }
    }
}
