//! The thread that accepts clients, and owns the sessions' threads: it starts them, joins those that have ended, and at
//! the end waits for the rest.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::console::driver;
use crate::console::handler::SessionId;
use crate::console::log_queue::LogQueue;
use crate::console::session::{ConsoleSession, Settings};

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
        self.lock_logs().iter().for_each(|log| log.push(line));
    }

    fn lock_logs(&self) -> MutexGuard<'_, Vec<Arc<LogQueue>>> {
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Accepts until the server ends. The listener does not block.
pub(super) struct Acceptor {
    pub(super) listener: TcpListener,
    pub(super) settings: Arc<Settings>,
    pub(super) shared: Arc<Shared>,
    pub(super) sessions_max: usize,
    pub(super) sessions: Vec<Running>,
    pub(super) turned_away: TurnedAway,
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
            self.turned_away.close_old();
            match self.listener.accept() {
                Ok((stream, _)) if self.sessions.len() < self.sessions_max => {
                    self.start(SessionId(next_id), stream);
                    next_id += 1;
                }
                Ok((stream, _)) => self.turned_away.turn(stream, self.sessions_max),
                // Nobody there, or out of file descriptors: both pass.
                Err(_) => thread::sleep(ACCEPT_POLL),
            }
        }
        let Acceptor { listener, settings, sessions, .. } = self;
        drop(listener);
        wait_for(sessions, settings.limits.handler_grace);
    }

    fn join_ended(&mut self) {
        for ended in self.sessions.extract_if(.., |session| session.thread.is_finished()) {
            self.shared.lock_logs().retain(|log| !Arc::ptr_eq(log, &ended.log));
            join(ended.thread);
        }
    }

    fn start(&mut self, id: SessionId, stream: TcpStream) {
        let log = Arc::new(LogQueue::default());
        let session = ConsoleSession::new(id, Arc::clone(&self.settings), Arc::clone(&log), Instant::now());
        let shared = Arc::clone(&self.shared);
        let stall = self.settings.limits.stall;
        let thread = thread::Builder::new()
            .name(format!("console session {id}"))
            .spawn(move || driver::drive(stream, session, stall, &shared.ending));
        // Without a thread the connection closes, which the client sees.
        if let Ok(thread) = thread {
            self.shared.lock_logs().push(Arc::clone(&log));
            self.sessions.push(Running { thread, log });
        }
    }
}

/// Sessions notice the end by themselves, within milliseconds. A handler that still runs is waited for no longer than
/// `grace`: it may itself be waiting for the thread that closes the console.
fn wait_for(mut sessions: Vec<Running>, grace: Duration) {
    let deadline = Instant::now() + grace;
    while !sessions.is_empty() && Instant::now() < deadline {
        for ended in sessions.extract_if(.., |session| session.thread.is_finished()) {
            join(ended.thread);
        }
        thread::sleep(JOIN_POLL);
    }
}

/// A session that panicked has already said so on standard error, and is over.
fn join(thread: JoinHandle<()>) {
    let _ = thread.join();
}

/// Clients for whom there was no room. They stay connected for a moment, so that they can read why.
#[derive(Default)]
pub(super) struct TurnedAway {
    waiting: VecDeque<(TcpStream, Instant)>,
}

impl TurnedAway {
    fn turn(&mut self, mut stream: TcpStream, sessions_max: usize) {
        let sentence =
            format!("the console is full ({sessions_max} sessions): end one of them, then connect again\r\n");
        // The socket is new and its buffer empty: this neither waits nor is cut short.
        let told = stream.write_all(sentence.as_bytes()).and_then(|()| stream.shutdown(Shutdown::Write));
        if told.is_ok() && stream.set_nonblocking(true).is_ok() && self.waiting.len() < TURNED_AWAY_MAX {
            self.waiting.push_back((stream, Instant::now() + TURNED_AWAY_FOR));
        }
    }

    fn close_old(&mut self) {
        while self.waiting.front().is_some_and(|(_, until)| Instant::now() >= *until) {
            if let Some((mut stream, _)) = self.waiting.pop_front() {
                // Input left unread would reset the connection. What more comes is the client's loss.
                let _ = stream.read(&mut [0; 4096]);
            }
        }
    }
}

const ACCEPT_POLL: Duration = Duration::from_millis(25);
const JOIN_POLL: Duration = Duration::from_millis(2);
const TURNED_AWAY_MAX: usize = 16;
const TURNED_AWAY_FOR: Duration = Duration::from_millis(200);
