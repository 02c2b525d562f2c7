//! All sockets of a driver: a server's shared sockets, clients' own sockets, and streams.

use super::carrier::{dtls_carrier, local_path, udp_carrier};
use super::impair::{Impairment, LinkStats, Links, add_stats};
use super::impaired_paths::ImpairedPaths;
use super::newcomers::{Newcomer, Newcomers};
use super::protected::Beneath;
use super::ready::{MayBeOver, Ready};
use super::retry::Retries;
use super::round::Class;
use super::secured::Secured;
use crate::driver_stats::SocketStats;
use crate::listen_sockets::ShardSockets;
use crate::listener_rules::Streams;
use crate::net::local::LocalStream;
use crate::net::udp::{BufferGrants, SendBatch, SendOutcome, UdpOptions, UdpSocket, is_without_family};
use crate::net::websocket::{StreamKind, WsConnection, WsListener, WsOptions};
use crate::url::{Scheme, Target};
use mio::{Registry, Token};
use skipstone_prefetch::{Step, prefetch};
use skipstone_proto::PeerId;
use skipstone_proto::Time;
use skipstone_proto::{Carrier, Path};
use slab::Slab;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Instant;

/// All sockets by number. The number is the socket's token for the poll and its name in a [`Path`].
#[derive(Debug)]
pub(super) struct Sockets {
    pub(super) all: Slab<Socket>,
    /// Sockets that a server's clients share.
    pub(super) shared: Vec<u32>,
    pub(super) listener: Option<WsListener>,
    /// Streams that were written to in this round and not flushed yet.
    pub(super) unflushed: Vec<u32>,
    /// The peer that owns each socket, by socket number: a client, or a server's peer on a stream.
    owners: Vec<Option<PeerId>>,
    /// Sockets that have something to read.
    pub(super) ready: Ready,
    /// Sockets whose reading fails.
    pub(super) retries: Retries,
    /// The listener has more to accept without a new event.
    pub(super) is_listener_ready: bool,
    /// Time of the next attempt to accept, after the process had no free file for a waiting client.
    pub(super) accept_again_at: Option<Instant>,
    /// Streams that carry no connection yet.
    pub(super) newcomers: Newcomers,
    /// Sockets with a simulated network.
    pub(super) impaired: Vec<u32>,
    /// Clients' sockets whose DTLS session has a timer.
    pub(super) timed: Vec<u32>,
    /// Time of the next search for streams that are stalled.
    pub(super) stale_check_at: Instant,
    opened: u64,
    /// Counters of the links of closed sockets.
    past_links: (LinkStats, LinkStats),
    receive_drops_past: u64,
}

/// Other sockets that may listen on the same port number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    Nobody,
    /// The other shards of this server; the kernel gives each a share of the clients.
    Shards,
}

/// The source of a server's sockets.
#[derive(Debug)]
pub(crate) enum Binding {
    /// Opened at this address.
    Address(SocketAddr, Sharing),
    /// Open before the server started.
    Handed(ShardSockets),
}

#[derive(Debug)]
pub(super) enum Socket {
    /// A server's UDP socket, which all its native clients share.
    Shared(Box<SharedSocket>),
    /// A client's own UDP socket.
    Own(Box<Own>),
    Stream(Box<StreamSocket>),
    /// An in-memory stream to another driver of this process.
    Local(Box<Local>),
    /// Placeholder of a client that looks for an address that answers.
    Dialing,
}

#[derive(Debug)]
pub(super) struct SharedSocket {
    pub(super) udp: UdpSocket,
    pub(super) batch: SendBatch,
    pub(super) is_blocked: bool,
    /// The simulated network around this socket, if there is one.
    pub(super) paths: Option<Box<ImpairedPaths>>,
}

#[derive(Debug)]
pub(super) struct Own {
    pub(super) udp: UdpSocket,
    pub(super) remote: SocketAddr,
    pub(super) links: Option<Links>,
    /// The DTLS session around the socket, if there is one.
    pub(super) secured: Option<Box<Secured>>,
}

