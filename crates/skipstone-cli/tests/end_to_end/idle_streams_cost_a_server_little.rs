//! Thousands of WebSockets that say nothing, and a server that runs out of descriptors: others get in, and it all
//! passes.

use crate::common::console::Session;
use crate::common::guest::Guest;
use crate::common::{PATIENCE, Running, SKIPSTONE, Served};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

/// A WebSocket whose upgrade is asked for.
fn upgrading(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("the kernel takes it");
    stream.write_all(REQUEST).expect("it is open");
    stream.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    stream
}

/// Whether the server ended it, or does within the patience.
fn is_ended(stream: &mut TcpStream) -> bool {
    let mut buffer = [0; 1_024];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

#[test]
fn three_thousand_idle_websockets_are_closed_within_fifteen_seconds() {
    skipstone::net::wait::raise_open_files_limit();
    let served = Served::start(&[]);
    let began = Instant::now();
    // One after the other: what overflows the kernel's queue of connections is not the server's.
    let upgraded = |_| {
        let mut stream = upgrading(served.address);
        stream.read_exact(&mut [0; 12]).expect("it is answered");
        stream
    };
    let mut idle: Vec<TcpStream> = (0..3_000).map(upgraded).collect();
    let opened = Instant::now();
    let guest = Guest::connect(&served.ws, "late");
    assert!(opened.elapsed() < Duration::from_secs(5), "a newcomer waited for {:?}", opened.elapsed());
    assert!(idle.iter_mut().all(is_ended));
    let took = opened.elapsed();
    assert!(took < Duration::from_secs(15), "{took:?}, {:?} with the opening", began.elapsed());
    Session::open(served.console).stats_until("clients 1,");
    drop(guest);
    served.stop();
}

#[test]
fn waiting_clients_are_accepted_once_descriptors_are_free() {
    let mut command = Command::new("sh");
    let serve = format!("ulimit -n 64; exec {SKIPSTONE} serve --listen 127.0.0.1:0 --console off --identity new");
    command.args(["-c", &serve]);
    let mut running = Running::start(command);
    let text = running.until("stop with Ctrl-C");
    let address = text.split("browsers   ws://").nth(1).and_then(|rest| rest.split_whitespace().next());
    let address: SocketAddr = address.expect("it says where").parse().expect("an address");
    let mut streams: Vec<TcpStream> = (0..100).map(|_| upgrading(address)).collect();
    let mut answer = [0; 12];
    streams[0].read_exact(&mut answer).expect("the first is answered");
    // The last one waits in the kernel's queue; no later connection wakes the listener.
    streams[99].set_read_timeout(Some(Duration::from_millis(500))).expect("it is a socket");
    assert!(streams[99].read_exact(&mut answer).is_err(), "descriptors did not run out");
    drop(streams.drain(..90));
    let last = streams.last_mut().expect("ten are left");
    last.set_read_timeout(Some(PATIENCE)).expect("it is a socket");
    last.read_exact(&mut answer).expect("the last is answered now");
    assert_eq!(&answer, b"HTTP/1.1 101");
    running.signal("TERM");
    running.wait().expect(&[0]);
}
