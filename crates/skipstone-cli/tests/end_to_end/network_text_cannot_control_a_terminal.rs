//! Names, lines, reasons and settings' texts with escape sequences, control and bidirectional characters in them: no
//! exit of the tool lets them through.

use crate::common::console::Session;
use crate::common::guest::Guest;
use crate::common::{PATIENCE, Running, SKIPSTONE, Served, run};
use skipstone::{Event, Identity, Security, Server, ServerConfig, code};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Clears a screen, rings, forges a line, turns the reading direction, in C0 and C1.
const EVIL: &str = "evil\x1b[2J\x1b]0;title\x07\r\n9.0 forged\u{9b}31m\u{202e}txt.exe\u{2066}\u{200f}\u{61c}";

#[track_caller]
fn assert_harmless(text: &str) {
    let obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\r');
    assert!(!text.contains(obeyed), "{text:?}");
    let misleads = |letter: char| -> bool {
        matches!(letter, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.contains(misleads), "{text:?}");
}

/// A server that refuses all clients with a custom reason, for as long as `during` runs.
fn refusing<T>(during: impl FnOnce(&str) -> T) -> T {
    let mut server = Server::start(ServerConfig {
        security: Some(Security::with(Identity::self_signed().expect("an identity"))),
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    })
    .expect("it starts");
    let url = server.url();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                while let Some(event) = server.poll_event() {
                    if let Event::Requested { peer, .. } = event {
                        server.refuse(peer, code::REFUSED, EVIL).expect("it asked");
                    }
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let outcome = during(&url);
        is_over.store(true, Ordering::SeqCst);
        outcome
    })
}

#[test]
fn a_server_reason_reaches_stress_and_chat_without_escape_sequences() {
    refusing(|url| {
        let ended = run(&["stress", url, "-c", "2", "-d", "1s"]);
        assert!(ended.text().contains("evil␛[2J"), "{}", ended.text());
        assert_harmless(&ended.text());
        let ended = run(&["chat", url, "--name", "zoe"]);
        assert!(ended.err.contains("evil␛[2J"), "{}", ended.err);
        assert_harmless(&ended.text());
    });
}

#[test]
fn lines_and_names_reach_chat_and_console_without_escape_sequences() {
    let served = Served::start(&[]);
    let mut watcher = Session::open(served.console);
    watcher.ask("log", "log is on");
    let mut command = Command::new(SKIPSTONE);
    command.args(["chat", &served.url, "--name", "zoe"]);
    let mut chat = chatting(command);
    let mut guest = Guest::connect(&served.url, &format!("mal{EVIL}"));
    guest.say(EVIL);
    guest.leave(EVIL);
    let log = watcher.until("left: evil");
    assert_harmless(&log);
    assert!(log.contains("malevil[2J"), "{log:?}");
    assert!(!log.lines().any(|line| line.starts_with("9.0 forged")), "a reason forged a line of the log: {log:?}");
    chat.until("malevil");
    assert_harmless(&chat.out());
    served.stop();
}

/// A chat whose input stays open and silent.
fn chatting(command: Command) -> Running {
    let mut chat = Running::start_with_input(command, Stdio::piped());
    let end = Instant::now() + PATIENCE;
    while !chat.out().contains("connected to") {
        assert!(Instant::now() < end && chat.is_alive(), "it does not connect: {}", chat.out());
        std::thread::sleep(Duration::from_millis(10));
    }
    chat
}
