//! The command line of the tool: the commands of this build.

#[cfg(feature = "bots")]
use crate::bots;
#[cfg(feature = "chat")]
use crate::chat;
#[cfg(feature = "fleet")]
use crate::fleet;
use crate::{left_out, serve, stress};
use clap::{Parser, Subcommand};
#[cfg(feature = "experiments")]
use skipstone_lab::{bench, compare, fairness, netem, recording, sweep};

/// A low-level transport for multiplayer games, and the stress test that proves it.
///
/// Without a command: the demonstration, ten seconds of 100 clients against its own server.
#[derive(Debug, Parser)]
#[command(name = "skipstone", version, after_help = left_out::help())]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Option<ToolCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolCommand {
    /// Run a server: every line that a client sends goes to all of them
    Serve(Box<serve::ServeArguments>),
    /// Run hundreds of clients at a fixed rate, and verify that every line arrives once, in order, unchanged
    Stress(Box<stress::StressArguments>),
    /// Run bots that a script describes, against the server of any game, over the protocol that it has
    #[cfg(feature = "bots")]
    Bots(Box<bots::BotsCommand>),
    /// Wait on this machine for runs on several machines, which `stress --fleet` and `bots --fleet` lead
    #[cfg(feature = "fleet")]
    Agent(Box<fleet::AgentArguments>),
    /// Show the nodes and rooms of a fleet of servers, and make its keys and tickets
    #[cfg(feature = "fleet")]
    #[command(subcommand)]
    Fleet(fleet::FleetCommand),
    /// Run one plan with every transport, and compare the results
    #[cfg(feature = "experiments")]
    Compare(Box<compare::CompareArguments>),
    /// A process of a real comparison
    #[cfg(feature = "experiments")]
    #[command(hide = true)]
    CompareEnd { task: String },
    /// Compare two results of `compare`, and list the differences beyond the noise; or plot one of them
    #[cfg(feature = "experiments")]
    Report(compare::two_runs::ReportArguments),
    /// Show what a recording of a game's traffic contains; `compare` plays it
    #[cfg(feature = "experiments")]
    Record(recording::command::RecordArguments),
    /// Draw hundreds of paths and workloads, run them in virtual time, and judge each by the same rules
    #[cfg(feature = "experiments")]
    Sweep(sweep::SweepArguments),
    /// Draw bottlenecks, let flows of several controllers share each in virtual time, and see who gets what
    #[cfg(feature = "experiments")]
    Fairness(fairness::FairnessArguments),
    /// Measure the CPU cost of a server over real sockets, in comparison with other transports
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
    /// Store a game server's records in SQLite, MariaDB/MySQL or PostgreSQL, and measure the cost
    #[cfg(feature = "db")]
    Db(skipstone_db::DbArguments),
    /// Build a game server, deploy it to its machines, and roll back if it is unhealthy
    #[cfg(feature = "deploy")]
    Deploy(skipstone_deploy::DeployArguments),
    /// Put a bad network between real programs: a relay on any system, a link between two namespaces on Linux
    #[cfg(feature = "experiments")]
    Netem(netem::NetemArguments),
    /// Chat with all clients of a server
    #[cfg(feature = "chat")]
    Chat(chat::ChatArguments),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::left_out::PARTS;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_built_in_or_in_the_table_of_omitted_ones() {
        let tool = CommandLine::command();
        let known: Vec<&str> =
            PARTS.iter().flat_map(|part| part.commands).copied().chain(["serve", "stress"]).collect();
        for command in tool.get_subcommands().filter(|command| !command.is_hide_set()) {
            assert!(known.contains(&command.get_name()), "add {} to the table", command.get_name());
        }
        for part in PARTS {
            for name in part.commands {
                assert_eq!(tool.find_subcommand(name).is_some(), part.is_here, "{name}");
            }
            for (command, flag) in part.words.iter().filter(|(_, word)| word.starts_with("--")) {
                let Some(command) = tool.find_subcommand(command) else { continue };
                let has = command.get_arguments().any(|own| own.get_long() == flag.strip_prefix("--"));
                assert!(has || !part.is_here, "{flag}");
            }
        }
    }
}
