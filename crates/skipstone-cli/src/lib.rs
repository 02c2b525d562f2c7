//! `skipstone`: the stress test, chat client and server, a library so that the demonstration is the same tool with fewer
//! features. Each command has a module of its own; this file only reads the command line. Imports point down:
//! `serve > stress, chat > console > door, sharing, trust`, and below them all `skipstone-lab`.

#[cfg(feature = "chat")]
mod chat;
mod client_figures;
mod console;
#[cfg(feature = "dashboard")]
mod dashboard;
mod door;
mod left_out;
mod qlog_flags;
mod serve;
mod sharing;
mod stress;
mod trust;

use clap::{Parser, Subcommand};
use skipstone_lab::report::{Exit, output};
#[cfg(feature = "experiments")]
use skipstone_lab::{bench, compare, netem, recording, sweep};
use std::io::Write;
use std::process::ExitCode;

/// A low-level transport for multiplayer games, and the stress test that proves it.
///
/// Without a command: the demonstration, ten seconds of 100 clients against a server of its own.
#[derive(Debug, Parser)]
#[command(name = "skipstone", version, after_help = left_out::help())]
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
    #[cfg(feature = "experiments")]
    Compare(Box<compare::CompareArguments>),
    /// A process of a real comparison
    #[cfg(feature = "experiments")]
    #[command(hide = true)]
    CompareEnd { task: String },
    /// Compare two results of `compare`, and say which differences are beyond the noise; or draw one of them
    #[cfg(feature = "experiments")]
    Report(compare::two_runs::ReportArguments),
    /// Show what a recording of a game's traffic contains; `compare` plays it
    #[cfg(feature = "experiments")]
    Record(recording::command::RecordArguments),
    /// Draw hundreds of paths and workloads, run them in virtual time, and judge each by the same rules
    #[cfg(feature = "experiments")]
    Sweep(sweep::SweepArguments),
    /// Measure the CPU cost of a server over real sockets, compared with other transports
    #[cfg(feature = "experiments")]
    Bench(bench::BenchArguments),
    /// The server's process of a bench
    #[cfg(feature = "experiments")]
    #[command(hide = true)]
    BenchServer { task: String },
    /// The load's process of a bench
    #[cfg(feature = "experiments")]
    #[command(hide = true)]
    BenchLoad { task: String },
    /// Keep a game server's records in SQLite, MariaDB/MySQL or PostgreSQL, and measure the cost
    #[cfg(feature = "db")]
    Db(skipstone_db::DbArguments),
    /// Build a game server, deploy it to its machines, and roll back if it is unhealthy there
    #[cfg(feature = "deploy")]
    Deploy(skipstone_deploy::DeployArguments),
    /// Put a bad network between real programs: a relay on any system, a link between two namespaces on Linux
    #[cfg(feature = "experiments")]
    Netem(netem::NetemArguments),
    /// Chat with all clients of a server
    #[cfg(feature = "chat")]
    Chat(chat::ChatArguments),
}

/// Does what the command line of this process says.
pub fn run() -> ExitCode {
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some((command, sentence)) = left_out::answer(&words) {
        return Exit::BadConfiguration.told(command, sentence).into();
    }
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
        #[cfg(feature = "chat")]
        Some(ToolCommand::Chat(arguments)) => return chat::run(&arguments).into(),
        Some(ToolCommand::Serve(arguments)) => serve::run(&arguments),
        Some(ToolCommand::Stress(arguments)) => stress::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Compare(arguments)) => compare::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::CompareEnd { task }) => compare::run_end(&task),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Report(arguments)) => compare::two_runs::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Record(arguments)) => recording::command::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Sweep(arguments)) => sweep::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Bench(arguments)) => bench::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::BenchServer { task }) => bench::server::run(&task),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::BenchLoad { task }) => bench::load::run(&task),
        #[cfg(feature = "db")]
        Some(ToolCommand::Db(arguments)) => skipstone_db::run(&arguments),
        #[cfg(feature = "deploy")]
        Some(ToolCommand::Deploy(arguments)) => skipstone_deploy::run(&arguments),
        #[cfg(feature = "experiments")]
        Some(ToolCommand::Netem(arguments)) => netem::run(&arguments),
        None => stress::demonstrate(),
    };
    exit.once_written().into()
}
