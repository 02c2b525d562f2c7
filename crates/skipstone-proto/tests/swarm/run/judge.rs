//! Invariants of a run while it lasts, when it is quiet, and at its end.

use super::{From, MessageEncoder};
use crate::plan::BROADCAST_CHANNEL;
use crate::simulation::ms;
use crate::traffic::Fate;
use skipstone_proto::MessageId;
use skipstone_proto::window_cost;
use skipstone_proto::{Close, ClosedBy, DropReason, Event, PeerId, code};
use skipstone_proto::{Duration, Time};

impl MessageEncoder {
    /// Memory does not grow beyond the limits of the settings.
    pub(super) fn check_memory(&mut self) {
        self.check_population();
        let window = u64::from(self.settings().window_bytes);
        let queues: u64 = self.settings().channels.iter().map(|rule| u64::from(rule.queue_messages_max) * 6).sum();
        // One packet beyond the limit, each of whose messages costs 64 bytes in addition to its own. A stream's packet
        // has 4,080 bytes.
        let packet = 64 * u64::from(self.settings().datagram_bytes_max.max(4_080))
            + window_cost(self.settings().message_bytes_max as usize);
        for from in self.directions() {
            let Some(overview) = self.overview(from) else { continue };
            let depth = overview.depth;
            assert!(depth.held_bytes <= 3 * window + packet, "{from:?} holds {depth:?} of {window}");
            assert!(depth.messages <= queues, "{from:?} queues {depth:?}");
            assert!(depth.channels <= 8 * 6 * 2 + 1, "{from:?} has {depth:?}");
        }
        let work = self.world.server.endpoint.event_count();
        assert!(work < 1 << 20, "{work} events wait");
    }

    /// Places that were taken and given back add up to the existing connections.
    fn check_population(&mut self) {
        let clients = self.world.clients.iter_mut();
        for node in clients.chain([&mut self.world.server]) {
            assert!(node.endpoint.is_population_balanced(), "places were not counted as they came and went");
        }
    }

    pub(super) fn is_standing(&self, at: usize) -> bool {
        let Some((ours, theirs)) = self.peers[at] else { return false };
        !self.ended[at] && !self.closes.contains_key(&(Some(at), ours)) && !self.closes.contains_key(&(None, theirs))
    }

    /// The links heal and all applications poll: every reliable message arrives, and every state is freed.
    pub(super) fn quiesce(&mut self) {
        self.world.relink(&self.plan.healed.clone());
        self.world.server.polls = true;
        self.world.clients.iter_mut().for_each(|client| client.polls = true);
        (0..self.peers.len()).for_each(|at| self.world.server.endpoint.set_writable(at as u32, true));
        let end = self.world.now + QUIET_WITHIN;
        loop {
            self.flush();
            self.world.run_for(ms(50));
            self.look();
            let busy: Vec<_> = self.directions().into_iter().filter(|from| !self.is_quiet(*from)).collect();
            if busy.is_empty() {
                break;
            }
            if self.world.now >= end {
                let views: Vec<_> = busy.iter().map(|from| self.overview(*from)).collect();
                panic!("not quiet {QUIET_WITHIN:?} after the links healed: {busy:?} {views:#?}");
            }
        }
        for at in 0..self.peers.len() {
            if !self.is_standing(at) {
                continue;
            }
            self.tally.complete += 1;
            for ((from, channel), stream) in self.streams.iter().filter(|((from, _), _)| from.client() == at) {
                stream.check_complete(&format!("{from:?} channel {channel} {:?}", stream.rule));
                stream.check_fates(&format!("{from:?} channel {channel} {:?}", stream.rule));
            }
            if let Some(expected) = &self.broadcasts[at] {
                assert_eq!(&self.got_broadcasts[at], expected, "broadcasts to client {at}");
            }
        }
    }

    fn is_quiet(&mut self, from: From) -> bool {
        if !self.is_standing(from.client()) {
            return true;
        }
        let Some(overview) = self.overview(from) else { return true };
        let depth = overview.depth;
        overview.bytes_in_flight == 0 && (depth.messages, depth.bytes, depth.channels, depth.held_bytes) == (0, 0, 0, 0)
    }

