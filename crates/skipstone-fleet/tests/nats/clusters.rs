//! Three servers, of which one ends.

use crate::common::{PATIENCE, message};
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings, KvOutcome, KvSettings};
use skipstone_fleet::local::LocalNats;
use std::time::{Duration, Instant};

#[test]
fn a_client_moves_to_another_server_of_the_cluster_and_a_store_outlives_each_server() {
    let mut servers = LocalNats::cluster(3).unwrap_or_else(|error| panic!("{error}"));
    let urls: Vec<String> = servers.iter().map(LocalNats::url).collect();
    let bus = Bus::connect(BusSettings::new(urls.join(",").parse().unwrap())).unwrap();
    assert_eq!(bus.server().unwrap().cluster.as_deref(), Some("local"));
    bus.subscribe("after").unwrap();
    let patient = KvSettings { replicas: 3, answer_within: Duration::from_secs(30), ..KvSettings::default() };
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
        // It takes part again before the next one ends, or there is no majority.
        std::thread::sleep(Duration::from_secs(2));
        revision = stored(&bus, store.update(&bus, "room.1", "all are there", revision).unwrap());
    }
    assert!(bus.stats().reconnects >= 1);
    bus.flush(PATIENCE).unwrap();
}

fn stored(bus: &Bus, asked: skipstone_fleet::bus::RequestId) -> u64 {
    let deadline = Instant::now() + Duration::from_secs(31);
    loop {
        let event = bus.wait(deadline.saturating_duration_since(Instant::now()));
        match event {
            Some(BusEvent::KvAnswer(answer)) if answer.request == asked => match answer.outcome {
                KvOutcome::Stored { revision } => return revision,
                other => panic!("{other:?}"),
            },
            Some(_) => {}
            None => panic!("no answer: {:?}", bus.stats()),
        }
    }
}
