//! Each example works as documented, over loopback.

mod packets;

use skipstone::{DeliveryMode, Server, ServerConfig};
use skipstone_examples::typed::Packet;
use skipstone_examples::typed::game::{ChatLine, PlayerInput, Snapshot};
use skipstone_examples::{chat, dots, echo, interop, listen_server, query, reconnect, typed};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[test]
fn echo_answers_over_both_carriers() {
    let server = Server::start(ServerConfig::new("127.0.0.1:0".parse().expect("an address"))).expect("a port is free");
    let urls = [server.url(), format!("ws://{}", server.local_addr())];
    let serving = std::thread::spawn(|| echo::serve(server, 2));
    for url in urls {
        let answer = echo::ask(&url, "is anybody there?");
        assert_eq!(answer.expect("an answer"), "is anybody there?");
    }
    serving.join().expect("no panic").expect("room in the queue");
    echo::main().expect("the program succeeds");
}

#[test]
fn chat_lets_names_in_once() {
    let server = Server::start(ServerConfig::new("127.0.0.1:0".parse().expect("an address"))).expect("a port is free");
    let url = server.url();
    let serving = std::thread::spawn(|| chat::serve(server));
    let mut zoe = chat::Guest::join(&url, "Zoe").expect("a socket");
    zoe.hear("Zoe joined").expect("the server says so");
    for name in ["Zoe", ""] {
        let refused = chat::Guest::join(&url, name).expect("a socket").hear("never").expect_err("not a second time");
        assert_eq!(refused.to_string(), "choose another name");
    }
    zoe.say("alone").expect("room in the queue");
    zoe.hear("Zoe: alone").expect("everybody hears it");
    zoe.leave();
    serving.join().expect("no panic").expect("room in the queue");
}

#[test]
fn chat_runs() {
    chat::main().expect("the program succeeds");
}

#[test]
fn native_players_see_each_others_dots() {
    let server = dots::start("127.0.0.1:0").expect("a port is free");
    let (url, stop) = (server.url(), AtomicBool::new(false));
    let seen = std::thread::scope(|scope| {
        let serving = scope.spawn(|| dots::serve(server, &stop));
        let players = [0, 1].map(|number| {
            let (url, stop) = (&url, &stop);
            scope.spawn(move || dots::walk(url, number, stop))
        });
        std::thread::sleep(Duration::from_secs(2));
        stop.store(true, Ordering::Relaxed);
        let seen = players.map(|player| player.join().expect("no panic").expect("it plays"));
        serving.join().expect("no panic").expect("it serves");
        seen
    });
    assert!(seen.iter().all(|snapshots| *snapshots > 10), "{seen:?}");
}

#[test]
fn a_listen_server_plays_alone_and_with_a_friend() {
    listen_server::main().expect("the program succeeds");
    let server = Server::start(ServerConfig::offline()).expect("it needs no port");
    let players = ["Zoe", "Bob"].map(|name| server.connect_local(name.as_bytes(), Default::default()));
    let players = players.into_iter().collect::<Result<_, _>>().expect("they need no socket");
    assert_eq!(listen_server::play(server, players).expect("a score"), 2 * listen_server::TURNS);
}

#[test]
fn a_server_browser_lists_the_servers_that_answer() {
    query::main().expect("the program succeeds");
    let server = query::serve("one").expect("a port is free");
    let silent = Server::start(ServerConfig::new("127.0.0.1:0".parse().expect("an address"))).expect("a port is free");
    let found = query::browse(&[silent.local_addr(), server.local_addr()]).expect("sockets");
    let listed: Vec<_> = found.iter().map(|server| (server.address, server.text.as_str())).collect();
    assert_eq!(listed, [(server.local_addr(), "one")]);
}

#[test]
fn a_player_comes_back_and_no_order_is_lost_or_taken_twice() {
    let (orders, connections) = reconnect::play().expect("the program succeeds");
    assert_eq!(orders, (1..=reconnect::ORDERS).collect::<Vec<_>>());
    assert_eq!(connections, 3, "it was interrupted twice");
}

#[test]
fn pauses_double_up_to_their_limit_and_differ_by_chance() {
    let pauses = |chance| {
        let mut back_off = reconnect::BackOff::new();
        [(); 12].map(|()| back_off.pause(chance))
    };
    let (shortest, longest) = (pauses(0), pauses(u32::MAX));
    assert_eq!((shortest[0] * 2, longest[0]), (reconnect::BackOff::FIRST, reconnect::BackOff::FIRST));
    assert_eq!((shortest[1] * 2, longest[1]), (2 * reconnect::BackOff::FIRST, 2 * reconnect::BackOff::FIRST));
    assert_eq!((shortest[11] * 2, longest[11]), (reconnect::BackOff::MAX, reconnect::BackOff::MAX));
}

#[test]
fn typed_packets_move_a_player() {
    let (snapshot, line) = typed::play().expect("the program succeeds");
    assert!(snapshot.tick >= 2);
    assert_eq!((snapshot.players.len(), snapshot.players[0].y), (1, 0.0));
    assert_eq!(line, ChatLine { text: "hello".into() });
}

#[test]
fn each_packet_type_has_a_channel_and_its_rule() {
    let settings = typed::settings();
    let mode = |channel| settings.rule(channel).map(|rule| rule.mode);
    assert_eq!(mode(PlayerInput::CHANNEL), Some(DeliveryMode::UnreliableSequenced));
    assert_eq!(mode(Snapshot::CHANNEL), Some(DeliveryMode::Unreliable));
    assert_eq!(mode(ChatLine::CHANNEL), Some(DeliveryMode::ReliableOrdered));
    assert_eq!(mode(3), None);
}

#[test]
fn the_game_of_all_languages_checks_each_line() {
    let line = interop::line("zoe", 41);
    assert!(line.starts_with("zoe 41 pqrstu") && line.len() == "zoe 41 ".len() + 41 * 37 % 1_500, "{line}");
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (role, patience) =
        interop::parse(&words("--server ws://a:1 --name zoe --lines 3 --seconds 9")).expect("it is right");
    assert_eq!((role, patience.as_secs()), (interop::Role::Client("ws://a:1".into(), "zoe".into(), 3), 9));
    for wrong in ["", "--server a --listen b", "--lines", "--server a --lines x", "--loss 1"] {
        let words: Vec<String> = wrong.split_whitespace().map(str::to_owned).collect();
        interop::parse(&words).expect_err(wrong);
    }
}
