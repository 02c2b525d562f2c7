//! How a connection reacts when packets come from another address, and when its own address changes.

use super::candidate::{Candidate, UseBeforeProof};
use crate::channel::channels::Channels;
use crate::connection::event::Event;
use crate::connection::redundancy::CopyCount;
use crate::connection::stats::DropReason;
use crate::connection::{Connection, ConnectionState, Context, Side};
use crate::path::Path;
use crate::rtt::Rtt;
use crate::time::Duration;
use crate::wire::datagram::HEADER_BYTES;
use core::net::SocketAddr;

/// Time for which a connection does not move again after it returned to the address which it had left.
const HOLD: Duration = Duration::from_secs(2);
/// Challenges that an address which was left is sent for nothing. Their intervals double for three seconds.
const LEFT_CHALLENGES_MAX: usize = 12;
impl Connection {
    /// Whether this is the path that the connection uses.
    pub(crate) fn is_on(&self, path: &Path) -> bool {
        self.path.current.is_same_route(path)
    }

    /// The peer's address and id when it opened the connection: repeated and late OPENs come from there.
    pub(crate) fn opened_by(&self) -> (SocketAddr, u32) {
        let opened_by = self.path.roaming.opened_by.as_deref().copied();
        opened_by.unwrap_or((self.path.current.remote, self.identity.ids.remote))
    }

    /// Whether a packet received along this path may be the peer's although the connection uses another path.
    pub(crate) fn may_roam_to(&self, path: &Path) -> bool {
        let is_standing = matches!(
            self.state,
            ConnectionState::Established
                | ConnectionState::Lingering
                | ConnectionState::Closing
                | ConnectionState::Drained
        );
        self.identity.is_server() && is_standing && !self.path.current.carrier.is_bound && !path.carrier.is_bound
    }

    /// Takes a datagram received along the connection's own path. The newest packet shows which of this side's
    /// addresses the peer uses.
    pub(crate) fn handle_packet_here(&mut self, cx: &mut Context<'_>, path: &Path, datagram: &mut [u8]) {
        let (next, sealed) = (self.receiving.received.next(), HEADER_BYTES..datagram.len());
        let Some(number) = self.handle_packet(cx, datagram, sealed) else { return };
        if number >= next {
            self.path.current.local = path.local;
        }
        // The peer sent this packet after the one from the other address: the peer has not moved. Not only the newest
        // packet proves this, because an attacker who replays packets faster than the path has newer ones.
        if self.path.roaming.candidate.as_ref().is_some_and(|candidate| number > candidate.number) {
            self.refuse_candidate(cx);
        }
    }

    /// The candidate is not the peer. Content that was sent there is retransmitted, and no other port is used before it
    /// is validated.
    fn refuse_candidate(&mut self, cx: &mut Context<'_>) {
        let Some(candidate) = self.path.roaming.candidate.take() else { return };
        self.stats.paths_refused += 1;
        if candidate.is_used() {
            self.path.roaming.distrusts = true;
            self.settle_flight(cx);
        }
    }

    /// Treats the packets in flight as sent to an address without a peer: their content is retransmitted at once, the
    /// congestion window is free of them, and they say nothing about the path's losses.
    fn settle_flight(&mut self, cx: &mut Context<'_>) {
        self.path.roaming.moved_at = Some(cx.now);
        self.path.congestion.on_flight_settled(cx.now, self.sending.ledger.bytes_in_flight());
        self.sending.ledger.settle_flight(cx.now, &mut cx.scratch.resolved);
        self.path.mtu.on_flight_settled();
        self.requeue_resolved(cx, CopyCount::Exactly(0), Channels::on_lost);
        // The peer may wait for acknowledgements that went there, too.
        self.receiving.received.ack_now(cx.now);
    }

