//! Go: structures of its own, filled from those of C. Fields with a comment before each, and assignments, are what
//! gofmt leaves as they are.

use crate::counters::{Counter, Kind, flow, stats};
use crate::names::{go, screaming};
use crate::region::Region;
use crate::text::{comment, lower_first};
use skipstone_proto::code;

const STATISTICS: &str = "clients/go/statistics.go";

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of("clients/go/event.go", "close codes", close_codes),
        of(STATISTICS, "flow", |width| fields(&flow(), width)),
        of(STATISTICS, "counters", |width| fields(&stats(), width)),
        of(STATISTICS, "flow copied", |_| copies("flow", &flow(), |_| "raw")),
        of(STATISTICS, "counters copied", |_| copies("stats", &stats(), |_| "raw")),
        of(STATISTICS, "counters of an overview copied", |_| {
            copies("stats", &stats(), |counter| if counter.is_of_1_0() { "raw.stats" } else { "raw" })
        }),
    ]
}

fn fields(counters: &[Counter], width: usize) -> Vec<String> {
    let field = |counter: &Counter| {
        let kind = if counter.kind == Kind::Flow { "Flow" } else { "uint64" };
        let name = go(counter.name);
        let mut lines = comment("// ", &format!("{name}: {}", lower_first(&counter.about)), width);
        lines.push(format!("{name} {kind}"));
        lines
    };
    counters.iter().flat_map(field).collect()
}

fn copies(to: &str, counters: &[Counter], from: impl Fn(&Counter) -> &'static str) -> Vec<String> {
    let copy = |counter: &Counter| {
        let (name, from) = (go(counter.name), format!("{}.{}", from(counter), counter.name));
        match counter.kind {
            Kind::Flow => format!("{to}.{name} = flowOf(&{from})"),
            Kind::Number | Kind::Drops => format!("{to}.{name} = uint64({from})"),
        }
    };
    counters.iter().map(copy).collect()
}

fn close_codes(width: usize) -> Vec<String> {
    let line = |code: &skipstone_proto::CloseCode| {
        let name = format!("Code{}", go(&code.name.to_lowercase()));
        let mut lines = comment("// ", &format!("{name}: {}", lower_first(&code.summary())), width);
        lines.push(format!("{name} uint64 = C.SKIPSTONE_CLOSE_CODE_{}", screaming(code.name)));
        lines
    };
    code::ALL.iter().flat_map(line).collect()
}
