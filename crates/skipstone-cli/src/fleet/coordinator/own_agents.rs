//! Agents of a run's own, on this machine: `--fleet local`. They end with it.

use crate::fleet_flags::{FleetArguments, LOCAL, Nats};
use skipstone_lab::child::Child;
use skipstone_lab::report::output;
use std::ops::ControlFlow;
use std::process::Command;

/// The agents.
pub(super) struct OwnAgents {
    _agents: Vec<Child>,
    _folder: tempfile::TempDir,
}

impl OwnAgents {
    /// Starts them, if NATS is the run's own too. They may stress these servers, or this machine if there are none. The
    /// error is one sentence.
    pub(super) fn start(
        flags: &FleetArguments,
        nats: &Nats,
        servers: &[(String, u16)],
    ) -> Result<Option<Self>, String> {
        if flags.url() != Some(LOCAL) {
            return Ok(None);
        }
        let program = std::env::current_exe().map_err(|error| format!("cannot find this program's file: {error}"))?;
        let folder = tempfile::Builder::new().prefix("skipstone-agents-").tempdir();
        let folder = folder.map_err(|error| format!("cannot make a folder: {error}"))?;
        let start = |number: u32| {
            let name = format!("local-{number}");
            let mut command = Command::new(&program);
            command.args(["agent", "--with-parent", "--fleet", &nats.url, "--name", &name]);
            for (host, port) in servers {
                let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
                command.arg("--allow").arg(format!("{host}:{port}"));
            }
            command.arg("--keep").arg(folder.path().join(&name));
            let started = Child::start(command, |_| ControlFlow::Continue(()));
            started.map_err(|error| format!("cannot start an agent: {error}"))
        };
        let agents = (1..=flags.agents).map(start).collect::<Result<Vec<_>, String>>()?;
        output::complain(format_args!("{} agents of this run started on this machine", agents.len()));
        Ok(Some(OwnAgents { _agents: agents, _folder: folder }))
    }
}
