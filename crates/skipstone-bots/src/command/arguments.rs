//! The flags of `skipstone bots`.

use crate::protocols::row::ProtocolRow;
use skipstone_lab::units::{Bounds, Span, Threshold};

/// Run bots that a script in Luau describes, against the server of any game.
///
/// A bot connects by the protocol of its URL, and does what the script says: ticks, messages, functions that wait. What
/// the script measures is judged by thresholds, as everything else.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = after_help())]
pub struct BotsArguments {
    /// The script; files that it reads are in its folder
    pub script: String,
    /// Where the bots connect, in place of what the script says, such as udp://127.0.0.1:9000
    pub url: Option<String>,
    /// How many bots [default: what the script says, or 10]
    #[arg(short, long, value_name = "N")]
    pub clients: Option<u32>,
    /// How long the run lasts, the ramp included [default: what the script says, or 10s]
    #[arg(short, long, value_name = "TIME")]
    pub duration: Option<Span>,
    /// Over how long the bots begin [default: what the script says, or a tenth of the run]
    #[arg(long, value_name = "TIME")]
    pub ramp: Option<Span>,
    /// A condition on the result, such as 'spawn_ms.p99<200ms' or 'bots.dropped==0'; exit code 99 if missed
    #[arg(long, value_name = "CONDITION")]
    pub threshold: Vec<Threshold>,
    /// Search for the most bots with which a run passes, by runs of -d each; their number is the flag's alone
    #[arg(long, conflicts_with = "clients")]
    pub find_limit: bool,
    /// Bounds of the search
    #[arg(long, value_name = "LOW..HIGH", default_value = "10..2000", requires = "find_limit")]
    pub limit_bounds: Bounds,
    /// Pause between the runs of a search, in which the server forgets the bots of the last one
    #[arg(long, value_name = "TIME", default_value = "2s", requires = "find_limit")]
    pub settle: Span,
    /// The server's process on this machine, whose CPU time and memory are shown too
    #[arg(long, value_name = "PID")]
    pub watch_pid: Option<u32>,
    /// Write the result to this file (with - to standard output, instead of the table); its schema is
    /// schema/bots.schema.json
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the report to this file: one HTML file with curves, which needs no network
    #[arg(long, value_name = "FILE", conflicts_with = "find_limit")]
    pub report: Option<String>,
    /// Show the run while it runs: a page at http://ADDRESS/, and figures for Prometheus at /metrics
    #[arg(long, value_name = "ADDRESS")]
    pub live: Option<String>,
    /// Seed of the bots' random numbers; repeats their choices
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run this bot alone, as it is in the whole run of the same seed: the same time, the same random numbers
    #[arg(long, value_name = "N", conflicts_with = "find_limit", requires = "seed")]
    pub only_bot: Option<u32>,
    /// Threads that run the bots, each with a share of them [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub workers: Option<u16>,
    /// Check the script and the flags, and run nothing
    #[arg(long)]
    pub check: bool,
    /// Show the result only
    #[arg(short, long)]
    pub quiet: bool,
}

/// The protocols, which the table knows.
fn after_help() -> String {
    let mut help = String::from("Protocols:\n");
    for row in crate::protocols::table::TABLE {
        help += &format!("  {:<12} {}\n", format!("{}://", row.scheme), row.about);
        for (option, about) in row.options {
            let option = ProtocolRow::option_as_written(option);
            help += &format!("  {:<12}   {option}  {about}\n", "");
        }
    }
    help + "\nExamples:\n  skipstone bots chat.luau udp://127.0.0.1:9000 -c 500 -d 60s\n  \
            skipstone bots chat.luau --check"
}
