//! Key-value stores: compare-and-set, watches, and what an outage does to them.

use crate::common::{PATIENCE, bus, find, server, settings};
use skipstone_fleet::bus::{
    Bus, BusEvent, BusSettings, KvChange, KvError, KvOutcome, KvSettings, KvWatchId, KvWatchState, PublishError,
    RequestId,
};
use skipstone_fleet::local::{LocalJetStream, LocalNats, LocalSettings};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn each_call_of_a_store_has_the_outcome_that_it_names() {
    let server = server();
    let bus = bus(&server);
    let store = bus.kv("rooms", KvSettings::default()).unwrap();
    let mut revisions = Vec::new();
    let mut stored = |outcome: KvOutcome| {
        let KvOutcome::Stored { revision } = outcome else { panic!("{outcome:?}") };
        revisions.push(revision);
        revision
    };
    assert_eq!(outcome(&bus, store.get(&bus, "room.1").unwrap()), KvOutcome::NotFound);
    let first = stored(outcome(&bus, store.create(&bus, "room.1", "a").unwrap()));
    let exists = KvOutcome::Exists { value: "a".into(), revision: first };
    assert_eq!(outcome(&bus, store.create(&bus, "room.1", "b").unwrap()), exists);
    let second = stored(outcome(&bus, store.update(&bus, "room.1", "c", first).unwrap()));
    assert_eq!(outcome(&bus, store.update(&bus, "room.1", "d", first).unwrap()), KvOutcome::WrongRevision);
    assert_eq!(outcome(&bus, store.delete_at(&bus, "room.1", first).unwrap()), KvOutcome::WrongRevision);
    let found = KvOutcome::Found { value: "c".into(), revision: second };
    assert_eq!(outcome(&bus, store.get(&bus, "room.1").unwrap()), found);
    stored(outcome(&bus, store.delete_at(&bus, "room.1", second).unwrap()));
    assert_eq!(outcome(&bus, store.get(&bus, "room.1").unwrap()), KvOutcome::NotFound);
    stored(outcome(&bus, store.create(&bus, "room.1", "e").unwrap()));
    stored(outcome(&bus, store.put(&bus, "room.1", "f").unwrap()));
    stored(outcome(&bus, store.delete(&bus, "room.1").unwrap()));
    assert!(revisions.is_sorted_by(|a, b| a < b), "{revisions:?}");
}

#[test]
fn of_twenty_clients_that_create_one_key_at_once_one_succeeds() {
    let server = server();
    let buses: Vec<Bus> = (0..20).map(|_| bus(&server)).collect();
    for round in 0..10 {
        let key = format!("room.{round}");
        let asked: Vec<RequestId> = buses
            .iter()
            .enumerate()
            .map(|(index, bus)| bus.kv("rooms", KvSettings::default()).unwrap().create(bus, &key, index.to_string()))
            .map(Result::unwrap)
            .collect();
        let outcomes: Vec<KvOutcome> = buses.iter().zip(asked).map(|(bus, request)| outcome(bus, request)).collect();
        let winners: Vec<usize> = (0..20).filter(|i| matches!(outcomes[*i], KvOutcome::Stored { .. })).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        let owner = bytes::Bytes::from(winners[0].to_string());
        let others = outcomes.iter().filter(|outcome| !matches!(outcome, KvOutcome::Stored { .. }));
        for outcome in others {
            assert!(matches!(outcome, KvOutcome::Exists { value, .. } if *value == owner), "{outcome:?}");
        }
    }
}

#[test]
fn a_watch_reports_all_entries_and_then_each_change() {
    let server = server();
    let (writer, reader) = (bus(&server), bus(&server));
    let store = writer.kv("rooms", KvSettings::default()).unwrap();
    for (key, value) in [("room.1", "a"), ("node.1", "b"), ("room.2", "c")] {
        outcome(&writer, store.put(&writer, key, value).unwrap());
    }
    let watched = reader.kv("rooms", KvSettings::default()).unwrap();
    let rooms = watched.watch(&reader, "room.>").unwrap();
    let mut copy = Copy::new(rooms);
    copy.until_current(&reader);
    assert_eq!(copy.shown(), "room.1=a room.2=c");
    outcome(&writer, store.delete(&writer, "room.1").unwrap());
    outcome(&writer, store.put(&writer, "node.2", "not watched").unwrap());
    outcome(&writer, store.put(&writer, "room.3", "d").unwrap());
    copy.until(&reader, |copy| copy.contains_key("room.3"));
    assert_eq!(copy.shown(), "room.2=c room.3=d");
    let nothing = watched.watch(&reader, "no.such.*").unwrap();
    Copy::new(nothing).until_current(&reader);
    reader.unwatch(rooms).unwrap();
    reader.flush(PATIENCE).unwrap();
    outcome(&writer, store.put(&writer, "room.4", "e").unwrap());
    assert_eq!(reader.wait(Duration::from_millis(100)), None);
}

