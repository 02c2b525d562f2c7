//! `ServerConfig::impairment`: delay and loss of a model network around a server's real socket, in both directions; and
//! an error at the start where a carrier cannot have it.

use skipstone::netsim::{LinkConfig, Loss};
use skipstone::{
    Client, ClientConfig, Event, Impairment, ImpairmentError, Pool, PoolConfig, Scheme, Security, Server, ServerConfig,
    StartError, Target,
};
use std::time::{Duration, Instant};

const MESSAGES: u32 = 300;
const DELAY: Duration = Duration::from_millis(15);

fn lossy() -> Impairment {
    let link = LinkConfig { delay: DELAY, loss: Loss::Random(0.1), ..LinkConfig::default() };
    Impairment { up: link.clone(), down: link, seed: 3 }
}

fn config(impairment: Impairment) -> ServerConfig {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let security = Some(Security::self_signed().expect("it is made").allowing_plain());
    ServerConfig { websocket: false, security, impairment: Some(impairment), ..ServerConfig::new(listen) }
}

#[test]
fn every_client_has_its_delay_and_loss_and_gets_everything() {
    for shards in if cfg!(target_os = "linux") { &[1, 2][..] } else { &[1] } {
        let mut server = Server::start(ServerConfig { shards: *shards, ..config(lossy()) }).expect("a port is free");
        let plain = format!("skip+plain://{}", server.local_addr());
        let urls = [server.url(), plain.clone(), plain];
        let mut clients = urls.map(|url| Client::connect(&url, b"", ClientConfig::default()).expect("a socket"));
        let (mut heard, mut answered) = (0, [0; 3]);
        let end = Instant::now() + Duration::from_secs(60);
        while answered != [MESSAGES; 3] {
            assert!(Instant::now() < end, "{heard} heard, {answered:?} answered");
            server.wait(Duration::from_millis(1));
            while let Some(event) = server.poll_event() {
                match event {
                    Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                    Event::Message { peer, channel, payload, .. } => {
                        heard += 1;
                        server.send(peer, channel, payload).expect("room");
                    }
                    Event::Closed { close, .. } => panic!("{close:?}"),
                    _ => {}
                }
            }
            server.flush().expect("it runs");
            for (client, answered) in clients.iter_mut().zip(&mut answered) {
                while let Some(event) = client.poll_event() {
                    match event {
                        Event::Connected { .. } => {
                            for number in 0..MESSAGES {
                                client.send(0, number.to_be_bytes().repeat(60)).expect("room");
                            }
                        }
                        Event::Message { payload, .. } => {
                            assert_eq!(payload[..4], answered.to_be_bytes(), "in order");
                            *answered += 1;
                        }
                        _ => {}
                    }
                }
            }
        }
        for client in &mut clients {
            let least = client.overview().expect("it stands").rtt.min();
            assert!(least >= DELAY * 2, "{least:?}");
        }
        let is_told = |server: &Server| {
            let (up, down) = server.link_stats();
            [up, down].iter().all(|link| {
                link.delivered >= 60 && link.lost_random > 0 && link.sent >= link.delivered + link.lost_random
            })
        };
        while !is_told(&server) {
            server.wait(Duration::from_millis(10));
        }
    }
}

#[test]
fn an_impairment_that_a_carrier_cannot_have_is_an_error_with_a_remedy() {
    let refused = |config: ServerConfig| match Server::start(config).expect_err("it cannot be played") {
        StartError::Impairment(error) => error,
        error => panic!("{error}"),
    };
    let both = refused(ServerConfig { websocket: true, ..config(lossy()) });
    assert_eq!(both, ImpairmentError::WebSocketServer);
    assert!(both.to_string().contains("Turn WebSocket off"), "{both}");
    let offline = refused(ServerConfig { impairment: Some(lossy()), ..ServerConfig::offline() });
    assert_eq!(offline, ImpairmentError::Local);
    let mut impossible = lossy();
    impossible.up.corrupt = 2.0;
    let impossible_at_server = refused(config(impossible.clone())).to_string();
    assert!(impossible_at_server.contains("corrupt"), "{impossible_at_server}");

    let client = ClientConfig { impairment: Some(lossy()), ..ClientConfig::default() };
    let error = Client::connect("ws://127.0.0.1:9", b"", client).expect_err("a stream loses nothing");
    assert!(matches!(error, StartError::Impairment(ImpairmentError::WebSocket)), "{error}");
    assert!(error.to_string().contains("skip://"), "{error}");
    let client = ClientConfig { impairment: Some(impossible), ..ClientConfig::default() };
    let error = Client::connect("skip+plain://127.0.0.1:9", b"", client).expect_err("no such probability");
    assert!(matches!(error, StartError::Impairment(ImpairmentError::Config(_))), "{error}");

    let mut pool = Pool::new(PoolConfig::default()).expect("it is made");
    let (target, address) =
        (Target::new(Scheme::WebSocket, "127.0.0.1", 9), "127.0.0.1:9".parse().expect("an address"));
    let error = pool.add(&target, address, b"", Some(&lossy())).expect_err("a stream loses nothing");
    assert!(matches!(error, StartError::Impairment(ImpairmentError::WebSocket)), "{error}");
}
