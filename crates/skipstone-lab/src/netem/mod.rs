//! `skipstone netem`: the model network between real programs. A relay of UDP and TCP anywhere; on Linux a link between
//! two network namespaces, on which the kernel's own TCP suffers too.
//!
//! ```text
//! flags, console ──> path settings ──> configurations of the model network
//!                                            │
//!        ports (relay, link) ──packets──> live path ──packets──> ports       one thread, the engine's
//!                                            └── snapshot ──> line, table, JSON
//! ```

mod capture;
mod clock_thread;
mod console;
mod engine;
pub(crate) mod iproute;
mod live_path;
mod outages;
mod path_settings;
mod precision;
mod profile;
mod relay;
mod run;
mod settings;
mod snapshot;
mod taps;
mod tcp_relay;
mod udp_relay;

#[cfg(target_os = "linux")]
pub(crate) mod link;
#[cfg(target_os = "linux")]
pub(crate) mod namespaces;
#[cfg(test)]
mod tests;

pub(crate) use clock_thread::{Before, make_punctual};
pub(crate) use live_path::{Direction, LossLine};
pub(crate) use run::{LinkSpec, Running};
pub(crate) use snapshot::LinkSnapshot;

use crate::flow_recording::FlowRecorder;
use crate::report::{Exit, Sink, output};
use crate::signals::Signals;
use crate::units::Size;
use path_settings::{PathFlags, PathSettings};
use relay::Relayed;
use run::Shown;
use std::sync::Arc;
use taps::Taps;

/// Flags of `netem`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
pub struct NetemArguments {
    #[command(subcommand)]
    command: NetemCommand,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum NetemCommand {
    /// Relay UDP and TCP to a server: on any system, without privileges
    Relay(Box<RelayArguments>),
    /// Create two network namespaces and a link between them: on Linux, as root
    Link(Box<LinkArguments>),
    /// Measure the timing error of a link on this machine, and its packet rate
    Check(precision::CheckArguments),
    /// List the profiles with their values
    Profiles,
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
struct RelayArguments {
    /// The relay's address, to which clients connect instead of the server's
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: String,
    /// The server
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// The protocols to relay
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Relayed::Both)]
    relay: Relayed,
    /// Record all packets of all clients with times and bytes into this file, from which `skipstone record script` makes
    /// a bot. It contains what players send, passwords included
    #[arg(long, value_name = "FILE")]
    record: Option<String>,
    /// The most bytes of a recording, which ends there; the relay goes on
    #[arg(long, value_name = "SIZE", default_value = "256MiB", requires = "record")]
    record_bytes: Size,
    #[command(flatten)]
    path: PathFlags,
    #[command(flatten)]
    shown: ShownFlags,
}

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"))]
struct LinkArguments {
    #[command(flatten)]
    path: PathFlags,
    #[command(flatten)]
    shown: ShownFlags,
}

#[derive(Debug, Clone, clap::Args)]
struct ShownFlags {
    /// Capture both ends into PREFIX-a.pcap and PREFIX-b.pcap; a relay captures UDP only
    #[arg(long, value_name = "PREFIX")]
    pcap: Option<String>,
    /// Write the counters to this file at the end, `-` for standard output instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
    /// Show no counters during the run
    #[arg(short, long)]
    quiet: bool,
}

/// Runs as the flags say.
pub fn run(arguments: &NetemArguments) -> Exit {
    let outcome = match &arguments.command {
        NetemCommand::Relay(arguments) => relay(arguments),
        NetemCommand::Link(arguments) => link(arguments),
        NetemCommand::Check(arguments) => precision::check(arguments),
        NetemCommand::Profiles => {
            output::print(profile::table());
            Ok(Exit::Pass)
        }
    };
    Exit::of("netem", outcome)
}

fn relay(arguments: &RelayArguments) -> Result<Exit, String> {
    let path = PathSettings::from(&arguments.path)?;
    let sink = Sink::open(arguments.shown.json.as_deref())?;
    let signals = Signals::watch()?;
    let taps = Taps {
        capture: arguments.shown.pcap.as_deref().map(capture::Capture::begin).transpose()?,
        recorder: arguments.record.as_deref().map(|file| recorder(file, arguments)).transpose()?,
    };
    let running = Running::relay(arguments.relay, &arguments.listen, &arguments.to, &path, taps)?;
    let local = running.local().expect("a relay has an address");
    output::say(format_args!("listening on {local}, for {}", arguments.to));
    if arguments.relay != Relayed::Udp {
        output::say("TCP is delayed and slowed down, but loses nothing here: `netem link` does that, as root on Linux");
    }
    run::attend(running, path, &signals, &Shown { sink, is_quiet: arguments.shown.quiet })
}

fn recorder(file: &str, arguments: &RelayArguments) -> Result<Arc<FlowRecorder>, String> {
    let Size::Bytes(bytes_max) = arguments.record_bytes else {
        return Err("--record-bytes is a number of bytes, such as 64MiB".into());
    };
    FlowRecorder::begin(file, &arguments.to, bytes_max as u64).map(Arc::new)
}

#[cfg(target_os = "linux")]
fn link(arguments: &LinkArguments) -> Result<Exit, String> {
    let path = PathSettings::from(&arguments.path)?;
    let sink = Sink::open(arguments.shown.json.as_deref())?;
    namespaces::check_rights()?;
    let signals = Signals::watch()?;
    let capture = arguments.shown.pcap.as_deref().map(capture::Capture::begin).transpose()?;
    let running = Running::link(&path, capture, output::complain)?;
    let [a, b] = running.namespaces();
    let [client, server] = link::ADDRESSES;
    output::say(format_args!("the client's end is {client}:  ip netns exec {a} COMMAND"));
    output::say(format_args!("the server's end is {server}:  ip netns exec {b} COMMAND"));
    run::attend(running, path, &signals, &Shown { sink, is_quiet: arguments.shown.quiet })
}

#[cfg(not(target_os = "linux"))]
fn link(_arguments: &LinkArguments) -> Result<Exit, String> {
    Err("a link between two namespaces exists on Linux only; `netem relay` works everywhere".into())
}
