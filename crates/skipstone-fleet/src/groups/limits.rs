//! The bounds of groups: what is kept, what is repeated, what is refused.

use super::event::{GroupCall, GroupEvent};
use super::machine::{Groups, SendError};
use super::name::GroupName;
use super::settings::{Delivery, GroupSettings};
use crate::directory::NodeName;
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn a_quiet_publishers_lost_message_arrives_within_the_longest_interval_however_long_a_partition_lasted() {
    let (mut from, mut to) = (node("a"), node("b"));
    let group = group("all");
    for groups in [&mut from, &mut to] {
        groups.join(&group, Delivery::Reliable, Duration::ZERO).unwrap();
    }
    let mut now = Duration::ZERO;
    let mut received = Vec::new();
    let mut run = |until: Duration, is_cut: bool, from: &mut Groups, to: &mut Groups| {
        let mut packets = 0;
        while now < until {
            now += Duration::from_millis(50);
            from.flush(now);
            to.flush(now);
            packets += carry(from, to, is_cut, now);
            packets += carry(to, from, is_cut, now);
            while let Some(event) = to.poll_event() {
                received.extend(message(event));
            }
        }
        packets
    };
    let minutes = |count: u64| Duration::from_secs(60 * count);
    from.send(&group, "first", Duration::ZERO).unwrap();
    run(minutes(1), false, &mut from, &mut to);
    from.send(&group, "last words", minutes(1)).unwrap();
    // Ten minutes later than anybody would still repeat by a constant time after the message.
    run(minutes(11), true, &mut from, &mut to);
    run(minutes(11) + Duration::from_secs(31), false, &mut from, &mut to);
    let packets = run(minutes(21), false, &mut from, &mut to);
    assert!(packets <= 20, "{packets} packets in ten quiet minutes");
    assert_eq!(received, ["first", "last words"]);
}

#[test]
fn heartbeats_of_many_groups_have_one_rate_and_each_group_has_its_turn() {
    let mut groups = node("a");
    let names: Vec<GroupName> = (0..4_000).map(|index| group(&format!("g{index}"))).collect();
    for name in &names {
        groups.join(name, Delivery::Reliable, Duration::ZERO).unwrap();
        groups.send(name, "x", Duration::ZERO).unwrap();
        groups.poll_event();
    }
    groups.flush(Duration::ZERO);
    while groups.poll_call().is_some() {}
    let mut beats: BTreeMap<String, u32> = BTreeMap::new();
    for tick in 1..=1_200 {
        groups.flush(Duration::from_millis(50 * tick));
        let mut of_tick = 0;
        while let Some(call) = groups.poll_call() {
            if let GroupCall::Publish { subject, .. } = call {
                *beats.entry(subject).or_default() += 1;
                of_tick += 1;
            }
        }
        assert!(of_tick <= 30, "{of_tick} in 50 ms");
    }
    let total: u32 = beats.values().sum();
    assert!(total <= 12_100, "{total} in 60 s");
    assert_eq!(beats.len(), 4_000);
}

#[test]
fn all_rings_of_a_node_share_one_budget_and_the_oldest_batches_go_first() {
    let mut from = Groups::new(GroupSettings { kept_bytes_max: 50_000, ..settings("a") });
    let mut to = node("b");
    let (quiet, busy) = (group("quiet"), group("busy"));
    for name in [&quiet, &busy] {
        from.join(name, Delivery::Reliable, Duration::ZERO).unwrap();
        to.join(name, Delivery::Reliable, Duration::ZERO).unwrap();
    }
    // Nothing arrives yet.
    let mut now = Duration::ZERO;
    let mut send = |group: &GroupName, count: usize, from: &mut Groups| {
        for _ in 0..count {
            now += Duration::from_millis(50);
            from.send(group, vec![7; 1_000], now).unwrap();
            from.flush(now);
            while from.poll_event().is_some() {}
            while from.poll_call().is_some() {}
            assert!(from.stats().kept_bytes <= 50_000);
        }
        now
    };
    send(&quiet, 10, &mut from);
    send(&busy, 35, &mut from);
    assert_eq!(from.stats().evicted, 0);
    let mut now = send(&busy, 10, &mut from);
    let evicted = from.stats().evicted;
    assert!((5..=10).contains(&evicted), "{evicted} of the quiet group, which are the oldest");
    let (mut messages, mut gaps) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..100 {
        now += Duration::from_millis(50);
        from.flush(now);
        to.flush(now);
        carry(&mut from, &mut to, false, now);
        carry(&mut to, &mut from, false, now);
        while let Some(event) = to.poll_event() {
            match event {
                GroupEvent::Message { group, .. } => *messages.entry(group).or_insert(0) += 1,
                GroupEvent::Gap { group, missed, .. } => *gaps.entry(group).or_insert(0) += missed,
            }
        }
    }
    assert_eq!((messages.get(&busy), gaps.get(&busy)), (Some(&45), None));
    assert_eq!(messages.get(&quiet).copied().unwrap_or(0), 10 - evicted);
    assert!(gaps.get(&quiet).is_some_and(|missed| *missed >= 1), "{gaps:?}");
}

