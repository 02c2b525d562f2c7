//! A client that answers the negotiation, over loopback.

use crate::console::Console;
use crate::console::tests::client::{Client, config, console};

/// A client in character mode, after the first prompt.
fn telnet(console: &Console) -> Client {
    let mut client = Client::connect(console.local_addr());
    client.read_until(b"\xff\xfb\x01");
    client.send(b"\xff\xfd\x01\xff\xfd\x03\xff\xfb\x03\xff\xfb\x1f\xff\xfa\x1f\x00\x28\x00\x18\xff\xf0");
    client.read_until("hello\r\n");
    client.read_until("> ");
    client
}

#[test]
fn keys_are_echoed_and_edited() {
    let console = console(config());
    let mut client = telnet(&console);
    client.send("stts");
    client.read_until("stts");
    client.send("\x1b[D\x1b[Da\r\0");
    client.read_until("peers 1\r\n");
    client.read_until("> ");
}

#[test]
fn tab_completes_and_shows_choices() {
    let console = console(config());
    let mut client = telnet(&console);
    client.send("w\t");
    client.read_until("who ");
    client.send("\x15s\t\t");
    client.read_until("stats  status\r\n");
    client.send("s\r\0");
    client.read_until("peers 1\r\n");
}

#[test]
fn a_log_line_comes_while_a_line_is_typed_and_the_line_is_drawn_again() {
    let console = console(config());
    let mut client = telnet(&console);
    client.send("log on\r\0");
    client.read_until("log is on\r\n");
    client.send("sta");
    client.read_until("> sta");
    console.log("zoë joined");
    client.read_until("\r\0\x1b[Jzoë joined\r\n> sta");
    client.send("ts\r\0");
    client.read_until("peers 1\r\n");
}

#[test]
fn history_is_walked_and_listed() {
    let console = console(config());
    let mut client = telnet(&console);
    client.send("who\r\0");
    client.read_until("session 1\r\n");
    client.send("\x1b[A\r\0history\r\0");
    client.read_until("session 1\r\n");
    client.read_until("   1  who\r\n   2  history\r\n");
}

#[test]
fn ctrl_d_on_an_empty_line_ends_the_session() {
    let console = console(config());
    let mut client = telnet(&console);
    client.send("ab\x04\x03\x04");
    assert!(client.read_to_end().ends_with("bye\r\n"));
}

#[test]
fn a_client_that_asks_first_gets_character_mode_at_once() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send(b"\xff\xfb\x1f\xff\xfd\x01\xff\xfb\x18\xff\xf6");
    let negotiated = client.read_until(b"\xff\xfe\x18");
    assert!(negotiated.ends_with(b"\xff\xfe\x18"));
    client.send("who\r\0");
    client.read_until("session 1\r\n");
}

#[test]
fn a_client_that_refuses_echo_stays_in_line_mode() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.read_until(b"\xff\xfb\x01\r\0");
    client.send(b"\xff\xfe\x01who\r\nquit\r\n");
    assert_eq!(client.read_to_end(), "hello\r\nsession 1\r\nbye\r\n");
}
