//! The protocol that docs/guide/bot-protocols.md writes, step by step. Only tests have it; the page says what is on the
//! wire.

use super::lifecycle::{Lifecycle, Phase};
use super::limits::{Limits, queue_cost};
use super::row::{Carrier, Opening, ProtocolRow};
use crate::protocol::{
    Cause, Delivery, Event, Outgoing, Protocol, ProtocolCounts, ProtocolFigures, SendRefused, SocketEnd,
};
use crate::target::TargetError;
use bytes::Bytes;
use core::time::Duration;
use skipstone_proto::Time;
use std::collections::VecDeque;

pub(super) const ROW: ProtocolRow = ProtocolRow {
    scheme: "knock",
    carrier: Carrier::Datagrams,
    about: "the protocol of the guide: a greeting, messages, pings, a goodbye",
    options: &[("timeout", "milliseconds without a datagram after which the server counts as gone, default 5000")],
    new: Knock::create,
};

/// A client.
struct Knock {
    timeout: Duration,
    lifecycle: Lifecycle,
    outgoing: VecDeque<Bytes>,
    queued: usize,
    /// When it knocks or pings next.
    next: Time,
    heard: Time,
    rtt: Option<Duration>,
    invalid: u64,
}

const KNOCK_EVERY: Duration = Duration::from_millis(250);
const PING_EVERY: Duration = Duration::from_secs(1);
/// The goodbye is repeated, because nothing confirms it.
const GOODBYES: usize = 3;
const MESSAGE_MAX: usize = 1200;

impl Knock {
    fn create(opening: &Opening<'_>) -> Result<Box<dyn Protocol>, TargetError> {
        Ok(Box::new(Knock {
            timeout: Duration::from_millis(opening.target.number("timeout", 5000, 100..=60_000)?),
            lifecycle: Lifecycle::default(),
            outgoing: VecDeque::new(),
            queued: 0,
            next: Time::ZERO,
            heard: Time::ZERO,
            rtt: None,
            invalid: 0,
        }))
    }

    fn push(&mut self, kind: u8, content: &[u8]) {
        let datagram = Bytes::from([&[kind], content].concat());
        self.queued += queue_cost(&datagram);
        self.outgoing.push_back(datagram);
    }
}

impl Protocol for Knock {
    fn handle_open(&mut self, now: Time) {
        if self.lifecycle.begin() {
            self.heard = now;
            self.next = now;
            self.handle_deadline(now);
        }
    }

    fn handle_receive(&mut self, now: Time, bytes: &[u8]) {
        match (bytes, self.lifecycle.phase()) {
            ([b'W'], Phase::Connecting) => {
                self.next = now + PING_EVERY;
                self.lifecycle.open();
            }
            // The answer to a knock that was repeated.
            ([b'W'], Phase::Open) => {}
            ([b'M', data @ ..], Phase::Open) => self.lifecycle.message(0, Bytes::copy_from_slice(data)),
            ([b'p', time @ ..], Phase::Open) if time.len() == 8 => {
                let sent = u64::from_be_bytes(time.try_into().unwrap_or_default());
                self.rtt = Some(Duration::from_micros(now.as_micros().saturating_sub(sent)));
            }
            ([b'B', why @ ..], Phase::Connecting) => self.lifecycle.end(Cause::Refused, String::from_utf8_lossy(why)),
            ([b'B', why @ ..], Phase::Open) => self.lifecycle.end(Cause::ByServer, String::from_utf8_lossy(why)),
            _ => {
                self.invalid += 1;
                return;
            }
        }
        self.heard = now;
    }

    fn handle_end(&mut self, _now: Time, end: SocketEnd) {
        self.lifecycle.end_with_socket(end);
    }

    fn handle_deadline(&mut self, now: Time) {
        if !self.lifecycle.is_alive() {
            return;
        }
        if now >= self.heard + self.timeout {
            let text = format!("nothing came for {} ms", self.timeout.as_millis());
            return self.lifecycle.end(Cause::TimedOut, text);
        }
        if now >= self.next {
            let is_open = self.lifecycle.is_open();
            self.next = now + if is_open { PING_EVERY } else { KNOCK_EVERY };
            if is_open {
                self.push(b'P', &now.as_micros().to_be_bytes());
            } else {
                self.push(b'K', b"");
            }
        }
    }

    fn poll_transmit(&mut self, _now: Time, out: &mut Vec<u8>) -> bool {
        let Some(datagram) = self.outgoing.pop_front() else { return false };
        self.queued -= queue_cost(&datagram);
        out.extend_from_slice(&datagram);
        true
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.lifecycle.pop()
    }

    fn deadline(&self) -> Option<Time> {
        self.lifecycle.is_alive().then(|| self.next.min(self.heard + self.timeout))
    }

    fn send(&mut self, _now: Time, message: Outgoing<'_>) -> Result<(), SendRefused> {
        let limits = Limits {
            is_open: self.lifecycle.is_open(),
            channel_max: 0,
            delivery: Some(Delivery::Unreliable),
            message_bytes_max: MESSAGE_MAX,
            queued: self.queued,
        };
        limits.check(&message)?;
        self.push(b'M', message.data);
        Ok(())
    }

