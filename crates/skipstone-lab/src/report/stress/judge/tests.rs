//! Each rule of the verdict, alone and against the others.

use super::*;
use crate::report::stress::example;
use crate::report::stress::result::{LatencyMs, Messages};

/// The verdict and reasons of the passing example after a change.
fn judged(change: impl FnOnce(&mut StressResult)) -> (Verdict, Vec<String>) {
    judged_with(&[], Ending::Completed, change)
}

fn judged_with(thresholds: &[&str], ending: Ending, change: impl FnOnce(&mut StressResult)) -> (Verdict, Vec<String>) {
    let thresholds: Vec<Threshold> = thresholds.iter().map(|text| text.parse().unwrap()).collect();
    let mut result = example::passing();
    change(&mut result);
    judge(&mut result, &thresholds, ending);
    (result.verdict, result.reasons)
}

fn one(verdict: Verdict, reason: &str) -> (Verdict, Vec<String>) {
    (verdict, vec![reason.to_owned()])
}

#[test]
fn a_run_without_a_fault_passes() {
    assert_eq!(judged(|_| {}), (Verdict::Pass, Vec::new()));
}

#[test]
fn every_kind_of_fault_alone_fails_the_run() {
    let fail = |reason| one(Verdict::Fail, reason);
    assert_eq!(
        judged(|result| (result.messages.lost, result.messages.delivered) = (3, 899_997)),
        fail("3 deliveries were lost, of 900,000 expected (less than 0.01%).")
    );
    assert_eq!(judged(|result| result.messages.duplicated = 1), fail("1 delivery was made twice."));
    assert_eq!(judged(|result| result.messages.reordered = 2), fail("2 deliveries were out of order."));
    assert_eq!(judged(|result| result.messages.corrupted = 1), fail("1 delivery was corrupted."));
    assert_eq!(judged(|result| result.messages.unexpected = 1), fail("1 delivery was of lines that no client sent."));
    assert_eq!(judged(|result| result.clients.dropped = 1), fail("1 client was dropped."));
}

#[test]
fn drops_are_reported_with_their_most_common_reasons() {
    let (_, reasons) = judged(|result| {
        result.clients.dropped = 17;
        for (reason, count) in [("reset", 2), ("timeout", 12), ("refused", 2), ("closed", 1)] {
            result.clients.drops_by_reason.insert(reason.into(), count);
        }
    });
    assert_eq!(reasons, ["17 clients were dropped (timeout 12, refused 2, reset 2, and others)."]);
}

#[test]
fn a_missed_threshold_fails_the_run_and_prints_the_figure() {
    let (verdict, reasons) = judged_with(&["latency.p99<4.5ms", "messages.lost==0"], Ending::Completed, |_| {});
    assert_eq!(verdict, Verdict::Fail);
    assert_eq!(reasons, ["The threshold latency.p99<4.5ms was missed: latency.p99 is 4.512 ms."]);
    assert_eq!(judged_with(&["latency.p99<5ms"], Ending::Completed, |_| {}).0, Verdict::Pass);
}

#[test]
fn a_threshold_that_was_not_measured_makes_the_run_invalid() {
    let (verdict, reasons) = judged_with(&["server.cpu_percent<80"], Ending::Completed, |result| result.server = None);
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(
        reasons,
        ["The threshold server.cpu_percent<80 could not be evaluated: \"server.cpu_percent\" was not measured in \
             this run."]
    );
}

#[test]
fn late_sends_beyond_one_percent_make_the_run_invalid_and_stalls_are_named() {
    let late = |late, stalled| {
        judged(|result| (result.generator.late_sends, result.generator.late_sends_in_stalls) = (late, stalled))
    };
    assert_eq!(late(30, 0).0, Verdict::Pass);
    let (verdict, reasons) = late(31, 0);
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(
        reasons,
        ["The generator was late: 31 of 3,000 sends happened more than 50 ms after they were due, the latest 1.42 \
          ms; no machine stall explains it. Repeat the run on a machine with less load, or with fewer clients."]
    );
    assert!(late(31, 20).1[0].contains("; machine stalls explain 20 of them."));
    assert!(late(31, 31).1[0].contains("; machine stalls explain all of them."));
}

