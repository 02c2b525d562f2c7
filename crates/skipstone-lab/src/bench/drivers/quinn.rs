//! QUIC by quinn, on a tokio runtime of one thread: a stream for each client, to which the server writes once a tick.
//! The runtime runs between ticks, as quinn recommends.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, Incoming, RecvStream, SendStream, ServerConfig};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::driver::{BenchClients, BenchServer, ClientEvent, Inbox, OnEvent, ServerSetup};
use super::listeners;
use crate::bench::system::now_ns;
use crate::framing::HEADER_BYTES;
use crate::framing::{Unframe, each_line, frame, framed};
use crate::quic::certificate::{NAME, client_crypto, server_crypto};
use crate::socket_error::text;

fn runtime() -> Result<Runtime, String> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(text("start a runtime"))
}

fn endpoint(socket: std::net::UdpSocket, server: Option<ServerConfig>) -> std::io::Result<Endpoint> {
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(quinn::TokioRuntime))
}

fn locked<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the data from the channel, one piece at a time.
async fn write(mut stream: SendStream, mut pieces: UnboundedReceiver<Bytes>) {
    while let Some(piece) = pieces.recv().await {
        if stream.write_chunk(piece).await.is_err() {
            return;
        }
    }
}

/// The server.
pub(super) struct QuinnServer {
    runtime: Runtime,
    _endpoint: Endpoint,
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    tick: Vec<u8>,
}

#[derive(Default)]
struct Shared {
    inbox: Vec<(u32, Bytes)>,
    clients: Vec<Option<(UnboundedSender<Bytes>, Connection)>>,
    /// Of connections that are over.
    ip_bytes_past: u64,
}

impl QuinnServer {
    pub(super) fn start(setup: ServerSetup<'_>) -> Result<Self, String> {
        let runtime = runtime()?;
        let (socket, address) = listeners::udp_server(setup.listen)?;
        let inside = runtime.enter();
        let endpoint = endpoint(socket, Some(ServerConfig::with_crypto(server_crypto()))).map_err(text("listen"))?;
        drop(inside);
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (door, hall) = (endpoint.clone(), Arc::clone(&shared));
        runtime.spawn(async move {
            while let Some(incoming) = door.accept().await {
                tokio::spawn(serve(incoming, Arc::clone(&hall)));
            }
        });
        Ok(Self { runtime, _endpoint: endpoint, address, shared, tick: Vec::new() })
    }
}

async fn serve(incoming: Incoming, shared: Arc<Mutex<Shared>>) {
    let Ok(connection) = incoming.await else { return };
    let Ok((send, receive)) = connection.accept_bi().await else { return };
    let (to, pieces) = unbounded_channel();
    tokio::spawn(write(send, pieces));
    let number = {
        let mut shared = locked(&shared);
        shared.clients.push(Some((to, connection.clone())));
        shared.clients.len() as u32 - 1
    };
    listen(receive, |line| locked(&shared).inbox.push((number, Bytes::copy_from_slice(line)))).await;
    let mut shared = locked(&shared);
    shared.clients[number as usize] = None;
    shared.ip_bytes_past += ip_bytes(&connection);
}

/// Reads every line of a stream, until it ends. A line without a letter announces the client.
async fn listen(mut stream: RecvStream, mut take: impl FnMut(&[u8])) {
    let mut unframe = Unframe::default();
    while let Ok(Some(chunk)) = stream.read_chunk(usize::MAX, true).await {
        unframe.add(&chunk.bytes, |line| {
            if !line.is_empty() {
                take(line);
            }
        });
    }
}

fn ip_bytes(connection: &Connection) -> u64 {
    let stats = connection.stats();
    let (sent, received) = (stats.udp_tx, stats.udp_rx);
    sent.bytes + received.bytes + (sent.datagrams + received.datagrams) * HEADER_BYTES as u64
}

impl BenchServer for QuinnServer {
    fn url(&self) -> String {
        self.address.to_string()
    }

    fn receive(&mut self, inbox: &mut Inbox) -> Result<(), String> {
        inbox.0.append(&mut locked(&self.shared).inbox);
        Ok(())
    }

    fn broadcast(&mut self, line: &Bytes) {
        frame(line, &mut self.tick);
    }

    fn answer(&mut self, client: u32, line: Bytes) {
        if let Some(Some((to, _))) = locked(&self.shared).clients.get(client as usize) {
            let _ = to.send(framed(&line).into());
        }
    }

    fn flush(&mut self) -> Result<(), String> {
        if self.tick.is_empty() {
            return Ok(());
        }
        let tick = Bytes::from(std::mem::take(&mut self.tick));
        for (to, _) in locked(&self.shared).clients.iter().flatten() {
            // A writer that has ended has lost its connection.
            let _ = to.send(tick.clone());
        }
        Ok(())
    }

    fn rest(&mut self, until: Instant) -> Result<(), String> {
        self.runtime.block_on(async {
            // The runtime writes waiting data at least once a tick, however late the tick is.
            tokio::task::yield_now().await;
            tokio::time::sleep_until(until.into()).await;
        });
        Ok(())
    }