    /// After that, only keepalives are sent.
    pub(super) fn stay_idle(&mut self) {
        // Late packets, and the answers to them.
        self.world.run_for(ms(5_000));
        if self.plan.moves {
            // A client that moved and has sent nothing since is found by its keepalive.
            self.world.run_for(self.settings().keepalive * 2);
        }
        let before = self.world.sent.clone();
        let span = self.settings().keepalive * 4;
        self.world.run_for(span);
        self.look();
        for at in (0..self.peers.len()).filter(|at| self.is_standing(*at)) {
            let (up, down) = (self.world.sent[at].0 - before[at].0, self.world.sent[at].1 - before[at].1);
            assert!((2..=5).contains(&up) && (2..=5).contains(&down), "client {at}: {up} up, {down} down in {span:?}");
        }
    }

    pub(super) fn end(&mut self) {
        for at in 0..self.peers.len() {
            let standing = self.is_standing(at);
            self.tally.closed_early += u64::from(!standing);
            if standing {
                self.close(at, self.plan.ends[at]);
            }
        }
        self.world.run_for(ms(20_000));
        self.look();
        for (from, channel) in self.streams.keys().copied().collect::<Vec<_>>() {
            let stream = &self.streams[&(from, channel)];
            let what = format!("{from:?} channel {channel} {:?}", stream.rule);
            // Clients that were killed do not report what they got.
            if from == From::Client(from.client()) || !self.world.killed.contains(&from.client()) {
                stream.check(&what);
            }
            if from != From::Client(from.client()) || !self.world.killed.contains(&from.client()) {
                stream.check_fates(&what);
            }
        }
        (0..self.peers.len()).for_each(|at| self.check_closes(at));
        assert_eq!(self.world.server.endpoint.connection_count(), 0, "every connection is over");
        self.check_population();
        self.check_stats();
    }

    fn check_closes(&mut self, at: usize) {
        let is_killed = self.world.killed.contains(&at);
        let asked: Vec<PeerId> =
            self.world.asked.iter().filter(|(_, client)| *client == at).map(|(peer, _)| *peer).collect();
        let theirs: Vec<Option<&Close>> = asked.iter().map(|peer| self.closes.get(&(None, *peer))).collect();
        assert!(theirs.iter().all(Option::is_some), "client {at}: the server heard of no end: {theirs:?}");
        if is_killed {
            return;
        }
        assert_eq!(self.world.clients[at].endpoint.connection_count(), 0, "client {at} is over");
        let ours: Vec<&Close> =
            self.closes.iter().filter(|((node, _), _)| *node == Some(at)).map(|(_, close)| close).collect();
        assert_eq!(ours.len(), 1, "client {at}: {ours:?}");
        let Some(theirs) = theirs.last().copied().flatten() else { return };
        let ours = ours[0];
        // On a link that loses packets, the last CLOSE of each side may be lost; on a healed link it may not.
        let is_told = [ours, theirs].into_iter().any(|close| close.by == ClosedBy::Peer);
        let on_healed = self.plan.ends[at].at_step.is_none() && self.peers[at].is_some();
        let is_by_overflow = [ours, theirs].into_iter().any(|close| close.code == code::QUEUE_OVERFLOW);
        if is_told || on_healed && !is_by_overflow {
            assert_eq!((ours.code, &ours.reason), (theirs.code, &theirs.reason), "client {at}: {ours:?} {theirs:?}");
        }
        if self.plan.refuses.contains(&at) && ours.by == ClosedBy::Peer {
            assert_eq!(ours.code, 77);
        }
    }

