//! Clients that connect while their server restarts get in: none is refused, and none stays unanswered.

use crate::common::{Running, Served, fresh_file, run};
use std::time::Duration;

/// A few tens of new clients a second while the server restarts once.
fn through_a_restart(client: &[&str]) {
    let identity = fresh_file("identity.pem");
    let identity = identity.to_str().expect("it is a text");
    let json = fresh_file("connects.json");
    let mut served = Served::start(&["--identity", identity]);
    let flags = ["--connects", "40/s", "-d", "4s", "--json", json.to_str().expect("it is a text")];
    let mut stress = Running::tool(&[&["stress", &served.url], &flags[..], client].concat());
    stress.until("new clients at");
    std::thread::sleep(Duration::from_millis(500));
    served.running.signal("USR2");
    served.running.until("the server restarts after");
    let ended = stress.wait();
    ended.expect(&[0]);
    served.stop();
    let result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(&json).expect("it is written")).expect("it is JSON");
    let schema = include_str!("../../../skipstone-lab/schema/connects.schema.json");
    let schema = serde_json::from_str(schema).expect("it is JSON");
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .expect("it is a schema")
        .iter_errors(&result)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!((&result["all"]["attempted"], &result["all"]["connected"]), (&160.into(), &160.into()), "{result}");
    for file in [identity.as_ref(), json.as_path()] {
        let _ = std::fs::remove_file(file);
    }
}

#[test]
fn clients_of_every_carrier_connect_during_a_restart() {
    through_a_restart(&["--mix", "udp=2,dtls=1,ws=1,wss=1,tcp=1"]);
}

#[test]
fn a_slow_pending_handshake_completes() {
    // Its round trips take longer than the least time that a server gives to handshakes.
    through_a_restart(&["--mix", "udp=1", "--delay", "150ms"]);
}

#[test]
fn a_connect_only_run_names_clients_that_did_not_connect() {
    let served = Served::start(&["--workload", "echo"]);
    let ended = run(&["stress", &served.url, "--connects", "20/s", "-d", "500ms"]);
    ended.expect(&[99]);
    assert!(ended.out.contains("10 clients were refused"), "{}", ended.out);
    assert!(ended.out.contains("(code 1001)"), "{}", ended.out);
    served.stop();
    let ended = run(&["stress", "--connects", "20/s", "-d", "500ms", "--mix", "wt=1"]);
    ended.expect(&[104]);
    assert!(ended.err.contains("leave wt out of --mix"), "{}", ended.err);
}
