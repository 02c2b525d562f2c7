//! `skipstone bench`: what a server costs, compared with other transports, over real sockets. Server and load are
//! separate processes (the load may be several), each on its own core and in its own network.
//!
//! ```text
//! flags ──> plan (trials) ──> trial: child (server: driver, tick) <── network ──> child (load: driver, schedule,
//!                               │                                                               evidence)
//!                               └──> row ──> judge ──> table, JSON, exit code
//! ```

mod drivers;
mod judge;
mod limit;
mod line;
pub mod load;
mod messages;
mod network;
mod other_server;
mod place;
mod plan;
mod play;
mod plot;
mod report;
pub(crate) mod result;
mod row;
pub mod server;
mod server_command;
mod setup;
mod show;
mod system;
mod table;
mod transport;
mod trial;
mod variant;
mod workers;

use crate::report::Exit;

/// Flags of `bench`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("help.txt"), subcommand_required = true, arg_required_else_help = true)]
pub struct BenchArguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Task {
    #[command(flatten)]
    Preset(Box<plan::Preset>),
    /// Plot the results of runs: cost by clients, a line for each transport
    Plot(plot::PlotArguments),
}

/// Runs as the flags say.
pub fn run(arguments: &BenchArguments) -> Exit {
    let outcome = match &arguments.task {
        Task::Preset(preset) => play::play(preset),
        Task::Plot(arguments) => plot::plot(arguments).map(|()| Exit::Pass),
    };
    Exit::of("bench", outcome)
}
