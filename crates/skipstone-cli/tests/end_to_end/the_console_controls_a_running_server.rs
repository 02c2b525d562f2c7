//! The console over plain lines and through the real `telnet`: figures, clients, words to all, kicks, stress runs on
//! demand, the log, and several people at once.

use crate::common::console::Session;
use crate::common::guest::Guest;
use crate::common::result::{number, read};
use crate::common::terminal::on_terminal;
use crate::common::{PATIENCE, Running, Served, fresh_file};
use std::time::Instant;

#[test]
fn the_console_lists_describes_messages_and_kicks_clients() {
    let served = Served::start(&[]);
    let mut console = Session::open(served.console);
    let mut zoe = Guest::connect(&served.url, "zoe");
    let mut max = Guest::connect(&served.ws, "max");
    console.stats_until("clients 2,");
    let help = console.ask("help", "stop  ");
    for word in ["stats", "clients [KEY] [N]", "client ID", "say TEXT", "kick ID REASON", "stress on [RATE] | off"] {
        assert!(help.contains(word), "{help}");
    }
    let clients = console.clients_until(&["max", "zoe"]);
    let at = |name: &str| clients.find(name).unwrap_or_else(|| panic!("no {name} in {clients}"));
    assert!(at("max") < at("zoe") && clients.contains("ws") && clients.contains("udp"), "{clients}");
    let by_name = |name: &str| {
        let row = clients.lines().find(|line| line.contains(name)).expect("it is listed");
        row.split_whitespace().next().expect("it begins with its id").to_owned()
    };
    let about = console.ask(&format!("client {}", by_name("zoe")), "probe timeouts");
    assert!(about.contains("zoe over udp from 127.0.0.1") && about.contains("congestion window"), "{about}");
    console.ask("say dinner is ready", "said to 2");
    for guest in [&mut zoe, &mut max] {
        guest.listen_until("the word comes", |guest| guest.words == ["say dinner is ready"]);
    }
    console.ask(&format!("kick {} too loud", by_name("max")), "is told: too loud");
    max.listen_until("it is over", |guest| guest.close.is_some());
    let close = max.close.as_ref().expect("it came");
    assert_eq!((close.code, close.reason_text().as_ref()), (1002, "too loud"));
    console.stats_until("clients 1,");
    for (wrong, said) in [
        ("clients weight", "neither a number nor one of id, name"),
        ("client 999", "no client '999'"),
        ("kick 999.9 you", "no client '999.9'"),
        ("kick", "no client ''"),
        ("stress sideways", "say `stress on`"),
        ("stress on often", "not a rate"),
        ("dance", "`help` lists them"),
    ] {
        console.ask(wrong, said);
    }
    console.say("quit");
    assert!(console.rest().contains("bye"));
    served.stop();
}

#[cfg(target_os = "linux")]
#[test]
fn each_shard_has_its_own_line_and_the_totals_cover_all() {
    let served = Served::start(&["--shards", "2"]);
    let mut console = Session::open(served.console);
    let mut guests: Vec<Guest> = ["ann", "bob", "cat", "dan"].map(|name| Guest::connect(&served.url, name)).into();
    console.stats_until("clients 4,");
    guests[0].say("hello");
    guests.iter_mut().for_each(|guest| guest.listen_until("the line comes", |guest| guest.lines.len() == 1));
    let clients = |stats: &str, shard: &str| -> u32 {
        let (_, rest) = stats.split_once(&format!("shard {shard}: clients ")).expect("it has a line");
        rest.split(',').next().and_then(|count| count.parse().ok()).expect("a number")
    };
    // A shard's figures are published a moment after they change.
    let mut stats = console.stats();
    for _ in 0..100 {
        if clients(&stats, "0") + clients(&stats, "1") == 4 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        stats = console.stats();
    }
    assert_eq!(clients(&stats, "0") + clients(&stats, "1"), 4, "{stats}");
    assert!(stats.contains("clients 4,") && !stats.contains("shard 2"), "{stats}");
    // Shard by shard, and which client is in which is the kernel's choice.
    for name in ["ann", "bob", "cat", "dan"] {
        console.clients_until(&[name]);
    }
    served.stop();
}

#[test]
fn rates_cover_the_time_since_each_sessions_last_read() {
    let served = Served::start(&[]);
    let mut first = Session::open(served.console);
    let mut second = Session::open(served.console);
    let mut guest = Guest::connect(&served.url, "zoe");
    first.stats();
    guest.say("one");
    guest.say("two");
    guest.listen_until("both come back", |guest| guest.lines.len() == 2);
    let received = |stats: &str| {
        let row = stats.lines().find(|line| line.starts_with("messages received")).expect("it is there").to_owned();
        let mut words = row.split_whitespace().skip(2).map(str::to_owned);
        (words.next().expect("a total"), words.next().expect("a rate"))
    };
    // Statistics are published 20 times a second.
    let end = Instant::now() + PATIENCE;
    loop {
        let busy = first.stats();
        if received(&busy).0 == "2" {
            break;
        }
        assert!(Instant::now() < end, "{busy}");
    }
    let idle = first.stats();
    assert_eq!(received(&idle), ("2".into(), "0/s".into()), "nothing since the last look: {idle}");
    let other = second.stats();
    assert_eq!(received(&other).0, "2", "{other}");
    assert!(other.contains("payload") && other.contains("protocol") && other.contains("clients 1, up "), "{other}");
    served.stop();
}

