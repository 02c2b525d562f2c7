//! What several machines prove together is what one process proves.

use super::*;
use crate::measure::latency::{Latency, LatencyMs};
use crate::report::Verdict;
use crate::report::stress::evidence::{CarrierEvidence, ClockEvidence, FORMAT};
use crate::report::stress::judge::{Ending, judge};
use crate::report::stress::result::{Generator, Machine, StressPlan};
use crate::units::Carrier;

const MIX: [(Carrier, u32); 2] = [(Carrier::Udp, 10), (Carrier::Ws, 3)];
const LINES: u32 = 20;

/// A line that reached its receiver: who sent and received it, which one it was, and how long it took.
type Arrival = (u32, u32, u32, u64);

fn roster(agents: u32) -> Roster {
    let plan = StressPlan { duration_s: 10.0, url: Some("skip://host".into()), ..StressPlan::default() };
    let mut roster = Roster { run: "r".into(), seed: 7, mix: MIX.into(), plan, ..Roster::default() };
    roster.divide((0..agents).map(|agent| format!("agent {agent}")).collect::<Vec<_>>().into_iter());
    roster
}

/// All lines, each with its own latency.
fn arrivals() -> Vec<Arrival> {
    let lines = (0..LINES).flat_map(|line| (0..13).flat_map(move |sender| (0..13).map(move |to| (sender, to, line))));
    lines
        .map(|(sender, to, line)| (sender, to, line, u64::from(sender * 977 + to * 131 + line * 7_919) % 90_001 + 900))
        .collect()
}

/// The agents' evidence of these arrivals.
fn evidence(roster: &Roster, arrivals: &[Arrival]) -> Vec<PartEvidence> {
    (0..roster.agents.len()).map(|agent| piece(roster, agent, arrivals)).collect()
}

fn piece(roster: &Roster, agent: usize, arrivals: &[Arrival]) -> PartEvidence {
    let place = &roster.agents[agent];
    let is_own = |number: u32| place.numbers().any(|own| own == number);
    let carrier = |carrier: usize| {
        let numbers = place.part.numbers(&place.mix, carrier);
        let mut ledger = Ledger::new(numbers.len(), place.part.total as usize);
        let (mut all, mut own) = (Latency::default(), Latency::default());
        for (sender, to, line, took) in arrivals.iter().filter(|arrival| numbers.contains(&arrival.1)) {
            ledger.on_line(to - numbers.start, *sender, *line);
            all.record(*took);
            if is_own(*sender) {
                own.record(*took);
            }
        }
        CarrierEvidence { ledger: ledger.record(), latency: all.counts(), latency_same_agent: own.counts() }
    };
    let clients = place.clients() as usize;
    let mut result = StressResult::blank(&[Carrier::Udp, Carrier::Ws]);
    (result.server, result.fleet, result.impairment, result.roaming, result.returns) = (None, None, None, None, None);
    result.presence.silent_s = None;
    result.duration_s = 10.0;
    result.machine = Machine { cpu: format!("cpu {agent}"), cores: 2, kernel: "linux".into() };
    result.presence.lines_from_others = 1;
    result.generator = Generator {
        planned_sends: clients as u64 * u64::from(LINES),
        cores: 1,
        cpu_percent: Some(30.0),
        ..Generator::default()
    };
    for (carrier, (_, count)) in place.mix.iter().enumerate() {
        let count = u64::from(*count);
        result.carriers[carrier].clients = ClientCounts { asked: count, connected: count, ..ClientCounts::default() };
    }
    PartEvidence {
        format: FORMAT,
        roster: roster.clone(),
        agent,
        is_interrupted: false,
        sent: vec![LINES; clients],
        absent: Vec::new(),
        connected_us: (0..clients).map(|client| Some(1_000 + client as u64)).collect(),
        elapsed_us: 10_000_000,
        carriers: (0..MIX.len()).map(carrier).collect(),
        clock: ClockEvidence { error_us: 20 + agent as u64, ..ClockEvidence::default() },
        result,
        qlog: None,
        chronicle: None,
    }
}

