//! The process of a stress run, which the dashboard starts and ends.

use super::progress::{ChildMessage, message_of};
use skipstone_lab::child::Child;
use std::ops::ControlFlow;
use std::process::Command;
use std::sync::mpsc::{Receiver, sync_channel};

/// A running process. Dropping it ends the process: at once if it responds, within seconds if it does not.
pub(super) struct StressProcess {
    messages: Receiver<ChildMessage>,
    // Declared last, so that it is dropped, and waits for its end, after the listeners.
    _child: Child,
}

impl StressProcess {
    /// Starts clients that wait for the command to start.
    pub(super) fn start(url: &str, clients: u32, mix: &str) -> Result<Self, String> {
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let mut command = Command::new(program);
        command.args(["stress", url, "--wait", "--piped", "--clients", &clients.to_string()]);
        if !mix.is_empty() {
            command.arg(format!("--mix={mix}"));
        }
        let (sender, receiver) = sync_channel(QUEUE_MAX);
        let on_line = move |line: Option<String>| {
            let Some(message) = message_of(line.as_deref()) else { return ControlFlow::Continue(()) };
            match sender.send(message) {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        let child = Child::start(command, on_line).map_err(|error| format!("cannot start the clients: {error}"))?;
        Ok(StressProcess { messages: receiver, _child: child })
    }

    pub(super) fn poll(&mut self) -> Option<ChildMessage> {
        self.messages.try_recv().ok()
    }
}

/// The number of lines that may wait to be read; there is one a second.
const QUEUE_MAX: usize = 64;