    fn close(&mut self, _now: Time) {
        if self.lifecycle.is_alive() {
            (0..GOODBYES).for_each(|_| self.push(b'B', b""));
        }
        self.lifecycle.end(Cause::Closed, "closed by the bot");
    }

    fn figures(&self) -> ProtocolFigures {
        let counts = ProtocolCounts { invalid: self.invalid, ..ProtocolCounts::default() };
        ProtocolFigures { rtt: self.rtt, counts }
    }
}

mod tests {
    use super::super::simulated::{Model, Simulated, bad_path, client, dead_path, fuzz};
    use super::*;
    use skipstone_netsim::LinkConfig;

    const URL: &str = "knock://127.0.0.1:1";

    /// Returns every message.
    #[derive(Default)]
    struct Echo {
        datagrams: VecDeque<Vec<u8>>,
        goodbyes: usize,
    }

    impl Model for Echo {
        fn handle_datagram(&mut self, _now: Time, datagram: &[u8]) {
            match datagram {
                [b'K'] => self.datagrams.push_back(b"W".to_vec()),
                [b'M', ..] => self.datagrams.push_back(datagram.to_vec()),
                [b'P', time @ ..] => self.datagrams.push_back([b"p", time].concat()),
                [b'B'] => self.goodbyes += 1,
                _ => panic!("{datagram:?}"),
            }
        }

        fn handle_deadline(&mut self, _now: Time) {}

        fn poll_datagram(&mut self, _now: Time) -> Option<Vec<u8>> {
            self.datagrams.pop_front()
        }

        fn deadline(&self) -> Option<Time> {
            None
        }
    }

    fn connected(path: LinkConfig) -> Simulated<Echo> {
        Simulated::connected(client(&ROW, URL, 1), Echo::default(), path, 1)
    }

    #[test]
    fn messages_come_back_and_round_trips_are_measured() {
        let mut run = connected(LinkConfig { delay: Duration::from_millis(20), ..LinkConfig::default() });
        for number in 0..100 {
            run.send(0, &[number]).expect("accepted");
            run.run(Duration::from_millis(20));
        }
        let sent: Vec<Vec<u8>> = (0..100).map(|number| vec![number]).collect();
        run.run(Duration::from_secs(1));
        assert_eq!(run.messages(0), sent);
        assert_eq!(run.client.figures().rtt, Some(Duration::from_millis(40)));
    }

    #[test]
    fn an_idle_client_stays() {
        let mut run = connected(bad_path(0.05));
        run.run(Duration::from_secs(60));
        assert_eq!(run.events, [Event::Connected]);
    }

    #[test]
    fn knocks_are_repeated() {
        let mut run = Simulated::new(client(&ROW, URL, 1), Echo::default(), dead_path(), 1);
        run.run(Duration::from_secs(1));
        run.path.up.set_config(bad_path(0.0)).expect("a path");
        run.path.down.set_config(bad_path(0.0)).expect("a path");
        run.run(Duration::from_secs(1));
        assert_eq!(run.events, [Event::Connected]);
    }

    #[test]
    fn a_silent_server_times_out_before_and_after_the_greeting() {
        let mut run = Simulated::new(client(&ROW, URL, 1), Echo::default(), dead_path(), 1);
        run.run(Duration::from_secs(6));
        assert!(run.has_timed_out() && run.events.len() == 1);
        let mut run = connected(bad_path(0.0));
        run.silence_server();
        run.run(Duration::from_secs(6));
        assert!(run.has_timed_out());
        assert_eq!(run.client.deadline(), None);
    }

    #[test]
    fn goodbyes_follow_the_last_message_and_those_of_the_server_are_told() {
        let mut run = connected(bad_path(0.0));
        run.send(0, b"last").expect("accepted");
        run.client.close(run.now);
        run.run(Duration::from_millis(100));
        assert_eq!((run.server.goodbyes, run.send(0, b"late")), (GOODBYES, Err(SendRefused::NotConnected)));
        let mut run = connected(bad_path(0.0));
        run.client.handle_receive(run.now, b"Bfull");
        run.run(Duration::from_millis(1));
        run.events.extend(run.client.poll_event());
        assert_eq!(run.ending().text, "full");
    }

    #[test]
    fn a_bot_that_sends_faster_than_the_path_is_told() {
        let mut run = connected(bad_path(0.0));
        assert!(run.fills_queue(Outgoing { channel: 0, delivery: None, data: b"" }));
    }

    #[test]
    fn hostile_datagrams_never_panic() {
        // Half of them are the welcome, so that most runs are connected.
        let real = [&b"W"[..], b"W", b"W", b"Mdata", b"p\0\0\0\0\0\0\0\x01", b"Bfull"].map(<[u8]>::to_vec);
        assert!(fuzz(&ROW, URL, &real, 200) > 50);
    }
}
