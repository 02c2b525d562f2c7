//! Moves datagrams from the endpoint to the sockets: in batches for a server, transmit by transmit for a client, and
//! all messages together for a stream.

use super::Driver;
use super::sockets::{Local, Socket, StreamSocket};
use crate::driver_stats::DriverStats;
use crate::net::udp::{AddressPair, SendBatch, SendOutcome, TRANSMIT_BYTES_MAX};
use crate::net::websocket::WsConnection;
use skipstone_prefetch::prefetch;
use skipstone_proto::Time;
use skipstone_proto::Transmit;

/// Bytes before each packet that the endpoint writes, for a stream's frame head.
const ROOM_BYTES: usize = WsConnection::ROOM_BYTES;

/// Packets for streams that are written with one reading of the clock, which costs as much as one of their checksums:
/// they are not paced, and their time is accurate to about 30 us.
const POLLS_PER_READING: usize = 4;

impl Driver {
    /// Sends everything that is due.
    pub(super) fn transmit(&mut self) {
        let mut buffer = core::mem::take(&mut self.buffer);
        let (mut now, mut polls) = (Time::ZERO, 0);
        loop {
            buffer.resize(ROOM_BYTES + TRANSMIT_BYTES_MAX, 0);
            if polls % POLLS_PER_READING == 0 {
                now = self.clock.now();
            }
            let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer[ROOM_BYTES..]) else { break };
            polls = if transmit.path.carrier.is_reliable { polls + 1 } else { 0 };
            self.flush_all_but(transmit.path.socket);
            if !self.hold(&transmit, &mut buffer) {
                self.route(now, &transmit, &buffer[ROOM_BYTES..][..transmit.bytes]);
            }
        }
        self.buffer = buffer;
        self.send_held();
        self.repeat_hello(self.clock.recent());
        self.transmit_of_guests(self.clock.recent());
        for socket in 0..self.sockets.shared.len() {
            self.flush_shared(self.sockets.shared[socket]);
        }
        while self.flush_newest() {}
    }

    /// Writes the waiting bytes of the stream that was written last, unless it is this one: a stream's bytes leave when
    /// another connection has its turn, while the processor's caches still hold them.
    #[inline]
    fn flush_all_but(&mut self, number: u32) {
        if self.held.packet.is_some_and(|(socket, _)| socket != number) {
            self.send_held();
        }
        if self.sockets.unflushed.last().is_some_and(|newest| *newest != number) {
            self.flush_newest();
        }
    }

    /// Holds the first packet for a stream where the endpoint wrote it, until another follows or another connection has
    /// its turn. False if it must be sent now: several packets of one stream are joined.
    #[inline]
    fn hold(&mut self, transmit: &Transmit, buffer: &mut Vec<u8>) -> bool {
        let number = transmit.path.socket;
        let is_of_stream = transmit.path.carrier.is_reliable && transmit.bytes <= transmit.segment_bytes;
        let Some(Socket::Stream(stream)) = self.sockets.all.get_mut(number as usize).filter(|_| is_of_stream) else {
            return false;
        };
        if let Some((_, bytes)) = self.held.packet.take() {
            let first = &self.held.buffer[ROOM_BYTES..][..bytes];
            send_stream(stream, first, bytes, &mut self.stats);
            return false;
        }
        if self.sockets.unflushed.last() == Some(&number) {
            return false;
        }
        // It is written when the next connection has written its own packet.
        prefetch(&**stream);
        core::mem::swap(buffer, &mut self.held.buffer);
        self.held.packet = Some((number, transmit.bytes));
        true
    }

    /// Writes the held packet directly from the endpoint's buffer.
    fn send_held(&mut self) {
        let Some((number, bytes)) = self.held.packet.take() else { return };
        if let Some(Socket::Stream(stream)) = self.sockets.all.get_mut(number as usize)
            && stream.ws.send_now(&mut self.held.buffer[..ROOM_BYTES + bytes]).is_err()
        {
            self.stats.send_errors += 1;
        }
        self.after_stream(number);
    }

    /// Writes the waiting bytes of the stream that was written last. False if there is none.
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
        let to = AddressPair { local: transmit.path.local, remote: transmit.path.remote };
        let segment = Some(transmit.segment_bytes);
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

    /// Sends the datagrams of a server's sessions.
    fn transmit_of_guests(&mut self, now: Time) {
        let mut guests = core::mem::take(&mut self.guests);
        guests.advance(now, &mut self.endpoint);
        guests.transmit(now, &mut |socket, to, bytes, segment| self.leave_shared(now, socket, to, bytes, segment));
        self.guests = guests;
    }

    /// Sends a server's datagrams, through the simulated network of the socket if there is one.
    fn leave_shared(&mut self, now: Time, number: u32, to: AddressPair, bytes: &[u8], segment_bytes: Option<usize>) {
        let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize) else { return };
        let Some(paths) = &mut shared.paths else { return self.send_shared(number, to, bytes, segment_bytes) };
        for datagram in bytes.chunks(segment_bytes.unwrap_or(bytes.len()).max(1)) {
            paths.send_down(now, to, datagram);
        }
    }

    /// Puts a server's datagrams into the send batch of the socket, and flushes the batch first if it is full.
    pub(super) fn send_shared(&mut self, number: u32, to: AddressPair, bytes: &[u8], segment_bytes: Option<usize>) {
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

fn send_stream(stream: &mut StreamSocket, bytes: &[u8], segment_bytes: usize, stats: &mut DriverStats) {
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
