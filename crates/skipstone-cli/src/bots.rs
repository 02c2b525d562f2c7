//! `skipstone bots`: scripted bots in this process, on several machines, or one machine's part of such a run.

use skipstone_bots::BotsArguments;
use skipstone_lab::report::Exit;

/// Run bots that a script in Luau describes, against the server of any game.
///
/// A bot connects by the protocol of its URL, and does what the script says: ticks, messages, functions that wait. What
/// the script measures is judged by thresholds, as everything else.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct BotsCommand {
    #[command(flatten)]
    bots: BotsArguments,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    fleet: crate::fleet_flags::FleetArguments,
    /// A part of a run on several machines, for the agent that is the parent process
    #[cfg(feature = "fleet")]
    #[arg(long, hide = true)]
    part: Option<String>,
}

/// Runs as the flags say.
pub(crate) fn run(command: &BotsCommand) -> Exit {
    #[cfg(feature = "fleet")]
    if let Some(part) = &command.part {
        return crate::fleet::play_bots(&command.bots, part);
    }
    #[cfg(feature = "fleet")]
    if command.fleet.url().is_some() {
        return crate::fleet::lead_bots(&command.bots, &command.fleet);
    }
    skipstone_bots::run(&command.bots)
}
