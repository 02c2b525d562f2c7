//! The C interface, in the Rust from which cbindgen makes the header: it expands no macros.

use crate::counters::{Counter, Kind, flow, stats};
use crate::names::pascal;
use crate::region::Region;
use crate::text::{comment, grouped};
use skipstone_proto::code;

const FIGURES: &str = "crates/skipstone-ffi/src/types/figures.rs";
const CONVERT: &str = "crates/skipstone-ffi/src/convert.rs";

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of("crates/skipstone-ffi/src/types/numbers.rs", "close codes", close_codes),
        of(FIGURES, "flow", |width| fields(&flow(), width)),
        of(FIGURES, "counters", |width| fields(&stats(), width)),
        of(FIGURES, "counters of version 1.0", |width| fields(&of_1_0(), width)),
        of(FIGURES, "counters since version 1.4", |width| fields(&later(), width)),
        of(CONVERT, "flow", |_| flow().iter().map(|counter| format!("{0}: flow.{0},", counter.name)).collect()),
        of(CONVERT, "counters", |_| stats().iter().map(value).collect()),
        of(CONVERT, "counters of version 1.0", |_| of_1_0().iter().map(value).collect()),
        of(CONVERT, "counters since version 1.4", |_| later().iter().map(value).collect()),
    ]
}

fn of_1_0() -> Vec<Counter> {
    stats().into_iter().filter(Counter::is_of_1_0).collect()
}

fn later() -> Vec<Counter> {
    stats().into_iter().filter(|counter| !counter.is_of_1_0()).collect()
}

fn fields(counters: &[Counter], width: usize) -> Vec<String> {
    let field = |counter: &Counter| {
        let kind = if counter.kind == Kind::Flow { "SkipstoneFlow" } else { "u64" };
        let mut lines = comment("/// ", &counter.about_in_c(), width);
        lines.push(format!("pub {}: {kind},", counter.name));
        lines
    };
    counters.iter().flat_map(field).collect()
}

fn value(counter: &Counter) -> String {
    let Counter { name, path, .. } = counter;
    match counter.kind {
        Kind::Flow => format!("{name}: flow(&stats.{path}),"),
        Kind::Number => format!("{name}: stats.{path},"),
        Kind::Drops => format!("{name}: stats.{path}.total(),"),
    }
}

fn close_codes(width: usize) -> Vec<String> {
    let line = |code: &skipstone_proto::CloseCode| {
        let mut lines = comment("/// ", &code.summary(), width);
        lines.push(format!("{} = {},", pascal(&code.name.to_lowercase()), grouped(code.value, "_")));
        lines
    };
    code::ALL.iter().flat_map(line).collect()
}
