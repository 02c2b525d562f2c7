use super::*;
use crate::compare::condition::Flags;
use crate::compare::external::ExternalTransport;
use crate::compare::plan::ComparePlan;

fn condition() -> Condition {
    let text =
        "name = \"t\"\nminutes = 0.01\nentities = 2\nticks_per_second = 10\npayload_bytes = 50\n[link]\nrtt = \"20ms\"";
    Condition::from(&ComparePlan::parse("t", text).unwrap(), &Flags::default()).unwrap()
}

/// A program whose server and client are these words of a shell's.
fn program(server: &str, client: &str) -> Contender {
    let script = format!("if [ $1 = server ]; then {server}; else {client}; fi");
    let words = ["sh", "-c", &script, "sh"].map(str::to_owned).to_vec();
    Contender::external(ExternalTransport { name: "script".into(), words })
}

const BEGAN: &str = r#"echo '{"began":{"connect_ms":21.5,"first_due_us":5000000}}'"#;
const ECHOES: &str = r#"echo '{"echoes":[[0,0,5021000],[0,1,5021500]]}'"#;
const DONE: &str = r#"echo '{"done":{"refused":2,"corrupted":1,"resent":12}}'"#;

#[test]
fn the_row_shows_what_the_program_reports_about_itself() {
    let client = format!("{BEGAN}; {ECHOES}; {DONE}; cat");
    let (condition, stop) = (condition(), AtomicBool::new(false));
    let run = Run { contender: program("cat", &client), condition: &condition, seed: 1, qlog: None, stop: &stop };
    let server = run.start(Role::Server { listen: "a".into() }, None).unwrap();
    let found = run.connect("a", None, server).unwrap();
    let figures = run.row(&LinkSnapshot::default(), &found, 0).figures;
    assert_eq!((figures.resent, figures.refused, figures.corrupted), (Some(12), Some(2), Some(1)));
    assert_eq!((figures.delivered, figures.resent_bytes), (Some(2), Some(600)));
}

#[test]
fn a_dead_server_is_detected_with_and_without_traffic() {
    let chatty = format!("{BEGAN}; while true; do echo '{{\"echoes\":[]}}'; done");
    let quick = format!("sleep 0.5; {BEGAN}; {DONE}; cat");
    for (server, client) in [("sleep 0.3; exit 3", &chatty), ("exit 3", &quick)] {
        let (condition, stop) = (condition(), AtomicBool::new(false));
        let run = Run { contender: program(server, client), condition: &condition, seed: 1, qlog: None, stop: &stop };
        let server = run.start(Role::Server { listen: "a".into() }, None).unwrap();
        let began = Instant::now();
        let Err(RunError::Failed(reason)) = run.connect("a", None, server) else { panic!("{client}") };
        assert!(reason.contains("the server's process ended in the middle"), "{reason}");
        assert!(began.elapsed() < Duration::from_secs(20), "long before the deadline");
    }
}

#[test]
fn a_program_that_never_stops_printing_reaches_the_deadline() {
    let (condition, stop) = (condition(), AtomicBool::new(false));
    let contender = program("cat", "while true; do echo hello; done");
    let run = Run { contender, condition: &condition, seed: 1, qlog: None, stop: &stop };
    let mut client = run.start(Role::Client { connect: "a".into() }, None).unwrap();
    let end = Instant::now() + Duration::from_millis(300);
    let error = loop {
        if let Err(error) = client.line(None, end, "is late", &stop) {
            break error;
        }
        assert!(Instant::now() < end + Duration::from_secs(20), "the output was read beyond the deadline");
    };
    assert_eq!(error, RunError::Failed("the client's process is late".into()));
    let dropped = Instant::now();
    drop(client);
    assert!(dropped.elapsed() < Duration::from_secs(3), "unread output does not block it");
}

#[test]
fn a_line_without_an_end_is_an_error_that_names_it() {
    let (condition, stop) = (condition(), AtomicBool::new(false));
    let contender = program("cat", "echo short; tr '\\0' x < /dev/zero");
    let run = Run { contender, condition: &condition, seed: 1, qlog: None, stop: &stop };
    let mut client = run.start(Role::Client { connect: "a".into() }, None).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    assert_eq!(client.line(None, end, "is late", &stop), Ok("short".into()));
    let Err(RunError::Failed(reason)) = client.line(None, end, "is late", &stop) else { panic!("it is no line") };
    assert!(reason.contains("more than 1 MiB, which begins \"xxx"), "{reason}");
}
