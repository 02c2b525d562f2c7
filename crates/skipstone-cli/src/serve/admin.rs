//! How the console's sessions and a parent process ask the server's loop: one question at a time, answered at the next
//! tick.

use crate::console::{Handler, Reply, SessionId};
use std::sync::mpsc;
use std::time::Duration;

/// Asks the loop. Each session has a copy.
#[derive(Clone, Debug)]
pub(crate) struct Admin {
    asks: mpsc::Sender<Question>,
}

/// A line that somebody typed, and where the answer goes.
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

/// A loop that does not answer for so long is stuck.
const ANSWER_MAX: Duration = Duration::from_secs(5);

impl Admin {
    pub(crate) fn new(asks: mpsc::Sender<Question>) -> Self {
        Admin { asks }
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
        self.ask(Some(session), line)
    }
}
