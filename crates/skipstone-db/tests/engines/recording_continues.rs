use crate::servers::{TestDatabase, engines};
use skipstone_db::{Began, Recorder, RecorderStats, run_line, run_line_json};
use std::time::{Duration, Instant};

fn began(recorder: &Recorder, number: i64) {
    recorder.began(Began { number, account: "somebody", carrier: "udp" });
}

fn until(recorder: &Recorder, what: impl Fn(&RecorderStats) -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !what(&recorder.stats()) {
        assert!(Instant::now() < end, "{:?}", recorder.stats());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn recording_continues_after_the_tables_are_recreated() {
    for engine in engines() {
        let database = TestDatabase::start(engine);
        let recorder = Recorder::start(database.url.clone(), 64 << 20).expect("it can be written to");
        began(&recorder, 1);
        until(&recorder, |stats| stats.written == 1);
        run_line(&database.url, "delete --yes").expect("it may");
        began(&recorder, 2);
        // This number of refusals would discard a refused batch, but this one waits for the tables.
        until(&recorder, |stats| stats.retries >= 5);
        run_line(&database.url, "create").expect("it may");
        began(&recorder, 3);
        until(&recorder, |stats| stats.written == 3);
        let stats = recorder.close(Duration::from_secs(10));
        assert_eq!((stats.written, stats.dropped), (3, 0), "{engine:?}: {stats:?}");
        let found = run_line_json(&database.url, "stats").expect("it answers");
        assert_eq!(found["result"]["connections"].as_u64(), Some(2), "{engine:?}");
    }
}
