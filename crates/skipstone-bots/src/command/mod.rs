//! `skipstone bots`: the plan from flags and script, the run, and its result.

mod arguments;
mod limit;
mod outcome;
mod prepared;
mod probe;
mod show;
mod trial;

pub use arguments::BotsArguments;

use prepared::{Prepared, prepare};
use skipstone_lab::report::bots::{BotsReport, table};
use skipstone_lab::report::paint::style;
use skipstone_lab::report::{Exit, PageKind, Sink, Style};
use skipstone_lab::signals::Signals;
use trial::Played;

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
    let Played { result, curves, seconds } = trial::play(prepared, signals)?;
    let (style, reasons) = match prepared.sink {
        Sink::StandardOutput => (Style::Plain, result.reasons.as_slice()),
        _ => (style(), &[][..]),
    };
    let shown = prepared.sink.show(&result, &table(&result, style), reasons);
    let shown = shown.and_then(|()| match &prepared.report {
        None => Ok(()),
        Some(file) => {
            let title = format!("Bots of {}", result.script);
            let report = BotsReport { result: &result, curves, seconds: &seconds, is_running: false };
            file.write(PageKind::Bots, &title, &report, &table(&result, Style::Plain))
        }
    });
    Ok(Exit::from(result.verdict).once_kept("bots", shown))
}