#[derive(Debug)]
pub(super) struct StreamSocket {
    pub(super) ws: WsConnection,
    pub(super) is_unflushed: bool,
    /// The endpoint was told that the stream accepts no more packets.
    pub(super) is_blocked: bool,
    /// A client's own stream, whose handshake is in progress.
    pub(super) is_opening: bool,
    /// Set while an accepted stream carries no connection.
    pub(super) newcomer: Option<Newcomer>,
    pub(super) class: Class,
}

#[derive(Debug)]
pub(super) struct Local {
    pub(super) stream: LocalStream,
    pub(super) is_unflushed: bool,
    /// The endpoint was told that the stream accepts no more packets.
    pub(super) is_blocked: bool,
}

/// The listener's token for the poll.
pub(super) const TOKEN_LISTENER: Token = Token(usize::MAX - 1);

impl Own {
    /// The path of this socket.
    pub(super) fn path(&self, number: u32) -> Path {
        let carrier = if self.secured.is_some() { dtls_carrier(&self.remote) } else { udp_carrier(&self.remote) };
        Path { socket: number, local: None, remote: self.remote, carrier }
    }

    /// Sends the client's datagrams, through its simulated network if there is one. Datagrams that the kernel did not
    /// accept stay in the batch.
    pub(super) fn send(&mut self, now: Time, bytes: &[u8], segment_bytes: usize, batch: &mut SendBatch) -> SendOutcome {
        if let Some(links) = &mut self.links {
            bytes.chunks(segment_bytes).for_each(|datagram| links.send_up(now, datagram));
            return SendOutcome::default();
        }
        batch.push(bytes, self.remote, Some(segment_bytes));
        self.udp.send_batch(batch)
    }
}

impl Default for Sockets {
    fn default() -> Self {
        Sockets {
            all: Slab::new(),
            shared: Vec::new(),
            listener: None,
            unflushed: Vec::new(),
            owners: Vec::new(),
            ready: Ready::default(),
            retries: Retries::default(),
            is_listener_ready: false,
            accept_again_at: None,
            newcomers: Newcomers::default(),
            impaired: Vec::new(),
            timed: Vec::new(),
            stale_check_at: Instant::now(),
            opened: 0,
            past_links: Default::default(),
            receive_drops_past: 0,
        }
    }
}

