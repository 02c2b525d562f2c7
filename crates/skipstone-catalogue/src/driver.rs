//! The counters of drivers in every language. C has them in one structure, whose members are in the order of the
//! versions that brought them; the others have a structure for each group.

use crate::names::{go, pascal};
use crate::region::Region;
use crate::text::{comment, lower_first};
use skipstone::{DriverStats, DtlsStats, MisroutedStats, SocketStats, StreamStats, WebTransportStats};
use skipstone_proto::{Figure, Unit};

const C: &str = "crates/skipstone-ffi/src/types/figures.rs";
const C_CONVERT: &str = "crates/skipstone-ffi/src/convert.rs";
const GO: &str = "clients/go/driver_stats.go";
const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/DriverStats.cs";
const CSHARP_LAYOUT: &str = "clients/unity/com.skipstone.transport/Runtime/Core/Native/NativeFigures.cs";
const PYTHON: &str = "clients/python/src/driver_stats.rs";
const PYTHON_TYPES: &str = "clients/python/python/skipstone/__init__.pyi";

/// A region of a file for each group.
macro_rules! each_group {
    ($path:ident, $suffix:literal, $lines:ident) => {
        each_group!($path, $lines,
            concat!("driver counters", $suffix) => "", concat!("misrouted counters", $suffix) => "misrouted",
            concat!("dtls counters", $suffix) => "dtls", concat!("webtransport counters", $suffix) => "webtransport",
            concat!("stream counters", $suffix) => "streams")
    };
    ($path:ident, $lines:ident, $($name:expr => $group:literal),+) => {
        [$(Region { path: $path, name: $name, lines: |width| $lines(&of_group($group), width) }),+]
    };
}

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    let in_one_place = [
        of(C, "driver counters", |width| in_c().iter().flat_map(|member| c_field(member, width)).collect()),
        of(C_CONVERT, "driver counters", |_| in_c().iter().map(c_value).collect()),
        of(CSHARP_LAYOUT, "driver counters", |_| in_c().iter().map(csharp_layout).collect()),
        of(GO, "driver counters copied", |_| members().iter().map(go_copy).collect()),
    ];
    let in_groups = [
        each_group!(GO, "", go_fields),
        each_group!(CSHARP, "", csharp_properties),
        each_group!(PYTHON, "", python_fields),
        each_group!(PYTHON, " copied", python_copies),
        each_group!(PYTHON_TYPES, "", python_types),
    ];
    in_one_place.into_iter().chain(in_groups.into_iter().flatten()).collect()
}

/// A field of the statistics of a driver.
pub struct Member {
    /// The structure that has it in languages with groups; empty for the outer one.
    pub group: &'static str,
    /// Its name in that structure.
    pub name: &'static str,
    /// The version of the C interface that has it first.
    pub since: (u32, u32),
    flat_name: &'static str,
    path: String,
    about: String,
    unit: Unit,
}

impl Member {
    /// The field of the C structure, in which times are in microseconds.
    pub fn c_name(&self) -> String {
        if self.unit == Unit::Time { format!("{}_us", self.flat_name) } else { self.flat_name.to_owned() }
    }

    /// The field of the C# structure of the same layout.
    fn native_name(&self) -> String {
        let name = pascal(self.flat_name);
        if self.unit == Unit::Time { name + "Microseconds" } else { name }
    }

    /// C's structure has its first flag before the counters.
    fn is_at_the_head_of_c(&self) -> bool {
        self.unit == Unit::Flag && self.since == (1, 0)
    }
}

/// Every field, of one version in the order of the C structure.
pub fn members() -> Vec<Member> {
    const OWN: fn(&&Figure) -> bool = |figure| figure.group.is_empty();
    let own = DriverStats::FIGURES.iter().filter(OWN).chain(DriverStats::GAUGES.iter().filter(OWN));
    let own = own.map(|figure| member("", "", figure));
    let sockets = SocketStats::GAUGES.iter().chain(&SocketStats::FIGURES);
    let groups = [
        ("misrouted", &MisroutedStats::FIGURES[..]),
        ("dtls", &DtlsStats::FIGURES),
        ("webtransport", &WebTransportStats::FIGURES),
        ("streams", &StreamStats::FIGURES),
    ];
    let groups = groups.into_iter().flat_map(|(group, all)| all.iter().map(move |figure| member(group, group, figure)));
    own.chain(sockets.map(|figure| member("", "sockets", figure))).chain(groups).collect()
}

