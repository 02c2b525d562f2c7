//! The process of a stress run, which the dashboard starts and ends.

use super::progress::{ChildMessage, message_of};
use skipstone_lab::child::Child;
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::mpsc::{Receiver, sync_channel};

/// A running process. Dropping it ends the process: at once if it responds, within seconds if it does not.
pub(super) struct StressProcess {
    messages: Receiver<ChildMessage>,
    // Declared last: its end is awaited after the listeners are gone.
    child: Child,
}

impl StressProcess {
    /// Starts `stress` with these words.
    pub(super) fn start(words: &[String]) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let mut command = Command::new(program);
        command.arg("stress").args(words);
        let (sender, receiver) = sync_channel(QUEUE_MAX);
        let on_line = move |line: Option<String>| {
            let Some(message) = message_of(line.as_deref()) else { return ControlFlow::Continue(()) };
            match sender.send(message) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let child = Child::start(command, on_line).map_err(|error| format!("cannot start the clients: {error}"))?;
        Ok(StressProcess { messages: receiver, child })
    }

    /// Asks it to end early, with the result of what was run.
    pub(super) fn stop(&mut self) {
        self.child.close_input();
    }

    pub(super) fn poll(&mut self) -> Option<ChildMessage> {
        self.messages.try_recv().ok()
    }
}

/// The number of lines that may wait to be read; there is one a second.
const QUEUE_MAX: usize = 64;
