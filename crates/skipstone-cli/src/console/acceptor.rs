//! The thread that accepts clients, and owns the sessions' threads: it starts them, joins those that have ended, and at
//! the end waits for the rest.

use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::door::{Places, PlacesMax};
use parking_lot::Mutex;
use skipstone_proto::Network;

use super::driver;
use super::handler::SessionId;
use super::log_queue::LogQueue;
use super::session::{ConsoleSession, Settings};

/// The state that the console and its acceptor share.
#[derive(Default)]
pub(super) struct Shared {
    /// Why the server ends; set once.
    pub(super) ending: OnceLock<String>,
    logs: Mutex<Vec<Arc<LogQueue>>>,
}

impl Shared {
    /// Gives `line` to all sessions that want it.
    pub(super) fn log(&self, line: &str) {
        self.logs.lock().iter().for_each(|log| log.push(line));
    }
}

/// Accepts until the server ends. The listener does not block.
pub(super) struct Acceptor {
    pub(super) listener: TcpListener,
    pub(super) settings: Arc<Settings>,
    pub(super) shared: Arc<Shared>,
    pub(super) places: Arc<Places>,
    pub(super) sessions: Vec<Running>,
}

/// A session whose thread was started.
pub(super) struct Running {
    thread: JoinHandle<()>,
    log: Arc<LogQueue>,
}

impl Acceptor {
    /// Runs until the server ends and its sessions have.
    pub(super) fn run(mut self) {
        let mut next_id = 1;
        while self.shared.ending.get().is_none() {
            self.join_ended();
            match self.accept() {
                Some((stream, from)) => {
                    self.start(SessionId(next_id), stream, from);
                    next_id += 1;
                }
                None => thread::sleep(ACCEPT_POLL),
            }
        }
        let Self { listener, settings, sessions, .. } = self;
        drop(listener);
        wait_for(sessions, settings.limits.handler_grace);
    }

    /// `None` if no connection waits, the system is out of descriptors, or displaced sessions have not ended yet: all
    /// of these are temporary.
    fn accept(&self) -> Option<(TcpStream, Network)> {
        let PlacesMax { strangers, seats } = self.places.max();
        if self.sessions.len() >= strangers + seats + LEAVING_MAX {
            return None;
        }
        self.listener.accept().ok().map(|(stream, from)| (stream, Network::of(&from)))
    }

    fn join_ended(&mut self) {
        for ended in self.sessions.extract_if(.., |session| session.thread.is_finished()) {
            self.shared.logs.lock().retain(|log| !Arc::ptr_eq(log, &ended.log));
            // A session that panicked has already printed the panic on standard error, and has ended.
            let _ = ended.thread.join();
        }
    }

    fn start(&mut self, id: SessionId, stream: TcpStream, from: Network) {
        let (log, place) = (Arc::new(LogQueue::default()), self.places.stranger(from));
        let session = ConsoleSession::new(id, Arc::clone(&self.settings), place, Arc::clone(&log), Instant::now());
        let shared = Arc::clone(&self.shared);
        let stall = self.settings.limits.stall;
        let thread = thread::Builder::new()
            .name(format!("console session {id}"))
            .spawn(move || driver::drive(stream, session, stall, &shared.ending));
        // If no thread can be started, `stream` is dropped and the client sees the connection close.
        if let Ok(thread) = thread {
            self.shared.logs.lock().push(Arc::clone(&log));
            self.sessions.push(Running { thread, log });
        }
    }
}

/// Sessions notice the end by themselves, within milliseconds. A handler that still runs is waited for no longer than
/// `grace`: it may be waiting for the thread that closes the console.
fn wait_for(mut sessions: Vec<Running>, grace: Duration) {
    let deadline = Instant::now() + grace;
    while !sessions.is_empty() && Instant::now() < deadline {
        for ended in sessions.extract_if(.., |session| session.thread.is_finished()) {
            let _ = ended.thread.join();
        }
        thread::sleep(JOIN_POLL);
    }
}

const ACCEPT_POLL: Duration = Duration::from_millis(25);
const JOIN_POLL: Duration = Duration::from_millis(2);
/// The number of displaced sessions that may not have ended yet. Further clients wait in the backlog, but only briefly.
const LEAVING_MAX: usize = 128;
