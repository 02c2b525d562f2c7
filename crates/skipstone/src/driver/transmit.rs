//! Moves datagrams from the endpoint to the sockets: in batches for a server, transmit by transmit for a client, and
//! all messages together for a stream.

use super::Driver;
use super::sockets::{Local, Socket, Stream};
use crate::driver_stats::DriverStats;
use crate::net::udp::{SendBatch, SendOutcome, TRANSMIT_BYTES_MAX};
use skipstone_proto::Time;
use skipstone_proto::Transmit;
use std::net::SocketAddr;

impl Driver {
    /// Sends everything that is due.
    pub(super) fn transmit(&mut self) {
        let mut buffer = core::mem::take(&mut self.buffer);
        buffer.resize(TRANSMIT_BYTES_MAX, 0);
        loop {
            let now = self.clock.now();
            let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) else { break };
            // A stream's bytes leave when another connection has its turn, while the processor's caches still hold them.
            if self.sockets.unflushed.last().is_some_and(|newest| *newest != transmit.path.socket) {
                self.flush_newest();
            }
            self.route(now, &transmit, &buffer[..transmit.bytes]);
        }
        self.buffer = buffer;
        self.repeat_hello(self.clock.recent());
        self.transmit_of_guests(self.clock.recent());
        for socket in 0..self.sockets.shared.len() {
            self.flush_shared(self.sockets.shared[socket]);
        }
        while self.flush_newest() {}
    }

    /// Writes what waits for the stream that got bytes last. False if there is none.
    fn flush_newest(&mut self) -> bool {
        let Some(number) = self.sockets.unflushed.pop() else { return false };
        match self.sockets.all.get_mut(number as usize) {
            Some(Socket::Stream(stream)) => {
                stream.is_unflushed = false;
                stream.ws.flush();
            }
            Some(Socket::Local(local)) => {
                local.is_unflushed = false;
                local.stream.flush();
            }
            _ => {}
        }
        self.after_stream(number);
        true
    }

    fn route(&mut self, now: Time, transmit: &Transmit, bytes: &[u8]) {
        let number = transmit.path.socket;
        let (to, segment) = (transmit.path.remote, Some(transmit.segment_bytes));
        if self.guests.send(now, number, bytes, transmit.segment_bytes, &mut self.endpoint) {
            if self.guests.is_crowded() {
                self.transmit_of_guests(now);
            }
            return;
        }
        match self.sockets.all.get_mut(number as usize) {
            Some(Socket::Shared(shared)) => {
                let is_taken = shared.paths.is_none() && shared.batch.push(bytes, to, segment);
                if !is_taken {
                    self.leave_shared(now, number, to, bytes, segment);
                }
            }
            Some(Socket::Own(own)) if own.secured.is_some() => self.send_secured(now, number, bytes, segment),
            Some(Socket::Own(own)) => {
                let outcome = own.send(now, bytes, transmit.segment_bytes, &mut self.outgoing);
                self.stats.note(&outcome, &mut self.outgoing);
            }
            Some(Socket::Stream(stream)) => {
                send_stream(stream, bytes, transmit.segment_bytes, &mut self.stats);
                if !core::mem::replace(&mut stream.is_unflushed, true) {
                    self.sockets.unflushed.push(number);
                }
                if !stream.ws.is_writable() && !core::mem::replace(&mut stream.is_blocked, true) {
                    self.endpoint.set_writable(number, false);
                }
            }
            Some(Socket::Local(local)) => {
                send_local(local, bytes, transmit.segment_bytes, &mut self.stats);
                if !core::mem::replace(&mut local.is_unflushed, true) {
                    self.sockets.unflushed.push(number);
                }
                if !local.stream.is_writable() && !core::mem::replace(&mut local.is_blocked, true) {
                    self.endpoint.set_writable(number, false);
                }
            }
            Some(Socket::Dialing) => self.take_hello(bytes),
            None => self.stats.send_errors += 1,
        }
    }

    /// Sends what a server's sessions have to send.
    fn transmit_of_guests(&mut self, now: Time) {
        let mut guests = core::mem::take(&mut self.guests);
        guests.advance(now, &mut self.endpoint);
        guests.transmit(now, &mut |socket, to, bytes, segment| self.leave_shared(now, socket, to, bytes, segment));
        self.guests = guests;
    }

    /// Sends a server's datagrams, through the simulated network of the socket if there is one.
    fn leave_shared(&mut self, now: Time, number: u32, to: SocketAddr, bytes: &[u8], segment_bytes: Option<usize>) {
        let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize) else { return };
        let Some(paths) = &mut shared.paths else { return self.send_shared(number, to, bytes, segment_bytes) };
        for datagram in bytes.chunks(segment_bytes.unwrap_or(bytes.len()).max(1)) {
            paths.send_down(now, to, datagram);
        }
    }

    /// Puts a server's datagrams into the send batch of the socket, and flushes the batch first if it is full.
    pub(super) fn send_shared(&mut self, number: u32, to: SocketAddr, bytes: &[u8], segment_bytes: Option<usize>) {
        let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize) else { return };
        if shared.batch.push(bytes, to, segment_bytes) {
            return;
        }
        self.flush_shared(number);
        if let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize)
            && !shared.batch.push(bytes, to, segment_bytes)
        {
            // The kernel accepts nothing: the datagram is lost, as on a full link, and the protocol recovers from the
            // loss.
            self.stats.send_errors += 1;
        }
    }

    /// Passes a server's send batch to the kernel. Datagrams that the kernel does not accept wait until the socket is
    /// writable.
    fn flush_shared(&mut self, number: u32) {
        let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize) else { return };
        if shared.batch.is_empty() || shared.is_blocked {
            return;
        }
        let outcome = shared.udp.send_batch(&mut shared.batch);
        self.stats.send_calls += outcome.calls;
        self.stats.send_errors += outcome.errors.total();
        if outcome.would_block && shared.udp.watch_writable(self.poll.registry()).is_ok() {
            shared.is_blocked = true;
        }
    }

    pub(super) fn on_writable(&mut self, number: u32) {
        if let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize)
            && core::mem::replace(&mut shared.is_blocked, false)
        {
            // If this fails, the socket only reports writability more often than needed.
            let _ = shared.udp.unwatch_writable(self.poll.registry());
            self.flush_shared(number);
        }
    }
}

fn send_stream(stream: &mut Stream, bytes: &[u8], segment_bytes: usize, stats: &mut DriverStats) {
    for message in bytes.chunks(segment_bytes) {
        if stream.ws.send(message).is_err() {
            stats.send_errors += 1;
        }
    }
}

fn send_local(local: &mut Local, bytes: &[u8], segment_bytes: usize, stats: &mut DriverStats) {
    for packet in bytes.chunks(segment_bytes) {
        if local.stream.send(packet).is_err() {
            stats.send_errors += 1;
        }
    }
}

impl DriverStats {
    /// Counts a send. Datagrams that the kernel did not accept are lost, as on a full link.
    pub(super) fn note(&mut self, outcome: &SendOutcome, batch: &mut SendBatch) {
        self.send_calls += outcome.calls;
        self.send_errors += outcome.errors.total() + batch.len() as u64;
        batch.clear();
    }
}
