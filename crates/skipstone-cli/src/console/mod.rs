//! The admin console: line commands over TCP, for `telnet` with line editing and for `nc` and scripts with plain lines.
//! The engine only: which commands there are is the [`Handler`]'s business. RFC 854, 855, 857, 858, 1073 and 1143.
//!
//! ```text
//! acceptor ─> driver (a thread per session) ─> session ─┬─> input ─┬─> codec ─> options
//!                                                       │          ├─> keys, editor ─> row    character mode
//!                                                       │          └─> plain                  line mode
//!                                                       └─> auth, commands, completion, history
//! ```
//!
//! `session` and everything below it is without I/O. A session costs its client nothing but a connection, and the server no
//! more than a thread and bounded memory: one that does not read is dropped, and holds up nobody meanwhile.

mod acceptor;
mod auth;
mod codec;
mod commands;
mod completion;
mod driver;
mod editor;
mod history;
mod input;
mod keys;
mod limits;
mod log_queue;
mod options;
mod plain;
mod row;
mod session;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::console::acceptor::{Acceptor, Shared, TurnedAway};
use crate::console::limits::Limits;
use crate::console::session::Settings;

/// How a console is set up.
#[derive(Debug, Clone)]
pub(crate) struct ConsoleConfig {
    /// Where to listen; port 0 for any free one. Other than loopback needs a token.
    pub(crate) listen: SocketAddr,
    /// What a client has to give first, in plain text: anyone on the way can read it.
    pub(crate) token: Option<String>,
    /// Said when a session opens, after the token; may have several lines.
    pub(crate) banner: String,
    /// Before the line being edited. Plain clients do not see it.
    pub(crate) prompt: String,
    /// Sessions at once; one more is told so and closed.
    pub(crate) sessions_max: usize,
}

impl Default for ConsoleConfig {
    fn default() -> ConsoleConfig {
        ConsoleConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            token: None,
            banner: String::new(),
            prompt: "> ".to_owned(),
            sessions_max: 16,
        }
    }
}

/// Names one session, for as long as the console lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SessionId(u64);

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a command comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Lines to show; control characters in them are replaced. Empty shows nothing.
    Text(String),
    /// Shown after "error: ".
    Error(String),
    /// Ends this session.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tool's own commands leave that to the engine"))]
    Quit,
}

/// The commands. Called from the sessions' threads, from several at once.
pub(crate) trait Handler: Send + Sync {
    /// Runs `line`, trimmed and not empty, at most 4,096 bytes. Until it returns, its session does nothing else. A panic
    /// is told to the session as an internal error.
    fn run(&self, session: SessionId, line: &str) -> Reply;

    /// Words that could be the last word of `line`, which is what stands before the cursor; the last word is empty after
    /// a space. Those that do not begin with it are ignored. The engine adds its own.
    fn complete(&self, line: &str) -> Vec<String>;
}

/// The lines that a handler's help includes for the commands of the engine.
pub(crate) fn engine_help() -> &'static [&'static str] {
    commands::HELP
}

/// A listening console. Dropping it closes it.
pub(crate) struct Console {
    local_addr: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl Console {
    /// Listens, and serves clients on threads of its own.
    ///
    /// # Errors
    ///
    /// If the address can be reached from other machines and there is no token, if the token cannot be typed, or if the
    /// address cannot be bound. The sentence says what to do.
    pub(crate) fn listen(config: ConsoleConfig, handler: Arc<dyn Handler>) -> io::Result<Console> {
        Console::listen_within(Limits::default(), config, handler)
    }

    fn listen_within(limits: Limits, config: ConsoleConfig, handler: Arc<dyn Handler>) -> io::Result<Console> {
        check(&config)?;
        let ConsoleConfig { listen, token, banner, prompt, sessions_max } = config;
        let listener = bind(listen)?;
        let local_addr = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let acceptor = Acceptor {
            listener,
            settings: Arc::new(Settings { token, banner, prompt, limits, handler }),
            shared: Arc::clone(&shared),
            sessions_max,
            sessions: Vec::new(),
            turned_away: TurnedAway::default(),
        };
        let thread = thread::Builder::new().name("console".to_owned()).spawn(|| acceptor.run())?;
        Ok(Console { local_addr, shared, acceptor: Some(thread) })
    }

    /// Where it listens.
    pub(crate) const fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// Shows `line` in the sessions that have `log` on. Does not wait for them: of a session that reads too slowly, lines
    /// are skipped.
    pub(crate) fn log(&self, line: &str) {
        self.shared.log(line);
    }

    /// Tells every session that the server ends for `reason`, ends them, and frees the port. Takes less than 200 ms; but
    /// where the handler is still running for a session it waits for up to 1 s, and then leaves that thread behind with
    /// nothing to do but to return.
    pub(crate) fn close(mut self, reason: &str) {
        self.end(reason);
    }

    fn end(&mut self, reason: &str) {
        let _ = self.shared.ending.set(reason.to_owned());
        if let Some(acceptor) = self.acceptor.take() {
            // It panics only by a defect of ours, which has then been printed; the threads are gone either way.
            let _ = acceptor.join();
        }
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.end("it stops");
    }
}

fn check(config: &ConsoleConfig) -> io::Result<()> {
    let invalid = |sentence: String| Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
    match &config.token {
        Some(token) => auth::check_token(token).or_else(|sentence| invalid(sentence.to_owned())),
        None if config.listen.ip().to_canonical().is_loopback() => Ok(()),
        None => invalid(format!(
            "the console would listen on {}, where other machines can reach it, without a token: \
             set a token, or listen on 127.0.0.1",
            config.listen
        )),
    }
}

fn bind(listen: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(listen).map_err(|error| {
        let sentence = format!("the console cannot listen on {listen}: {error}; choose another address or port");
        io::Error::new(error.kind(), sentence)
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}
