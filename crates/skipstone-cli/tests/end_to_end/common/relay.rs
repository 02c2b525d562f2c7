//! An on-path relay of UDP datagrams between clients and a server, which keeps a copy of each and can send
//! others in a client's name.

use std::collections::HashMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A relay. It stops when it is dropped.
pub(crate) struct Relay {
    /// Where clients find it.
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    front: Option<JoinHandle<()>>,
}

/// The datagrams so far.
#[derive(Default)]
struct Seen {
    datagrams: Mutex<Vec<Datagram>>,
    /// The sockets by which the server knows each client.
    sockets: Mutex<Vec<UdpSocket>>,
    must_stop: AtomicBool,
}

/// A copy of a datagram.
#[derive(Clone)]
pub(crate) struct Datagram {
    /// Whose, by the order in which clients came.
    pub(crate) client: usize,
    pub(crate) to_server: bool,
    pub(crate) bytes: Vec<u8>,
}

/// How long a thread waits before it looks whether it must stop.
const WAIT: Duration = Duration::from_millis(20);

impl Relay {
    /// Between any client and this server.
    pub(crate) fn to(server: SocketAddr) -> Relay {
        let front = open();
        let address = front.local_addr().expect("it is bound");
        let seen = Arc::new(Seen::default());
        let theirs = seen.clone();
        Relay { address, seen, front: Some(std::thread::spawn(move || relay(&front, server, &theirs))) }
    }

    /// The datagrams so far.
    pub(crate) fn datagrams(&self) -> Vec<Datagram> {
        self.seen.datagrams.lock().expect("no thread panics").clone()
    }

    /// Sends to the server in the name of a client, from the address by which it knows it.
    pub(crate) fn send_as(&self, client: usize, bytes: &[u8]) {
        let sockets = self.seen.sockets.lock().expect("no thread panics");
        // Loopback may be out of buffers for a moment.
        let _ = sockets[client].send(bytes);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.seen.must_stop.store(true, Ordering::Relaxed);
        let ended = self.front.take().expect("it is taken here only").join();
        assert!(ended.is_ok() || std::thread::panicking(), "the relay panicked");
    }
}

fn open() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket.set_read_timeout(Some(WAIT)).expect("it is a socket");
    socket
}

fn relay(front: &UdpSocket, server: SocketAddr, seen: &Arc<Seen>) {
    let mut clients: HashMap<SocketAddr, (usize, UdpSocket)> = HashMap::new();
    let mut backs = Vec::new();
    let mut buffer = vec![0; 65_536];
    while !seen.must_stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = front.recv_from(&mut buffer) else { continue };
        let count = clients.len();
        let (client, back) = clients.entry(from).or_insert_with(|| {
            let back = open();
            back.connect(server).expect("loopback takes it");
            let copy = |socket: &UdpSocket| socket.try_clone().expect("there are descriptors");
            seen.sockets.lock().expect("no thread panics").push(copy(&back));
            let (to_client, from_server, theirs) = (copy(front), copy(&back), seen.clone());
            backs.push(std::thread::spawn(move || return_to(count, from, &to_client, &from_server, &theirs)));
            (count, back)
        });
        seen.note(*client, true, &buffer[..length]);
        let _ = back.send(&buffer[..length]);
    }
    backs.into_iter().for_each(|back| back.join().expect("it does not panic"));
}

fn return_to(client: usize, address: SocketAddr, to_client: &UdpSocket, from_server: &UdpSocket, seen: &Seen) {
    let mut buffer = vec![0; 65_536];
    while !seen.must_stop.load(Ordering::Relaxed) {
        let Ok(length) = from_server.recv(&mut buffer) else { continue };
        seen.note(client, false, &buffer[..length]);
        let _ = to_client.send_to(&buffer[..length], address);
    }
}

impl Seen {
    fn note(&self, client: usize, to_server: bool, bytes: &[u8]) {
        let datagram = Datagram { client, to_server, bytes: bytes.to_vec() };
        self.datagrams.lock().expect("no thread panics").push(datagram);
    }
}
