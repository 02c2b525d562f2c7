//! `skipstone record show`: what is in a recording. `record script`: a bot that does what a recorded client did.

use super::flows::{bot_script, show_flows};
use super::summary::{MessageCount, RecordingSummary};
use crate::flow_recording::FlowRecording;
use crate::report::format::{counted, thousands};
use crate::report::{Exit, output};
use crate::units::Span;

/// Flags of `record`.
#[derive(Debug, Clone, clap::Args)]
pub struct RecordArguments {
    #[command(subcommand)]
    order: RecordOrder,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum RecordOrder {
    /// List what a recording contains: its length, its players, and each channel's messages or each client's packets
    Show {
        /// The file, written by `serve --record`, by a game, or by `netem relay --record`
        file: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the script of a bot that sends what a recorded client sent, at the same times: the begin of your own script
    ///
    /// `skipstone bots` runs it. It waits where the client answered the server, and says where values of your own go.
    #[command(after_help = "Try:\n  skipstone netem relay --listen 127.0.0.1:9001 --to 127.0.0.1:9000 --record \
                            game.flows\n  skipstone record script game.flows -o bot.luau\n  skipstone bots bot.luau \
                            udp://127.0.0.1:9000 -c 50")]
    Script {
        /// The file, written by `netem relay --record`
        file: String,
        /// The script; its data go into files of the same name with .json and .bin. No file may exist
        #[arg(short, long, value_name = "FILE", default_value = "bot.luau")]
        output: String,
        /// The client, by its number in `record show` [default: the one that sent most]
        #[arg(long, value_name = "N")]
        flow: Option<usize>,
        /// Leave out what the client sent after this time
        #[arg(long, value_name = "TIME")]
        until: Option<Span>,
    },
}

/// Runs as the flags say.
pub fn run(arguments: &RecordArguments) -> Exit {
    let done = match &arguments.order {
        RecordOrder::Show { file, json } if FlowRecording::is_one(file) => show_flows(file, *json),
        RecordOrder::Show { file, json } => show(file, *json),
        RecordOrder::Script { file, output, flow, until } => bot_script(file, output, *flow, until.map(|span| span.0)),
    };
    Exit::of("record", done.map(|()| Exit::Pass))
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