    fn clients(&self) -> usize {
        locked(&self.shared).clients.iter().flatten().count()
    }

    fn ip_bytes(&mut self) -> Option<u64> {
        let shared = locked(&self.shared);
        let open: u64 = shared.clients.iter().flatten().map(|(_, connection)| ip_bytes(connection)).sum();
        Some(shared.ip_bytes_past + open)
    }
}

/// The clients, each an endpoint of its own.
pub(super) struct QuinnClients {
    runtime: Runtime,
    server: SocketAddr,
    config: ClientConfig,
    clients: Vec<(UnboundedSender<Bytes>, Endpoint)>,
    events: Arc<EventQueue>,
}

#[derive(Default)]
struct EventQueue {
    queue: Mutex<Vec<OwnedEvent>>,
    wakeup: Notify,
}

enum OwnedEvent {
    Connected(u32),
    Lines { client: u32, chunk: Bytes, at_ns: u64 },
    Gone { client: u32, reason: String },
}

impl EventQueue {
    fn push(&self, event: OwnedEvent) {
        locked(&self.queue).push(event);
        self.wakeup.notify_one();
    }
}

impl QuinnClients {
    pub(super) fn new(server: SocketAddr) -> Result<Self, String> {
        let config = ClientConfig::new(client_crypto());
        Ok(Self { runtime: runtime()?, server, config, clients: Vec::new(), events: Arc::default() })
    }
}

async fn talk(
    endpoint: Endpoint,
    server: SocketAddr,
    config: ClientConfig,
    client: u32,
    pieces: UnboundedReceiver<Bytes>,
    events: Arc<EventQueue>,
) {
    let reason = match begin(endpoint, server, config).await {
        Ok((connection, send, mut receive)) => {
            tokio::spawn(write(send, pieces));
            events.push(OwnedEvent::Connected(client));
            // Whole lines, so that the code that reads them needs no memory.
            let mut rest = Vec::new();
            while let Ok(Some(chunk)) = receive.read_chunk(usize::MAX, true).await {
                let at_ns = now_ns();
                let whole = if rest.is_empty() { chunk.bytes } else { [&rest[..], &chunk.bytes].concat().into() };
                let taken = each_line(&whole, |_| {});
                rest = whole[taken..].to_vec();
                events.push(OwnedEvent::Lines { client, chunk: whole.slice(..taken), at_ns });
            }
            connection.close_reason().map_or("the stream ended".to_owned(), |reason| reason.to_string())
        }
        Err(reason) => reason,
    };
    events.push(OwnedEvent::Gone { client, reason });
}

async fn begin(
    endpoint: Endpoint,
    server: SocketAddr,
    config: ClientConfig,
) -> Result<(Connection, SendStream, RecvStream), String> {
    let connecting = endpoint.connect_with(config, server, NAME).map_err(|error| error.to_string())?;
    let connection = connecting.await.map_err(|error| error.to_string())?;
    let (mut send, receive) = connection.open_bi().await.map_err(|error| error.to_string())?;
    // The server sees a stream only when data comes through it.
    send.write_all(&[0, 0]).await.map_err(|error| error.to_string())?;
    Ok((connection, send, receive))
}

impl BenchClients for QuinnClients {
    fn connect(&mut self) -> Result<(), String> {
        let socket = listeners::udp_client(self.server).map_err(text("open a socket"))?;
        let _inside = self.runtime.enter();
        let endpoint = endpoint(socket, None).map_err(text("open a socket"))?;
        let (to, pieces) = unbounded_channel();
        let number = self.clients.len() as u32;
        let talk = talk(endpoint.clone(), self.server, self.config.clone(), number, pieces, Arc::clone(&self.events));
        self.runtime.spawn(talk);
        self.clients.push((to, endpoint));
        Ok(())
    }

    fn send(&mut self, client: u32, line: &[u8]) -> bool {
        self.clients[client as usize].0.send(framed(line).into()).is_ok()
    }

    fn poll(&mut self, wait_max: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        let events = Arc::clone(&self.events);
        self.runtime.block_on(async {
            tokio::task::yield_now().await;
            let _ = tokio::time::timeout(wait_max, events.wakeup.notified()).await;
        });
        for event in std::mem::take(&mut *locked(&self.events.queue)) {
            match event {
                OwnedEvent::Connected(client) => on_event(ClientEvent::Connected(client)),
                OwnedEvent::Lines { client, chunk, at_ns } => {
                    each_line(&chunk, |line| on_event(ClientEvent::Line { client, line, at_ns: Some(at_ns) }));
                }
                OwnedEvent::Gone { client, reason } => on_event(ClientEvent::Gone { client, reason }),
            }
        }
        Ok(())
    }

    /// The limit for waiting on the runtime's tasks.
    fn look(&mut self, after: Duration, on_event: &mut OnEvent<'_>) -> Result<(), String> {
        self.poll(after, on_event)
    }

    fn close(&mut self) {
        self.clients.iter().for_each(|(_, endpoint)| endpoint.close(0_u32.into(), b"the bench is over"));
    }
}
