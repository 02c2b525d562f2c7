//! The console never outlives the server, over loopback.

use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::console::tests::client::{Client, config, console, with_token};

#[test]
fn shutdown_sends_the_reason_to_every_session_and_frees_the_port() {
    let mut console = console(config());
    let address = console.local_addr();
    let mut plain = Client::connect(address);
    let mut telnet = Client::connect(address);
    plain.send("who\n");
    plain.read_until("hello\r\n");
    telnet.send(b"\xff\xfd\x01abc");
    telnet.read_until(b"\xff\xfc\x01");
    let begun = Instant::now();
    console.close("the run is over");
    let took = begun.elapsed();
    assert!(took < SOON, "took {took:?}");
    assert!(plain.read_to_end().ends_with("server ends: the run is over\r\n"));
    assert!(telnet.read_to_end().ends_with("server ends: the run is over\r\n"));
    assert!(TcpStream::connect(address).is_err());
    TcpListener::bind(address).expect("the port is free");
}

#[test]
fn dropping_the_console_closes_all_sessions_even_without_a_token() {
    let console = console(with_token());
    let mut client = Client::connect(console.local_addr());
    client.read_until("token: \r\n");
    drop(console);
    assert_eq!(client.read_to_end(), "server ends: it stops\r\n");
}

#[test]
fn a_client_that_does_not_read_cannot_delay_shutdown() {
    let mut console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("big\n".repeat(40));
    client.read_until("hello\r\n");
    let begun = Instant::now();
    console.close("the run is over");
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
}

#[test]
fn a_running_handler_delays_shutdown_by_at_most_its_grace_period() {
    let mut console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("who\nslowest\n");
    client.read_until("session 1\r\n");
    let address = console.local_addr();
    let begun = Instant::now();
    console.close("the run is over");
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
    assert!(TcpStream::connect(address).is_err());
    assert!(client.read_to_end().ends_with("server ends: the run is over\r\n"));
}

/// 200 ms are promised; a busy machine that runs all tests at once gets some more. The slowest handler takes twice as
/// long as this.
const SOON: Duration = Duration::from_secs(2);
