//! `skipstone`: the stress test, chat client and server. Each command has a module of its own; this file only reads the
//! command line. Imports point down: `serve > stress, chat > console > door, sharing, trust`, and below them all
//! `skipstone-lab`.

mod chat;
mod client_figures;
mod console;
#[cfg(feature = "dashboard")]
mod dashboard;
mod door;
#[cfg(not(feature = "db"))]
mod left_out;
mod qlog_flags;
mod serve;
mod sharing;
mod stress;
mod trust;

use clap::{Parser, Subcommand};
use skipstone_lab::report::{Exit, output};
use skipstone_lab::{bench, compare, netem, recording, sweep};
use std::io::Write;
use std::process::ExitCode;

/// A low-level transport for multiplayer games, and the stress test that proves it.
///
/// Without a command: the demonstration, ten seconds of 100 clients against a server of its own.
#[derive(Debug, Parser)]
#[command(name = "skipstone", version, after_help = include_str!("help.txt"))]
struct CommandLine {
    #[command(subcommand)]
    command: Option<ToolCommand>,
}

#[derive(Debug, Subcommand)]
enum ToolCommand {
    /// Run a server: every line that a client sends goes to all of them
    Serve(Box<serve::ServeArguments>),
    /// Run hundreds of clients at a fixed rate, and verify that every line arrives once, in order, unchanged
    Stress(Box<stress::StressArguments>),
    /// Run one plan with every transport, and compare the results
    Compare(Box<compare::CompareArguments>),
    /// A process of a real comparison
    #[command(hide = true)]
    CompareEnd { task: String },
    /// Compare two results of `compare`, and list the differences beyond the noise; or plot one of them
    Report(compare::two_runs::ReportArguments),
    /// Show what a recording of a game's traffic contains; `compare` plays it
    Record(recording::command::RecordArguments),
    /// Draw hundreds of paths and workloads, run them in virtual time, and judge each by the same rules
    Sweep(sweep::SweepArguments),
    /// Measure the CPU cost of a server over real sockets, in comparison with other transports
    Bench(bench::BenchArguments),
    /// The server's process of a bench
    #[command(hide = true)]
    BenchServer { task: String },
    /// The load's process of a bench
    #[command(hide = true)]
    BenchLoad { task: String },
    /// Store a game server's records in SQLite, MariaDB/MySQL or PostgreSQL, and measure the cost
    #[cfg(feature = "db")]
    Db(skipstone_db::DbArguments),
    /// Left out of this build: databases
    #[cfg(not(feature = "db"))]
    #[command(disable_help_flag = true)]
    Db(left_out::Anything),
    /// Build a game server, deploy it to its machines, and roll back if it is unhealthy
    #[cfg(feature = "deploy")]
    Deploy(skipstone_deploy::DeployArguments),
    /// Put a bad network between real programs: a relay on any system, a link between two namespaces on Linux
    Netem(netem::NetemArguments),
    /// Chat with all clients of a server
    Chat(chat::ChatArguments),
}

fn main() -> ExitCode {
    let arguments = CommandLine::try_parse().unwrap_or_else(|error| {
        // Help and version are answers, the rest is bad configuration.
        let is_answer = !error.use_stderr();
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        if is_answer {
            output::note(printed);
        }
        let exit = if is_answer { Exit::Pass.once_written() } else { Exit::BadConfiguration };
        std::process::exit(exit.code().into());
    });
    let exit = match arguments.command {
        // A server and a chat have no result: what they print is for whoever looks.
        Some(ToolCommand::Serve(arguments)) if !arguments.has_result() => return serve::run(&arguments).into(),
        Some(ToolCommand::Chat(arguments)) => return chat::run(&arguments).into(),
        Some(ToolCommand::Serve(arguments)) => serve::run(&arguments),
        Some(ToolCommand::Stress(arguments)) => stress::run(&arguments),
        Some(ToolCommand::Compare(arguments)) => compare::run(&arguments),
        Some(ToolCommand::CompareEnd { task }) => compare::run_end(&task),
        Some(ToolCommand::Report(arguments)) => compare::two_runs::run(&arguments),
        Some(ToolCommand::Record(arguments)) => recording::command::run(&arguments),
        Some(ToolCommand::Sweep(arguments)) => sweep::run(&arguments),
        Some(ToolCommand::Bench(arguments)) => bench::run(&arguments),
        Some(ToolCommand::BenchServer { task }) => bench::server::run(&task),
        Some(ToolCommand::BenchLoad { task }) => bench::load::run(&task),
        #[cfg(feature = "db")]
        Some(ToolCommand::Db(arguments)) => skipstone_db::run(&arguments),
        #[cfg(not(feature = "db"))]
        Some(ToolCommand::Db(_)) => left_out::databases("db"),
        #[cfg(feature = "deploy")]
        Some(ToolCommand::Deploy(arguments)) => skipstone_deploy::run(&arguments),
        Some(ToolCommand::Netem(arguments)) => netem::run(&arguments),
        None => stress::demonstrate(),
    };
    exit.once_written().into()
}
