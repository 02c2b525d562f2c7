//! The REST interface of an Agones SDK server, as far as it keeps the state of one game server and records the calls.
//! `interop/agones` has one that Agones' own SDK talks to.

use super::PATIENCE;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;
use tiny_http::{Response, Server};

pub(crate) struct SdkServer {
    server: Arc<Server>,
    calls: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl SdkServer {
    /// On a port; 0 for any free one.
    pub(crate) fn start(port: u16) -> SdkServer {
        let server = Arc::new(Server::http(("127.0.0.1", port)).expect("the port is free"));
        let calls = Arc::new(Mutex::new(Vec::new()));
        let (own, theirs) = (Arc::clone(&server), Arc::clone(&calls));
        let thread = std::thread::spawn(move || answer(&own, &theirs));
        SdkServer { server, calls, thread: Some(thread) }
    }

    pub(crate) fn port(&self) -> u16 {
        self.server.server_addr().to_ip().expect("it is on TCP").port()
    }

    /// Each call so far, such as `POST /ready`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("no thread panics").clone()
    }

    /// The calls without those of /health.
    pub(crate) fn transitions(&self) -> Vec<String> {
        self.calls().into_iter().filter(|call| call != "POST /health").collect()
    }

    pub(crate) fn until(&self, call: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.calls().iter().any(|own| own == call) {
            assert!(Instant::now() < end, "no {call} in {:?}", self.calls());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

impl Drop for SdkServer {
    fn drop(&mut self) {
        self.server.unblock();
        self.thread.take().into_iter().for_each(|thread| thread.join().expect("it does not panic"));
    }
}

fn answer(server: &Server, calls: &Mutex<Vec<String>>) {
    let mut state = "Scheduled";
    while let Ok(mut request) = server.recv() {
        let call = format!("{} {}", request.method(), request.url());
        let mut body = String::new();
        request.as_reader().read_to_string(&mut body).expect("it is text");
        let (status, answer) = match (call.as_str(), body.as_str()) {
            ("GET /gameserver", "") => (200, format!(r#"{{"status":{{"state":"{state}"}}}}"#)),
            ("POST /ready" | "POST /allocate" | "POST /health" | "POST /shutdown", "{}") => (200, "{}".to_owned()),
            _ => (404, String::new()),
        };
        state = match call.as_str() {
            "POST /ready" => "Ready",
            "POST /allocate" => "Allocated",
            "POST /shutdown" => "Shutdown",
            _ => state,
        };
        calls.lock().expect("no thread panics").push(call);
        // A client that is gone has no answer.
        let _ = request.respond(Response::from_string(answer).with_status_code(status));
    }
}