#[test]
fn a_watch_without_room_for_events_waits_and_loses_nothing() {
    let server = server();
    let writer = bus(&server);
    let reader = Bus::connect(BusSettings { events_max: 10, ..settings(&server) }).unwrap();
    let watch = reader.kv("rooms", KvSettings::default()).unwrap().watch(&reader, ">").unwrap();
    let mut copy = Copy::new(watch);
    copy.until_current(&reader);
    let store = writer.kv("rooms", KvSettings::default()).unwrap();
    let asked: Vec<_> = (0..2_000).map(|n| store.put(&writer, &format!("room.{n}"), "x").unwrap()).collect();
    let last = *asked.last().unwrap();
    outcome(&writer, last);
    std::thread::sleep(Duration::from_millis(300));
    copy.until(&reader, |copy| copy.len() == 2_000);
    assert_eq!((reader.stats().dropped, copy.restarts), (0, 1));
}

#[test]
fn a_watch_is_complete_again_after_a_reconnection_even_if_the_store_was_lost() {
    let mut server = server();
    let (writer, reader) = (bus(&server), bus(&server));
    let store = writer.kv("rooms", KvSettings::default()).unwrap();
    let watch = reader.kv("rooms", KvSettings::default()).unwrap().watch(&reader, ">").unwrap();
    for n in 0..50 {
        outcome(&writer, store.put(&writer, &format!("old.{n}"), "x").unwrap());
    }
    let mut copy = Copy::new(watch);
    copy.until(&reader, |copy| copy.len() == 50);
    // The store is in the memory of this server alone.
    server.restart().unwrap();
    for n in 0..10 {
        let written = outcome(&writer, store.put(&writer, &format!("new.{n}"), "y").unwrap());
        assert!(matches!(written, KvOutcome::Stored { .. }), "{written:?}");
    }
    copy.until(&reader, |copy| copy.len() == 10);
    outcome(&writer, store.put(&writer, "new.10", "z").unwrap());
    copy.until(&reader, |copy| copy.len() == 11);
    assert!(copy.entries.keys().all(|key| key.starts_with("new.")) && copy.restarts >= 2, "{copy:?}");
}

#[test]
fn a_server_without_jetstream_is_a_clear_refusal() {
    let settings = LocalSettings { jetstream: LocalJetStream::Off, ..LocalSettings::default() };
    let server = LocalNats::start(settings).unwrap();
    let bus = bus(&server);
    assert!(!bus.server().unwrap().has_jetstream);
    let store = bus.kv("rooms", KvSettings::default()).unwrap();
    let began = Instant::now();
    let outcome = outcome(&bus, store.create(&bus, "room.1", "a").unwrap());
    let KvOutcome::Refused { why } = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("has no JetStream") && why.contains("start it with -js"), "{why}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let watch = store.watch(&bus, ">").unwrap();
    let failed = find(&bus, |event| match event {
        BusEvent::KvWatch { watch: of, state: KvWatchState::Failed { why } } if of == watch => Some(why),
        _ => None,
    });
    assert!(failed.contains("has no JetStream"), "{failed}");
}

#[test]
fn more_replicas_than_servers_are_a_clear_refusal() {
    let server = server();
    let bus = bus(&server);
    let store = bus.kv("rooms", KvSettings { replicas: Some(3), ..KvSettings::default() }).unwrap();
    let outcome = outcome(&bus, store.create(&bus, "room.1", "a").unwrap());
    let KvOutcome::Refused { why } = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("more replicas than the cluster has servers"), "{why}");
}

#[test]
fn a_full_store_refuses_and_says_so() {
    let server = crate::common::server_with(
        "accounts { A { jetstream { max_memory: 100000 }, users: [{ user: a, password: b }] } }",
    );
    let url = server.url().replace("//", "//a:b@");
    let bus = Bus::connect(BusSettings::new(url.parse().unwrap())).unwrap();
    let store = bus.kv("rooms", KvSettings::default()).unwrap();
    let why =
        (0..200).find_map(|n| match outcome(&bus, store.put(&bus, &format!("room.{n}"), vec![0; 1_000]).unwrap()) {
            KvOutcome::Refused { why } => Some(why),
            _ => None,
        });
    assert!(why.as_ref().is_some_and(|why| why.contains("resource limits exceeded")), "{why:?}");
}

#[cfg(unix)]
#[test]
fn each_call_ends_in_time_while_the_server_is_away_or_frozen() {
    let mut server = server();
    let bus = bus(&server);
    let brief = KvSettings { answer_within: Duration::from_millis(700), ..KvSettings::default() };
    let store = bus.kv("rooms", brief).unwrap();
    outcome(&bus, store.put(&bus, "room.1", "a").unwrap());
    server.freeze().unwrap();
    let began = Instant::now();
    assert_eq!(outcome(&bus, store.put(&bus, "room.1", "b").unwrap()), KvOutcome::Unknown);
    let read = outcome(&bus, store.get(&bus, "room.1").unwrap());
    assert!(matches!(read, KvOutcome::Unavailable { .. }), "{read:?}");
    server.thaw().unwrap();
    server.kill();
    find(&bus, |event| matches!(event, BusEvent::Disconnected { .. }).then_some(()));
    let away = outcome(&bus, store.put(&bus, "room.1", "c").unwrap());
    assert_eq!(away, KvOutcome::Unavailable { why: "there is no connection to NATS".into() });
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(bus.stats().expired, 0, "it is not sent before there is a connection");
    server.restart().unwrap();
    find(&bus, |event| (event == BusEvent::Reconnected).then_some(()));
    let again = outcome(&bus, store.put(&bus, "room.1", "d").unwrap());
    assert!(matches!(again, KvOutcome::Stored { .. }), "{again:?}");
    assert_eq!((bus.stats().expired, bus.stats().waiting_bytes), (1, 0));
}

