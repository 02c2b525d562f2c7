use super::client::{Stage, body, until};
use crate::dashboard::GuestKind;
use skipstone::PeerId;
use skipstone_lab::workload::StressTurn;
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

fn stream(stage: &Stage) -> TcpStream {
    let mut stream = stage.connect();
    let request = format!("GET /api/stream HTTP/1.1\r\nhost: {}\r\nx-skipstone: 1\r\n\r\n", stage.address);
    stream.write_all(request.as_bytes()).expect("it is open");
    stream
}

#[test]
fn frames_and_lines_arrive_and_the_end_is_reported() {
    let mut stage = Stage::new();
    let mut viewer = stream(&stage);
    until(&mut viewer, "text/event-stream");
    let peer = PeerId { index: 1, generation: 2 };
    stage.feed.joined(peer, "Zoë", GuestKind::Chat);
    stage.feed.joined(PeerId { index: 2, generation: 1 }, "stress-1", GuestKind::Stress(StressTurn::Own));
    stage.feed.tick(7, Duration::from_millis(3));
    stage.feed.chat("Zoë", "<script>alert(1)</script>");
    until(&mut viewer, r#""chat","Zoë","<script>alert(1)</script>"]]"#);
    stage.feed.turned(PeerId { index: 2, generation: 1 }, StressTurn::Waits);
    let frame = until(&mut viewer, r#""clients":2,"stress_clients":1,"stress_waiting":1,"stress_told":0"#);
    assert!(frame.contains("event: frame"));
    stage.feed.left(peer);
    until(&mut viewer, r#""clients":1,"stress_clients":1"#);
    let (_, log) = stage.get("/api/log");
    assert!(log.contains("content-type: application/json") && body(&log).starts_with("[[0,"), "{log}");
    let (_, start) = stage.get("/api/start");
    let start: serde_json::Value = serde_json::from_str(body(&start)).expect("JSON");
    assert!(!start["frames"].as_array().expect("frames").is_empty() && start["server"]["version"] == "1.2.3");
    stage.close("the test is over");
    // The last chunk of the stream follows it, however busy the machine is.
    until(&mut viewer, "event: end\ndata: \"the test is over\"\n\n\r\n0\r\n\r\n");
    assert!(TcpStream::connect(stage.address).is_err(), "the port is free");
}

#[test]
fn a_viewer_that_does_not_read_delays_no_other() {
    let stage = Stage::new();
    let _sleeper = stream(&stage);
    let line = "x".repeat(900);
    for _ in 0..8 {
        (0..1000).for_each(|_| stage.feed.log(&line));
        std::thread::sleep(Duration::from_millis(260));
    }
    let mut viewer = stream(&stage);
    stage.feed.log("awake");
    until(&mut viewer, "awake");
}

#[test]
fn invalid_requests_are_refused() {
    let stage = Stage::new();
    for path in [
        "/api/clients?sort=evil",
        "/api/clients?limit=-1",
        "/api/clients?evil=1",
        "/api/clients/x",
        "/api/log?before=x",
    ] {
        assert_eq!(stage.get(path).0, 400, "{path}");
    }
    assert_eq!(stage.get("/api/reports/7").0, 404);
    assert_eq!(stage.get("/../../etc/passwd").0, 404);
    assert_eq!(body(&stage.get("/api/clients/1.2").1), "null");
    let page = stage.get("/api/clients?sort=rtt&descending=true&offset=99999999&limit=99999999&find=%00").1;
    assert_eq!(body(&page), r#"{"total":0,"offset":99999999,"rows":[]}"#);
}