impl Sockets {
    /// Opens a client's socket.
    pub(super) fn open(
        &mut self,
        registry: &Registry,
        target: &Target,
        remote: SocketAddr,
        impairment: Option<&Impairment>,
        (now, beneath): (Time, &Beneath),
    ) -> io::Result<Path> {
        self.opened += 1;
        let links = impairment.map(|impairment| Links::new(impairment, self.opened)).transpose();
        let links = links.map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error.to_string()))?;
        let entry = self.all.vacant_entry();
        let number = entry.key() as u32;
        let carrier = match target.scheme {
            Scheme::Encrypted | Scheme::Plain | Scheme::Dtls => {
                let mut udp = bind_own(&remote)?;
                udp.register(registry, Token(entry.key()))?;
                if links.is_some() {
                    self.impaired.push(number);
                }
                let secured = beneath.dtls.as_ref().map(|dtls| Box::new(Secured::new(dtls.session(now))));
                let own = Own { udp, remote, links, secured };
                let carrier = own.path(number).carrier;
                entry.insert(Socket::Own(Box::new(own)));
                carrier
            }
            Scheme::WebSocket | Scheme::SecureWebSocket | Scheme::Tcp => {
                let options = WsOptions::default();
                let tls = beneath.tls.as_ref();
                let mut ws = match target.scheme {
                    Scheme::Tcp => WsConnection::connect_raw(remote, options)?,
                    _ => WsConnection::connect(&target.url, remote, options, tls).map_err(io::Error::other)?,
                };
                ws.register(registry, Token(entry.key()))?;
                let class = Class::Player;
                let stream =
                    StreamSocket { ws, is_unflushed: false, is_blocked: true, is_opening: true, newcomer: None, class };
                entry.insert(Socket::Stream(Box::new(stream)));
                match target.scheme {
                    Scheme::SecureWebSocket => Carrier::WEBSOCKET_TLS,
                    Scheme::Tcp => Carrier::TCP,
                    _ => Carrier::WEBSOCKET,
                }
            }
        };
        Ok(Path { socket: number, local: None, remote, carrier })
    }

    /// Adds one end of an in-memory stream.
    pub(super) fn insert_local(&mut self, mut stream: LocalStream) -> Path {
        let entry = self.all.vacant_entry();
        let socket = entry.key() as u32;
        stream.bind(socket);
        entry.insert(Socket::Local(Box::new(Local { stream, is_unflushed: false, is_blocked: false })));
        local_path(socket)
    }

    /// Replaces a client's own socket, so that the client gets another port. Datagrams on their way to the old port are
    /// lost.
    pub(super) fn rebind(&mut self, registry: &Registry, socket: u32) -> io::Result<()> {
        let Some(Socket::Own(own)) = self.all.get_mut(socket as usize) else { return Ok(()) };
        let mut udp = bind_own(&own.remote)?;
        udp.register(registry, Token(socket as usize))?;
        let mut left = core::mem::replace(&mut own.udp, udp);
        self.receive_drops_past += left.receive_drops().unwrap_or(0);
        // The old socket is closed next, which deregisters it as well.
        let _ = left.deregister(registry);
        Ok(())
    }

    /// Opens or takes a server's sockets.
    pub(super) fn listen(
        &mut self,
        registry: &Registry,
        binding: Binding,
        streams: Option<&Streams>,
    ) -> io::Result<SocketAddr> {
        let (mut udp, listener) = match binding {
            Binding::Address(address, sharing) => bind_here(address, streams.is_some(), sharing)?,
            Binding::Handed(sockets) => adopt(sockets, streams.is_some())?,
        };
        let local = udp.local_addr()?;
        let entry = self.all.vacant_entry();
        udp.register(registry, Token(entry.key()))?;
        self.shared.push(entry.key() as u32);
        entry.insert(Socket::Shared(Box::new(SharedSocket {
            udp,
            batch: SendBatch::new(),
            is_blocked: false,
            paths: None,
        })));
        if let (Some(mut listener), Some(streams)) = (listener, streams) {
            listener.set_rules(streams.rules.clone());
            self.newcomers.limits = streams.newcomers;
            listener.register(registry, TOKEN_LISTENER)?;
            self.listener = Some(listener);
        }
        Ok(local)
    }

    /// Accepts no further streams: new ones wait in the kernel's queue for the next process.
    pub(super) fn stop_accepting(&mut self, registry: &Registry) {
        if let Some(listener) = &mut self.listener {
            // Without events nothing is accepted; an error leaves things as they were.
            let _ = listener.deregister(registry);
        }
        (self.is_listener_ready, self.accept_again_at) = (false, None);
    }

    /// Duplicated handles of a server's sockets; `None` if it has none.
    pub(super) fn duplicate(&self) -> io::Result<Option<ShardSockets>> {
        let Some(Socket::Shared(shared)) = self.shared.first().and_then(|number| self.all.get(*number as usize)) else {
            return Ok(None);
        };
        let tcp = self.listener.as_ref().map(WsListener::duplicate).transpose()?;
        Ok(Some(ShardSockets { udp: shared.udp.duplicate()?, tcp }))
    }

    /// Simulates a bad network around the shared sockets.
    pub(super) fn impair_shared(&mut self, impairment: &Impairment, shard: u32) {
        for number in &self.shared {
            if let Some(Socket::Shared(shared)) = self.all.get_mut(*number as usize) {
                shared.paths = Some(Box::new(ImpairedPaths::new(impairment.clone(), shard)));
                self.impaired.push(*number);
            }
        }
    }

    /// A socket has something to read.
    pub(super) fn note_ready(&mut self, socket: u32, end: MayBeOver) {
        let class = match self.all.get(socket as usize) {
            Some(Socket::Stream(stream)) => stream.class,
            _ => Class::Player,
        };
        self.ready.add(socket, class, end);
    }

    /// Sockets whose reading failed are read again, where it is time.
    pub(super) fn note_due_retries(&mut self, now: Time) {
        let mut due = Vec::new();
        self.retries.take_due(now, &mut due);
        due.into_iter().for_each(|socket| self.note_ready(socket, MayBeOver(false)));
    }

    /// Makes this peer the owner of a socket.
    pub(super) fn give(&mut self, socket: u32, peer: PeerId) {
        let place = socket as usize;
        self.owners.resize(self.owners.len().max(place + 1), None);
        self.owners[place] = Some(peer);
    }

    /// The peer that owns this socket, if one does.
    pub(super) fn owner(&self, socket: usize) -> Option<PeerId> {
        self.owners.get(socket).copied().flatten()
    }

    /// Prefetches a socket that is read soon.
    pub(super) fn prefetch(&self, socket: usize, step: Step) {
        match (self.all.get(socket), step) {
            (Some(Socket::Own(own)), Step::Itself) => prefetch(&**own),
            (Some(Socket::Stream(stream)), Step::Itself) => prefetch(&**stream),
            (Some(Socket::Stream(stream)), Step::Pointees) => stream.ws.prefetch(),
            (Some(Socket::Local(local)), Step::Itself) => prefetch(&**local),
            _ => {}
        }
    }

    /// Closes and removes a socket.
    pub(super) fn remove(&mut self, socket: u32) {
        self.owners.get_mut(socket as usize).and_then(Option::take);
        let Some(gone) = self.all.try_remove(socket as usize) else { return };
        self.impaired.retain(|impaired| *impaired != socket);
        self.timed.retain(|timed| *timed != socket);
        self.retries.on_success(socket);
        if let Socket::Stream(stream) = &gone {
            stream.newcomer.into_iter().for_each(|newcomer| self.newcomers.remove(newcomer));
            self.is_listener_ready |= self.accept_again_at.is_some();
        }
        let Socket::Own(own) = gone else { return };
        self.receive_drops_past += own.udp.receive_drops().unwrap_or(0);
        if let Some((up, down)) = own.links.as_ref().map(Links::stats) {
            self.past_links = add_stats(self.past_links, (up, down));
        }
    }

    /// Time at which the next datagram leaves a simulated network or a socket that failed is read again, or
    /// [`Time::ZERO`] if a socket has more to read or to accept.
    pub(super) fn next_arrival(&self) -> Time {
        let links = |socket: &u32| match self.all.get(*socket as usize)? {
            Socket::Own(own) => own.links.as_ref().map(Links::next_arrival),
            Socket::Shared(shared) => shared.paths.as_ref().map(|paths| paths.next_arrival()),
            Socket::Stream(_) | Socket::Local(_) | Socket::Dialing => None,
        };
        let arrivals = self.impaired.iter().filter_map(links);
        let idle = self.ready.is_empty() && !self.is_listener_ready;
        let next = arrivals.min().unwrap_or(Time::NEVER).min(self.retries.next());
        next.min(if idle { Time::NEVER } else { Time::ZERO })
    }

    /// Counters of the simulated networks, towards the server and towards the clients.
    #[cfg(feature = "simulate")]
    pub(super) fn link_stats(&self) -> (LinkStats, LinkStats) {
        let links = self.all.iter().filter_map(|(_, socket)| match socket {
            Socket::Own(own) => own.links.as_ref().map(Links::stats),
            Socket::Shared(shared) => shared.paths.as_ref().map(|paths| paths.stats()),
            Socket::Stream(_) | Socket::Local(_) | Socket::Dialing => None,
        });
        links.fold(self.past_links, add_stats)
    }

    /// Buffer sizes that the kernel granted a UDP socket; all UDP sockets of a driver ask for the same sizes.
    pub(super) fn buffer_grants(&self) -> Option<BufferGrants> {
        self.all.iter().find_map(|(_, socket)| match socket {
            Socket::Shared(shared) => Some(shared.udp.buffer_grants()),
            Socket::Own(own) => Some(own.udp.buffer_grants()),
            Socket::Stream(_) | Socket::Local(_) | Socket::Dialing => None,
        })
    }

    /// The problems of a server's socket and their remedies.
    pub(super) fn remedies(&self) -> Vec<String> {
        let shared = self.shared.first().and_then(|number| self.all.get(*number as usize));
        match shared {
            Some(Socket::Shared(shared)) => shared.udp.remedies(),
            _ => Vec::new(),
        }
    }

    pub(super) fn stats(&self) -> SocketStats {
        let mut stats = SocketStats { receive_drops: self.receive_drops_past, ..SocketStats::default() };
        for (_, socket) in &self.all {
            let udp = match socket {
                Socket::Shared(shared) => {
                    stats.impairment_drops += shared.paths.as_ref().map_or(0, |paths| paths.dropped());
                    &shared.udp
                }
                Socket::Own(own) => &own.udp,
                Socket::Stream(stream) => {
                    match stream.ws.kind().filter(|_| stream.ws.is_open()) {
                        Some(StreamKind::WebSocket) => stats.websockets += 1,
                        Some(StreamKind::SecureWebSocket) => stats.secure_websockets += 1,
                        Some(StreamKind::Raw | StreamKind::SecureRaw) => stats.raw_streams += 1,
                        None => {}
                    }
                    continue;
                }
                Socket::Local(_) => {
                    stats.locals += 1;
                    continue;
                }
                Socket::Dialing => continue,
            };
            let grants = udp.buffer_grants();
            let smallest = stats.receive_buffer_bytes;
            stats.receive_drops += udp.receive_drops().unwrap_or(0);
            stats.are_buffers_short |= grants.is_short();
            stats.receive_buffer_bytes =
                if smallest == 0 { grants.receive_granted } else { smallest.min(grants.receive_granted) };
        }
        stats
    }
}