#[test]
fn a_generator_at_full_cpu_makes_the_run_invalid() {
    assert_eq!(judged(|result| result.generator.cpu_percent = Some(190.0)).0, Verdict::Pass);
    assert_eq!(
        judged(|result| result.generator.cpu_percent = Some(190.1)),
        one(Verdict::Invalid, "The generator used 190.1% of 2 cores and had nothing to spare.")
    );
    assert_eq!(judged(|result| result.generator.cpu_percent = None).0, Verdict::Pass);
}

#[test]
fn an_incomplete_run_is_invalid() {
    let invalid = |reason| one(Verdict::Invalid, reason);
    assert_eq!(
        judged(|result| result.duration_s = 9.8),
        invalid("Lines were sent for 9.8 s only, not for the 10.0 s asked for.")
    );
    assert_eq!(
        judged(|result| result.messages.sent = 2_969),
        invalid("The generator sent 2,969 of the 3,000 lines that were due.")
    );
    assert_eq!(judged(|result| result.messages.sent = 2_970).0, Verdict::Pass);
    assert_eq!(
        judged(|result| {
            result.messages = Messages::default();
            result.generator.planned_sends = 0;
        }),
        invalid("No delivery was expected, so nothing was tested.")
    );
}

#[test]
fn clients_that_never_connected_and_lines_that_were_refused_fail_the_run() {
    let fail = |reason| one(Verdict::Fail, reason);
    assert_eq!(judged(|result| result.clients.connected = 299), fail("1 client of 300 never connected."));
    let refused = judged(|result| {
        result.messages.sent = 2_000;
        result.presence.refused_sends_by_reason = [("the queue is full".into(), 1_000)].into();
    });
    assert_eq!(refused, fail("1,000 lines could not be sent: the queue is full."), "the generator did its part");
}

/// The only reason of a run against a URL whose server was unavailable.
fn unavailable(change: impl FnOnce(&mut StressResult)) -> String {
    let (verdict, reasons) = judged(|result| {
        result.server = None;
        change(result);
    });
    assert_eq!((verdict, reasons.len()), (Verdict::Unavailable, 1), "{reasons:?}");
    reasons.concat()
}

#[test]
fn a_run_without_clients_says_so() {
    let reason = unavailable(|result| {
        result.clients.connected = 0;
        result.messages = Messages::default();
        result.generator.planned_sends = 0;
    });
    assert_eq!(reason, "None of the 300 clients connected.");
}

#[test]
fn a_departed_server_is_distinguished_from_one_that_loses_lines() {
    let leave = |deserted| {
        move |result: &mut StressResult| {
            (result.clients.dropped, result.presence.clients_deserted) = (300, deserted);
            result.clients.drops_by_reason = [("silence".into(), 300)].into();
            (result.messages.lost, result.messages.delivered) = (300_000, 600_000);
        }
    };
    let reason = unavailable(leave(300));
    assert!(reason.starts_with("The server went away: 300 clients were dropped (silence 300)."), "{reason}");
    let (verdict, reasons) = judged(leave(299));
    assert_eq!((verdict, reasons.len()), (Verdict::Fail, 2), "a server that drops a client is there: {reasons:?}");
    let reason = unavailable(|result| {
        result.presence.silent_s = Some(6.0);
        (result.messages.lost, result.messages.delivered) = (300_000, 600_000);
    });
    assert!(reason.starts_with("Nothing came from the server in the last 6.0 s, not even an"), "{reason}");
}

#[test]
fn an_absent_local_server_is_a_failure() {
    let own = |change: &dyn Fn(&mut StressResult), why: &str| {
        let (verdict, reasons) = judged(change);
        assert_eq!((verdict, reasons.len()), (Verdict::Fail, 1), "{reasons:?}");
        assert!(reasons[0].starts_with(why), "{reasons:?}");
    };
    own(&|result| result.presence.silent_s = Some(6.0), "Nothing came from the server in the last 6.0 s");
    own(&|result| result.presence.process_ended = Some("signal: 9".into()), "The server's process ended before");
    own(&|result| (result.clients.dropped, result.presence.clients_deserted) = (300, 300), "The server went away");
    own(&|result| result.clients.connected = 0, "None of the 300 clients connected.");
    let mute = |result: &mut StressResult| {
        (result.messages.lost, result.messages.delivered) = (900_000, 0);
        result.latency_ms = None;
    };
    own(&mute, "900,000 deliveries were lost");
}