fn judged(roster: &Roster, pieces: &[PartEvidence], lost: &[(&str, &str)]) -> StressResult {
    let lost = lost.iter().map(|(agent, why)| ((*agent).to_owned(), (*why).to_owned())).collect();
    let mut result = merge_agents(roster, pieces, &lost).unwrap().0;
    judge(&mut result, &[], Ending::Completed);
    result
}

#[test]
fn merged_evidence_gives_the_counts_and_percentiles_of_one_process() {
    let all = arrivals();
    let pooled = {
        let mut latency = Latency::default();
        all.iter().for_each(|arrival| latency.record(arrival.3));
        latency.figures()
    };
    for agents in 1..=6 {
        let roster = roster(agents);
        let pieces = evidence(&roster, &all);
        let result = judged(&roster, &pieces, &[]);
        assert_eq!((result.verdict, result.reasons.clone()), (Verdict::Pass, vec![]), "{agents} agents");
        assert_eq!(result.latency_ms, pooled);
        assert_eq!((result.messages.sent, result.messages.expected), (260, 13 * 260));
        assert_eq!(result.messages.delivered, 13 * 260);
        let carriers: Vec<u64> = result.carriers.iter().map(|carrier| carrier.messages.expected).collect();
        assert_eq!(carriers, [10 * 260, 3 * 260]);
        assert_eq!((result.clients.asked, result.clients.connected), (13, 13));
        let fleet = result.fleet.unwrap();
        let of_agents: u64 = fleet.agents.iter().map(|agent| agent.messages.delivered).sum();
        assert_eq!((fleet.agents.len(), of_agents), (agents as usize, 13 * 260));
    }
}

#[test]
fn a_line_lost_twice_or_out_of_order_at_one_agent_fails_the_whole_run() {
    let roster = roster(4);
    let all = arrivals();
    let without =
        |at: usize| all.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, it)| *it).collect::<Vec<_>>();
    for at in [0, 1_000, all.len() - 1] {
        let result = judged(&roster, &evidence(&roster, &without(at)), &[]);
        assert_eq!((result.verdict, result.messages.lost), (Verdict::Fail, 1));
    }
    let mut twice = all.clone();
    twice.push(all[5]);
    assert_eq!(judged(&roster, &evidence(&roster, &twice), &[]).messages.duplicated, 1);
    let mut swapped = all;
    // The next line of the same sender and receiver is 169 arrivals later.
    swapped.swap(3, 3 + 169);
    let result = judged(&roster, &evidence(&roster, &swapped), &[]);
    assert_eq!((result.verdict, result.messages.reordered), (Verdict::Fail, 1));
}

#[test]
fn a_lost_agent_invalidates_the_run_unless_it_is_tolerated_and_the_rest_is_still_proven() {
    let mut roster = roster(4);
    let mut pieces = evidence(&roster, &arrivals());
    let gone = pieces.remove(1);
    let lost = [("agent 1", "no sign of life for 3.0 s")];
    let result = judged(&roster, &pieces, &lost);
    assert_eq!(result.verdict, Verdict::Invalid);
    assert!(
        result.reasons[0].contains("agent 1") && result.reasons[0].contains("no sign of life"),
        "{:?}",
        result.reasons
    );
    roster.tolerate = 1;
    pieces.iter_mut().for_each(|piece| piece.roster.tolerate = 1);
    let result = judged(&roster, &pieces, &lost);
    assert_eq!((result.verdict, result.reasons), (Verdict::Pass, vec![]));
    let rest = u64::from(13 - gone.place().clients());
    assert_eq!(result.messages.expected, rest * rest * u64::from(LINES));
    let fleet = result.fleet.unwrap();
    assert_eq!(fleet.deliveries_excused, 2 * (13 - rest) * rest * u64::from(LINES), "by its clients and to them");
    assert_eq!(fleet.agents[1].lost.as_deref(), Some("no sign of life for 3.0 s"));
    // Every line that is not excused is proven.
    let missing =
        arrivals().into_iter().filter(|(sender, to, line, _)| (*sender, *to, *line) != (0, 1, 3)).collect::<Vec<_>>();
    let mut pieces = evidence(&roster, &missing);
    pieces.remove(1);
    let result = judged(&roster, &pieces, &lost);
    assert_eq!((result.verdict, result.messages.lost), (Verdict::Fail, 1));
}