#[test]
fn waiting_clients_start_and_stop_on_command() {
    let served = Served::start(&[]);
    let mut console = Session::open(served.console);
    let file = fresh_file("stress.json");
    let json = file.to_str().expect("text");
    let mut run = Running::tool(&["stress", &served.url, "--wait", "-c", "4", "--mix", "udp=2,ws=2", "--json", json]);
    run.until("4 clients wait for `stress on`");
    console.stats_until("clients 4,");
    console.ask("stress on 5/s", "told 4 stress clients: stress on 5/s");
    run.until("1.0 s running");
    // Another rate is another run.
    console.ask("stress on 10/s", "told 4 stress clients: stress on 10/s");
    run.until("at 5/s for");
    run.until(" of 40/s");
    console.ask("stress off", "told 4 stress clients: stress off");
    run.until("at 10/s for");
    assert_eq!(run.out().matches("wait for `stress on`").count().clamp(2, 3), run.out().matches("wait for").count());
    served.stop();
    let ended = run.wait();
    ended.expect(&[0, 98]);
    assert!(ended.out.contains("4 clients: the server says: the server shuts down"), "{}", ended.out);
    // The file has one result: the last.
    let result = read(&file);
    assert_eq!((&result["plan"]["rate"], number(&result, "messages.lost")), (&"10/s".into(), 0));
    let (lines, bytes) = (number(&result, "messages.sent"), number(&result, "wire.bytes_payload"));
    assert!(lines > 0 && bytes < lines * (1 + 4) * 200, "the wire is that of one run: {result:#}");
}

#[test]
fn a_run_that_never_started_is_invalid() {
    let served = Served::start(&[]);
    let mut run = Running::tool(&["stress", &served.url, "--wait", "-c", "2"]);
    run.until("2 clients wait for `stress on`");
    run.signal("INT");
    run.wait().expect(&[105]);
    // They have left; no client remains.
    Session::open(served.console).stats_until("clients 0,");
    served.stop();
}

#[test]
fn several_sessions_and_a_log() {
    let served = Served::start(&[]);
    let mut watcher = Session::open(served.console);
    watcher.ask("log", "log is on");
    let mut others: Vec<Session> = (0..5).map(|_| Session::open(served.console)).collect();
    let guest = Guest::connect(&served.url, "zoe");
    watcher.until("zoe joined");
    for session in &mut others {
        session.clients_until(&["zoe"]);
    }
    let id = "0.0";
    others[0].ask(&format!("kick {id} enough now"), "is told");
    watcher.until("zoe closed: enough now (code 1002)");
    drop(guest);
    others[1].ask("stop", "the server ends");
    let ended = served.running.wait();
    ended.expect(&[0]);
    for session in others {
        assert!(session.rest().contains("the server shuts down"));
    }
}

#[test]
fn a_token_comes_first() {
    let served = Served::start(&["--console-token", "open sesame, open"]);
    let wrong = "expect oken\nsend wrong\nexpect connect again";
    let right = "expect oken\nsend open sesame, open\nexpect lists the commands\nsend stats\nexpect drops\nsend \
                 quit\nexpect bye";
    let (host, port) = (served.console.ip().to_string(), served.console.port().to_string());
    on_terminal(80, wrong, &["telnet", &host, &port]);
    if let Some(ended) = on_terminal(80, right, &["telnet", &host, &port]) {
        assert!(ended.out.contains("drops"), "{}", ended.text());
    }
    served.stop();
}

#[test]
fn the_real_telnet_edits_its_lines_itself() {
    let served = Served::start(&[]);
    let mut guest = Guest::connect(&served.url, "zoe");
    let (host, port) = (served.console.ip().to_string(), served.console.port().to_string());
    // \x7f is backspace: the terminal takes the letter back before telnet sends the line.
    let script = "expect lists the commands\nsend helpx\\x7f\nexpect kick ID REASON\nsend clients\nexpect zoe\n\
                  send say hi from telnet\nexpect said to 1\nsend quit\nexpect bye";
    if let Some(ended) = on_terminal(100, script, &["telnet", &host, &port]) {
        assert!(ended.err.is_empty() && !ended.out.contains("error"), "{}", ended.text());
        guest.listen_until("the word comes", |guest| guest.words == ["say hi from telnet"]);
    }
    served.stop();
}
