//! `skipstone record show`: what is in a recording.

use super::summary::{MessageCount, RecordingSummary};
use crate::report::format::{counted, thousands};
use crate::report::{Exit, output};

/// Flags of `record`.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordArguments {
    #[command(subcommand)]
    order: RecordOrder,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum RecordOrder {
    /// List what a recording contains: its length, its players, and each channel's messages
    Show {
        /// The file, written by `serve --record` or by a game
        file: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs as the flags say.
pub fn run(arguments: &RecordArguments) -> Exit {
    let RecordOrder::Show { file, json } = &arguments.order;
    Exit::of("record", show(file, *json).map(|()| Exit::Pass))
}

fn show(file: &str, is_json: bool) -> Result<(), String> {
    let summary = RecordingSummary::read(file)?;
    if is_json {
        output::say(serde_json::to_string_pretty(&summary).expect("its keys are text"));
        return Ok(());
    }
    output::say(format_args!(
        "{file}: {:.1} s of a {}, {} (at most {} at once)",
        summary.seconds,
        summary.side,
        counted(summary.connections, "connection"),
        summary.at_once
    ));
    if summary.end != Some("complete") {
        output::say(format_args!("it ends early: {}", summary.end.unwrap_or("its program was killed")));
    }
    output::say(format_args!("{:>7}  {:<20}{:>32}{:>32}", "channel", "mode", "up", "down"));
    for (channel, of) in &summary.channels {
        let mode = of.mode.as_deref().unwrap_or("?");
        output::say(format_args!("{channel:>7}  {mode:<20}{:>32}{:>32}", told(&of.up), told(&of.down)));
    }
    Ok(())
}

fn told(count: &MessageCount) -> String {
    format!("{} of {} bytes", thousands(count.messages), thousands(count.bytes))
}