#[test]
fn a_game_loop_that_stood_still_asks_before_it_gives_up() {
    let (mut from, mut to) = one_message_missing();
    while to.poll_call().is_some() {}
    assert_eq!(received_in_two_seconds_from(300, &mut from, &mut to), ["1", "2", "3"]);
}

#[test]
fn nothing_is_given_up_while_the_bus_is_away() {
    let (mut from, mut to) = one_message_missing();
    for tenth in 1..10 {
        to.flush(Duration::from_millis(100 * tenth));
    }
    to.handle_disconnected();
    while to.poll_call().is_some() {}
    (1..600).for_each(|second| to.flush(Duration::from_secs(second)));
    assert_eq!(to.poll_call(), None, "questions to nobody");
    to.handle_reconnected(Duration::from_secs(600));
    assert_eq!(received_in_two_seconds_from(600, &mut from, &mut to), ["1", "2", "3"]);
}

#[test]
fn a_send_that_cannot_be_taken_is_an_error() {
    let limits = GroupSettings { pending_bytes_max: 100, message_bytes_max: 50, ..settings("n") };
    let (mut groups, group) = (Groups::new(limits), group("all"));
    assert_eq!(groups.send(&group, "a", Duration::ZERO), Err(SendError::NotJoined(group.clone())));
    groups.join(&group, Delivery::Unreliable, Duration::ZERO).unwrap();
    let too_large = SendError::TooLarge { bytes: 51, bytes_max: 50 };
    assert_eq!(groups.send(&group, vec![0; 51], Duration::ZERO), Err(too_large));
    groups.send(&group, vec![0; 50], Duration::ZERO).unwrap();
    assert_eq!(groups.send(&group, vec![0; 50], Duration::ZERO), Err(SendError::QueueFull));
    groups.flush(Duration::ZERO);
    groups.send(&group, vec![0; 50], Duration::ZERO).unwrap();
}

/// Two nodes; the first has sent three messages, of which the second did not receive the second.
fn one_message_missing() -> (Groups, Groups) {
    let (mut from, mut to) = (node("a"), node("b"));
    let group = group("all");
    for groups in [&mut from, &mut to] {
        groups.join(&group, Delivery::Reliable, Duration::ZERO).unwrap();
    }
    for (number, is_cut) in [("1", false), ("2", true), ("3", false)] {
        from.send(&group, number, Duration::ZERO).unwrap();
        from.flush(Duration::ZERO);
        carry(&mut from, &mut to, is_cut, Duration::ZERO);
    }
    (from, to)
}

/// What the second node tells in all, after two seconds in which questions and answers arrive.
fn received_in_two_seconds_from(second: u64, from: &mut Groups, to: &mut Groups) -> Vec<String> {
    let mut received = Vec::new();
    for second in second..second + 2 {
        let now = Duration::from_secs(second);
        to.flush(now);
        carry(to, from, false, now);
        from.flush(now);
        carry(from, to, false, now);
        received.extend(std::iter::from_fn(|| to.poll_event()).filter_map(message));
    }
    received
}

/// Carries packets, or loses them; how many there were.
fn carry(from: &mut Groups, to: &mut Groups, is_cut: bool, now: Duration) -> u32 {
    let mut packets = 0;
    while let Some(call) = from.poll_call() {
        if let GroupCall::Publish { packet, .. } = call {
            packets += 1;
            if !is_cut {
                to.handle_packet(packet, now);
            }
        }
    }
    packets
}

fn message(event: GroupEvent) -> Option<String> {
    match event {
        GroupEvent::Message { payload, .. } => Some(String::from_utf8(payload.to_vec()).unwrap()),
        GroupEvent::Gap { missed, .. } => panic!("a gap of {missed}"),
    }
}

fn node(name: &str) -> Groups {
    Groups::new(settings(name))
}

fn settings(name: &str) -> GroupSettings {
    GroupSettings::new(NodeName::new(name).unwrap(), 1)
}

fn group(name: &str) -> GroupName {
    GroupName::new(name).unwrap()
}
