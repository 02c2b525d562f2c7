//! A server with `--agones` is ready, healthy, allocated and shut down in this order, and plays on without an SDK server.

use crate::common::sdk_server::SdkServer;
use crate::common::{Served, run};

fn serve(port: u16) -> Served {
    Served::start(&["--agones", "--agones-port", &port.to_string()])
}

fn play(server: &Served) {
    run(&["stress", &server.url, "-c", "2", "-r", "10/s", "-d", "500ms", "-q"]).expect(&[0, 98]);
}

#[test]
fn a_server_is_ready_healthy_allocated_and_shut_down() {
    let sdk = SdkServer::start(0);
    let server = serve(sdk.port());
    sdk.until("POST /ready");
    assert_eq!(sdk.transitions(), ["GET /gameserver", "POST /ready"], "no player has joined");
    play(&server);
    sdk.until("POST /allocate");
    play(&server);
    server.stop();
    assert_eq!(sdk.transitions(), ["GET /gameserver", "POST /ready", "POST /allocate", "POST /shutdown"]);
    assert!(sdk.calls().iter().any(|call| call == "POST /health"));
    assert_eq!(sdk.calls().last().map(String::as_str), Some("POST /shutdown"));
}

#[test]
fn a_server_whose_sdk_server_is_away_plays_on_and_is_ready_when_it_comes() {
    let port = SdkServer::start(0).port();
    let mut server = serve(port);
    server.running.until_complaint("does not answer");
    play(&server);
    let sdk = SdkServer::start(port);
    sdk.until("POST /allocate");
    assert_eq!(sdk.transitions(), ["GET /gameserver", "POST /ready", "POST /allocate"]);
    let ended = server.stop();
    assert_eq!(ended.err.matches("is tried again").count(), 1, "one line: {}", ended.err);
    assert_eq!(ended.err.matches("SDK server at").count(), 2, "and one when it answers: {}", ended.err);
}

#[test]
fn a_restart_is_no_shutdown_and_an_allocated_server_stays_allocated() {
    let sdk = SdkServer::start(0);
    let server = serve(sdk.port());
    play(&server);
    sdk.until("POST /allocate");
    server.running.signal("USR2");
    let is_back = || sdk.transitions().iter().filter(|call| *call == "GET /gameserver").count() == 2;
    let end = std::time::Instant::now() + crate::common::PATIENCE;
    while !is_back() {
        assert!(std::time::Instant::now() < end, "{:?}", sdk.calls());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    play(&server);
    server.stop();
    let after: Vec<_> = sdk.transitions().split_off(3);
    assert_eq!(after, ["GET /gameserver", "POST /shutdown"]);
}