#[test]
fn entries_that_are_not_written_again_vanish_at_their_age() {
    let server = server();
    let bus = bus(&server);
    let brief = KvSettings { age_max: Some(Duration::from_secs(1)), ..KvSettings::default() };
    let store = bus.kv("leases", brief).unwrap();
    outcome(&bus, store.create(&bus, "node.1", "a").unwrap());
    assert!(matches!(outcome(&bus, store.get(&bus, "node.1").unwrap()), KvOutcome::Found { .. }));
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(outcome(&bus, store.get(&bus, "node.1").unwrap()), KvOutcome::NotFound);
    assert!(matches!(outcome(&bus, store.create(&bus, "node.1", "b").unwrap()), KvOutcome::Stored { .. }));
}

#[test]
fn wrong_names_of_stores_keys_and_patterns_are_errors_of_the_call() {
    let server = server();
    let bus = bus(&server);
    assert_eq!(bus.kv("a.b", KvSettings::default()), Err(KvError::Bucket("a.b".into())));
    let store = bus.kv("rooms", KvSettings::default()).unwrap();
    assert_eq!(store.create(&bus, "room.*", "a"), Err(KvError::Key("room.*".into())));
    assert_eq!(store.watch(&bus, "room."), Err(KvError::Pattern("room.".into())));
    let too_large = store.put(&bus, "room.1", vec![0; 1 << 20]).unwrap_err();
    assert!(matches!(too_large, KvError::Bus(PublishError::PayloadTooLarge { .. })), "{too_large}");
}

#[cfg(unix)]
#[test]
fn a_write_that_is_tried_again_after_a_silence_is_done_once() {
    let server = server();
    let bus = bus(&server);
    let store = bus.kv("rooms", KvSettings::default()).unwrap();
    let KvOutcome::Stored { revision } = outcome(&bus, store.put(&bus, "room.1", "a").unwrap()) else { panic!() };
    server.freeze().unwrap();
    let asked = store.update(&bus, "room.1", "b", revision).unwrap();
    // An attempt lasts 1 s, and the bus gives the server up after 2.7 s.
    std::thread::sleep(Duration::from_millis(2_300));
    server.thaw().unwrap();
    assert_eq!(outcome(&bus, asked), KvOutcome::Stored { revision: revision + 1 });
    assert_eq!(bus.stats().reconnects, 0);
}

fn outcome(bus: &Bus, asked: RequestId) -> KvOutcome {
    find(bus, |event| match event {
        BusEvent::KvAnswer(answer) if answer.request == asked => Some(answer.outcome),
        _ => None,
    })
}

/// The copy of a store that a watch fills.
#[derive(Debug)]
struct Copy {
    watch: KvWatchId,
    entries: BTreeMap<String, bytes::Bytes>,
    restarts: u32,
    is_current: bool,
}

impl Copy {
    fn new(watch: KvWatchId) -> Copy {
        Copy { watch, entries: BTreeMap::new(), restarts: 0, is_current: false }
    }

    fn until_current(&mut self, bus: &Bus) {
        while !self.is_current {
            self.take(find(bus, Some));
        }
    }

    fn until(&mut self, bus: &Bus, reached: impl Fn(&BTreeMap<String, bytes::Bytes>) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !reached(&self.entries) {
            assert!(Instant::now() < deadline, "{self:?}");
            self.take(find(bus, Some));
        }
    }

    fn take(&mut self, event: BusEvent) {
        match event {
            BusEvent::KvWatch { watch, state: KvWatchState::Restarted } if watch == self.watch => {
                self.entries.clear();
                (self.restarts, self.is_current) = (self.restarts + 1, false);
            }
            BusEvent::KvWatch { watch, state: KvWatchState::Current } if watch == self.watch => self.is_current = true,
            BusEvent::KvChange(KvChange { watch, key, value: Some(value), .. }) if watch == self.watch => {
                self.entries.insert(key, value);
            }
            BusEvent::KvChange(KvChange { watch, key, value: None, .. }) if watch == self.watch => {
                self.entries.remove(&key);
            }
            _ => {}
        }
    }

    fn shown(&self) -> String {
        let entries = self.entries.iter().map(|(key, value)| format!("{key}={}", String::from_utf8_lossy(value)));
        entries.collect::<Vec<_>>().join(" ")
    }
}
