//! The client against another end of KCP, on a bad path.

use super::super::limits::MESSAGE_COST;
use super::super::simulated::{Model, Simulated, bad_path, client, dead_path, fuzz};
use super::conversation::Conversation;
use super::settings::KcpSettings;
use super::{DEFAULTS, ROW};
use crate::protocol::{Outgoing, SendRefused};
use core::time::Duration;
use skipstone_proto::Time;

const URL: &str = "kcp://127.0.0.1:4000?conversation=9&window=64";

/// Returns every message.
struct Echo(Conversation);

fn echo() -> Echo {
    Echo(Conversation::new(Time::ZERO, KcpSettings { conversation: 9, window: 64, ..DEFAULTS }))
}

impl Model for Echo {
    fn handle_datagram(&mut self, now: Time, datagram: &[u8]) {
        self.0.handle_datagram(now, datagram).expect("valid");
        while let Some(message) = self.0.poll_message() {
            self.0.send(message);
        }
    }

    fn handle_deadline(&mut self, _now: Time) {}

    fn poll_datagram(&mut self, now: Time) -> Option<Vec<u8>> {
        self.0.poll_datagram(now)
    }

    fn deadline(&self) -> Option<Time> {
        self.0.deadline()
    }
}

#[test]
fn messages_come_back_once_and_in_order_on_a_lossy_path() {
    for seed in 0..20 {
        let mut run = Simulated::new(client(&ROW, URL, seed), echo(), bad_path(0.1), seed);
        run.assert_echoed(0, 300);
        assert_eq!(run.client.deadline(), None, "nothing is left to do");
    }
}

#[test]
fn a_server_that_answers_nothing_times_out() {
    let mut run = Simulated::new(client(&ROW, URL, 1), echo(), dead_path(), 1);
    run.send(0, b"x").expect("accepted");
    run.run(Duration::from_secs(3600));
    assert!(run.has_timed_out());
    assert_eq!(run.send(0, b"x"), Err(SendRefused::NotConnected));
}

#[test]
fn what_is_sent_leaves_before_the_end() {
    let mut run = Simulated::new(client(&ROW, URL, 1), echo(), bad_path(0.0), 1);
    run.send(0, b"first").expect("accepted");
    run.client.send(run.now, Outgoing { channel: 0, delivery: None, data: b"last words" }).expect("accepted");
    run.client.close(run.now);
    run.run(Duration::from_millis(100));
    assert_eq!(run.server.0.queued_bytes(), 15 + 2 * MESSAGE_COST, "the server has both, and returns them");
}

#[test]
fn a_bot_that_sends_faster_than_the_path_is_told() {
    let mut run = Simulated::new(client(&ROW, URL, 1), echo(), dead_path(), 1);
    assert!(run.fills_queue(Outgoing { channel: 0, delivery: None, data: b"" }));
}

#[test]
fn hostile_datagrams_never_panic() {
    let mut server = echo();
    server.0.send(vec![5; 4000].into());
    let real: Vec<Vec<u8>> = core::iter::from_fn(|| server.poll_datagram(Time::ZERO)).collect();
    assert_eq!(fuzz(&ROW, URL, &real, 200), 200);
}
