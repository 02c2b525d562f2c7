//! A decoy: it accepts streams, answers their first bytes and discards the rest; or it answers short
//! datagrams, as a server answers strangers. What an attack does to good clients of another port while it runs at the
//! decoy is the machine's share, not the server's.

use crate::attack::{Attack, Beneath, Script, Way};
use crate::trust;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A sink with its own thread, which ends with its value.
pub(crate) struct Decoy {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Decoy {
    pub(crate) fn start(attack: &Attack) -> io::Result<Decoy> {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = is_over.clone();
        if matches!(attack.way, Way::Natives(_)) {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.set_read_timeout(Some(PAUSE))?;
            let address = socket.local_addr()?;
            let thread = std::thread::spawn(move || echo(&socket, &ends));
            return Ok(Decoy { address, is_over, thread: Some(thread) });
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let is_secure = matches!(attack.way, Way::Streams(Script { beneath: Beneath::Tls, .. }));
        let tls = is_secure.then(|| Arc::new(trust::server()));
        let thread = std::thread::spawn(move || sink(&listener, tls.as_ref(), &ends));
        Ok(Decoy { address, is_over, thread: Some(thread) })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Decoy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A stream that was taken.
enum Taken {
    Clear(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Taken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Taken::Clear(stream) => stream.read(buffer),
            Taken::Tls(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Taken::Clear(stream) => stream.write(bytes),
            Taken::Tls(stream) => stream.write(bytes),
        }
    }
}

/// Sends back as much of a datagram as a CHALLENGE has.
fn echo(socket: &UdpSocket, ends: &AtomicBool) {
    let mut buffer = [0; 2_048];
    while !ends.load(Ordering::Relaxed) {
        if let Ok((count, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..count.min(CHALLENGE_BYTES)], from);
        }
    }
}

fn sink(listener: &TcpListener, tls: Option<&Arc<ServerConfig>>, ends: &AtomicBool) {
    let (mut streams, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    while !ends.load(Ordering::Relaxed) {
        let before = streams.len();
        streams.extend(std::iter::from_fn(|| listener.accept().ok()).filter_map(|(stream, _)| take(stream, tls)));
        let mut moved = streams.len() > before;
        streams.retain_mut(|(stream, answered): &mut (Taken, bool)| match stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(_) => {
                moved = true;
                // Raw streams read it as well, and forget it.
                *answered
                    || stream.write(ANSWER).is_ok_and(|_| {
                        *answered = true;
                        true
                    })
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        });
        if !moved {
            std::thread::sleep(PAUSE);
        }
    }
}

fn take(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> Option<(Taken, bool)> {
    stream.set_nonblocking(true).ok()?;
    let taken = match tls {
        None => Taken::Clear(stream),
        Some(config) => Taken::Tls(Box::new(StreamOwned::new(ServerConnection::new(config.clone()).ok()?, stream))),
    };
    Some((taken, false))
}

/// WIRE.md, section 2.3.
const CHALLENGE_BYTES: usize = 48;
const ANSWER: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";
/// While nothing comes.
const PAUSE: Duration = Duration::from_micros(500);
