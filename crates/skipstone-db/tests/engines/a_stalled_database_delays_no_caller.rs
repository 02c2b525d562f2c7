use crate::servers::{TestDatabase, engines};
use skipstone_db::{Began, Recorder, RecorderStats, run_line_json};
use std::time::{Duration, Instant};

/// A writer that holds the file's lock, as a backup or another server may.
fn locked(database: &TestDatabase) -> Option<rusqlite::Connection> {
    let text = database.url.to_string();
    let path = text.split_once(':').filter(|(scheme, _)| scheme.starts_with("sqlite"))?.1;
    let connection = rusqlite::Connection::open(path).expect("it is there");
    connection.execute_batch("BEGIN IMMEDIATE").expect("no other writer");
    Some(connection)
}

#[test]
fn records_are_queued_while_a_database_stalls_and_overflow_is_counted() {
    for engine in engines() {
        let database = TestDatabase::start(engine);
        let recorder = Recorder::start(database.url.clone(), 100_000).expect("it can be written to");
        let lock = locked(&database);
        database.signal("-STOP");
        let began = Instant::now();
        for number in 0..20_000 {
            recorder.began(Began { number, account: "somebody", carrier: "udp" });
        }
        let took = began.elapsed();
        // A lock's wait, a connection's time limit and an answer's are seconds each.
        assert!(took < Duration::from_secs(1), "{engine:?}: {took:?} for 20,000 notes");
        let stalled = recorder.stats();
        assert!(stalled.queued_bytes <= 100_000 && stalled.dropped > 0, "{engine:?}: {stalled:?}");
        database.signal("-CONT");
        drop(lock);
        let stats = recorder.close(Duration::from_secs(30));
        assert_eq!((stats.queued, stats.written + stats.dropped), (0, 20_000), "{engine:?}: {stats:?}");
        let found = run_line_json(&database.url, "stats").expect("it answers");
        assert_eq!(found["result"]["connections"].as_u64(), Some(stats.written), "{engine:?}");
    }
}

/// Queues several batches of notes for a stalled database, closes the recorder, and returns the result.
fn close_while_stalled(database: &TestDatabase, flush_max: Duration, before: Duration) -> (RecorderStats, Duration) {
    let recorder = Recorder::start(database.url.clone(), 64 << 20).expect("it can be written to");
    let lock = locked(database);
    database.signal("-STOP");
    for number in 0..20_000 {
        recorder.began(Began { number, account: "somebody", carrier: "udp" });
    }
    std::thread::sleep(before);
    let began = Instant::now();
    let stats = recorder.close(flush_max);
    let took = began.elapsed();
    database.signal("-CONT");
    drop(lock);
    (stats, took)
}

#[test]
fn a_server_ends_in_time_with_a_stalled_database_and_queued_records_count_as_dropped() {
    for engine in engines() {
        let database = TestDatabase::start(engine);
        // While an attempt is under way, and while one is waited for.
        for before in [0, 1_200].map(Duration::from_millis) {
            let (stats, took) = close_while_stalled(&database, Duration::from_secs(1), before);
            // Twenty batches, each of which would wait for seconds.
            assert!(took < Duration::from_secs(6), "{engine:?}: {took:?}");
            assert_eq!((stats.queued, stats.written, stats.dropped), (0, 0, 20_000), "{engine:?}: {stats:?}");
            assert!(stats.last_failure.is_some(), "a reason is given: {stats:?}");
        }
    }
}
