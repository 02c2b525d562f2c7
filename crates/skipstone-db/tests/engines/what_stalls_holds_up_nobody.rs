use crate::servers::{TestDatabase, engines};
use skipstone_db::{Began, Recorder, run_line_json};
use std::time::{Duration, Instant};

/// A writer that holds the file's lock, as a backup or another server may.
fn locked(database: &TestDatabase) -> Option<rusqlite::Connection> {
    let text = database.url.to_string();
    let path = text.split_once(':').filter(|(scheme, _)| scheme.starts_with("sqlite"))?.1;
    let connection = rusqlite::Connection::open(path).expect("it is there");
    connection.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    Some(connection)
}

#[test]
fn notes_are_taken_at_once_while_a_database_stalls_and_what_has_no_room_is_counted() {
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
