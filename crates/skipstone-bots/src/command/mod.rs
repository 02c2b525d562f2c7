//! `skipstone bots`: the plan from flags and script, the run, and its result.

mod arguments;
mod limit;
mod outcome;
mod parts;
mod prepared;
mod probe;
mod show;
mod shown;
mod trial;

pub use arguments::BotsArguments;
pub use parts::{
    BotsEvidence, BotsOrder, BotsPart, BotsPartOrder, BotsPlace, BotsRoster, LedBots, PartSecond, conclude,
};

use prepared::{Prepared, prepare};
use shown::show_result;
use skipstone_lab::report::Exit;
use skipstone_lab::signals::Signals;

/// Runs as the flags say.
pub fn run(arguments: &BotsArguments) -> Exit {
    let prepared = Signals::watch().and_then(|signals| Ok((prepare(arguments)?, signals)));
    let ended = prepared.map(|(prepared, signals)| {
        let played = match prepared {
            Some(prepared) if arguments.find_limit => limit::search(arguments, &prepared, &signals),
            Some(prepared) => measure(&prepared, &signals),
            None => Ok(Exit::Pass),
        };
        played.unwrap_or_else(|why| Exit::Invalid.told("bots", why))
    });
    Exit::of("bots", ended)
}

/// Plays the plan once, and shows the result.
fn measure(prepared: &Prepared, signals: &Signals) -> Result<Exit, String> {
    let played = trial::play(prepared, signals)?;
    Ok(show_result(&played, &prepared.sink, prepared.report.as_ref()))
}
