//! From the sockets into the endpoint.

use super::half_open::HalfOpen;
use super::siblings::{Siblings, deliver};
use super::sockets::{Socket, Stream, udp_carrier};
use super::{Driver, TOKEN_LISTENER, TOKEN_WAKER};
use crate::net::udp::{ReceiveBatch, UdpSocket};
use crate::net::websocket::{WsAccept, WsCloseReason, WsReceive};
use mio::Token;
use skipstone_proto::endpoint::Endpoint;
use skipstone_proto::path::{Carrier, Path};
use skipstone_proto::time::Time;
use std::time::Instant;

/// Batches that one socket may fill before the others have their turn.
const BATCHES_MAX: usize = 16;
/// Such turns in one round.
const ROUNDS_MAX: usize = 8;

/// The sockets that are read next: their memory, and that of their connections, is fetched while others are read.
struct Ahead<'a>([mio::event::Iter<'a>; Ahead::STEPS]);

impl<'a> Ahead<'a> {
    const STEPS: usize = 3;

    fn new(events: &'a mio::Events) -> Self {
        Ahead(core::array::from_fn(|_| events.iter()))
    }

    /// The first so many of its steps go on by one.
    fn advance(&mut self, driver: &Driver, steps: usize) {
        for (before, socket) in self.0.iter_mut().take(steps).enumerate() {
            let Some(Token(socket)) = socket.next().map(|event| event.token()) else { continue };
            if before == 0 {
                driver.sockets.prefetch(socket);
            }
            if let Some(owner) = driver.sockets.owner(socket) {
                driver.endpoint.prefetch(owner, Self::STEPS - 1 - before);
            }
        }
    }
}

impl Driver {
    /// Takes everything that the last wait found, and what earlier rounds left.
    pub(super) fn receive(&mut self) {
        self.take_strays();
        self.receive_unread();
        let events = core::mem::replace(&mut self.events, mio::Events::with_capacity(0));
        let mut ahead = Ahead::new(&events);
        for steps in 1..=Ahead::STEPS {
            ahead.advance(self, steps);
        }
        for event in &events {
            ahead.advance(self, Ahead::STEPS);
            match event.token() {
                TOKEN_WAKER => {}
                TOKEN_LISTENER => self.sockets.is_listener_ready = true,
                Token(socket) => {
                    if event.is_writable() {
                        self.on_writable(socket as u32);
                    }
                    let may_be_over = event.is_read_closed() || event.is_write_closed() || event.is_error();
                    self.receive_from(socket as u32, may_be_over);
                }
            }
        }
        self.events = events;
        // A tick's datagrams of thousands of clients come all at once.
        for _ in 1..ROUNDS_MAX {
            self.receive_unread();
        }
        if self.sockets.is_listener_ready {
            self.accept_streams();
        }
        self.take_arrivals();
        self.drop_stale_streams();
        self.release_sockets();
    }

    /// Goes on with the sockets that had more than they may hand over in one turn.
    fn receive_unread(&mut self) {
        let unread = core::mem::take(&mut self.sockets.unread);
        unread.into_iter().for_each(|socket| self.receive_from(socket, true));
    }

    /// Takes what one socket has; of a stream that `may_be_over`, its end, too.
    fn receive_from(&mut self, number: u32, may_be_over: bool) {
        let now = self.now();
        let more = match self.sockets.all.get_mut(number as usize) {
            None => false,
            Some(Socket::Shared(shared)) => receive_datagrams(&mut shared.udp, &mut self.incoming, |from, bytes| {
                if self.siblings.as_mut().is_some_and(|siblings| siblings.hand_on(from, bytes)) {
                    return;
                }
                let path = Path { socket: number, remote: from, carrier: udp_carrier(&from) };
                match &mut self.half_open {
                    Some(half_open) if HalfOpen::is_dtls(bytes) => half_open.handle(now, number, from, bytes),
                    _ => deliver(&mut self.endpoint, &mut self.siblings, now, path, bytes),
                }
            }),
            Some(Socket::Own(own)) => {
                let (remote, links) = (own.remote, &mut own.links);
                receive_datagrams(&mut own.udp, &mut self.incoming, |from, bytes| {
                    let path = Path { socket: number, remote: from, carrier: udp_carrier(&from) };
                    match links {
                        Some(links) if from == remote => links.send_down(now, bytes),
                        _ => self.endpoint.handle_datagram(now, path, bytes),
                    }
                })
            }
            Some(Socket::Stream(stream)) => {
                stream.ws.on_ready(may_be_over);
                receive_messages(stream, number, now, &mut self.endpoint, &mut self.siblings, &mut self.message)
            }
        };
        if more {
            self.sockets.unread.push(number);
        }
        self.after_stream(number);
    }

    /// A stream may have opened, filled up, emptied or ended.
    pub(super) fn after_stream(&mut self, number: u32) {
        let Some(Socket::Stream(stream)) = self.sockets.all.get_mut(number as usize) else { return };
        if stream.ws.is_closed() {
            let reason = end_of(stream);
            let now = self.clock.now();
            self.endpoint.handle_carrier_lost(now, number, &reason);
            self.sockets.remove(number);
            return;
        }
        stream.is_opening &= !stream.ws.is_open();
        let is_blocked = !stream.ws.is_writable();
        if is_blocked != stream.is_blocked {
            stream.is_blocked = is_blocked;
            self.endpoint.set_writable(number, !is_blocked);
        }
    }

