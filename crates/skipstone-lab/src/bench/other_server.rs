//! The server's process for an external server: it starts the program, forwards commands, and measures what the program
//! costs. docs/guide/measuring.md describes their messages.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::Deserialize;

use super::drivers;
use super::messages::{ChildMessage, ORPHAN_MAX, Order, ServerCounters, send};
use super::network;
use super::server_command::ServerCommand;
use super::setup::{Trial, TrialSetup};
use super::system;
use crate::child::{Child, END_MAX};
use crate::measure::process::Probe;
use crate::workload::Workload;

/// How long the program may take for its first line: .NET and Mono compile first.
const START_MAX: Duration = Duration::from_secs(12);
/// How long it may take for each answer, which it gives at its next tick.
const ANSWER_MAX: Duration = Duration::from_secs(4);
/// How long it may take to end before this process, which must still be running, kills it.
const PROGRAM_END_MAX: Duration = Duration::from_secs(2);
const _: () =
    assert!(PROGRAM_END_MAX.as_millis() < ORPHAN_MAX.as_millis() && ORPHAN_MAX.as_millis() < END_MAX.as_millis());
/// The interval at which its process is checked.
const LOOK: Duration = Duration::from_millis(200);

/// The program's answer to `mark`: a line of JSON. Further fields are ignored.
#[derive(Debug, Deserialize)]
struct Answer {
    ticks: u64,
    /// Since the last answer.
    slowest_tick_us: u64,
    /// Lines received.
    lines: u64,
    clients: u64,
    /// Bytes of both directions, with IP headers; null or absent if the program does not count them.
    ip_bytes: Option<u64>,
}

/// The program.
struct Program<'a> {
    of: &'a ServerCommand,
    child: Child,
    said: Receiver<String>,
    probe: Probe,
    apart: bool,
}

/// Serves by another program until the parent sends `stop`, or ends.
pub(super) fn serve(
    command: &ServerCommand,
    listen: SocketAddr,
    trial: Trial,
    setup: &TrialSetup,
    orders: &Receiver<Order>,
) -> Result<(), String> {
    let mut program = Program::start(command, listen, trial, setup)?;
    let url = program.line(START_MAX)?;
    let url = drivers::url(trial.transport, url.trim())
        .map_err(|error| format!("the server {} began with \"{url}\", which is not a URL: {error}", command.name))?;
    send(&ChildMessage::Listening { url });
    loop {
        match orders.recv_timeout(LOOK) {
            Ok(Order::Mark) => send(&ChildMessage::Counters(program.counters()?)),
            Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => program.is_running()?,
        }
    }
}

impl<'a> Program<'a> {
    fn start(
        of: &'a ServerCommand,
        listen: SocketAddr,
        trial: Trial,
        setup: &TrialSetup,
    ) -> Result<Program<'a>, String> {
        let workload = match setup.workload {
            Workload::Broadcast => "broadcast",
            Workload::Echo => "echo",
        };
        let mut command = setup.priority.command("sh");
        // The shell becomes the program, whose time is measured.
        command.args(["-c", &format!("exec {} \"$@\"", of.command), "sh"]);
        command.args([workload, &listen.to_string(), &setup.ticks_per_second.to_string()]);
        command.arg(trial.transport.to_string());
        let (child, said) = Child::start_talking(command)
            .map_err(|error| format!("the server {} cannot be started by sh: {error}", of.name))?;
        let child = child.ending_within(PROGRAM_END_MAX);
        let (probe, apart) = (Probe::of(child.id()), setup.network == network::Network::Veth);
        Ok(Program { of, child, said, probe, apart })
    }

    /// The next line that it says.
    fn line(&mut self, within: Duration) -> Result<String, String> {
        match self.said.recv_timeout(within) {
            Ok(line) => Ok(line),
            Err(RecvTimeoutError::Timeout) => {
                Err(format!("the server {} printed nothing within {within:?}", self.of.name))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    fn is_running(&mut self) -> Result<(), String> {
        self.child.ended().map_or(Ok(()), |_| Err(self.ended()))
    }

    fn ended(&mut self) -> String {
        // Its output ends a moment before the process does.
        std::thread::sleep(Duration::from_millis(50));
        let how =
            self.child.ended().map_or("it closed its output".to_owned(), |status| format!("it ended by {status}"));
        format!("the server {} is gone: {how}; its own message is printed above", self.of.name)
    }

    fn counters(&mut self) -> Result<ServerCounters, String> {
        self.child.send("mark");
        let line = self.line(ANSWER_MAX)?;
        let (at_ns, cpu) = (system::now_ns(), system::cpu_time_of(self.child.id()));
        let answer: Answer = serde_json::from_str(&line)
            .map_err(|error| format!("the server {} answered \"{line}\" to mark: {error}", self.of.name))?;
        Ok(ServerCounters {
            at_ns,
            cpu_us: cpu.map(|time| time.as_micros() as u64),
            ticks: answer.ticks,
            slowest_tick_us: answer.slowest_tick_us,
            lines: answer.lines,
            clients: answer.clients,
            ip_bytes: answer.ip_bytes.or_else(|| self.apart.then(network::ip_bytes).flatten()),
            rss_bytes: self.probe.sample().map(|sample| sample.rss_bytes),
        })
    }
}
