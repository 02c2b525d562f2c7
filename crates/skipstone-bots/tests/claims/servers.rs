//! Small servers over plain sockets, each in a thread that ends with its handle.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server's thread, and what it found.
pub(crate) struct Running<T> {
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Running<T> {
    pub(crate) fn start(address: SocketAddr, serve: impl FnOnce(&AtomicBool) -> T + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&stop);
        Running { address, stop, thread: std::thread::spawn(move || serve(&own)) }
    }

    pub(crate) fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.address)
    }

    pub(crate) fn stop(self) -> T {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the server did not panic")
    }
}

/// Answers each datagram; every `every`, gives each client what `tick` makes of what was heard of it.
pub(crate) fn udp<S: Default + Send + 'static>(
    mut answer: impl FnMut(&mut S, &[u8]) -> Vec<Vec<u8>> + Send + 'static,
    mut tick: impl FnMut(&mut BTreeMap<SocketAddr, S>) -> Vec<(SocketAddr, Vec<u8>)> + Send + 'static,
) -> Running<BTreeMap<SocketAddr, S>> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
    socket.set_read_timeout(Some(Duration::from_millis(5))).expect("set");
    let address = socket.local_addr().expect("an address");
    Running::start(address, move |stop| {
        let (mut clients, mut buffer) = (BTreeMap::<SocketAddr, S>::new(), vec![0; 65_536]);
        let mut next = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            if let Ok((count, from)) = socket.recv_from(&mut buffer) {
                for reply in answer(clients.entry(from).or_default(), &buffer[..count]) {
                    let _ = socket.send_to(&reply, from);
                }
            }
            if Instant::now() >= next {
                next += EVERY;
                for (to, datagram) in tick(&mut clients) {
                    let _ = socket.send_to(&datagram, to);
                }
            }
        }
        clients
    })
}

/// Sends each datagram back.
pub(crate) fn echo() -> Running<BTreeMap<SocketAddr, ()>> {
    udp(|(), datagram| vec![datagram.to_vec()], |_| Vec::new())
}

/// Accepts streams one after the other, and lets a function serve each in a thread of its own.
pub(crate) fn tcp(serve: impl Fn(&mut dyn ReadWrite) + Send + Sync + 'static) -> Running<()> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    listener.set_nonblocking(true).expect("set");
    let address = listener.local_addr().expect("an address");
    let serve = Arc::new(serve);
    Running::start(address, move |stop| {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((mut stream, _)) => {
                    stream.set_nonblocking(false).expect("set");
                    let serve = Arc::clone(&serve);
                    std::thread::spawn(move || serve(&mut stream));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    })
}

pub(crate) trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

const EVERY: Duration = Duration::from_millis(50);
