//! The interface of every transport's driver: a server and many clients in steps, and their setup.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::Bytes;
use skipstone::Congestion;

use crate::bench::setup::{Trial, TrialSetup};

/// A server, driven by its tick: receive, broadcast or answer, flush, rest.
pub(crate) trait BenchServer {
    /// The URL by which a client connects.
    fn url(&self) -> String;

    /// Handles received data. Lines go into the inbox.
    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String>;

    /// Queues a line for every client.
    fn broadcast(&mut self, line: &Bytes);

    /// Queues a line for one client.
    fn answer(&mut self, client: u32, line: Bytes);

    /// Sends all queued lines.
    fn flush(&mut self) -> Result<(), String>;

    /// Until the next tick.
    fn rest(&mut self, until: Instant) -> Result<(), String> {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        Ok(())
    }

    /// Clients that are connected.
    fn clients(&self) -> usize;

    /// Bytes of both directions with their IP headers, if the transport counts them more exactly than the interface,
    /// because the kernel splits or joins datagrams.
    fn ip_bytes(&mut self) -> Option<u64> {
        None
    }
}

/// The lines that a server received, each with its client.
#[derive(Debug, Default)]
pub(crate) struct Inbox(pub(crate) Vec<(u32, Bytes)>);

/// Many clients in one thread. The clients are numbered from 0, in the order in which they are connected.
pub(crate) trait BenchClients {
    /// Begins to connect the next client.
    fn connect(&mut self) -> Result<(), String>;

    /// Sends a line; false if it could not.
    fn send(&mut self, client: u32, line: &[u8]) -> bool;

    /// Sends all queued lines.
    fn flush(&mut self) {}

    /// Waits for `wait_max` at most until an event occurs, and reports the events.
    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String>;

    /// Sleeps for a while if possible, then reports the events: waking a thread that waits for data takes time from the
    /// sender, here the server; in a virtual machine it is a call to the host.
    fn look(&mut self, after: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        std::thread::sleep(after);
        self.poll(Duration::ZERO, on_event)
    }

    /// Uses a channel other than the first, once; the server answers on it. False if the transport has no channels, or
    /// the channel is full.
    fn touch(&mut self, _client: u32, _channel: u16) -> bool {
        false
    }

    /// Closes all connections. [`BenchClients::poll`] reports the events that follow.
    fn close(&mut self);
}

/// The receiver of clients' events.
pub(crate) type OnEvent<'a> = dyn FnMut(ClientEvent<'_>) + 'a;

/// An event of a client.
#[derive(Debug)]
pub(crate) enum ClientEvent<'a> {
    /// The client may send from now on.
    Connected(u32),
    /// A line arrived now, or at `at_ns` on the clock that all processes share.
    Line { client: u32, line: &'a [u8], at_ns: Option<u64> },
    /// The answer on another channel came.
    Touched,
    /// The client's connection ended.
    Gone { client: u32, reason: String },
}

/// The setup of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerSetup<'a> {
    pub(crate) listen: SocketAddr,
    pub(crate) trial: Trial,
    pub(crate) of_all: &'a TrialSetup,
}

/// The setup of the clients.
#[derive(Debug, Clone)]
pub(crate) struct ClientSetup {
    /// The number of the first client, counted over all processes.
    pub(crate) first: u32,
    pub(crate) trial: Trial,
    /// How Skipstone's clients share a link.
    pub(crate) congestion: Congestion,
}
