//! Sessions without sockets: their bounds under random input, and the claims that need a clock.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::console::codec::NO_OPERATION;
use crate::console::limits::{Limits, TRANSMIT_BYTES_HIGH};
use crate::console::log_queue::LogQueue;
use crate::console::session::{ConsoleSession, Settings};
use crate::console::tests::client::{BIG_BYTES, Commands, TOKEN};
use crate::console::tests::random::Random;
use crate::console::{Handler, SessionId};
use crate::door::{Places, PlacesMax, Secret, WRONG_TOLD_AFTER};
use skipstone_proto::Network;

fn session(now: Instant) -> ConsoleSession {
    session_of(Arc::new(Commands), None, now)
}

fn session_with(places: &Arc<Places>, secret: Option<Secret>, now: Instant) -> ConsoleSession {
    session_in(places, Arc::new(Commands), secret, now)
}

/// A session whose commands are these.
pub(super) fn session_of(handler: Arc<dyn Handler>, secret: Option<Secret>, now: Instant) -> ConsoleSession {
    session_in(&Places::new(PlacesMax { strangers: 1, seats: 1 }), handler, secret, now)
}

fn session_in(places: &Arc<Places>, handler: Arc<dyn Handler>, secret: Option<Secret>, now: Instant) -> ConsoleSession {
    let settings = Settings { secret, banner: "hello".to_owned(), limits: Limits::default(), handler };
    let place = places.stranger(Network::of(&SocketAddr::from(([127, 0, 0, 1], 1))));
    ConsoleSession::new(SessionId(1), Arc::new(settings), place, Arc::new(LogQueue::default()), now)
}

fn sent(session: &mut ConsoleSession, now: Instant) -> Vec<u8> {
    session.process(now);
    let bytes = session.transmit().to_vec();
    session.on_sent(now, bytes.len());
    bytes
}

#[test]
fn random_input_neither_panics_nor_accumulates_output() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut now = Instant::now();
        let mut session = session(now);
        // With a seat it continues, whatever comes.
        session.handle_bytes(b"who\n");
        let mut chunks = 0;
        while chunks < 60 && !session.is_over() {
            if session.wants_bytes() {
                let mut bytes = random.telnet_bytes(30);
                bytes.extend(random.terminal_bytes(30));
                if random.below(8) == 0 {
                    bytes.extend(b"\rbig\r");
                }
                session.handle_bytes(&bytes);
                chunks += 1;
            }
            session.process(now);
            let waiting = session.transmit().len();
            assert!(waiting < TRANSMIT_BYTES_HIGH + BIG_BYTES + 4096, "seed {seed}: {waiting} bytes wait");
            let taken = random.below(waiting + 1);
            session.on_sent(now, taken);
            now += Duration::from_millis(random.below(50) as u64);
        }
    }
}

#[test]
fn bytes_received_before_a_session_was_displaced_are_executed() {
    let now = Instant::now();
    let places = Places::new(PlacesMax { strangers: 1, seats: 1 });
    let mut session = session_with(&places, Secret::new(TOKEN).ok(), now);
    session.handle_bytes(format!("{TOKEN}\nwho\n").as_bytes());
    let next = session_with(&places, Secret::new(TOKEN).ok(), now);
    assert_eq!(sent(&mut session, now), b"token: \r\nhello\r\nsession 1\r\n");
    drop(session);
    assert!(!next.is_over());
}

#[test]
fn a_wrong_token_is_rejected_after_a_delay_and_later_input_is_ignored() {
    let now = Instant::now();
    let places = Places::new(PlacesMax { strangers: 1, seats: 1 });
    let mut session = session_with(&places, Secret::new(TOKEN).ok(), now);
    session.handle_bytes(format!("wrong\n{TOKEN}\nwho\n").as_bytes());
    assert_eq!(sent(&mut session, now), b"token: \r\n");
    session.handle_end_of_input();
    assert_eq!(sent(&mut session, now + WRONG_TOLD_AFTER / 2), b"");
    assert!(!session.wants_bytes() && !session.is_over());
    assert_eq!(sent(&mut session, now + WRONG_TOLD_AFTER), b"wrong token: connect again\r\n");
    assert!(session.is_over());
}

#[test]
fn a_session_that_cannot_send_takes_no_more_input() {
    let now = Instant::now();
    let mut session = session(now);
    session.handle_bytes(&b"big\n".repeat(10));
    session.process(now);
    let waiting = session.transmit().len();
    assert!(waiting < 2 * BIG_BYTES && !session.wants_bytes());
    session.on_sent(now, waiting);
    session.process(now);
    assert!(session.transmit().len() > BIG_BYTES);
}

#[test]
fn an_idle_telnet_session_receives_a_nop_each_minute() {
    let mut now = Instant::now();
    let mut session = session(now);
    session.handle_bytes(b"who\r\n\xff\xfd\x01");
    assert!(sent(&mut session, now).ends_with(b"\xff\xfc\x01"));
    for _ in 0..100 {
        now += Duration::from_secs(60);
        assert_eq!(sent(&mut session, now), NO_OPERATION);
        assert_eq!(sent(&mut session, now), Vec::<u8>::new());
    }
    assert!(!session.is_over());
}

#[test]
fn an_idle_plain_session_receives_no_bytes() {
    let mut now = Instant::now();
    let mut session = session(now);
    session.handle_bytes(b"who\n");
    sent(&mut session, now);
    now += Duration::from_secs(3600);
    assert_eq!(sent(&mut session, now), Vec::<u8>::new());
    assert!(!session.is_over());
}
