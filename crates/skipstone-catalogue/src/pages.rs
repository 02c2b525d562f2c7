//! The tables of the guide and of WIRE.md.

use crate::region::Region;
use crate::text::{grouped, lower_first};
use skipstone::DriverStats;
use skipstone_proto::{Figure, Metric, Setting, Settings, Stats, code};

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of("WIRE.md", "settings", wire_settings),
        of("WIRE.md", "close codes", close_codes),
        of("docs/guide/dashboard.md", "metrics", metrics),
        of("docs/guide/reference.md", "counters", counters),
        of("docs/guide/reference.md", "drops", drops),
        of("docs/guide/reference.md", "driver counters", driver_counters),
        of("docs/guide/reference.md", "settings", settings),
        of("docs/guide/reference.md", "close codes", close_codes),
    ]
}

fn close_codes(_: usize) -> Vec<String> {
    let mut lines = vec!["| code | |".to_owned(), "|---|---|".into()];
    for code in code::ALL {
        lines.push(format!("| {} | {} |", code.value, phrase(&code.summary())));
        if code.value == 0 {
            lines.push("| 1-999 | the application's own |".into());
        }
    }
    lines
}

/// One row for each setting, by id, with its value on the wire.
fn wire_settings(_: usize) -> Vec<String> {
    let mut all = Settings::ALL;
    all.sort_by_key(|setting| setting.id);
    let mut lines = vec!["| id | value | limits | default |".to_owned(), "|---|---|---|---|".into()];
    for setting in all {
        let about = phrase(&setting.summary()).replace(" (WIRE.md section ", " (");
        let unit = setting.number.map_or_else(String::new, |number| format!("; {}, varint", number.unit.name()));
        let (limits, default) = (limits(&setting), default(&setting));
        lines.push(format!("| {} | {about}{unit} | {limits} | {default} |", setting.id));
    }
    lines
}

fn settings(_: usize) -> Vec<String> {
    let mut lines = vec!["| setting | unit | limits | default | meaning |".to_owned(), "|---|---|---|---|---|".into()];
    for setting in &Settings::ALL {
        let unit = setting.number.map_or("", |number| number.unit.name());
        let (limits, default, about) = (limits(setting), default(setting), phrase(&setting.summary()));
        lines.push(format!("| `{}` | {unit} | {limits} | {default} | {about} |", setting.name));
    }
    lines
}

fn limits(setting: &Setting) -> String {
    let of_number =
        setting.number.map(|number| format!("{} to {}", grouped(number.min, ","), grouped(number.max, ",")));
    setting.limits.map(str::to_owned).or(of_number).unwrap_or_default()
}

fn default(setting: &Setting) -> String {
    let of_number = setting.number.map(|number| grouped(number.default, ","));
    setting.default.map(str::to_owned).or(of_number).unwrap_or_default()
}

/// A family in a line; the values of one family differ in a label.
fn metrics(_: usize) -> Vec<String> {
    let mut lines = vec!["| metric | unit | labels | meaning |".to_owned(), "|---|---|---|---|".into()];
    let of = |figure: &'static Figure| figure.metric.map(|metric| (figure, metric));
    let all: Vec<(&Figure, Metric)> = FIGURES.iter().chain(DRIVER_FIGURES).filter_map(of).collect();
    for (at, (figure, metric)) in all.iter().enumerate() {
        if all[..at].iter().any(|(_, before)| before.family == metric.family) {
            continue;
        }
        let family = all.iter().filter(|(_, other)| other.family == metric.family);
        let values: Vec<&str> = family.filter_map(|(_, other)| other.label).map(|(_, value)| value).collect();
        let labels = match metric.label {
            None => String::new(),
            Some((label, _)) if figure.group == "drops" => format!("`{label}` "),
            Some((label, _)) => format!("`{label}`: {} ", values.join(", ")),
        };
        let about = metric.about.map_or_else(|| figure.summary(), str::to_owned);
        let (unit, about) = (figure.unit.name(), phrase(&about));
        lines.push(format!("| `skipstone_{}_total` | {unit} | {labels}| {about} |", metric.family));
    }
    lines
}

fn counters(_: usize) -> Vec<String> {
    let mut lines = vec!["| counter | unit | in `/metrics` | meaning |".to_owned(), "|---|---|---|---|".into()];
    for figure in FIGURES.iter().filter(|figure| figure.group != "drops") {
        let metric = figure.metric.map_or_else(String::new, |metric| match metric.label {
            None => format!("`{}` ", metric.family),
            Some((label, value)) => format!("`{}{{{label}=\"{value}\"}}` ", metric.family),
        });
        let (path, unit, about) = (figure.path(), figure.unit.name(), phrase(&figure.summary()));
        lines.push(format!("| `{path}` | {unit} | {metric}| {about} |"));
    }
    lines
}

fn driver_counters(_: usize) -> Vec<String> {
    let mut lines = vec!["| counter | unit | meaning |".to_owned(), "|---|---|---|".into()];
    for figure in DRIVER_FIGURES.iter().chain(&DriverStats::GAUGES) {
        let (path, unit, about) = (figure.path(), figure.unit.name(), phrase(&figure.summary()));
        lines.push(format!("| `{path}` | {unit} | {about} |"));
    }
    lines
}

fn drops(_: usize) -> Vec<String> {
    let mut lines = vec!["| reason | dropped |".to_owned(), "|---|---|".into()];
    let reasons = FIGURES.iter().filter(|figure| figure.group == "drops");
    lines.extend(reasons.map(|figure| format!("| `{}` | {} |", figure.name, phrase(&figure.summary()))));
    lines
}

/// A sentence as a cell of a table has it.
fn phrase(text: &str) -> String {
    lower_first(text.trim_end_matches('.'))
}

const FIGURES: &[Figure] = &Stats::FIGURES;
const DRIVER_FIGURES: &[Figure] = &DriverStats::FIGURES;
