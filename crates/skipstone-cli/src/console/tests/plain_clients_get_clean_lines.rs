//! Clients that send lines, telnet clients among them, over loopback.

use std::time::Duration;

use crate::console::tests::client::{BIG_BYTES, Client, config, console};

#[test]
fn a_script_that_writes_first_gets_only_the_banner_and_its_replies() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("stats\nquit\n");
    assert_eq!(client.read_to_end(), "hello\r\npeers 1\r\nloss 0\r\nbye\r\n");
}

#[test]
fn the_end_of_the_input_ends_the_session_after_all_replies() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("stats\r\nnonsense\r\n\r\nwho");
    client.end_input();
    let expected = "hello\r\npeers 1\r\nloss 0\r\nerror: unknown command nonsense\r\nsession 1\r\n";
    assert_eq!(client.read_to_end(), expected);
}

#[test]
fn a_silent_client_gets_the_banner_and_no_byte_of_telnet() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    assert_eq!(client.read_until("hello\r\n"), b"hello\r\n");
    client.send("stats\n");
    assert_eq!(client.read_until("loss 0\r\n"), b"peers 1\r\nloss 0\r\n");
}

#[test]
fn telnet_options_are_refused_and_replies_are_lines() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send(b"\xff\xfb\x1f\xff\xfd\x01who\r\0whp\xff\xf7o\r\0\xff\xf6quit\r\n");
    let heard = client.read_to_any_end();
    let heard = String::from_utf8_lossy(&heard).into_owned();
    assert!(heard.starts_with("hello\r\nsession 1\r\nsession 1\r\n[yes]\r\nbye\r\n"), "{heard:?}");
}

#[test]
fn input_after_quit_does_not_discard_earlier_replies() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send(format!("stats\nquit\n{}", "more\n".repeat(5000)));
    // If input had been left unread, the connection would have been reset by now.
    std::thread::sleep(Duration::from_millis(200));
    assert!(client.read_to_end().ends_with("loss 0\r\nbye\r\n"));
}

#[test]
fn many_commands_at_once_with_large_replies_are_all_answered() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("big\n".repeat(20));
    client.end_input();
    assert_eq!(client.read_to_end().len(), "hello\r\n".len() + 20 * (BIG_BYTES + 2));
}

#[test]
fn a_handler_can_end_the_session() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("leave\nstats\n");
    assert_eq!(client.read_to_end(), "hello\r\nbye\r\n");
}

#[test]
fn a_panic_in_a_handler_is_an_internal_error_and_the_session_continues() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("panic\nwho\nquit\n");
    let expected = "hello\r\nerror: internal error; the server continues\r\nsession 1\r\nbye\r\n";
    assert_eq!(client.read_to_end(), expected);
}

#[test]
fn a_slow_command_delays_only_its_own_session() {
    let console = console(config());
    let mut slow = Client::connect(console.local_addr());
    slow.send("slow\nwho\nquit\n");
    slow.read_until("hello\r\n");
    for number in 2..8 {
        let mut quick = Client::connect(console.local_addr());
        quick.send("who\nquit\n");
        assert_eq!(quick.read_to_end(), format!("hello\r\nsession {number}\r\nbye\r\n"));
    }
    assert_eq!(slow.read_to_end(), "done\r\nsession 1\r\nbye\r\n");
}

#[test]
fn log_lines_reach_the_sessions_that_want_them() {
    let console = console(config());
    let mut wants = Client::connect(console.local_addr());
    let mut not = Client::connect(console.local_addr());
    wants.send("log on\n");
    not.send("log on\nlog\n");
    wants.read_until("log is on\r\n");
    not.read_until("log is off\r\n");
    console.log("zoë joined\x1b[2J");
    assert_eq!(wants.read_until("\n"), "zoë joined␛[2J\r\n".as_bytes());
    not.send("quit\n");
    assert_eq!(not.read_to_end(), "bye\r\n");
}