    /// Takes a datagram received from another address; `token` is random.
    pub(crate) fn handle_packet_from(&mut self, cx: &mut Context<'_>, path: Path, token: u64, datagram: &mut [u8]) {
        let (next, to_answer, bytes) = (self.receiving.received.next(), self.path.roaming.to_answer, datagram.len());
        self.path.roaming.answered = None;
        let sealed = HEADER_BYTES..datagram.len();
        let by = u32::from_be_bytes([0, datagram[1], datagram[2], datagram[3]]);
        let Some(number) = self.handle_packet(cx, datagram, sealed) else { return };
        // Challenges are answered on the connection's path only.
        self.path.roaming.to_answer = to_answer;
        let answered = self.path.roaming.answered.take();
        let id = self.id_towards(by);
        if let Some(asked) = self.path.roaming.asked().find(|asked| asked.path.is_same_route(&path)) {
            // The peer may have changed its ids since that address was noticed, and then it does not know the old ones
            // any more.
            asked.id = id.unwrap_or(asked.id);
        }
        if self.path.roaming.left.as_ref().is_some_and(|left| left.path.is_same_route(&path)) {
            self.hear_from_left(cx, answered, bytes);
        } else if let Some(candidate) =
            self.path.roaming.candidate.as_mut().filter(|candidate| candidate.path.is_same_route(&path))
        {
            candidate.on_datagram(bytes);
            if answered == Some(candidate.token) {
                let home = Candidate::new(
                    cx.now,
                    self.path.current,
                    self.identity.ids.remote,
                    token,
                    number,
                    self.security.overhead(),
                    self.probe_interval(),
                );
                self.move_to_candidate(cx);
                self.ask_left(home);
            }
        } else if number >= next {
            let id = id.unwrap_or(self.identity.ids.remote);
            self.consider(
                cx,
                Candidate::new(cx.now, path, id, token, number, self.security.overhead(), self.probe_interval()),
                bytes,
            );
        }
        self.use_candidate(cx);
    }

    /// Another port of the same host that has enough credit is used from now on.
    fn use_candidate(&mut self, cx: &mut Context<'_>) {
        if self.path.roaming.candidate.as_mut().is_some_and(|candidate| candidate.begin_use()) {
            self.settle_flight(cx);
        }
    }

    /// Asks whether the address that was just left is still the peer's. Until now that address was validated.
    fn ask_left(&mut self, mut left: Box<Candidate>) {
        left.credit = LEFT_CHALLENGES_MAX * left.cost;
        self.path.roaming.left = Some(left);
    }

    /// The first copy of a packet from the address that was left. Newer packets from the present address do not count:
    /// an attacker who forwards is faster than the path with each packet. The token is always newer than the move.
    fn hear_from_left(&mut self, cx: &mut Context<'_>, answered: Option<u64>, bytes: usize) {
        let interval = self.probe_interval();
        let Some(left) = &mut self.path.roaming.left else { return };
        left.on_datagram(bytes);
        if answered == Some(left.token) {
            self.path.roaming.held_until = Some(cx.now + HOLD);
            self.path.roaming.candidate = self.path.roaming.left.take();
            self.move_to_candidate(cx);
            return;
        }
        // The address is alive: the interval does not grow.
        left.interval = interval;
        left.send_at = if left.challenges == 0 { cx.now } else { left.send_at.min(left.sent_at + interval) };
    }

    fn probe_interval(&self) -> Duration {
        self.path.rtt.probe_timeout(Duration::ZERO)
    }