#[test]
fn a_client_that_dropped_at_one_agent_is_excused_at_all() {
    let roster = roster(3);
    let all: Vec<Arrival> =
        arrivals().into_iter().filter(|(sender, to, line, _)| *line < 5 || *sender != 0 && *to != 0).collect();
    let mut pieces = evidence(&roster, &all);
    let result = judged(&roster, &pieces, &[]);
    assert_eq!((result.verdict, result.messages.lost), (Verdict::Fail, 25 * 15));
    pieces[0].absent = vec![0];
    pieces[0].result.carriers[0].clients.dropped = 1;
    pieces[0].result.clients.drops_by_reason = [("timed out".to_owned(), 1)].into();
    let result = judged(&roster, &pieces, &[]);
    assert_eq!(result.messages.lost, 0);
    assert_eq!((result.clients.dropped, result.clients.drops_by_reason["timed out"]), (1, 1));
    assert_eq!(result.verdict, Verdict::Fail);
}

#[test]
fn percentiles_below_ten_times_the_clock_error_are_withheld_and_thresholds_on_them_are_not_measured() {
    let roster = roster(2);
    let mut pieces = evidence(&roster, &arrivals());
    pieces[0].clock.error_us = 2_000;
    pieces[1].clock.error_us = 3_000;
    let mut result = merge_agents(&roster, &pieces, &BTreeMap::new()).unwrap().0;
    let LatencyMs { p50, p90, max, .. } = result.latency_ms.unwrap();
    assert_eq!((p50, p90.is_some(), max.is_some()), (None, true, true));
    judge(&mut result, &["latency.p50<60ms".parse().unwrap()], Ending::Completed);
    assert_eq!(result.verdict, Verdict::Invalid);
    let fleet = result.fleet.unwrap();
    assert_eq!(fleet.clock_error_ms, 5.0);
    assert!(fleet.latency_same_agent_ms.unwrap().p50.is_some(), "one clock has no error");
}

#[test]
fn one_late_agent_invalidates_the_run_by_its_name() {
    let roster = roster(4);
    let mut pieces = evidence(&roster, &arrivals());
    pieces[2].result.generator.late_sends = 2;
    let result = judged(&roster, &pieces, &[]);
    assert_eq!(result.verdict, Verdict::Invalid);
    assert!(result.reasons[0].starts_with("Agent agent 2: the generator was late"), "{:?}", result.reasons);
    pieces[2].result.generator.late_sends = 0;
    pieces[3].result.generator.cpu_percent = Some(99.0);
    let result = judged(&roster, &pieces, &[]);
    assert_eq!(result.verdict, Verdict::Invalid);
    assert!(result.reasons[0].starts_with("Agent agent 3: the generator used 99.0%"), "{:?}", result.reasons);
}

#[test]
fn evidence_that_does_not_fit_is_refused() {
    let roster = roster(2);
    let pieces = evidence(&roster, &arrivals());
    let refused = |change: fn(&mut Vec<PartEvidence>)| {
        let mut pieces = pieces.clone();
        change(&mut pieces);
        merge_agents(&roster, &pieces, &BTreeMap::new()).map(drop).unwrap_err()
    };
    assert!(refused(|pieces| pieces.clear()).contains("no evidence"));
    assert!(refused(|pieces| pieces[1] = pieces[0].clone()).contains("two pieces"));
    assert!(refused(|pieces| pieces[0].roster.seed = 8).contains("another run"));
    assert!(refused(|pieces| pieces[0].format = 2).contains("format 2"));
    assert!(refused(|pieces| pieces[0].agent = 9).contains("not in its roster"));
    assert!(refused(|pieces| pieces[0].sent.clear()).contains("incomplete"));
    assert!(refused(|pieces| pieces[0].absent.push(900)).contains("incomplete"));
    assert!(refused(|pieces| pieces[0].carriers[0].ledger = Ledger::new(5, 2).record()).contains("2 senders"));
}
