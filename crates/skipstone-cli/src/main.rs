//! `skipstone`: the stress test, chat client and server. Each command has a module of its own; this file only reads the
//! command line.

mod bench;
mod chat;
mod compare;
mod console;
mod measure;
mod report;
mod resilience;
mod serve;
mod sharing;
mod stress;
mod trust;
mod units;
mod workload;

use clap::{Parser, Subcommand};
use report::exit::Exit;
use std::process::ExitCode;

/// A low-level transport for multiplayer games, and the stress test that proves it.
///
/// Without a command: the demonstration, ten seconds of 100 clients against a server of its own.
#[derive(Debug, Parser)]
#[command(name = "skipstone", version, after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

const AFTER_HELP: &str = "\
Exit codes: 0 pass, 99 lines lost or a threshold missed, 98 the run is invalid, 104 bad configuration, 105 interrupted.

Try:
  skipstone                                        the demonstration
  skipstone stress -c 300 --mix udp=200,ws=100     300 clients, each line to everybody
  skipstone serve                                  a server; `telnet 127.0.0.1 7778` is its console
  skipstone chat URL                               talk to everybody on it, by the URL that serve prints
  skipstone compare plans/spatialos-25.toml --simulated   against KCP, QUIC and renet, in virtual time
  skipstone bench fanout --clients 200             what a line to everybody costs, beside ENet, QUIC, TCP and others";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a server: every line that a client sends goes to all of them
    Serve(Box<serve::Arguments>),
    /// Let hundreds of clients talk at a fixed rate, and prove that every line arrives once, in order, unchanged
    Stress(Box<stress::Arguments>),
    /// Run one plan with every transport, and put them side by side
    Compare(Box<compare::Arguments>),
    /// Measure what a server costs, beside other transports, over sockets
    Bench(bench::Arguments),
    /// The server's process of a bench
    #[command(hide = true)]
    BenchServer(bench::server::Arguments),
    /// The load's process of a bench
    #[command(hide = true)]
    BenchLoad(bench::load::Arguments),
    /// Talk with everybody on a server
    Chat(chat::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| {
        // Help and version are answers, the rest is bad configuration.
        let code = if error.use_stderr() { Exit::BadConfiguration.code() } else { 0 };
        let _ = error.print();
        std::process::exit(code.into());
    });
    let exit = match arguments.command {
        Some(Command::Serve(arguments)) => serve::run(&arguments),
        Some(Command::Stress(arguments)) => stress::run(&arguments),
        Some(Command::Compare(arguments)) => compare::run(&arguments),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::BenchServer(arguments)) => bench::server::run(&arguments),
        Some(Command::BenchLoad(arguments)) => bench::load::run(&arguments),
        Some(Command::Chat(arguments)) => chat::run(&arguments),
        None => stress::demonstrate(),
    };
    ExitCode::from(exit.code())
}