    fn check_stats(&mut self) {
        let server = self.world.server.endpoint.totals();
        let (mut up, mut down) = (0, 0);
        for (to_server, from_server) in &self.world.sent {
            (up, down) = (up + to_server, down + from_server);
        }
        assert_eq!(server.sent.datagrams, down, "the server counts its datagrams");
        let mut sent_up = 0;
        let mut both = server;
        for client in &mut self.world.clients {
            let totals = client.endpoint.totals();
            sent_up += totals.sent.datagrams;
            both.add(&totals);
        }
        assert_eq!(sent_up, up, "the clients count their datagrams");
        assert!(both.received.messages <= both.sent.messages, "{both:?}");
        assert!(both.received.payload_bytes <= both.sent.payload_bytes, "{both:?}");
        // Killed clients have messages that they never looked at.
        assert!(both.received.messages >= self.tally.arrived, "{both:?}");
        if self.world.killed.is_empty() {
            assert_eq!(both.received.messages, self.tally.arrived, "{both:?}");
        }
        self.tally.datagrams += up + down;
        self.tally.resent += both.resent;
        self.tally.lost += both.packets_lost;
        self.tally.spurious += both.packets_spurious;
        self.tally.black_holes += both.black_holes;
        self.tally.window_drops += both.drops.of(DropReason::WindowExceeded);
    }

    /// Checks the events since the last time.
    pub(super) fn look(&mut self) {
        for at in 0..=self.world.clients.len() {
            let node = (at < self.world.clients.len()).then_some(at);
            let events = match node {
                Some(at) => &self.world.clients[at].events,
                None => &self.world.server.events,
            };
            let fresh: Vec<(Time, Event)> = events[self.seen[at]..].to_vec();
            self.seen[at] = events.len();
            fresh.into_iter().for_each(|(_, event)| self.look_at(node, event));
        }
    }

    fn look_at(&mut self, node: Option<usize>, event: Event) {
        let peer = event.peer();
        assert!(!self.closes.contains_key(&(node, peer)), "{node:?}: {event:?} after the end");
        match event {
            Event::Message { channel, payload, .. } => {
                self.tally.arrived += 1;
                let from = match node {
                    Some(at) => From::Server(at),
                    None => From::Client(self.client_of(peer)),
                };
                if channel == BROADCAST_CHANNEL {
                    let number = u32::from_le_bytes(payload[..4].try_into().expect("4 bytes"));
                    self.got_broadcasts[from.client()].push(number);
                    return;
                }
                let stream = self.streams.get_mut(&(from, channel));
                let stream = stream.unwrap_or_else(|| panic!("{from:?} sent nothing on channel {channel}"));
                stream.on_message(&payload, &format!("{from:?} channel {channel}"));
            }
            Event::Acknowledged { id, .. } => self.on_fate(node, id, Fate::Acknowledged),
            // A broadcast for which one peer had no room is no longer expected there.
            Event::GivenUp { peer, channel: BROADCAST_CHANNEL, .. } => {
                let at = self.client_of(peer);
                self.broadcasts[at] = None;
            }
            Event::GivenUp { id, .. } => self.on_fate(node, id, Fate::GivenUp),
            Event::Closed { close, .. } => {
                self.closes.insert((node, peer), close);
            }
            Event::PathChanged { .. } => self.tally.moved += 1,
            Event::Requested { .. } | Event::Connected { .. } => {}
            other => panic!("nobody asked for {other:?}"),
        }
    }

    fn client_of(&self, peer: PeerId) -> usize {
        self.world.asked.iter().find(|(asked, _)| *asked == peer).expect("it asked").1
    }

    fn on_fate(&mut self, node: Option<usize>, id: MessageId, fate: Fate) {
        match fate {
            Fate::Acknowledged => self.tally.acknowledged += 1,
            Fate::GivenUp => self.tally.given_up += 1,
        }
        let (from, channel, number) = self.ids[&(node, id)];
        let stream = self.streams.get_mut(&(from, channel)).expect("it was sent there");
        stream.on_fate(number, fate, &format!("{from:?} channel {channel} {:?}", stream.rule));
    }
}

/// The maximum virtual time from healed links and polling applications to silence.
const QUIET_WITHIN: Duration = Duration::from_secs(120);
