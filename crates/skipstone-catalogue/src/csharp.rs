//! C#: the layout of the C structures, and the properties that read it.

use crate::counters::{Counter, Kind, flow, stats};
use crate::names::pascal;
use crate::region::Region;
use crate::text::comment;
use skipstone_proto::code;

macro_rules! core {
    ($file:literal) => {
        concat!("clients/unity/com.skipstone.transport/Runtime/Core/", $file)
    };
}

const NATIVE: &str = core!("Native/NativeFigures.cs");
const STATISTICS: &str = core!("Statistics.cs");

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of(core!("Event.cs"), "close codes", close_codes),
        of(NATIVE, "flow", |_| fields(flow())),
        of(NATIVE, "counters", |_| fields(stats())),
        of(NATIVE, "counters of version 1.0", |_| fields(stats().into_iter().filter(Counter::is_of_1_0))),
        of(NATIVE, "counters since version 1.4", |_| fields(stats().into_iter().filter(|it| !it.is_of_1_0()))),
        of(STATISTICS, "flow", |width| properties(&flow(), width)),
        of(STATISTICS, "counters", |width| properties(&stats(), width)),
        of(STATISTICS, "counters of an overview copied", |_| stats().iter().map(copy).collect()),
    ]
}

fn fields(counters: impl IntoIterator<Item = Counter>) -> Vec<String> {
    let field = |counter: Counter| {
        let kind = if counter.kind == Kind::Flow { "NativeFlow" } else { "ulong" };
        format!("public {kind} {};", pascal(counter.name))
    };
    counters.into_iter().map(field).collect()
}

fn properties(counters: &[Counter], width: usize) -> Vec<String> {
    let property = |counter: &Counter| {
        let name = pascal(counter.name);
        let mut lines = summary(&counter.about, width);
        lines.push(match counter.kind {
            Kind::Flow => format!("public Flow {name} => new Flow(native.{name});"),
            Kind::Number | Kind::Drops => format!("public ulong {name} => native.{name};"),
        });
        lines
    };
    counters.iter().flat_map(property).collect()
}

fn copy(counter: &Counter) -> String {
    let name = pascal(counter.name);
    let from = if counter.is_of_1_0() { "overview.Stats" } else { "overview" };
    format!("native.{name} = {from}.{name};")
}

fn summary(about: &str, width: usize) -> Vec<String> {
    comment("/// ", &format!("<summary>{about}</summary>"), width)
}

fn close_codes(width: usize) -> Vec<String> {
    let line = |code: &skipstone_proto::CloseCode| {
        let mut lines = summary(&code.summary(), width);
        lines.push(format!("public const ulong {} = {};", pascal(&code.name.to_lowercase()), code.value));
        lines
    };
    code::ALL.iter().flat_map(line).collect()
}