    /// Only one candidate at a time; another one takes its place when the first did not answer, or when both are ports
    /// of the same host, which has moved on.
    fn consider(&mut self, cx: &mut Context<'_>, mut candidate: Box<Candidate>, bytes: usize) {
        let use_before_proof = match self.is_same_way(&candidate.path) && self.is_open() && !self.path.roaming.distrusts
        {
            true => UseBeforeProof::Allowed,
            false => UseBeforeProof::Never,
        };
        let is_held = self.path.roaming.held_until.is_some_and(|until| cx.now < until);
        let before = self.path.roaming.candidate.as_ref();
        let moves_on = before.is_some_and(|it| it.is_used()) && use_before_proof == UseBeforeProof::Allowed;
        if is_held || before.is_some_and(|candidate| !candidate.gives_way() && !moves_on) {
            self.stats.drops.count(DropReason::WrongPath);
            return;
        }
        self.stats.paths_refused += u64::from(before.is_some());
        candidate.use_before_proof = use_before_proof;
        candidate.on_datagram(bytes);
        self.path.roaming.candidate = Some(candidate);
    }

    /// Whether the network path is the same: another port of the same host means a NAT rebinding (RFC 9000, section
    /// 9.4).
    fn is_same_way(&self, path: &Path) -> bool {
        path.remote.ip() == self.path.current.remote.ip() && path.socket == self.path.current.socket
    }

    /// Moves the connection to the candidate, whose address is validated.
    fn move_to_candidate(&mut self, cx: &mut Context<'_>) {
        let Some(candidate) = self.path.roaming.candidate.take() else { return };
        let is_used = candidate.is_used();
        let Candidate { path, id, challenges, sent_at, .. } = *candidate;
        let is_same_way = self.is_same_way(&path);
        self.path.roaming.distrusts = false;
        let left = core::mem::replace(&mut self.path.current, path);
        let left_id = self.use_id(id);
        self.path.roaming.opened_by.get_or_insert_with(|| Box::new((left.remote, left_id)));
        if !is_same_way {
            self.forget_path();
            if challenges == 1 {
                self.path.rtt.on_sample(cx.now.since(sent_at), Duration::ZERO);
            }
            self.path.begin_congestion();
        }
        self.stats.paths_changed += 1;
        if !is_used {
            self.settle_flight(cx);
            self.sending.pending.ping = true;
        }
        if matches!(self.state, ConnectionState::Closing | ConnectionState::Drained) {
            self.answer_now(cx.now);
        }
        if !self.is_over() {
            cx.events.push(Event::PathChanged { peer: self.identity.peer, path });
        }
    }

    /// The embedder's own address changed: from now on this client sends along `path`. False if it cannot.
    pub(crate) fn set_path(&mut self, cx: &mut Context<'_>, path: Path) -> bool {
        let is_standing = matches!(self.state, ConnectionState::Established | ConnectionState::Lingering);
        let is_movable = !self.path.current.carrier.is_bound && !path.carrier.is_bound;
        if self.identity.side != Side::Client || !is_standing || !is_movable {
            return false;
        }
        self.path.current = path;
        self.use_next_id();
        self.forget_path();
        self.path.begin_congestion();
        self.settle_flight(cx);
        self.stats.paths_changed += 1;
        self.path.roaming.announce();
        true
    }

    /// Nothing is known about the new path.
    fn forget_path(&mut self) {
        self.path.rtt = Rtt::new();
        self.sending.ledger.forget_losses();
        self.path.mtu.on_path_changed(self.sending.ledger.next());
    }

    /// The path that packets take now: to the candidate, if it is used before it is validated.
    pub(in crate::connection) fn sends_to(&self) -> Path {
        self.path.roaming.in_use().map_or(self.path.current, |candidate| candidate.path)
    }

    /// Whether packets wait until the unvalidated address has enough credit.
    pub(crate) fn waits_for_credit(&self) -> bool {
        self.path.roaming.in_use().is_some()
    }

    pub(in crate::connection) fn handle_roaming_timeout(&mut self, cx: &mut Context<'_>) {
        if self.path.roaming.candidate.as_ref().is_some_and(|candidate| candidate.deadline <= cx.now) {
            self.refuse_candidate(cx);
        }
        if let Some(left) = self.path.roaming.left.as_mut().filter(|left| left.deadline <= cx.now) {
            left.rest();
        }
    }
}
