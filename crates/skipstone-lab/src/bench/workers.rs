//! Child processes that share one task: they get the same commands, and their messages arrive one at a
//! time.

use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::messages::{ChildMessage, Order};
use super::setup::Priority;
use crate::child::Child;
use crate::signals::Signals;

/// Children of one name, numbered from 0.
#[derive(Debug)]
pub(crate) struct Workers {
    name: &'static str,
    pages: MemoryPages,
    children: Vec<Child>,
    messages: Receiver<(usize, ChildMessage)>,
    /// Channel for the children's messages; each child has a copy.
    outbox: Sender<(usize, ChildMessage)>,
    /// Number of children that have reached the point where all wait for each other.
    arrived: usize,
}

/// Paging of a child's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryPages {
    /// The system's default.
    Usual,
    /// In huge pages, if glibc and the kernel can, and the environment does not say otherwise.
    Huge,
}

/// Why no message arrived, or why a child does not continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChildError {
    /// A child failed, ended, or took too long: one sentence.
    Failed(String),
    /// This process was asked to stop, or its parent has ended.
    Interrupted,
}

impl From<String> for ChildError {
    fn from(reason: String) -> Self {
        Self::Failed(reason)
    }
}

const GLIBC_TUNABLES: &str = "GLIBC_TUNABLES";
/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

impl Workers {
    /// No client yet.
    pub(crate) fn new(name: &'static str, pages: MemoryPages) -> Self {
        let (outbox, messages) = mpsc::channel();
        Self { name, pages, children: Vec::new(), messages, outbox, arrived: 0 }
    }

    /// Starts another process of this program, with the task of one of its hidden commands.
    pub(crate) fn add(&mut self, task: &impl serde::Serialize, priority: Priority) -> Result<(), ChildError> {
        let (name, number, outbox) = (self.name, self.children.len(), self.outbox.clone());
        let failed = |error| ChildError::Failed(format!("cannot start the process of {name}: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let mut command = priority.command(program);
        command.arg(name).arg(serde_json::to_string(task).expect("a task has only text keys"));
        if self.pages == MemoryPages::Huge && std::env::var_os(GLIBC_TUNABLES).is_none() {
            command.env(GLIBC_TUNABLES, "glibc.malloc.hugetlb=1");
        }
        let on_line = move |line: Option<String>| {
            let ended = || format!("the process of {name} ended; its own message is printed above");
            let message = match line {
                Some(line) => serde_json::from_str(&line).ok(),
                None => Some(ChildMessage::Failed { reason: ended() }),
            };
            // A line that is not a message is output of a library.
            let Some(message) = message else { return ControlFlow::Continue(()) };
            let is_last = matches!(message, ChildMessage::Report(_));
            let is_gone = outbox.send((number, message)).is_err();
            if is_last || is_gone { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.children.push(Child::start(command, on_line).map_err(failed)?);
        Ok(())
    }

    /// The process with this number.
    pub(crate) fn process(&self, number: usize) -> u32 {
        self.children[number].id()
    }

    /// Sends one of them an order.
    pub(crate) fn order_one(&mut self, number: usize, order: &Order) {
        self.children[number].send(&serde_json::to_string(order).expect("an order has only text keys"));
    }

    /// Sends all of them an order.
    pub(crate) fn order(&mut self, order: &Order) {
        (0..self.children.len()).for_each(|number| self.order_one(number, order));
    }

    /// The next message within this time, with its child's number.
    pub(crate) fn receive(&self, within: Duration, signals: &Signals) -> Result<(usize, ChildMessage), ChildError> {
        let end = Instant::now() + within;
        loop {
            match self.messages.recv_timeout(LOOK) {
                Ok((_, ChildMessage::Failed { reason })) => return Err(ChildError::Failed(reason)),
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => unreachable!("this end has its own outbox"),
                Err(RecvTimeoutError::Timeout) if signals.is_set() => return Err(ChildError::Interrupted),
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    return Err(ChildError::Failed(format!(
                        "the process of {} printed nothing within {within:?}",
                        self.name
                    )));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Counts a child that has reached the barrier; true for the last one.
    pub(crate) fn has_arrived(&mut self) -> bool {
        self.arrived = (self.arrived + 1) % self.children.len();
        self.arrived == 0
    }
}
