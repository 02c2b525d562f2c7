//! Each wrong send is refused at the call, with its reason and its message, in both threading modes, by all three
//! handles. The table goes to standard output (`--nocapture`).

use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, Group, Overflow, PeerError, PeerId, Pool, PoolConfig,
    Security, SendError, SendRefusal, Server, ServerConfig, Settings, Target, Threading,
};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;
const REFUSING: u16 = 1;
const SPAN_MAX: Duration = Duration::from_secs(20);

fn settings() -> Settings {
    let refusing = ChannelRule {
        overflow: Overflow::Refuse,
        queue_messages_max: 4,
        ..ChannelRule::new(REFUSING..=REFUSING, DeliveryMode::ReliableOrdered)
    };
    Settings { channels: vec![ChannelRule::new(0..=0, DeliveryMode::ReliableOrdered), refusing], ..Settings::default() }
}

fn server(threading: Threading) -> Server {
    let config = ServerConfig {
        settings: settings(),
        security: Some(Security::plain()),
        threading,
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    Server::start(config).expect("a port is free")
}

/// The error that each wrong send returned.
#[derive(Debug, PartialEq)]
struct Answers(Vec<(&'static str, Option<SendRefusal>)>);

impl Answers {
    fn note<T>(&mut self, what: &'static str, payload_bytes: usize, answer: Result<T, SendError>) {
        if let Err(error) = &answer {
            assert_eq!(error.payload.len(), payload_bytes, "{what}: the message comes back");
            assert!(error.to_string().contains(": ") || error.to_string().contains(','), "{error}: cause and remedy");
        }
        self.0.push((what, answer.err().map(|error| error.reason)));
    }
}

fn expected(has_peers: bool) -> Answers {
    let (bytes, bytes_max) = (3 * MIB, MIB);
    let mut expected = vec![
        ("before Connected", Some(SendRefusal::NotConnected)),
        ("3 MiB", Some(SendRefusal::TooLong { bytes, bytes_max })),
        ("a channel without a rule", Some(SendRefusal::NoSuchChannel { channel: 77 })),
        ("a full queue", Some(SendRefusal::QueueFull)),
        ("a peer that never was", Some(SendRefusal::UnknownPeer)),
        ("after Closed", Some(SendRefusal::NotConnected)),
    ];
    if !has_peers {
        expected.remove(4);
    }
    Answers(expected)
}

/// Drives both until `done` returns a value.
fn drive<T>(server: &mut Server, mut done: impl FnMut(&mut Server) -> Option<T>) -> T {
    let end = Instant::now() + SPAN_MAX;
    loop {
        assert!(Instant::now() < end, "it happens in time");
        server.drive(Duration::from_millis(1)).expect("it drives");
        server.wait(Duration::from_millis(1));
        if let Some(result) = done(server) {
            return result;
        }
    }
}

/// Fills the channel that refuses until it does; nothing is flushed, so nothing leaves meanwhile.
fn fill(mut send: impl FnMut() -> Result<skipstone::MessageId, SendError>) -> Result<skipstone::MessageId, SendError> {
    (0..1_000).map(|_| send()).find(Result::is_err).expect("it is full before long")
}

fn server_answers(threading: Threading) -> Answers {
    let mut server = server(threading);
    let mut client = Client::connect(&server.url(), b"", ClientConfig::default()).expect("it begins");
    let mut answers = Answers(Vec::new());
    let peer = drive(&mut server, |server| match server.poll_event() {
        Some(Event::Requested { peer, .. }) => Some(peer),
        _ => None,
    });
    answers.note("before Connected", 5, server.send(peer, 0, "early"));
    server.accept(peer).expect("it waits");
    assert_eq!(server.accept(peer), Err(PeerError::NotWaiting), "it was accepted already");
    drive(&mut server, |server| matches!(server.poll_event(), Some(Event::Connected { .. })).then_some(()));
    answers.note("3 MiB", 3 * MIB, server.send(peer, 0, vec![0; 3 * MIB]));
    answers.note("a channel without a rule", 1, server.send(peer, 77, "x"));
    answers.note("a full queue", 1, fill(|| server.send(peer, REFUSING, "x")));
    let nobody = PeerId { index: 40, generation: 0 };
    answers.note("a peer that never was", 1, server.send(nobody, 0, "x"));
    assert_eq!(
        server.broadcast(Group::EVERYONE, 77, "x").map_err(|error| error.reason),
        Err(SendRefusal::NoSuchChannel { channel: 77 })
    );
    assert_eq!(server.broadcast(Group(9), 0, "x").expect("a group without members").peers, 0);
    assert_eq!(server.join(nobody, Group(9)), Err(PeerError::UnknownPeer));
    assert_eq!(server.join(peer, Group::EVERYONE), Err(PeerError::EveryoneIsKept));
    assert_eq!(server.close(nobody, 0, "", Duration::ZERO), Err(PeerError::UnknownPeer));
    server.close(peer, 0, "enough", Duration::ZERO).expect("it stands");
    assert_eq!(
        server.send(peer, 0, "x").map_err(|error| error.reason),
        Err(SendRefusal::NotConnected),
        "it is closing"
    );
    drive(&mut server, |server| {
        drop(client.poll_event());
        matches!(server.poll_event(), Some(Event::Closed { .. })).then_some(())
    });
    answers.note("after Closed", 1, server.send(peer, 0, "x"));
    assert_eq!(server.join(peer, Group(9)), Err(PeerError::Over));
    answers
}

fn client_answers(threading: Threading) -> Answers {
    let mut server = server(Threading::Background);
    let config = ClientConfig { threading, ..ClientConfig::default() };
    let mut client = Client::connect(&server.url(), b"", config).expect("it begins");
    let mut answers = Answers(Vec::new());
    answers.note("before Connected", 5, client.send(0, "early"));
    let step = |client: &mut Client, server: &mut Server, wanted: fn(&Event) -> bool| {
        drive(server, |server| {
            client.drive(Duration::from_millis(1)).expect("it drives");
            if let Some(Event::Requested { peer, .. }) = server.poll_event() {
                server.accept(peer).expect("it waits");
            }
            client.poll_event().is_some_and(|event| wanted(&event)).then_some(())
        });
    };
    step(&mut client, &mut server, |event| matches!(event, Event::Connected { .. }));
    answers.note("3 MiB", 3 * MIB, client.send(0, vec![0; 3 * MIB]));
    answers.note("a channel without a rule", 1, client.send(77, "x"));
    answers.note("a full queue", 1, fill(|| client.send(REFUSING, "x")));
    server.shutdown(9, "over", Duration::ZERO);
    let end = Instant::now() + SPAN_MAX;
    loop {
        assert!(Instant::now() < end, "the end is told in time");
        client.drive(Duration::from_millis(1)).expect("it drives");
        client.wait(Duration::from_millis(1));
        if matches!(client.poll_event(), Some(Event::Closed { .. })) {
            break;
        }
    }
    answers.note("after Closed", 1, client.send(0, "x"));
    answers
}

fn pool_answers() -> Answers {
    let mut server = server(Threading::Background);
    let target: Target = server.url().parse().expect("a URL");
    let mut pool = Pool::new(PoolConfig::default()).expect("a pool");
    let peer = pool.add(&target, server.local_addr(), b"", None).expect("a socket");
    let mut answers = Answers(Vec::new());
    answers.note("before Connected", 5, pool.send(peer, 0, "early"));
    let mut step = |pool: &mut Pool, wanted: fn(&Event) -> bool| {
        drive(&mut server, |server| {
            pool.drive(Duration::from_millis(1)).expect("it drives");
            if let Some(Event::Requested { peer, .. }) = server.poll_event() {
                server.accept(peer).expect("it waits");
            }
            pool.poll_event().is_some_and(|event| wanted(&event)).then_some(())
        });
    };
    step(&mut pool, |event| matches!(event, Event::Connected { .. }));
    answers.note("3 MiB", 3 * MIB, pool.send(peer, 0, vec![0; 3 * MIB]));
    answers.note("a channel without a rule", 1, pool.send(peer, 77, "x"));
    answers.note("a full queue", 1, fill(|| pool.send(peer, REFUSING, "x")));
    answers.note("a peer that never was", 1, pool.send(PeerId { index: 40, generation: 0 }, 0, "x"));
    pool.close(peer, 0, "enough", Duration::ZERO).expect("it stands");
    step(&mut pool, |event| matches!(event, Event::Closed { .. }));
    answers.note("after Closed", 1, pool.send(peer, 0, "x"));
    answers
}

#[test]
fn in_both_threading_modes_and_by_all_handles() {
    let tables = [
        ("Server, background", server_answers(Threading::Background), true),
        ("Server, stepped", server_answers(Threading::Stepped), true),
        ("Client, background", client_answers(Threading::Background), false),
        ("Client, stepped", client_answers(Threading::Stepped), false),
        ("Pool, stepped", pool_answers(), true),
    ];
    for (handle, answers, has_peers) in &tables {
        println!("{handle}");
        for (what, reason) in &answers.0 {
            println!("  {what:<26}{}", reason.map_or("accepted".into(), |reason| format!("{reason:?}")));
        }
        assert_eq!(*answers, expected(*has_peers), "{handle}");
    }
}
