//! Noise, floods, many connections and clients that do not read, over loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::console::limits::Limits;
use crate::console::tests::client::{BIG_BYTES, Client, Commands, TOKEN, config, console, limits, with_token};
use crate::console::tests::random::Random;
use crate::console::{Console, ConsoleConfig};

fn assert_answers(console: &Console) {
    let mut client = Client::connect(console.local_addr());
    client.send("stats\nquit\n");
    assert_eq!(client.read_to_end(), "hello\r\npeers 1\r\nloss 0\r\nbye\r\n");
}

#[test]
fn a_client_that_does_not_read_is_dropped_without_delaying_others() {
    let console = console(config());
    let mut stalled = Client::connect(console.local_addr());
    stalled.send(format!("log on\n{}", "big\n".repeat(200)));
    stalled.read_until("log is on\r\n");
    assert_answers(&console);
    let begun = Instant::now();
    (0..10_000).for_each(|number| console.log(&format!("{number} {}", "x".repeat(100))));
    assert!(begun.elapsed() < Duration::from_secs(1), "logging waited {:?}", begun.elapsed());
    std::thread::sleep(Duration::from_millis(800));
    let received = stalled.read_to_any_end().len();
    assert!(received < 150 * BIG_BYTES, "it got {received} bytes, and so was not dropped");
    assert_answers(&console);
}

#[test]
fn a_session_over_the_limit_is_refused_and_a_freed_place_is_reused() {
    let console = console(ConsoleConfig { sessions_max: 3, ..config() });
    let mut clients: Vec<_> = (0..3).map(|_| Client::connect(console.local_addr())).collect();
    for client in &mut clients {
        client.send("who\n");
        client.read_until("session ");
    }
    let mut fourth = Client::connect(console.local_addr());
    fourth.send("who\n");
    assert!(fourth.read_to_end().starts_with("hello\r\nthe console is full (3 sessions)"));
    let mut first = clients.remove(0);
    first.send("quit\n");
    first.read_to_end();
    drop(first);
    std::thread::sleep(Duration::from_millis(200));
    assert_answers(&console);
}

#[test]
fn silent_strangers_do_not_block_new_clients() {
    for (config, greeting) in [(config(), "hello\r\n"), (with_token(), "token: \r\n")] {
        let first_line = if config.secret.is_some() { format!("{TOKEN}\n") } else { String::new() };
        let console = console(config);
        let mut silent: Vec<_> = (0..80).map(|_| Client::connect(console.local_addr())).collect();
        let mut operator = Client::connect(console.local_addr());
        operator.send(format!("{first_line}who\n"));
        operator.read_until("session 81\r\n");
        // Later unauthenticated clients displace each other, and not the operator.
        silent.extend((0..80).map(|_| Client::connect(console.local_addr())));
        operator.send("stats\nquit\n");
        assert_eq!(operator.read_to_end(), "peers 1\r\nloss 0\r\nbye\r\n");
        let heard = silent[0].read_to_end();
        assert_eq!(
            heard,
            format!("{greeting}displaced by new connections: connect again and send the first line at once\r\n")
        );
    }
}

/// Unauthenticated clients that reconnect whenever they are displaced, from the operator's own address.
#[test]
fn an_operator_with_the_token_connects_during_a_connection_flood() {
    let console = console(with_token());
    let (address, is_over) = (console.local_addr(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..200 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    Client::connect(address).read_to_any_end_or(&is_over);
                }
            });
        }
        let heard: Vec<String> = (0..20)
            .map(|_| {
                let mut operator = Client::connect(address);
                operator.send(format!("{TOKEN}\nstats\nquit\n"));
                String::from_utf8_lossy(&operator.read_to_any_end()).into_owned()
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        for heard in heard {
            assert!(heard.ends_with("loss 0\r\nbye\r\n"), "{heard}");
        }
    });
}

#[test]
fn an_invalid_first_line_ends_the_session() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("EHLO example\nwho\n");
    assert_eq!(client.read_to_end(), "hello\r\nerror: unknown command EHLO example\r\n");
}

#[test]
fn a_client_without_a_command_is_closed_in_time() {
    let limits = Limits { first_command: Duration::from_millis(300), ..limits() };
    let console = Console::listen_within(limits, config(), Arc::new(Commands)).expect("bound");
    let mut silent = Client::connect(console.local_addr());
    let mut operator = Client::connect(console.local_addr());
    operator.send("who\n");
    assert_eq!(silent.read_to_end(), "hello\r\nno command came: connect again\r\n");
    operator.send("quit\n");
    assert_eq!(operator.read_to_end(), "hello\r\nsession 2\r\nbye\r\n");
}

#[test]
fn an_endless_line_or_a_key_sequence_is_refused_and_the_next_line_runs() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send(format!("who\n{}", "x".repeat(1_000_000)));
    client.send("\n\x1b[Astats\nwho\nquit\n");
    let expected = "hello\r\nsession 1\r\nerror: the line is longer than 4096 bytes, and was ignored\r\n\
                    error: the line contains control characters or invalid UTF-8 and was ignored\r\nsession \
                    1\r\nbye\r\n";
    assert_eq!(client.read_to_end(), expected);
}

#[test]
fn random_bytes_on_sixteen_connections_do_not_affect_the_console() {
    let console = console(config());
    for seed in 0..16 {
        let mut random = Random::new(seed);
        let mut client = Client::connect(console.local_addr());
        // Some sessions quit by chance, and then accept nothing more.
        client.try_send(&random.telnet_bytes(500));
        client.try_send(&random.terminal_bytes(500));
    }
    std::thread::sleep(Duration::from_millis(300));
    assert_answers(&console);
}

#[test]
fn a_web_page_cannot_post_commands() {
    let console = console(config());
    let mut client = Client::connect(console.local_addr());
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\n\r\nwho\r\n");
    assert_eq!(client.read_to_end(), "hello\r\nerror: this is a console, not a web server\r\n");
}
