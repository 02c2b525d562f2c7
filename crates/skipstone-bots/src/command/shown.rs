//! The result of a run, as people and files get it.

use super::trial::Played;
use skipstone_lab::report::bots::{BotsReport, table};
use skipstone_lab::report::paint::style;
use skipstone_lab::report::{Exit, PageKind, ReportFile, Sink, Style};

/// Shows a judged result, and writes its report. The exit code says the verdict, or that it could not be kept.
pub(super) fn show_result(played: &Played, sink: &Sink, report: Option<&ReportFile>) -> Exit {
    let Played { result, curves, seconds } = played;
    let (style, reasons) = match sink {
        Sink::StandardOutput => (Style::Plain, result.reasons.as_slice()),
        _ => (style(), &[][..]),
    };
    let shown = sink.show(result, &table(result, style), reasons);
    let shown = shown.and_then(|()| match report {
        None => Ok(()),
        Some(file) => {
            let title = format!("Bots of {}", result.script);
            let report = BotsReport { result, curves: curves.clone(), seconds, is_running: false };
            file.write(PageKind::Bots, &title, &report, &table(result, Style::Plain))
        }
    });
    Exit::from(result.verdict).once_kept("bots", shown)
}
