//! Skipstone itself, on each carrier of its native clients, by the library's pool: all clients of a worker share one
//! driver, as those of `stress` do.

use super::lifecycle::Lifecycle;
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, SendRefused, SocketCounts, SocketEnd,
};
use crate::target::TargetError;
use bytes::Bytes;
use skipstone::{ClosedBy, Event as PeerEvent, PeerId, Pool, PoolConfig, SendRefusal, Target, Trust};
use skipstone_proto::Time;
use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

pub(super) const ENCRYPTED: ProtocolRow =
    ProtocolRow { scheme: "skip", about: "Skipstone over UDP, encrypted: skip://host:port#sha256=...", ..PLAIN };

pub(super) const DTLS: ProtocolRow =
    ProtocolRow { scheme: "skip+dtls", about: "Skipstone in DTLS sessions: skip+dtls://host:port#sha256=...", ..PLAIN };

pub(super) const STREAM: ProtocolRow =
    ProtocolRow { scheme: "skip+tcp", about: "Skipstone over TCP, in clear", ..PLAIN };

pub(super) const WEBSOCKET: ProtocolRow =
    ProtocolRow { scheme: "skip+ws", about: "Skipstone over WebSocket, in clear", ..PLAIN };

pub(super) const SECURE_WEBSOCKET: ProtocolRow = ProtocolRow {
    scheme: "skip+wss",
    about: "Skipstone over WebSocket and TLS: skip+wss://host:port#sha256=...",
    ..PLAIN
};

pub(super) const PLAIN: ProtocolRow = ProtocolRow {
    scheme: "skip+plain",
    carrier: Carrier::Own(step),
    about: "Skipstone over UDP, in clear",
    options: &[
        ("/path", "of the request, with skip+ws and skip+wss"),
        ("#sha256=", "the fingerprint of the server's certificate"),
        ("token", "what the server decides by, up to 1024 bytes"),
        ("trust", "system (default), or anyone: for tests on your own machine"),
    ],
    new: SkipstoneClient::create,
};

thread_local! {
    /// The pools of this worker, by the servers that their clients trust. A worker is a thread.
    static POOLS: RefCell<BTreeMap<bool, Shared>> = const { RefCell::new(BTreeMap::new()) };
}

/// A pool, and what has arrived for its clients.
struct Shared {
    pool: Pool,
    inboxes: BTreeMap<PeerId, Inbox>,
    /// Messages were queued since the pool was driven.
    has_unsent: bool,
}

struct Inbox {
    token: usize,
    events: VecDeque<PeerEvent>,
}

/// A client of a pool.
struct SkipstoneClient {
    target: Target,
    address: SocketAddr,
    token: Vec<u8>,
    trusts_anyone: bool,
    place: usize,
    peer: Option<PeerId>,
    lifecycle: Lifecycle,
    /// As they were when the connection ended.
    last: Option<(ProtocolFigures, SocketCounts)>,
}

/// Lets the clients of this worker work; returns those to whom something happened.
fn step(_: Time) -> Vec<usize> {
    POOLS.with_borrow_mut(|pools| {
        let mut ready = Vec::new();
        for shared in pools.values_mut() {
            shared.drive();
            let Shared { pool, inboxes, .. } = shared;
            while let Some(event) = pool.poll_event() {
                if let Some(inbox) = inboxes.get_mut(&event.peer()) {
                    inbox.events.push_back(event);
                    ready.push(inbox.token);
                }
            }
        }
        ready
    })
}

impl Shared {
    fn drive(&mut self) {
        self.has_unsent = false;
        // What fails here fails for each client, whose next call says so.
        let _ = self.pool.drive(Duration::ZERO);
    }

    fn send(&mut self, peer: PeerId, channel: u16, payload: Bytes) -> Result<(), SendRefusal> {
        self.has_unsent = true;
        self.pool.send(peer, channel, payload).map(drop).map_err(|error| error.reason)
    }

    fn close(&mut self, peer: PeerId) {
        if self.has_unsent {
            self.pool.flush();
            self.drive();
        }
        // An ended connection needs no goodbye.
        let _ = self.pool.close(peer, 0, "", Duration::ZERO);
    }
}