    fn accept_streams(&mut self) {
        self.release_sockets();
        let Some(listener) = &mut self.sockets.listener else { return };
        let (all, registry) = (&mut self.sockets.all, self.poll.registry());
        let mut fresh = Vec::new();
        let outcome = listener.accept_ready(|mut ws| {
            let entry = all.vacant_entry();
            if ws.register(registry, Token(entry.key())).is_ok() {
                fresh.push(entry.key() as u32);
                let stream = Stream { ws, is_unflushed: false, is_blocked: false, is_opening: false };
                entry.insert(Socket::Stream(Box::new(stream)));
            }
        });
        // Out of files: whoever waits is taken when a socket closes, or at the next client.
        self.sockets.is_listener_ready = outcome == WsAccept::More;
        fresh.into_iter().for_each(|socket| self.receive_from(socket, true));
    }

    /// What has come out of the played networks.
    fn take_arrivals(&mut self) {
        if self.sockets.impaired.is_empty() {
            return;
        }
        let now = self.now();
        for at in 0..self.sockets.impaired.len() {
            let number = self.sockets.impaired[at];
            let Some(Socket::Own(own)) = self.sockets.all.get_mut(number as usize) else { continue };
            let Some(links) = &mut own.links else { continue };
            let path = Path { socket: number, remote: own.remote, carrier: udp_carrier(&own.remote) };
            while links.receive_down(now, &mut self.message) {
                self.endpoint.handle_datagram(now, path, &mut self.message);
            }
            while links.receive_up(now, &mut self.message) {
                self.outgoing.push(&self.message, own.remote, None);
                if self.outgoing.is_full() {
                    let outcome = own.udp.send_batch(&mut self.outgoing);
                    self.stats.note(&outcome, &mut self.outgoing);
                }
            }
            if !self.outgoing.is_empty() {
                let outcome = own.udp.send_batch(&mut self.outgoing);
                self.stats.note(&outcome, &mut self.outgoing);
            }
        }
    }

    /// Streams whose handshake or closing takes too long.
    fn drop_stale_streams(&mut self) {
        let now = Instant::now();
        if now < self.sockets.stale_check_at {
            return;
        }
        self.sockets.stale_check_at = now + super::WAIT_MAX;
        let is_stale = |(_, socket): &(usize, &Socket)| matches!(socket, Socket::Stream(s) if s.ws.is_stale(now));
        let stale: Vec<u32> = self.sockets.all.iter().filter(is_stale).map(|(number, _)| number as u32).collect();
        for number in stale {
            let time = self.clock.now();
            self.endpoint.handle_carrier_lost(time, number, "the WebSocket handshake took too long");
            self.sockets.remove(number);
        }
    }

    /// Lets go of sockets whose connection is over. Before a new socket is opened, too: it may get the number of one that
    /// is gone already, and a release that was meant for that one would close it.
    pub(super) fn release_sockets(&mut self) {
        while let Some(socket) = self.endpoint.poll_released() {
            self.release(socket);
        }
    }

    /// A connection is over: its own socket can go; a stream first says goodbye.
    fn release(&mut self, number: u32) {
        match self.sockets.all.get_mut(number as usize) {
            Some(Socket::Stream(stream)) => {
                stream.ws.close(1000, "");
                stream.ws.flush();
                if stream.ws.is_closed() {
                    self.sockets.remove(number);
                }
            }
            Some(Socket::Own(_)) => self.sockets.remove(number),
            Some(Socket::Shared(_)) | None => {}
        }
    }
}

/// Hands over what has arrived. True if more may wait.
fn receive_datagrams(
    udp: &mut UdpSocket,
    batch: &mut ReceiveBatch,
    mut take: impl FnMut(std::net::SocketAddr, &mut [u8]),
) -> bool {
    for _ in 0..BATCHES_MAX {
        match udp.receive_batch(batch) {
            Ok(0) => return false,
            Ok(_) => batch.datagrams().for_each(|received| take(received.from, received.bytes)),
            Err(_) => return true,
        }
        if batch.is_short() {
            return false;
        }
    }
    true
}

/// Hands over a stream's messages. True if more may wait.
fn receive_messages(
    stream: &mut Stream,
    number: u32,
    now: Time,
    endpoint: &mut Endpoint,
    siblings: &mut Option<Box<Siblings>>,
    scratch: &mut Vec<u8>,
) -> bool {
    let path = Path { socket: number, remote: stream.ws.peer_addr(), carrier: Carrier::WEBSOCKET };
    loop {
        match stream.ws.receive() {
            WsReceive::Message(bytes) => {
                scratch.clear();
                scratch.extend_from_slice(&bytes);
                deliver(endpoint, siblings, now, path, scratch);
            }
            WsReceive::More => return true,
            WsReceive::Empty => return false,
        }
    }
}

/// Why a stream ended, in words.
fn end_of(stream: &Stream) -> String {
    let peer = stream.ws.peer_addr();
    match (stream.is_opening, stream.ws.close_reason(), stream.ws.peer_close()) {
        (_, _, Some(close)) if !close.reason.is_empty() => format!("the WebSocket was closed: {}", close.reason),
        (true, Some(WsCloseReason::Lost) | None, _) => {
            format!("{peer} refused the connection or ended it at once: is a server listening there?")
        }
        (true, Some(reason), _) => format!("no WebSocket handshake with {peer} ({})", reason.name()),
        (false, Some(WsCloseReason::Lost) | None, _) => "the WebSocket ended without a goodbye".into(),
        (false, Some(reason), _) => format!("the WebSocket ended ({})", reason.name()),
    }
}