fn member(group: &'static str, field: &str, figure: &Figure) -> Member {
    let Figure { name, flat_name, unit, since, .. } = *figure;
    let path = if field.is_empty() { name.into() } else { format!("{field}.{name}") };
    Member { group, name, since, flat_name, path, about: figure.summary(), unit }
}

fn of_group(group: &str) -> Vec<Member> {
    members().into_iter().filter(|member| member.group == group).collect()
}

fn in_c() -> Vec<Member> {
    let mut all = members();
    all.retain(|member| !member.is_at_the_head_of_c());
    all.sort_by_key(|member| member.since);
    all
}

fn c_field(member: &Member, width: usize) -> Vec<String> {
    let about = match member.since {
        (1, 0) => member.about.clone(),
        (major, minor) => format!("{} Since version {major}.{minor}.", member.about),
    };
    let mut lines = comment("/// ", &about, width);
    lines.push(format!("pub {}: u64,", member.c_name()));
    lines
}

fn c_value(member: &Member) -> String {
    let (name, path) = (member.c_name(), &member.path);
    match member.unit {
        Unit::Time => format!("{name}: micros(stats.{path}),"),
        Unit::Flag => format!("{name}: stats.{path}.into(),"),
        Unit::Bytes => format!("{name}: stats.{path} as u64,"),
        _ => format!("{name}: stats.{path},"),
    }
}

fn csharp_layout(member: &Member) -> String {
    format!("public ulong {};", member.native_name())
}

fn csharp_properties(members: &[Member], width: usize) -> Vec<String> {
    let property = |member: &Member| {
        let (name, native) = (pascal(member.name), member.native_name());
        let mut lines = comment("/// ", &format!("<summary>{}</summary>", member.about), width);
        lines.push(match member.unit {
            Unit::Time => format!("public TimeSpan {name} => Time.FromMicroseconds(native.{native});"),
            Unit::Flag => format!("public bool {name} => native.{native} != 0;"),
            _ => format!("public ulong {name} => native.{native};"),
        });
        lines
    };
    members.iter().flat_map(property).collect()
}

fn go_fields(members: &[Member], width: usize) -> Vec<String> {
    let field = |member: &Member| {
        let name = go(member.name);
        let mut lines = comment("// ", &format!("{name}: {}", lower_first(&member.about)), width);
        lines.push(match member.unit {
            Unit::Time => format!("{name} time.Duration"),
            Unit::Flag => format!("{name} bool"),
            _ => format!("{name} uint64"),
        });
        lines
    };
    members.iter().flat_map(field).collect()
}

fn go_copy(member: &Member) -> String {
    let group = if member.group.is_empty() { String::new() } else { go(member.group) + "." };
    let (to, from) = (format!("stats.{group}{}", go(member.name)), format!("raw.{}", member.c_name()));
    match member.unit {
        Unit::Time => format!("{to} = time.Duration({from}) * time.Microsecond"),
        Unit::Flag => format!("{to} = {from} != 0"),
        _ => format!("{to} = uint64({from})"),
    }
}

fn python_fields(members: &[Member], width: usize) -> Vec<String> {
    let field = |member: &Member| {
        let (kind, unit) = match member.unit {
            Unit::Time => ("f64", " In seconds."),
            Unit::Flag => ("bool", ""),
            Unit::Bytes => ("usize", ""),
            _ => ("u64", ""),
        };
        let mut lines = comment("/// ", &format!("{}{unit}", member.about), width);
        lines.push(format!("{}: {kind},", member.name));
        lines
    };
    members.iter().flat_map(field).collect()
}

fn python_copies(members: &[Member], _: usize) -> Vec<String> {
    let copy = |member: &Member| {
        let seconds = if member.unit == Unit::Time { ".as_secs_f64()" } else { "" };
        format!("{}: stats.{}{seconds},", member.name, member.path)
    };
    members.iter().map(copy).collect()
}

fn python_types(members: &[Member], _: usize) -> Vec<String> {
    let property = |member: &Member| {
        let kind = match member.unit {
            Unit::Time => "float",
            Unit::Flag => "bool",
            _ => "int",
        };
        ["@property".to_owned(), format!("def {}(self) -> {kind}: ...", member.name)]
    };
    members.iter().flat_map(property).collect()
}
