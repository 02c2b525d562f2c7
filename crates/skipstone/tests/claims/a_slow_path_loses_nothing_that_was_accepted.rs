//! A server that sends 12 MB/s to a client behind 10 Mbit/s, under each overflow rule: an accepted message is
//! delivered, or given up with an event, or was open when the connection closed, and no message is missing inside the
//! stream.
//!
//! A second by default; `SKIPSTONE_OVERLOAD_SECONDS=10` sends for ten. The table goes to standard output
//! (`--nocapture`).

use skipstone::netsim::{LinkConfig, QueueLimit};
use skipstone::{
    ChannelRule, Client, ClientConfig, DeliveryMode, Event, GivenUp, Impairment, MessageId, Overflow, PeerId, Security,
    SendRefusal, Server, ServerConfig, Settings, Threading, code,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const CHANNEL: u16 = 5;
const PER_TICK: usize = 120;
const MESSAGE_BYTES: usize = 1_000;
const TICK: Duration = Duration::from_millis(10);

#[derive(Default)]
struct Outcome {
    accepted: Vec<MessageId>,
    refused: u64,
    /// Places in `accepted` of the messages that arrived, in the order of arrival.
    delivered: Vec<usize>,
    given_up: BTreeSet<MessageId>,
    close: Option<(u64, String)>,
}

impl Outcome {
    fn hear(&mut self, server: &mut Server, connected: &mut Option<PeerId>) {
        while let Some(event) = server.poll_event() {
            match event {
                Event::Requested { peer, .. } => server.accept(peer).expect("it waits"),
                Event::Connected { peer, .. } => *connected = Some(peer),
                Event::GivenUp { id, channel, why, .. } => {
                    assert_eq!((channel, why), (CHANNEL, GivenUp::Dropped));
                    assert!(self.given_up.insert(id), "it is given up once");
                }
                Event::Closed { close, .. } => {
                    self.close = Some((close.code, close.reason_text().into_owned()));
                    *connected = None;
                }
                _ => {}
            }
        }
    }
}

fn overload(overflow: Overflow, threading: Threading, span: Duration) -> Outcome {
    let rule = ChannelRule { overflow, ..ChannelRule::new(CHANNEL..=CHANNEL, DeliveryMode::ReliableOrdered) };
    let config = ServerConfig {
        settings: Settings { channels: vec![rule], ..Settings::default() },
        security: Some(Security::plain()),
        threading,
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    let mut server = Server::start(config).expect("a port is free");
    let down = LinkConfig {
        delay: Duration::from_millis(10),
        rate_bits_per_second: Some(10_000_000),
        queue: QueueLimit::Time(Duration::from_millis(100)),
        ..LinkConfig::default()
    };
    let up = LinkConfig { delay: Duration::from_millis(10), ..LinkConfig::default() };
    let impairment = Some(Impairment { up, down, seed: 1 });
    let config = ClientConfig { impairment, ..ClientConfig::default() };
    let mut client = Client::connect(&server.url(), b"", config).expect("it begins");
    let (mut outcome, mut connected) = (Outcome::default(), None);
    let began = Instant::now();
    // As many ticks as fit into the span, even if a slow machine takes longer for them.
    let (mut due, mut ticks) = (began, span.as_millis() / TICK.as_millis());
    let mut is_over = false;
    while !is_over || outcome.close.is_none() {
        assert!(began.elapsed() < span + Duration::from_secs(60), "it ends");
        server.drive(Duration::from_millis(1)).expect("it drives");
        if threading == Threading::Background {
            server.wait(Duration::from_millis(1));
        }
        outcome.hear(&mut server, &mut connected);
        if let Some(peer) = connected {
            if ticks == 0 {
                server.close(peer, 3, "that was all", Duration::from_millis(200)).expect("it stands");
                connected = None;
            } else if Instant::now() >= due {
                due = Instant::now() + TICK;
                ticks -= 1;
                for _ in 0..PER_TICK {
                    let mut payload = vec![0; MESSAGE_BYTES];
                    payload[..8].copy_from_slice(&outcome.accepted.len().to_le_bytes());
                    match server.send(peer, CHANNEL, payload) {
                        Ok(id) => outcome.accepted.push(id),
                        Err(error) => {
                            assert!(matches!(error.reason, SendRefusal::QueueFull | SendRefusal::NotConnected));
                            outcome.refused += 1;
                        }
                    }
                }
                server.flush().expect("the driver runs");
            }
        }
        while let Some(event) = client.poll_event() {
            match event {
                Event::Message { payload, .. } => {
                    outcome.delivered.push(usize::from_le_bytes(payload[..8].try_into().expect("eight bytes")));
                }
                Event::Closed { .. } => is_over = true,
                _ => {}
            }
        }
    }
    outcome
}

#[test]
fn each_overflow_rule_accounts_for_every_message() {
    let seconds = std::env::var("SKIPSTONE_OVERLOAD_SECONDS").map_or(1.0, |text| text.parse().expect("seconds"));
    println!("rule        threading   accepted  refused  delivered  given up  open at Closed  close");
    for threading in [Threading::Background, Threading::Stepped] {
        for overflow in [Overflow::Refuse, Overflow::DropOldest, Overflow::Disconnect] {
            let outcome = overload(overflow, threading, Duration::from_secs_f64(seconds));
            let (accepted, delivered) = (outcome.accepted.len(), outcome.delivered.len());
            let open = accepted - delivered - outcome.given_up.len();
            let (code, reason) = outcome.close.clone().expect("it ended");
            println!(
                "{:<10}  {:<10}  {accepted:>8} {:>8} {delivered:>10} {:>9} {open:>15}  {code} {reason}",
                format!("{overflow:?}"),
                format!("{threading:?}"),
                outcome.refused,
                outcome.given_up.len(),
            );
            let newest = outcome.delivered.last().copied().expect("something arrived");
            let mut expected = (0..=newest).filter(|at| !outcome.given_up.contains(&outcome.accepted[*at]));
            assert!(outcome.delivered.iter().copied().eq(&mut expected), "nothing is missing inside the stream");
            match overflow {
                Overflow::Refuse => assert!(outcome.refused > 0 && outcome.given_up.is_empty()),
                Overflow::DropOldest => assert!(!outcome.given_up.is_empty()),
                Overflow::Disconnect => assert_eq!((code, outcome.given_up.len()), (code::QUEUE_OVERFLOW, 0)),
            }
        }
    }
}
