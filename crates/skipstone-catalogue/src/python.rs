//! Python: the classes of the module, which are Rust, and their types.

use crate::counters::{Counter, Kind, flow, stats};
use crate::region::Region;
use crate::text::comment;
use skipstone_proto::code;

const STATISTICS: &str = "clients/python/src/statistics.rs";
const TYPES: &str = "clients/python/python/skipstone/__init__.pyi";

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of(TYPES, "close codes", |_| code::ALL.iter().map(|code| format!("CODE_{}: Final[int]", code.name)).collect()),
        of(TYPES, "flow", |_| types(&flow())),
        of(TYPES, "counters", |_| types(&stats())),
        of(STATISTICS, "flow", |width| fields(&flow(), width)),
        of(STATISTICS, "counters", |width| fields(&stats(), width)),
        of(STATISTICS, "flow copied", |_| {
            flow().iter().map(|counter| format!("{0}: flow.{0},", counter.name)).collect()
        }),
        of(STATISTICS, "counters copied", |_| stats().iter().map(value).collect()),
    ]
}

fn types(counters: &[Counter]) -> Vec<String> {
    let property = |counter: &Counter| {
        let kind = if counter.kind == Kind::Flow { "Flow" } else { "int" };
        ["@property".to_owned(), format!("def {}(self) -> {kind}: ...", counter.name)]
    };
    counters.iter().flat_map(property).collect()
}

fn fields(counters: &[Counter], width: usize) -> Vec<String> {
    let field = |counter: &Counter| {
        let kind = if counter.kind == Kind::Flow { "Py<Flow>" } else { "u64" };
        let mut lines = comment("/// ", &counter.about, width);
        lines.push(format!("{}: {kind},", counter.name));
        lines
    };
    counters.iter().flat_map(field).collect()
}

fn value(counter: &Counter) -> String {
    let Counter { name, path, .. } = counter;
    match counter.kind {
        Kind::Flow => format!("{name}: Flow::of(py, &stats.{path})?,"),
        Kind::Number => format!("{name}: stats.{path},"),
        Kind::Drops => format!("{name}: stats.{path}.total(),"),
    }
}
