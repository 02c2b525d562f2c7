//! The types of the browser's client. Its names at run time come from the core, which walks the same table.

use crate::names::camel;
use crate::region::Region;
use crate::text::{comment, grouped};
use skipstone_proto::{Figure, Flow, RedundancyStats, Stats, code};

/// Columns as prettier has them.
pub(crate) const WIDTH: usize = 110;
const STATISTICS: &str = "clients/web/src/statistics.ts";

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of("clients/web/src/close.ts", "close codes", close_codes),
        of(STATISTICS, "flow", |width| members(Flow::FIGURES.iter(), width)),
        of(STATISTICS, "counters", |width| {
            members(Stats::FIGURES.iter().filter(|figure| figure.group.is_empty()), width)
        }),
        of(STATISTICS, "redundancy", |width| members(RedundancyStats::FIGURES.iter(), width)),
    ]
}

fn members<'a>(figures: impl Iterator<Item = &'a Figure>, width: usize) -> Vec<String> {
    let member = |figure: &Figure| {
        let mut lines = documented(&figure.summary(), width);
        lines.push(format!("{}: number;", camel(figure.name)));
        lines
    };
    figures.flat_map(member).collect()
}

fn close_codes(width: usize) -> Vec<String> {
    let line = |code: &skipstone_proto::CloseCode| {
        let mut lines = documented(&code.summary(), width);
        lines.push(format!("{}: {},", camel(&code.name.to_lowercase()), grouped(code.value, "_")));
        lines
    };
    code::ALL.iter().flat_map(line).collect()
}

/// A doc comment, on one line or as a block.
pub(crate) fn documented(about: &str, width: usize) -> Vec<String> {
    let line = format!("/** {about} */");
    if line.chars().count() <= width {
        return vec![line];
    }
    let mut lines = vec!["/**".to_owned()];
    lines.extend(comment(" * ", about, width));
    lines.push(" */".into());
    lines
}
