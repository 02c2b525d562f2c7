use crate::servers::{TestDatabase, engines, said};
use serde_json::Value;
use skipstone_db::{Began, DatabaseUrl, Ended, Recorder, run_line_json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often each is killed: `SKIPSTONE_TEST_KILLS` asks for more.
fn kills() -> u64 {
    std::env::var("SKIPSTONE_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

/// Moments that differ from kill to kill, and are the same in each run.
fn moment(kill: u64) -> Duration {
    Duration::from_millis(150 + kill.wrapping_mul(0x9E37_79B9_7F4A_7C15) % 700)
}

fn play(recorder: &Recorder, number: i64) {
    let account = &format!("player-{}", number % 7);
    recorder.began(Began { number, account, carrier: "udp" });
    recorder.ended(Ended { number, account, lasted: Duration::from_millis(3), lines: 2, code: 0 });
}

fn stats(url: &DatabaseUrl) -> Value {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        match run_line_json(url, "stats") {
            Ok(found) => return found["result"].clone(),
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
    }
}

/// The daily totals of sessions and lines equal the sums over the sessions.
fn adds_up(found: &Value) -> (u64, u64) {
    let number = |name: &str| found[name].as_u64().expect("a count");
    assert_eq!(number("total_sessions"), number("sessions"), "{found}");
    assert_eq!(number("total_lines"), 2 * number("sessions"), "{found}");
    (number("connections"), number("sessions"))
}

#[test]
fn a_killed_database_keeps_every_acknowledged_batch_once_and_accepts_writes() {
    for engine in engines() {
        let mut database = TestDatabase::start(engine);
        let recorder = Recorder::start(database.url.clone(), 64 << 20).expect("it can be written to");
        let mut number = 0;
        for kill in 0..kills() {
            let end = Instant::now() + moment(kill);
            while Instant::now() < end {
                play(&recorder, number);
                number += 1;
                std::thread::sleep(Duration::from_micros(500));
            }
            let acknowledged = recorder.stats().written;
            database.kill_and_restart();
            let (connections, sessions) = adds_up(&stats(&database.url));
            assert!(connections + sessions >= acknowledged, "{engine:?}: {connections} + {sessions} of {acknowledged}");
        }
        let written = recorder.close(Duration::from_secs(60));
        assert_eq!((written.dropped, written.written), (0, 2 * number as u64), "{engine:?}: {written:?}");
        assert_eq!(adds_up(&stats(&database.url)), (number as u64, number as u64), "{engine:?}: each once");
    }
}

/// Names the database to its own process, which records until it is killed, and says what was acknowledged.
const CHILD: &str = "SKIPSTONE_TEST_RECORDER";

#[test]
fn a_killed_server_keeps_every_acknowledged_batch_complete() {
    if let Ok(url) = std::env::var(CHILD) {
        record_for_ever(&DatabaseUrl::with_secrets(&url).expect("a good URL"));
    }
    for engine in engines() {
        let database = TestDatabase::start(engine);
        // The URL is shown without its password.
        let url = database.url.to_string().replace("skipstone@", "skipstone:s3cret@");
        let mut before = 0;
        for kill in 0..kills() {
            let mut child = Command::new(std::env::current_exe().expect("we have a path"));
            child.args([
                "--exact",
                "acknowledged_batches_survive_kill::a_killed_server_keeps_every_acknowledged_batch_complete",
            ]);
            child.args(["--nocapture"]).env(CHILD, &url).stdout(Stdio::piped());
            let mut child = child.spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(400) + moment(kill));
            child.kill().expect("it runs");
            let text = said(&mut child);
            child.wait().expect("it ends");
            let last = text.lines().rev().find_map(|line| line.strip_prefix("acknowledged ")?.parse::<u64>().ok());
            let (connections, sessions) = adds_up(&stats(&database.url));
            let now = connections + sessions;
            assert!(now >= before + last.unwrap_or(0), "{engine:?}: {now} after {before}, {last:?} acknowledged");
            before = now;
        }
        assert!(before > 0, "{engine:?}: something was written");
    }
}

fn record_for_ever(url: &DatabaseUrl) -> ! {
    let recorder = Recorder::start(url.clone(), 64 << 20).expect("it can be written to");
    for number in 0.. {
        play(&recorder, number);
        if number % 20 == 0 {
            // Ends whole lines: the last may be cut off, and does not count then.
            println!("acknowledged {}", recorder.stats().written);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    unreachable!("there is a number left")
}
