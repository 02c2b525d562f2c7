//! The bots' connections: what their sockets bring, and what scripts ask of them.

use super::super::timers::TimerKind;
use super::Worker;
use crate::protocol::{Cause, Ending, Event};
use crate::protocols::row::Carrier;
use crate::script::{BotScript, ConnectOrder, ScriptFault};
use crate::socket::BotSocket;
use mio::Token;
use skipstone_proto::Time;
use std::sync::atomic::Ordering;
use std::time::Duration;

impl Worker<'_> {
    pub(super) fn read(&mut self, slot: usize) {
        if self.host.links.borrow()[slot].reads_from.is_some() {
            return self.settle(slot);
        }
        let mut has_more = false;
        let mut datagram = std::mem::take(&mut self.datagram);
        self.with_socket(slot, |socket, now, _| has_more = socket.handle_readable(now, &mut datagram, READS_MAX));
        self.datagram = datagram;
        if has_more {
            self.unread.push(slot);
        }
        self.settle(slot);
    }

    pub(super) fn on_event(&mut self, slot: usize, event: Event) {
        match event {
            Event::Connected => {
                self.on_connected(slot);
                self.call(slot, |script, engine| script.on_connected(engine));
            }
            Event::Message { channel, data } => {
                {
                    let messages = &mut self.host.tally.borrow_mut().messages;
                    messages.received += 1;
                    messages.bytes_received += data.len() as u64;
                }
                self.host.progress.received.fetch_add(1, Ordering::Relaxed);
                self.call(slot, |script, engine| script.on_message(engine, channel, &data));
            }
            Event::Closed(ending) => {
                self.end_link(slot);
                self.host.links.borrow_mut()[slot].ending = Some(ending.clone());
                self.on_closed(slot, &ending);
            }
        }
    }

    pub(super) fn on_connected(&mut self, slot: usize) {
        let now = self.host.elapsed();
        {
            let link = &mut self.host.links.borrow_mut()[slot];
            let tally = &mut *self.host.tally.borrow_mut();
            tally.connects += 1;
            tally.connected += u64::from(!link.was_connected);
            if let Some(since) = link.connecting_since.take() {
                tally.connect_us.record(now.saturating_sub(since).as_micros() as u64);
            }
            (link.is_connected, link.was_connected) = (true, true);
        }
        self.host.progress.on_connected();
        let from = self.slots[slot].life.from;
        if let Some(ticks) = &mut self.slots[slot].ticks {
            let due = ticks.restart((now - from).as_secs_f64());
            if !std::mem::replace(&mut ticks.is_set, true) {
                self.timers.set(from + Duration::from_secs_f64(due), TimerKind::Tick, slot);
            }
        }
    }

    pub(super) fn on_closed(&mut self, slot: usize, ending: &Ending) {
        let is_wanted = ending.cause == Cause::Closed;
        let Some(script) = &self.slots[slot].script else { return };
        let handles = script.handles_closed();
        if !is_wanted {
            let tally = &mut *self.host.tally.borrow_mut();
            tally.count_ending(ending);
            let was_connected = self.host.links.borrow()[slot].was_connected;
            tally.dropped += u64::from(was_connected && !handles);
            if was_connected {
                tally.bots.on_drop(self.slots[slot].life.number);
            }
        }
        self.call(slot, |script, engine| script.on_closed(engine, ending));
    }

    pub(super) fn connect(&mut self, slot: usize, order: &ConnectOrder) {
        if self.host.links.borrow()[slot].socket.is_some() {
            return self.fault(slot, &ScriptFault::new("bot:connect while the bot connects already"));
        }
        self.host.tally.borrow_mut().attempts += 1;
        let opened = self.open(slot, order);
        match opened {
            Ok(()) => {}
            Err(why) => self.fault(slot, &ScriptFault::new(why)),
        }
    }

    pub(super) fn open(&mut self, slot: usize, order: &ConnectOrder) -> Result<(), String> {
        let script_url = self.slots[slot].script.as_ref().and_then(BotScript::url);
        let url = order.url.as_deref().or(self.plan.url.as_deref()).or(script_url);
        let url = url.ok_or(
            "the bot has nowhere to connect to: give a URL on the command line, or in the script as \
                             skipstone.bot{ connect = \"udp://127.0.0.1:9000\" }",
        )?;
        let place = self.places.find(url)?;
        let now = self.host.elapsed();
        let mut links = self.host.links.borrow_mut();
        let link = &mut links[slot];
        let seed = self.host.connection_seed(link);
        let mut socket = BotSocket::open(place.row, &place.target, place.address, seed, self.host.time())
            .map_err(|error| error.to_string())?;
        socket.register(self.poll.registry(), Token(slot)).map_err(|error| format!("no socket: {error}"))?;
        // The first connection of a bot that connects as it begins counts from when it was to begin.
        let is_first = link.connections == 1 && !self.slots[slot].script.as_ref().is_some_and(BotScript::has_waited);
        link.connecting_since = Some(if is_first { link.from } else { now });
        link.socket = Some(socket);
        if let Carrier::Own(step) = place.row.carrier
            && !self.steps.iter().any(|own| std::ptr::fn_addr_eq(*own, step))
        {
            self.steps.push(step);
        }
        Ok(())
    }

    pub(super) fn with_socket(&mut self, slot: usize, with: impl FnOnce(&mut BotSocket, Time, &mut Vec<u8>)) {
        let mut links = self.host.links.borrow_mut();
        if let Some(socket) = &mut links[slot].socket {
            with(socket, self.host.time(), &mut self.outgoing);
        }
    }

    /// The connection is over: its counters are kept.
    pub(super) fn end_link(&mut self, slot: usize) {
        let mut links = self.host.links.borrow_mut();
        let link = &mut links[slot];
        if let Some(mut socket) = link.socket.take() {
            let tally = &mut *self.host.tally.borrow_mut();
            tally.socket += socket.counts();
            tally.protocol += socket.protocol().figures().counts;
        }
        if std::mem::take(&mut link.is_connected) {
            self.host.progress.on_closed();
        }
        (link.connecting_since, link.is_closing, link.reads_from) = (None, false, None);
    }
}

/// Datagrams or chunks that are read from a socket in its turn.
const READS_MAX: usize = 32;