#[test]
fn a_server_that_does_not_broadcast_lines_gets_a_remedy() {
    let foreign = |change: &dyn Fn(&mut StressResult), what: &str| {
        let reason = unavailable(change);
        assert!(reason.starts_with(what) && reason.contains("as `skipstone serve` does"), "{reason}");
    };
    foreign(
        &|result| {
            (result.messages.lost, result.messages.delivered) = (900_000, 0);
            result.latency_ms = None;
        },
        "The server took 3,000 lines and sent none of them back.",
    );
    foreign(
        &|result| {
            (result.messages.lost, result.messages.delivered) = (897_000, 3_000);
            result.presence.lines_from_others = 0;
        },
        "The server sent each line to its own sender alone.",
    );
    foreign(
        &|result| {
            result.messages = Messages::default();
            result.presence.refused_sends_by_reason = [("channel 0 has no rule".into(), 3_000)].into();
        },
        "The server takes no lines: channel 0 has no rule.",
    );
    assert_eq!(
        judged(|result| result.presence.lines_from_others = 0).0,
        Verdict::Pass,
        "one client hears itself alone"
    );
}

#[test]
fn contradictory_counts_make_the_run_invalid() {
    for change in [
        (|result| result.messages.delivered -= 1) as fn(&mut StressResult),
        |result| result.clients.connected = 301,
        |result| result.latency_ms = None,
    ] {
        assert_eq!(judged(change).0, Verdict::Invalid);
    }
}

#[test]
fn invalid_takes_precedence_over_fail_and_both_give_reasons() {
    let (verdict, reasons) = judged(|result| {
        result.messages.duplicated = 5;
        result.generator.late_sends = 3_000;
    });
    assert_eq!(verdict, Verdict::Invalid);
    assert_eq!(reasons.len(), 2);
    assert!(reasons[0].starts_with("The generator was late") && reasons[1].starts_with("5 deliveries"));
}

#[test]
fn an_interruption_takes_precedence_over_other_verdicts() {
    let (verdict, reasons) = judged_with(&[], Ending::Interrupted, |result| {
        result.duration_s = 4.0;
        result.messages.sent = 1_200;
        result.messages.corrupted = 1;
    });
    assert_eq!(verdict, Verdict::Interrupted);
    assert_eq!(reasons, ["The run was stopped after 4.0 of 10.0 s.", "1 delivery was corrupted."]);
}

#[test]
fn outcomes_are_listed_in_the_order_of_the_thresholds() {
    let thresholds: Vec<Threshold> =
        ["latency.max<1ms", "latency.p50<1s"].iter().map(|text| text.parse().unwrap()).collect();
    let mut result = example::passing();
    result.latency_ms = Some(LatencyMs { max: Some(2.0), p50: Some(1.0), ..LatencyMs::default() });
    judge(&mut result, &thresholds, Ending::Completed);
    let listed: Vec<_> = result.thresholds.iter().map(|outcome| (outcome.passed, outcome.actual)).collect();
    assert_eq!(listed, [(false, Some(2.0)), (true, Some(1.0))]);
}

#[test]
fn names_and_units_of_thresholds_can_be_checked_before_the_run() {
    let check = |text: &str| check_thresholds(&[text.parse().unwrap()], &[Carrier::Udp]).map_err(|e| e.to_string());
    for text in ["latency.p99<1ms", "server.cpu_percent<80%", "carriers.udp.latency.max<1s", "stalls.count==0"] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
    assert!(check("latency.p97<1ms").unwrap_err().contains("did you mean latency.p9"));
    assert!(check("carriers.ws.latency.max<1s").unwrap_err().contains("did you mean carriers.udp.latency.max?"));
    assert!(check("server.cpu_percent<80ms").unwrap_err().contains("is not measured in ms"));
}
