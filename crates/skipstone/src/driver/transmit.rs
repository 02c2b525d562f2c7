//! From the endpoint to the sockets: a server's datagrams in batches, a client's one by one, a stream's messages together.

use super::sockets::{Own, Socket, Stream};
use super::{Driver, DriverStats};
use crate::net::udp::{SendBatch, SendOutcome, TRANSMIT_BYTES_MAX};
use skipstone_proto::endpoint::Transmit;
use skipstone_proto::time::Time;

impl Driver {
    /// Lets everything leave that is due.
    pub(super) fn transmit(&mut self) {
        let mut buffer = core::mem::take(&mut self.buffer);
        buffer.resize(TRANSMIT_BYTES_MAX, 0);
        loop {
            let now = self.clock.now();
            let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) else { break };
            self.route(now, &transmit, &buffer[..transmit.bytes]);
        }
        self.buffer = buffer;
        while let Some((socket, to, bytes)) = self.half_open.as_mut().and_then(|half_open| half_open.poll_transmit()) {
            if let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(socket as usize)
                && !shared.batch.push(&bytes, to, None)
            {
                self.stats.send_errors += 1;
            }
        }
        for socket in 0..self.sockets.shared.len() {
            self.flush_shared(self.sockets.shared[socket]);
        }
        while let Some(number) = self.sockets.unflushed.pop() {
            if let Some(Socket::Stream(stream)) = self.sockets.all.get_mut(number as usize) {
                stream.is_unflushed = false;
                stream.ws.flush();
            }
            self.after_stream(number);
        }
    }

    fn route(&mut self, now: Time, transmit: &Transmit, bytes: &[u8]) {
        let number = transmit.path.socket;
        let (to, segment) = (transmit.path.remote, Some(transmit.segment_bytes));
        match self.sockets.all.get_mut(number as usize) {
            Some(Socket::Shared(shared)) => {
                if shared.batch.push(bytes, to, segment) {
                    return;
                }
                self.flush_shared(number);
                if let Some(Socket::Shared(shared)) = self.sockets.all.get_mut(number as usize)
                    && !shared.batch.push(bytes, to, segment)
                {
                    // The kernel takes nothing: as on a full link, the datagram is lost and the protocol repairs it.
                    self.stats.send_errors += 1;
                }
            }
            Some(Socket::Own(own)) => send_own(own, now, transmit, bytes, &mut self.outgoing, &mut self.stats),
            Some(Socket::Stream(stream)) => {
                send_stream(stream, bytes, transmit.segment_bytes, &mut self.stats);
                if !core::mem::replace(&mut stream.is_unflushed, true) {
                    self.sockets.unflushed.push(number);
                }
                if !stream.ws.is_writable() && !core::mem::replace(&mut stream.is_blocked, true) {
                    self.endpoint.set_writable(number, false);
                }
            }
            None => self.stats.send_errors += 1,
        }
    }

    /// Hands a server's batch to the kernel; if it does not take all of it, the rest waits for the socket.
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
            // Should that fail, the socket reports more often than needed.
            let _ = shared.udp.unwatch_writable(self.poll.registry());
            self.flush_shared(number);
        }
    }
}

/// A client's datagrams: through its played network if it has one.
fn send_own(
    own: &mut Own,
    now: Time,
    transmit: &Transmit,
    bytes: &[u8],
    batch: &mut SendBatch,
    stats: &mut DriverStats,
) {
    if let Some(links) = &mut own.links {
        bytes.chunks(transmit.segment_bytes).for_each(|datagram| links.send_up(now, datagram));
        return;
    }
    batch.push(bytes, transmit.path.remote, Some(transmit.segment_bytes));
    let outcome = own.udp.send_batch(batch);
    stats.note(&outcome, batch);
}

fn send_stream(stream: &mut Stream, bytes: &[u8], segment_bytes: usize, stats: &mut DriverStats) {
    for message in bytes.chunks(segment_bytes) {
        if stream.ws.send(message).is_err() {
            stats.send_errors += 1;
        }
    }
}

impl DriverStats {
    /// Counts a send; what the kernel did not take is lost, as on a full link.
    pub(super) fn note(&mut self, outcome: &SendOutcome, batch: &mut SendBatch) {
        self.send_calls += outcome.calls;
        self.send_errors += outcome.errors.total() + batch.len() as u64;
        batch.clear();
    }
}
