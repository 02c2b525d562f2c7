//! Exchanges for the tests of the ledger: packets of one message each, on a path of 20 ms.

use super::Ledger;
use super::packet::Leaving;
use crate::recovery::record::Record;
use crate::rtt::Rtt;
use crate::seq::Seq;
use crate::time::{Duration, Time};

pub(super) fn ms(millis: u64) -> Time {
    Time::from_micros(millis * 1_000)
}

pub(super) fn steady_rtt() -> Rtt {
    let mut rtt = Rtt::new();
    (0..100).for_each(|_| rtt.on_sample(Duration::from_millis(20), Duration::ZERO));
    rtt
}

pub(super) fn send(ledger: &mut Ledger, at: Time, sequence: u32) {
    ledger.record(Record::Messages { channel: 1, first: Seq(sequence), count: 1 });
    ledger.commit(at, Leaving { bytes: 100, is_ack_eliciting: true, ..Leaving::default() });
}
