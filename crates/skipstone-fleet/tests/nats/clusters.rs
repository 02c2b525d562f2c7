//! Three servers, of which one ends.

use crate::common::{PATIENCE, message};
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings, KvOutcome, KvSettings, RequestId};
use skipstone_fleet::local::LocalNats;
use std::time::{Duration, Instant};

#[test]
fn a_client_moves_to_another_server_of_the_cluster_and_a_store_outlives_each_server() {
    let mut servers = LocalNats::cluster(3).unwrap_or_else(|error| panic!("{error}"));
    let urls: Vec<String> = servers.iter().map(LocalNats::url).collect();
    let bus = Bus::connect(BusSettings::new(urls.join(",").parse().unwrap())).unwrap();
    assert_eq!(bus.server().unwrap().cluster.as_deref(), Some("local"));
    bus.subscribe("after").unwrap();
    let patient = KvSettings { replicas: Some(3), answer_within: Duration::from_secs(30), ..KvSettings::default() };
    let store = bus.kv("rooms", patient).unwrap();
    let mut revision = stored(&bus, store.create(&bus, "room.1", "0").unwrap());
    // Each in turn: one of them is the client's, and one leads the store.
    for (turn, url) in urls.iter().enumerate() {
        let began = Instant::now();
        servers[turn].kill();
        revision = stored(&bus, store.update(&bus, "room.1", turn.to_string(), revision).unwrap());
        println!("{url} killed: written after {:?}", began.elapsed());
        bus.publish("after", turn.to_string()).unwrap();
        assert_eq!(message(&bus).payload, turn.to_string());
        servers[turn].restart().unwrap();
        // It has what the others have before the next one ends, or there is no majority that has it.
        wait_for_replicas(&bus);
        revision = stored(&bus, store.update(&bus, "room.1", "all are there", revision).unwrap());
    }
    assert!(bus.stats().reconnects >= 1);
    bus.flush(PATIENCE).unwrap();
}

#[test]
fn a_write_that_waits_for_the_replicas_is_done_once_whichever_server_leads() {
    let servers = LocalNats::cluster(3).unwrap_or_else(|error| panic!("{error}"));
    let urls: Vec<String> = servers.iter().map(LocalNats::url).collect();
    let settings = KvSettings { replicas: Some(3), answer_within: Duration::from_secs(30), ..KvSettings::default() };
    for (awake, url) in urls.iter().enumerate() {
        let bus = Bus::connect(BusSettings::new(url.parse().unwrap())).unwrap();
        let store = bus.kv("rooms", settings).unwrap();
        let revision = stored(&bus, store.put(&bus, "room.1", "before").unwrap());
        // The leader alone has no majority. Where it leads, it says that the first attempt's id is in process.
        let others = || (0..3).filter(|server| *server != awake);
        others().for_each(|server| servers[server].freeze().unwrap());
        let asked = store.update(&bus, "room.1", "after", revision).unwrap();
        // An attempt lasts 1 s.
        std::thread::sleep(Duration::from_millis(1_600));
        others().for_each(|server| servers[server].thaw().unwrap());
        assert_eq!(stored(&bus, asked), revision + 1, "{url}");
    }
}

#[test]
fn of_clients_of_a_cluster_that_create_one_key_at_once_one_succeeds_and_the_others_learn_its_value() {
    let servers = LocalNats::cluster(3).unwrap_or_else(|error| panic!("{error}"));
    let settings = KvSettings { replicas: Some(3), answer_within: Duration::from_secs(30), ..KvSettings::default() };
    let buses: Vec<Bus> = (0..12)
        .map(|client| Bus::connect(BusSettings::new(servers[client % 3].url().parse().unwrap())).unwrap())
        .collect();
    for round in 0..20 {
        let key = format!("room.{round}");
        let create = |(client, bus): (usize, &Bus)| {
            bus.kv("rooms", settings).unwrap().create(bus, &key, client.to_string()).unwrap()
        };
        let asked: Vec<RequestId> = buses.iter().enumerate().map(create).collect();
        let outcomes: Vec<KvOutcome> = buses.iter().zip(asked).map(|(bus, asked)| outcome(bus, asked)).collect();
        let winners: Vec<usize> = (0..12).filter(|at| matches!(outcomes[*at], KvOutcome::Stored { .. })).collect();
        assert_eq!(winners.len(), 1, "{outcomes:?}");
        let owner = bytes::Bytes::from(winners[0].to_string());
        for (_, other) in outcomes.iter().enumerate().filter(|(client, _)| *client != winners[0]) {
            assert!(matches!(other, KvOutcome::Exists { value, .. } if *value == owner), "{other:?}");
        }
    }
}

/// Until each server of the cluster holds the store `rooms` as its leader does.
fn wait_for_replicas(bus: &Bus) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut last = String::new();
    while Instant::now() < deadline {
        let asked = bus.request("$JS.API.STREAM.INFO.KV_rooms", "", Duration::from_secs(2)).unwrap();
        let info = std::iter::from_fn(|| bus.wait(Duration::from_secs(3))).find_map(|event| match event {
            BusEvent::Answer { request, result } if request == asked => Some(result),
            _ => None,
        });
        if let Some(Ok(info)) = info {
            last = String::from_utf8_lossy(&info).into_owned();
            let info: serde_json::Value = serde_json::from_slice(&info).unwrap();
            let replicas = info["cluster"]["replicas"].as_array().cloned().unwrap_or_default();
            let is_current = |one: &serde_json::Value| one["current"] == true && one["offline"] != true;
            if replicas.len() == 2 && replicas.iter().all(is_current) {
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not all servers hold the store: {last}");
}

fn stored(bus: &Bus, asked: RequestId) -> u64 {
    match outcome(bus, asked) {
        KvOutcome::Stored { revision } => revision,
        other => panic!("{other:?}"),
    }
}

fn outcome(bus: &Bus, asked: RequestId) -> KvOutcome {
    let deadline = Instant::now() + Duration::from_secs(31);
    loop {
        let event = bus.wait(deadline.saturating_duration_since(Instant::now()));
        match event {
            Some(BusEvent::KvAnswer(answer)) if answer.request == asked => return answer.outcome,
            Some(_) => {}
            None => panic!("no answer: {:?}", bus.stats()),
        }
    }
}
