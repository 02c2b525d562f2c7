//! `skipstone agent`: waits on a machine for parts of runs. It runs nothing but stress clients and scripted bots against
//! servers that its own flags allow, one part at a time, each in a process of its own.
//!
//! ```text
//! NATS ──orders──> desk ──> work (the process of a part) ──evidence──> shelf (this machine's disk)
//! ```

mod collect;
mod desk;
mod given;
mod journal;
mod shelf;
mod work;

use super::talk::is_name;
use crate::fleet_flags::NatsFlags;
use crate::stress::end_with_parent;
use collect::CollectArguments;
use desk::Desk;
use shelf::Shelf;
use skipstone_lab::report::{Exit, output};
use skipstone_lab::signals::Signals;
use skipstone_lab::units::Allowed;
use std::path::PathBuf;

/// Flags of `agent`.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
An agent runs stress clients and scripted bots against the servers that --allow names, one run at a time, each in a
process of its own, and nothing else. A script sees its own files, which come with the run, and nothing of this machine. It prints a line when a run begins, when its clients are connected, and when it ends, with its totals.
Evidence of a run stays on this machine; the one who leads the run fetches it, or later `skipstone agent collect RUN`.

On each machine that makes load:
  skipstone agent --fleet nats://nats.example --allow game.example

Anywhere:
  skipstone stress skip://game.example:7777#sha256=... --fleet nats://nats.example --agents 4 -c 1000
  skipstone bots game.luau udp://game.example:9000 --fleet nats://nats.example --agents 4 -c 1000

Try, in three terminals:
  skipstone serve
  skipstone agent --fleet local                    it prints the address of its NATS
  skipstone stress URL --fleet nats://127.0.0.1:PORT --agents 1 -c 100

Exit codes: 0 it was told to end; 97 NATS was not reached or refused; 104 bad configuration.")]
pub(crate) struct AgentArguments {
    #[command(subcommand)]
    command: Option<AgentCommand>,
    /// NATS: nats://HOST, nats://USER:PASSWORD@HOST or tls://HOST; or `local`, to start a nats-server on this machine
    #[arg(long, value_name = "URL", required = true)]
    fleet: Option<String>,
    /// Name of this agent, of which NATS has one: letters, digits, - and _ [default: this machine's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A server that this agent may stress: HOST or HOST:PORT; may be repeated [default: this machine alone]
    #[arg(long, value_name = "HOST")]
    allow: Vec<Allowed>,
    /// Where evidence of runs is kept, that of the last 20 [default: skipstone-agent in the user's state folder]
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// End with the parent process, which holds standard input open
    #[arg(long, hide = true)]
    with_parent: bool,
    #[command(flatten)]
    nats: NatsFlags,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum AgentCommand {
    /// Merge the evidence of a run that lies on agents' disks, and judge it
    Collect(CollectArguments),
}

/// Runs as the flags say.
pub(crate) fn run(arguments: &AgentArguments) -> Exit {
    if let Some(AgentCommand::Collect(arguments)) = &arguments.command {
        return collect::run(arguments);
    }
    let signals = if arguments.with_parent { Signals::watch_as_child() } else { Signals::watch() };
    if let (true, Ok(signals)) = (arguments.with_parent, &signals) {
        end_with_parent(signals.clone());
    }
    let prepared = signals.and_then(|signals| Ok((prepare(arguments)?, signals)));
    match prepared {
        Ok((desk, signals)) => desk.and_then(|desk| desk.serve(&signals)).unwrap_or_else(|exit| exit),
        Err(sentence) => Exit::BadConfiguration.told("agent", sentence),
    }
}

/// The desk; the outer error is a mistake in the flags, the inner has been told.
fn prepare(arguments: &AgentArguments) -> Result<Result<Desk, Exit>, String> {
    let name = arguments.name.clone().unwrap_or_else(machine_name);
    if !is_name(&name) {
        return Err(format!("--name {name}: a name has 1 to 64 letters, digits, - and _"));
    }
    let allowed = if arguments.allow.is_empty() { Allowed::this_machine() } else { arguments.allow.clone() };
    let shelf = Shelf::open(arguments.keep.clone(), &name)?;
    let url = arguments.fleet.as_deref().unwrap_or_default();
    let nats = match arguments.nats.connect(url, &format!("agent {name}")) {
        Ok(nats) => nats,
        Err((exit, sentence)) => return Ok(Err(exit.told("agent", sentence))),
    };
    let desk = Desk::new(nats, name, allowed, shelf);
    if let Some(other) = desk.twin() {
        let name = desk.name();
        return Err(format!("--name {name}: there is an agent of that name already, on {other}; choose another name"));
    }
    output::say(format_args!("{}", desk.greeting()));
    Ok(Ok(desk))
}

/// This machine's name, as far as it is one that an agent can have.
fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).or_else(|| std::env::var("COMPUTERNAME").ok());
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = name.unwrap_or_default().trim().chars().map(letter).take(64).collect();
    if name.is_empty() { "agent".to_owned() } else { name }
}
