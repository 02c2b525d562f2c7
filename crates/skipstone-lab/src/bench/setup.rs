//! The setup of trials for plan, parent and children: the common part, and the part of each trial.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::network::Network;
use super::server_command::ServerCommand;
use super::transport::BenchTransport;
use super::variant::Variant;
use crate::resilience::ResilienceFlags;
use crate::units::{Named, Rate};
use crate::workload::Workload;

/// The setup that all trials of a bench have in common.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TrialSetup {
    pub(crate) workload: Workload,
    /// Lines of each client; `None`: nothing is sent.
    pub(crate) rate: Option<Rate>,
    pub(crate) line_bytes: usize,
    pub(crate) warmup: Duration,
    pub(crate) duration: Duration,
    pub(crate) ticks_per_second: u32,
    pub(crate) network: Network,
    pub(crate) server_cpu: Option<usize>,
    /// The number of load processes, and their cores in turn; on any core if the list is empty.
    pub(crate) load_processes: u32,
    pub(crate) load_cpus: Vec<usize>,
    pub(crate) drive: Drive,
    /// Other programs, by their place here.
    pub(crate) servers: Vec<ServerCommand>,
    pub(crate) priority: Priority,
    /// How Skipstone answers loss and shares a link.
    pub(crate) resilience: ResilienceFlags,
    /// The maximum delivery time at the 99th percentile.
    pub(crate) p99_max: Duration,
    /// Whether the load keeps each client's latencies separately, for a report.
    pub(crate) tells_clients_apart: bool,
}

/// One run: a transport, a number of clients, a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Trial {
    pub(crate) transport: BenchTransport,
    /// The index of the server's program in the setup; `None` is this program's own server.
    pub(crate) server: Option<usize>,
    pub(crate) clients: u32,
    pub(crate) variant: Variant,
}

impl Trial {
    /// The server's name, where it is another program.
    pub(crate) fn server_name(self, setup: &TrialSetup) -> Option<&str> {
        self.server.map(|place| setup.servers[place].name.as_str())
    }

    /// Transport and server, as a row has them.
    pub(crate) fn name(self, setup: &TrialSetup) -> String {
        row_name(self.transport.name(), self.server_name(setup))
    }
}

/// The transport, and the server where it is another program.
pub(crate) fn row_name(transport: &str, server: Option<&str>) -> String {
    server.map_or(transport.to_owned(), |server| format!("{transport}/{server}"))
}

/// When Skipstone's server reads its sockets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Drive {
    /// Once a tick, like the other drivers
    Tick,
    /// Whenever data arrives or a timer is due, by the tick's thread
    Ready,
    /// Whenever data arrives or a timer is due, by its own thread
    Background,
}

/// The processes that may run on a child's core meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Priority {
    /// Any process.
    Usual,
    /// Nothing, as long as the child has work.
    Realtime,
}

impl Priority {
    /// A command that runs a program so.
    pub(crate) fn command(self, program: impl AsRef<OsStr>) -> Command {
        if self == Self::Usual {
            return Command::new(program);
        }
        let mut command = Command::new("chrt");
        command.args(["--fifo", "10"]).arg(program);
        command
    }
}