/// Finds a port number on which no other server or shard listens, because our shards would join it by accident.
pub(crate) fn reserve_port(address: SocketAddr, websocket: bool) -> io::Result<SocketAddr> {
    bind_here(address, websocket, Sharing::Nobody)?.0.local_addr()
}

/// A socket for one client, on a port that the system chooses.
fn bind_own(remote: &SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = match remote {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let mut udp = UdpSocket::bind(SocketAddr::new(any, 0), &UdpOptions::client())?;
    // Without a route the socket stays unconnected, and its sends report the error.
    let _ = udp.listen_to(*remote);
    Ok(udp)
}

/// Takes sockets that are open already.
fn adopt(sockets: ShardSockets, websocket: bool) -> io::Result<(UdpSocket, Option<WsListener>)> {
    let udp = UdpSocket::adopt(sockets.udp, &UdpOptions::server())?;
    let listener = match (sockets.tcp, websocket) {
        (Some(tcp), true) => Some(WsListener::adopt(tcp, WsOptions::default())?),
        (None, true) => {
            let text = "there is no socket of TCP among those that were handed over: add it, or serve no streams";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        (_, false) => None,
    };
    Ok((udp, listener))
}

/// Binds UDP and TCP to an address. On a system without IPv6, IPv4 stands for all addresses.
fn bind_here(address: SocketAddr, websocket: bool, sharing: Sharing) -> io::Result<(UdpSocket, Option<WsListener>)> {
    let bound = bind_both(address, websocket, sharing);
    match (&bound, in_ipv4(address)) {
        (Err(error), Some(in_ipv4)) if is_without_family(error) => bind_both(in_ipv4, websocket, sharing),
        _ => bound,
    }
}

/// All addresses of IPv4, for all addresses of both families.
fn in_ipv4(address: SocketAddr) -> Option<SocketAddr> {
    let is_any_v6 = address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED);
    is_any_v6.then(|| SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), address.port()))
}

/// Binds UDP and TCP to the same port number. If the system chose the number for UDP and TCP finds it in use, the next
/// attempt takes another number.
fn bind_both(address: SocketAddr, websocket: bool, sharing: Sharing) -> io::Result<(UdpSocket, Option<WsListener>)> {
    let attempts = if address.port() == 0 { 20 } else { 1 };
    let options = UdpOptions { reuse_port: sharing == Sharing::Shards, ..UdpOptions::server() };
    for attempt in 1..=attempts {
        let udp = UdpSocket::bind(address, &options)?;
        if !websocket {
            return Ok((udp, None));
        }
        let mut both = address;
        both.set_port(udp.local_addr()?.port());
        let bound = match sharing {
            Sharing::Nobody => WsListener::bind(both, WsOptions::default()),
            Sharing::Shards => WsListener::bind_beside_others(both, WsOptions::default()),
        };
        match bound {
            Ok(listener) => return Ok((udp, Some(listener))),
            Err(error) if attempt == attempts => return Err(error),
            Err(_) => {}
        }
    }
    unreachable!("the last attempt returns")
}
