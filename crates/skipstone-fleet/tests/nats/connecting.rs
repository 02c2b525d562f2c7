//! The first connection, and why there is none.

use crate::common::{PATIENCE, bus, find, message, server, server_with, settings};
use skipstone_fleet::bus::{Bus, BusEvent, BusLogin, BusSettings, BusState};
use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};

#[test]
fn a_connected_bus_knows_its_server() {
    let server = server();
    let bus = bus(&server);
    assert_eq!(bus.state(), BusState::Connected);
    let info = bus.server().unwrap();
    assert!(info.version.starts_with("2."), "{info:?}");
    assert!(info.has_jetstream && info.payload_bytes_max == 1 << 20 && info.cluster.is_none(), "{info:?}");
}

#[test]
fn an_address_where_nobody_listens_is_refused_at_once() {
    let mut server = server();
    server.kill();
    let error = refusal(settings(&server));
    assert!(
        error.ends_with("no server listens there; start nats-server on that machine, or correct the address"),
        "{error}"
    );
}

#[test]
fn a_name_without_address_is_named() {
    let error = refusal(at("nats://no-such-host.invalid"));
    assert!(error.contains("NATS at nats://no-such-host.invalid:4222: the host's name is not known"), "{error}");
}

#[test]
fn a_wrong_password_is_refused_with_a_sentence_that_does_not_contain_it() {
    let server = server_with("authorization { user: anna, password: right }");
    let login = |login: &str| at(&server.url().replace("//", &format!("//{login}")));
    let error = refusal(login("anna:wr0ng@"));
    assert!(error.contains("the server refused this login; check the credentials"), "{error}");
    assert!(!error.contains("wr0ng"), "{error}");
    let error = refusal(login(""));
    assert!(error.contains("the server asks for a login; give credentials"), "{error}");
    Bus::connect(login("anna:right@")).unwrap();
}

#[test]
fn a_token_of_the_address_is_a_login() {
    let server = server_with("authorization { token: \"s3cret\" }");
    Bus::connect(at(&server.url().replace("//", "//s3cret@"))).unwrap();
    refusal(at(&server.url().replace("//", "//other@")));
}

#[test]
fn a_seed_in_a_file_is_a_login_and_any_other_content_is_named() {
    let (public, seed) = NKEY;
    let server = server_with(&format!("authorization {{ users: [{{ nkey: {public} }}] }}"));
    let with_file = |content: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        (BusSettings { login: BusLogin::NkeySeed(file.path().into()), ..settings(&server) }, file)
    };
    let (right, _file) = with_file(&format!("# a user\n{seed}\n"));
    Bus::connect(right).unwrap();
    let (empty, _file) = with_file("");
    let error = refusal(empty);
    assert!(error.contains("has no line that begins with SU; `nk -gen user` makes one"), "{error}");
    let (damaged, _file) = with_file(&seed[..seed.len() - 3]);
    let error = refusal(damaged);
    assert!(error.contains("credentials cannot sign") && !error.contains(&seed[..20]), "{error}");
    let missing = BusSettings { login: BusLogin::Credentials("/no/such/file.creds".into()), ..settings(&server) };
    let error = refusal(missing);
    assert!(error.starts_with("/no/such/file.creds: cannot be read"), "{error}");
}

#[test]
fn another_protocol_is_not_taken_for_nats() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            let _ = connection.unwrap().write_all(b"SSH-2.0-OpenSSH_9.6\r\n");
        }
    });
    let error = refusal(at(&url));
    assert!(error.contains("what listens there is not NATS"), "{error}");
}

#[test]
fn a_listener_that_says_nothing_is_given_up_in_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("nats://{}", listener.local_addr().unwrap());
    let began = Instant::now();
    let error = refusal(BusSettings { connect_within: Duration::from_millis(500), ..at(&url) });
    assert!(error.contains("no answer within 500ms; check the address, firewalls"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn a_login_that_may_not_hear_answers_is_refused_at_once() {
    let server = server_with(
        "authorization { users: [{ user: a, password: b, permissions: { subscribe: \"games.>\", publish: \">\" } }] }",
    );
    let error =
        refusal(BusSettings { connect_within: Duration::from_secs(2), ..at(&server.url().replace("//", "//a:b@")) });
    assert!(error.contains("does not let this login subscribe to _INBOX.>"), "{error}");
}

#[test]
fn a_bus_that_starts_before_its_server_connects_when_it_comes() {
    let mut server = server();
    server.kill();
    let bus = Bus::start(settings(&server)).unwrap();
    assert_eq!((bus.state(), bus.server()), (BusState::Disconnected, None));
    let subscription = bus.subscribe("early").unwrap();
    bus.publish("early", "bird").unwrap();
    let why = find(&bus, |event| match event {
        BusEvent::ConnectFailed { why } => Some(why),
        _ => None,
    });
    assert!(why.contains("no server listens there"), "{why}");
    server.restart().unwrap();
    find(&bus, |event| (event == BusEvent::Connected).then_some(()));
    let message = message(&bus);
    assert_eq!((message.subscription, message.payload), (subscription, "bird".into()));
}

#[test]
fn dropping_a_bus_takes_less_than_a_second_whatever_it_does() {
    let mut server = server();
    let (connected, away, looking_up) =
        (bus(&server), bus(&server), Bus::start(at("nats://no-such-host.invalid")).unwrap());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = Bus::start(at(&format!("nats://{}", silent.local_addr().unwrap()))).unwrap();
    away.flush(PATIENCE).unwrap();
    server.kill();
    find(&away, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
    for bus in [connected, away, looking_up, silent] {
        let began = Instant::now();
        drop(bus);
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    }
}

fn at(url: &str) -> BusSettings {
    BusSettings::new(url.parse().unwrap())
}

fn refusal(settings: BusSettings) -> String {
    Bus::connect(settings).unwrap_err().to_string()
}

/// A key pair that was made for this test: the public key, and the seed.
const NKEY: (&str, &str) = (
    "UBIBKOD3GJVRRGVK3LVGQQS5V6ZX5YTN63FG3GJRD72HPXECWG7F7K5A",
    "SUAI4NBSO4Y2QR6JMY27T5A4NAYPFXIGHXXTPPOW4WWVPOLH3IY75BHFUQ",
);
