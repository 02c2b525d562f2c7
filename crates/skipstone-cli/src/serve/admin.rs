//! How the console's sessions and a parent process ask the server's loop: one question at a time, answered at the next
//! tick.

use crate::console::{Handler, Reply, SessionId};
use std::sync::mpsc;
use std::time::Duration;

/// Asks the loop. Each session has a copy.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    asks: mpsc::Sender<Question>,
    /// The database of `serve --db`.
    #[cfg(feature = "db")]
    database: Option<skipstone_db::DatabaseUrl>,
}

/// A command line, and where the answer goes.
#[derive(Debug)]
pub(crate) struct Question {
    /// The session that asks; `None` is the parent process.
    pub(crate) session: Option<SessionId>,
    /// The line that was typed.
    pub(crate) line: String,
    answer: mpsc::SyncSender<Reply>,
}

impl Question {
    /// Answers the question. The session that asked may have stopped waiting.
    pub(crate) fn answer(self, reply: Reply) {
        let _ = self.answer.send(reply);
    }
}

/// A loop that does not answer within this time is stuck.
const ANSWER_MAX: Duration = Duration::from_secs(5);

impl Admin {
    pub(crate) fn new(asks: mpsc::Sender<Question>) -> Self {
        Self {
            asks,
            #[cfg(feature = "db")]
            database: None,
        }
    }

    /// The same handler with a database, for the command `db`.
    #[cfg(feature = "db")]
    pub(crate) fn with_database(self, database: Option<skipstone_db::DatabaseUrl>) -> Self {
        Self { database, ..self }
    }

    /// Runs `db …` in the session's own thread: neither the loop nor what it records waits for it.
    #[cfg(feature = "db")]
    fn run_database(&self, line: &str) -> Reply {
        let Some(url) = &self.database else {
            return Reply::Error("this server has no database: start it with --db URL".into());
        };
        skipstone_db::run_line(url, line).into()
    }

    /// Asks and waits.
    pub(crate) fn ask(&self, session: Option<SessionId>, line: &str) -> Reply {
        let (answer, answered) = mpsc::sync_channel(1);
        let gone = || Reply::Error("the server does not answer".into());
        if self.asks.send(Question { session, line: line.into(), answer }).is_err() {
            return gone();
        }
        answered.recv_timeout(ANSWER_MAX).unwrap_or_else(|_| gone())
    }
}

impl Handler for Admin {
    fn run(&self, session: SessionId, line: &str) -> Reply {
        #[cfg(feature = "db")]
        if let Some(rest) = line.strip_prefix("db").filter(|rest| rest.is_empty() || rest.starts_with(' ')) {
            return self.run_database(rest);
        }
        self.ask(Some(session), line)
    }
}
