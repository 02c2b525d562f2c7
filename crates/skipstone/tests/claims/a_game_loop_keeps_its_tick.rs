//! `wait_tick` and `wait_until` take the specified time however many events come, and every event is there afterwards.

use skipstone::{Client, ClientConfig, Event, PeerId, Server, ServerConfig, Threading};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(10);
const TICKS: u32 = 20;
/// Messages that a client sends in each tick.
const BURST: u32 = 10;

#[test]
fn a_busy_server_ticks_at_its_interval() {
    for threading in [Threading::Background, Threading::Stepped] {
        let (mut server, mut client, _) = connected(threading);
        let (began, mut received, mut missed) = (Instant::now(), 0, 0);
        for _ in 0..TICKS {
            for _ in 0..BURST {
                client.send(0, "an event").expect("the queue has room");
            }
            if threading == Threading::Stepped {
                client.drive(Duration::ZERO).expect("it drives");
            }
            missed += server.wait_tick(INTERVAL);
            received += poll_messages(&mut server);
        }
        // A tick is late on a busy machine, and never early. As many intervals have begun.
        assert!(began.elapsed() >= INTERVAL * TICKS, "{threading:?}: {:?}", began.elapsed());
        assert!(began.elapsed() >= INTERVAL * (TICKS + u32::try_from(missed).expect("few")));
        let end = Instant::now() + Duration::from_secs(10);
        while received < TICKS * BURST && Instant::now() < end {
            if threading == Threading::Stepped {
                client.drive(Duration::ZERO).expect("it drives");
            }
            server.wait(Duration::from_millis(1));
            received += poll_messages(&mut server);
        }
        assert_eq!(received, TICKS * BURST, "{threading:?}");
    }
}

#[test]
fn a_client_waits_until_its_deadline_despite_earlier_events() {
    for threading in [Threading::Background, Threading::Stepped] {
        let (mut server, mut client, peer) = connected(threading);
        server.close(peer, 0, "an event", Duration::ZERO).expect("it was open");
        server.wait(Duration::from_millis(1));
        client.wait(Duration::from_secs(10));
        let deadline = Instant::now() + INTERVAL;
        client.wait_until(deadline);
        assert!(Instant::now() >= deadline, "{threading:?}");
        assert!(matches!(client.poll_event(), Some(Event::Closed { .. })), "{threading:?}");
    }
}

#[test]
fn a_permanently_late_stepped_server_is_still_driven() {
    let mut server = server(Threading::Stepped);
    let config = ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
    let mut client = server.connect_local(b"", config).expect("it may");
    let past = Instant::now();
    for _ in 0..10 {
        client.drive(Duration::ZERO).expect("it drives");
        server.wait_until(past);
        if server.poll_event().is_some() {
            return;
        }
    }
    panic!("the server never heard of its client");
}

fn server(threading: Threading) -> Server {
    Server::start(ServerConfig { threading, ..ServerConfig::offline() }).expect("it needs nothing")
}

fn connected(threading: Threading) -> (Server, Client, PeerId) {
    let mut server = server(threading);
    let config = ClientConfig { threading, ..ClientConfig::default() };
    let mut client = server.connect_local(b"", config).expect("it may");
    let (end, mut asked) = (Instant::now() + Duration::from_secs(10), None);
    while Instant::now() < end {
        server.wait(Duration::from_millis(1));
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it asked");
                asked = Some(peer);
            }
        }
        client.wait(Duration::from_millis(1));
        while let Some(event) = client.poll_event() {
            if let Event::Connected { .. } = event {
                return (server, client, asked.expect("it asked"));
            }
        }
    }
    panic!("not connected in ten seconds");
}

fn poll_messages(server: &mut Server) -> u32 {
    let events = std::iter::from_fn(|| server.poll_event());
    events.filter(|event| matches!(event, Event::Message { .. })).count() as u32
}