impl SkipstoneClient {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        let target = opening.target;
        let trusts_anyone = match target.option("trust", "system") {
            "system" => false,
            "anyone" => true,
            _ => return Err(target.bad_option("trust", "system or anyone is needed")),
        };
        let token = target.option("token", "").as_bytes().to_vec();
        let wrong = |why: String| TargetError::BadTarget(target.url.clone(), why);
        let own: Target =
            library_url(&target.url).parse().map_err(|error: skipstone::UrlError| wrong(error.to_string()))?;
        Ok(Box::new(SkipstoneClient {
            address: opening.address,
            target: own,
            token,
            trusts_anyone,
            place: 0,
            peer: None,
            lifecycle: Lifecycle::default(),
            last: None,
        }))
    }

    /// A call of the client's pool.
    fn with<R>(&self, call: impl FnOnce(&mut Shared) -> R) -> Option<R> {
        POOLS.with_borrow_mut(|pools| pools.get_mut(&self.trusts_anyone).map(call))
    }

    fn begin(&mut self) -> Result<PeerId, String> {
        POOLS.with_borrow_mut(|pools| {
            if let Entry::Vacant(place) = pools.entry(self.trusts_anyone) {
                let trust = if self.trusts_anyone { Trust::DangerouslyAnything } else { Trust::System };
                let pool =
                    Pool::new(PoolConfig { trust, ..PoolConfig::default() }).map_err(|error| error.to_string())?;
                place.insert(Shared { pool, inboxes: BTreeMap::new(), has_unsent: false });
            }
            let shared = pools.get_mut(&self.trusts_anyone).expect("it was inserted");
            let peer =
                shared.pool.add(&self.target, self.address, &self.token, None).map_err(|error| error.to_string())?;
            shared.inboxes.insert(peer, Inbox { token: self.place, events: VecDeque::new() });
            Ok(peer)
        })
    }

    /// Takes what has arrived.
    fn take(&mut self) {
        let Some(peer) = self.peer else { return };
        let taken = self.with(|shared| shared.inboxes.get_mut(&peer).map(|inbox| std::mem::take(&mut inbox.events)));
        for event in taken.flatten().into_iter().flatten() {
            match event {
                PeerEvent::Connected { .. } => self.lifecycle.open(),
                PeerEvent::Message { channel, payload, .. } => self.lifecycle.message(channel, payload),
                PeerEvent::Closed { close, .. } => {
                    let cause = match close.by {
                        ClosedBy::Local => Cause::Closed,
                        ClosedBy::Peer if self.lifecycle.is_open() => Cause::ByServer,
                        ClosedBy::Peer => Cause::Refused,
                        ClosedBy::Nobody => Cause::TimedOut,
                    };
                    let text = format!("code {}: {}", close.code, close.reason_text());
                    self.forget();
                    self.lifecycle.end(cause, text);
                }
                _ => {}
            }
        }
    }

    /// The connection is over for the bot.
    fn forget(&mut self) {
        let figures = (self.figures(), self.traffic());
        if let Some(peer) = self.peer.take() {
            self.last = Some(figures);
            self.with(|shared| shared.inboxes.remove(&peer));
        }
    }

    fn overview(&self) -> Option<skipstone::Overview> {
        let peer = self.peer?;
        self.with(|shared| shared.pool.overview(peer)).flatten()
    }
}

impl Protocol for SkipstoneClient {
    fn set_token(&mut self, token: usize) {
        self.place = token;
    }

    fn handle_open(&mut self, _now: Time) {
        if !self.lifecycle.begin() {
            return;
        }
        match self.begin() {
            Ok(peer) => self.peer = Some(peer),
            Err(why) => self.lifecycle.end(Cause::Unreachable, why),
        }
    }

    fn handle_receive(&mut self, _now: Time, _bytes: &[u8]) {}

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time, _out: &mut Vec<u8>) -> bool {
        false
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.take();
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        if message.delivery.is_some() {
            return Err(SendRefused::NoDelivery("that of the server's channels: leave delivery out"));
        }
        let Some(peer) = self.peer.filter(|_| self.lifecycle.is_open()) else { return Err(SendRefused::NotConnected) };
        let payload = Bytes::copy_from_slice(message.data);
        let sent = self.with(|shared| shared.send(peer, message.channel, payload));
        match sent {
            Some(Ok(())) => Ok(()),
            Some(Err(SendRefusal::NoSuchChannel { .. } | SendRefusal::WrongDirection { .. })) => {
                Err(SendRefused::Unwritable("the server's settings have no such channel for clients"))
            }
            Some(Err(SendRefusal::TooLong { bytes, bytes_max })) => {
                Err(SendRefused::TooLong { size: bytes, max: bytes_max })
            }
            Some(Err(SendRefusal::QueueFull | SendRefusal::DriverBusy)) => Err(SendRefused::QueueFull { queued: 0 }),
            Some(Err(_)) | None => Err(SendRefused::NotConnected),
        }
    }

    fn close(&mut self, _now: Time) {
        if let Some(peer) = self.peer {
            self.with(|shared| shared.close(peer));
        }
        self.forget();
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        let Some(overview) = self.overview() else { return self.last.map(|(figures, _)| figures).unwrap_or_default() };
        let counts = ProtocolCounts { retransmitted: overview.stats.resent, ..ProtocolCounts::default() };
        ProtocolFigures { rtt: Some(overview.rtt.smoothed()).filter(|_| self.lifecycle.is_open()), counts }
    }

    fn traffic(&self) -> SocketCounts {
        let Some(overview) = self.overview() else { return self.last.map(|(_, counts)| counts).unwrap_or_default() };
        let (sent, received) = (overview.stats.sent, overview.stats.received);
        SocketCounts {
            bytes_out: sent.datagram_bytes,
            bytes_in: received.datagram_bytes,
            sent: sent.datagrams,
            received: received.datagrams,
            unsent: 0,
        }
    }
}

/// The library's own URL: without options, and with its own name of the carrier.
fn library_url(url: &str) -> String {
    let (address, fragment) = url.split_once('#').map_or((url, None), |(address, pin)| (address, Some(pin)));
    let address = address.split('?').next().unwrap_or_default();
    let is_library_name = |name: &&str| ["tcp", "ws", "wss"].contains(&name.split("://").next().unwrap_or_default());
    let address = address.strip_prefix("skip+").filter(is_library_name).unwrap_or(address).to_owned();
    fragment.map_or(address.clone(), |pin| format!("{address}#{pin}"))
}

#[cfg(test)]
mod tests {
    use super::super::simulated::create;
    use super::*;

    #[test]
    fn a_client_looks_up_no_name() {
        assert!(create(&PLAIN, "skip+plain://no-such-name.invalid:7777", 1).is_ok());
    }

    #[test]
    fn targets_become_the_librarys_urls() {
        for (target, url) in [
            ("skip://h:7777?token=a#sha256=00", "skip://h:7777#sha256=00"),
            ("skip+plain://h:7777?trust=anyone", "skip+plain://h:7777"),
            ("skip+ws://h:7777/game", "ws://h:7777/game"),
            ("skip+wss://h:7777#sha256=00", "wss://h:7777#sha256=00"),
            ("skip+tcp://h:7777", "tcp://h:7777"),
        ] {
            assert_eq!(library_url(target), url);
        }
    }
}
