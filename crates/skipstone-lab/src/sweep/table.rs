//! A sweep as people read it: a line for each setting, then how the rules were kept, then each miss.

use super::change::Changes;
use super::result::{SettingResult, Sweep};
use crate::report::format::{percent, three_digits};
use crate::report::{Cell, Page, Style, Tone};

const CELL_COLUMNS: usize = 8;
const LABEL_COLUMNS: usize = 7;
const HEADS: [&str; 9] = ["off 99.8", "lean", "adaptive", "99.99", "bytes", "peer", "bytes", "deliv.", "queue"];

/// The heads of the lines.
pub(super) fn heads(style: Style) -> String {
    let mut page = Page::new(style);
    let cells = HEADS.iter().map(|head| format!("{head:>width$}", width = CELL_COLUMNS + 1)).collect::<String>();
    page.toned(Tone::Faint, &format!("{:<LABEL_COLUMNS$}{cells}  missed; setting", "seed"));
    page.into_text()
}

/// A setting as a line.
pub(super) fn line(setting: &SettingResult, style: Style) -> String {
    let mut page = Page::new(style);
    let [off, lean, adaptive, peers @ ..] = &setting.results[..] else { return String::new() };
    let number = |value: Option<f64>| value.map_or("-".into(), three_digits);
    let best = peers.iter().filter(|peer| peer.lost == 0).min_by(|one, other| {
        let of = |p998: Option<f64>| p998.unwrap_or(f64::INFINITY);
        of(one.p998).total_cmp(&of(other.p998))
    });
    let texts = [
        number(off.p998),
        number(lean.p998),
        number(adaptive.p998),
        number(adaptive.p9999),
        number(adaptive.bytes_per_payload),
        number(best.and_then(|peer| peer.p998)),
        number(best.and_then(|peer| peer.bytes_per_payload)),
        percent(adaptive.delivered_share * 100.0),
        number(adaptive.queue_delay_p95),
    ];
    let cells = texts.into_iter().map(|text| Cell::right(text, CELL_COLUMNS + 1));
    let mut rules: Vec<String> = setting.misses.iter().map(|miss| miss.rule.to_string()).collect();
    rules.dedup();
    let tone = if rules.is_empty() { Tone::Good } else { Tone::Bad };
    let missed = if rules.is_empty() { "-".into() } else { rules.join(" ") };
    let tail = Cell::right(format!("  {missed}"), 0).toned(tone);
    let words = Cell::right(format!("; {}", setting.setting), 0);
    page.row(&setting.seed.to_string(), LABEL_COLUMNS, cells.chain([tail, words]));
    page.into_text()
}

/// The summary of all settings.
pub(super) fn summary(sweep: &Sweep, style: Style) -> String {
    let mut page = Page::new(style);
    page.blank();
    for result in &sweep.rules {
        let (mark, tone) = if result.passed { ("kept  ", Tone::Good) } else { ("missed", Tone::Bad) };
        let mark = page.paint(tone, mark);
        let of = format!("{} of {}", result.kept, result.applied);
        let share = percent(result.percent());
        let wanted = format!("wanted {}%", result.wanted_percent);
        let by_chance = match result.by_chance {
            0 => String::new(),
            count => format!(" (in {count} a figure is beyond it by chance)"),
        };
        let about = result.rule.about();
        page.line(&format!("{mark}  {:<12}{of:>12}{share:>8}  {wanted:<12}  {about}{by_chance}", result.rule));
    }
    misses(&mut page, sweep);
    if let Some(of) = &sweep.changes {
        changes(&mut page, of);
    }
    page.blank();
    page.note(NOTES, 118);
    page.into_text()
}

fn misses(page: &mut Page, sweep: &Sweep) {
    if sweep.settings.iter().all(|setting| setting.misses.is_empty()) {
        return;
    }
    page.blank();
    for setting in sweep.settings.iter().filter(|setting| !setting.misses.is_empty()) {
        page.line(&format!("seed {}: {}", setting.seed, setting.setting));
        for miss in &setting.misses {
            let (actual, bound) = (three_digits(miss.actual), three_digits(miss.bound));
            page.line(&format!("    {}: {} is {actual}, the bound {bound}", miss.rule, miss.figure));
        }
    }
}

fn changes(page: &mut Page, changes: &Changes) {
    page.blank();
    page.line("Against the earlier build:");
    for change in &changes.rules {
        let tone = if change.is_worse() { Tone::Bad } else { Tone::Good };
        let now = page.paint(tone, &format!("{:.1}% of {}", change.now, change.now_of));
        let before = format!("{:.1}% of {}", change.before, change.before_of);
        page.line(&format!("    {:<12}{before:>15} before, {now} now", change.rule));
    }
    if changes.settings.is_empty() {
        page.line("    no setting changed by more than chance explains");
    }
    let number = |value: Option<f64>| value.map_or("never".into(), three_digits);
    for setting in &changes.settings {
        page.line(&format!("seed {}: {}", setting.seed, setting.setting));
        setting.newly_missed.iter().for_each(|rule| page.toned(Tone::Bad, &format!("    misses {rule} now")));
        setting.newly_kept.iter().for_each(|rule| page.toned(Tone::Good, &format!("    keeps {rule} now")));
        for figure in &setting.figures {
            page.line(&format!("    {}: {} before, {} now", figure.of, number(figure.before), number(figure.now)));
        }
    }
}

const NOTES: &str = "Times in ms, of all loss seeds together: p99.8 of each mode, then adaptive's p99.99 and its \
    bytes per payload byte, the fastest peer's p99.8 and bytes, adaptive's delivered share and the queue's p95 in the \
    direction where it is longer. For modes that may lose messages, percentiles cover all sent messages, with missing \
    ones as the latest (- if it is one of these). On overloaded links only the delivered share, the queue and the \
    guarantees are judged.";
