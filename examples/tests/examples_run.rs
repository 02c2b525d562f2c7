//! The examples do what they say, over loopback.

use skipstone::{Mode, Server, ServerConfig};
use skipstone_examples::typed::Packet;
use skipstone_examples::typed::game::{ChatLine, PlayerInput, Snapshot};
use skipstone_examples::{chat, echo, typed};

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
    assert_eq!(mode(PlayerInput::CHANNEL), Some(Mode::UnreliableSequenced));
    assert_eq!(mode(Snapshot::CHANNEL), Some(Mode::Unreliable));
    assert_eq!(mode(ChatLine::CHANNEL), Some(Mode::ReliableOrdered));
    assert_eq!(mode(3), None);
}
