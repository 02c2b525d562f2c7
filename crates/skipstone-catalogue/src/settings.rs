//! The settings that are numbers, as each language's configuration of a server has them. The others have types of their
//! own in each language, and are written by hand.

use crate::configuration;
use crate::names::{camel, go, pascal};
use crate::region::Region;
use crate::text::{comment, lower_first};
use skipstone_proto::{Setting, SettingNumber, SettingUnit, Settings};

const C_TYPES: &str = "crates/skipstone-ffi/src/types/config.rs";
const C_READ: &str = "crates/skipstone-ffi/src/boundary/server_config.rs";
const GO: &str = "clients/go/server.go";
const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/ServerConfig.cs";
const CSHARP_FILL: &str = "clients/unity/com.skipstone.transport/Runtime/Core/Native/Configurations.cs";
const CSHARP_LAYOUT: &str = "clients/unity/com.skipstone.transport/Runtime/Core/Native/NativeStructs.cs";
const PYTHON: &str = "clients/python/src/settings.rs";
const PYTHON_TYPES: &str = "clients/python/python/skipstone/__init__.pyi";
const WEB_TYPES: &str = "clients/web/src/settings.ts";
const WEB_READ: &str = "clients/web/src/core/figures.ts";
const WEB_CORE: &str = "crates/skipstone-web/src/figures.rs";

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of(C_TYPES, "settings of version 1.0", |width| each_of(SINCE_1_0, |number| c_field(number, width))),
        of(C_TYPES, "settings since version 1.4", c_later),
        of(C_READ, "settings", |_| each(|number| vec![c_read(number)])),
        of("crates/skipstone-ffi/src/convert.rs", "settings", |_| each(|number| vec![c_default(number)])),
        of(GO, "settings", |width| each(|number| go_field(number, width))),
        of(GO, "settings written", |_| each(go_write)),
        of(CSHARP, "settings", |width| each(|number| csharp_property(number, width))),
        of(CSHARP_FILL, "settings", |_| each(|number| vec![csharp_fill(number)])),
        of(CSHARP_LAYOUT, "settings of version 1.0", |_| each_of(SINCE_1_0, |number| vec![csharp_layout(number)])),
        of(CSHARP_LAYOUT, "settings since version 1.4", csharp_later),
        of(PYTHON, "settings signature", |_| each(|number| vec![format!("{} = None,", number.name)])),
        of(PYTHON, "settings arguments", |_| each(|number| vec![python_argument(number)])),
        of(PYTHON, "settings taken", |_| each(|number| vec![python_taken(number)])),
        of(PYTHON, "settings shown", python_getters),
        of(PYTHON_TYPES, "settings arguments", |_| each(|number| vec![python_type(number)])),
        of(PYTHON_TYPES, "settings shown", |_| each(python_property)),
        of(WEB_TYPES, "settings", |width| each(|number| web_member(number, width))),
        of(WEB_READ, "settings", |_| each(|number| vec![web_read(number)])),
        of(WEB_CORE, "settings", |_| each(|number| vec![web_value(number)])),
        of(WEB_CORE, "settings counted", |_| {
            vec![format!("pub const SETTINGS: usize = {};", numbers().count() + WEB_OTHERS)]
        }),
    ]
}

/// Merging, the budget of redundancy, and its mode with two parameters.
const WEB_OTHERS: usize = 5;

/// A setting that is a number.
struct Number {
    name: &'static str,
    unit: SettingUnit,
    about: String,
    since: (u32, u32),
}

impl Number {
    fn is_time(&self) -> bool {
        self.unit.is_time()
    }

    /// The field of the C structure, in which times are in microseconds.
    fn c_name(&self) -> String {
        if self.is_time() { format!("{}_us", self.name) } else { self.name.to_owned() }
    }

    fn about_in_c(&self) -> String {
        match self.since {
            (1, 0) => self.about.clone(),
            (major, minor) => format!("{} Since version {major}.{minor}.", self.about),
        }
    }
}

fn numbers() -> impl Iterator<Item = Number> {
    const ALL: &[Setting] = &Settings::ALL;
    ALL.iter().filter_map(|setting| {
        let SettingNumber { unit, .. } = setting.number?;
        Some(Number { name: setting.name, unit, about: setting.summary(), since: setting.since })
    })
}

fn each(lines: impl Fn(&Number) -> Vec<String>) -> Vec<String> {
    numbers().flat_map(|number| lines(&number)).collect()
}

fn each_of(which: fn(&Number) -> bool, lines: impl Fn(&Number) -> Vec<String>) -> Vec<String> {
    numbers().filter(which).flat_map(|number| lines(&number)).collect()
}

const SINCE_1_0: fn(&Number) -> bool = |number| number.since == (1, 0);

/// What the C structure has at its end: these settings and the server's own, in the order of their versions.
fn c_later(width: usize) -> Vec<String> {
    let later = numbers().filter(|number| number.since != (1, 0));
    in_order(later.map(|number| (number.since, c_field(&number, width))).chain(configuration::c_fields(width)))
}

fn csharp_later(_: usize) -> Vec<String> {
    let later = numbers().filter(|number| number.since != (1, 0));
    in_order(later.map(|number| (number.since, vec![csharp_layout(&number)])).chain(configuration::csharp_fields()))
}

fn in_order(fields: impl Iterator<Item = ((u32, u32), Vec<String>)>) -> Vec<String> {
    let mut all: Vec<_> = fields.collect();
    all.sort_by_key(|(since, _)| *since);
    all.into_iter().flat_map(|(_, lines)| lines).collect()
}

fn c_field(number: &Number, width: usize) -> Vec<String> {
    let mut lines = comment("/// ", &number.about_in_c(), width);
    lines.push(format!("pub {}: {},", number.c_name(), if number.is_time() { "u64" } else { "u32" }));
    lines
}

fn c_read(number: &Number) -> String {
    let (name, given) = (number.name, number.c_name());
    match number.unit {
        SettingUnit::DatagramBytes => format!("{name}: datagram_bytes(\"{name}\", given.{given})?,"),
        _ if number.is_time() => format!("{name}: Duration::from_micros(given.{given}),"),
        _ => format!("{name}: given.{given},"),
    }
}

fn c_default(number: &Number) -> String {
    let (name, field) = (number.name, number.c_name());
    match number.unit {
        SettingUnit::DatagramBytes => format!("{field}: settings.{name}.into(),"),
        _ if number.is_time() => format!("{field}: micros(settings.{name}),"),
        _ => format!("{field}: settings.{name},"),
    }
}

fn go_field(number: &Number, width: usize) -> Vec<String> {
    let name = go(number.name);
    let mut lines = comment("// ", &format!("{name}: {} 0 has the default.", lower_first(&number.about)), width);
    lines.push(format!("{name} {}", if number.is_time() { "time.Duration" } else { "uint32" }));
    lines
}

fn go_write(number: &Number) -> Vec<String> {
    let (name, field) = (go(number.name), number.c_name());
    let convert = if number.is_time() { "micros" } else { "C.uint32_t" };
    vec![format!("if config.{name} != 0 {{"), format!("\traw.{field} = {convert}(config.{name})"), "}".into()]
}

fn csharp_property(number: &Number, width: usize) -> Vec<String> {
    let mut lines = comment("/// ", &format!("<summary>{}</summary>", number.about), width);
    let kind = if number.is_time() { "TimeSpan" } else { "uint" };
    lines.push(format!("public {kind}? {} {{ get; set; }}", pascal(number.name)));
    lines
}

fn csharp_fill(number: &Number) -> String {
    let name = pascal(number.name);
    match number.is_time() {
        true => format!("Set(ref native->{name}Microseconds, config.{name}, nameof(config.{name}));"),
        false => format!("native->{name} = config.{name} ?? native->{name};"),
    }
}

fn csharp_layout(number: &Number) -> String {
    let name = pascal(number.name);
    if number.is_time() { format!("public ulong {name}Microseconds;") } else { format!("public uint {name};") }
}

fn python_argument(number: &Number) -> String {
    format!("{}: Option<{}>,", number.name, if number.is_time() { "Seconds" } else { rust_number(number) })
}

fn python_taken(number: &Number) -> String {
    let name = number.name;
    match number.is_time() {
        true => format!("settings.{name} = {name}.map_or(settings.{name}, |span| span.0);"),
        false => format!("settings.{name} = {name}.unwrap_or(settings.{name});"),
    }
}

fn python_getters(width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for number in numbers() {
        let name = number.name;
        let (unit, kind, read) = match number.is_time() {
            true => (" In seconds.", "f64", ".as_secs_f64()"),
            false => ("", rust_number(&number), ""),
        };
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(comment("/// ", &format!("{}{unit}", number.about), width));
        lines.push("#[getter]".into());
        lines.push(format!("fn {name}(&self) -> {kind} {{"));
        lines.push(format!("    self.0.{name}{read}"));
        lines.push("}".into());
    }
    lines
}

fn rust_number(number: &Number) -> &'static str {
    if number.unit == SettingUnit::DatagramBytes { "u16" } else { "u32" }
}

fn python_type(number: &Number) -> String {
    format!("{}: {} | None = None,", number.name, python_kind(number))
}

fn python_property(number: &Number) -> Vec<String> {
    vec!["@property".into(), format!("def {}(self) -> {}: ...", number.name, python_kind(number))]
}

fn python_kind(number: &Number) -> &'static str {
    if number.is_time() { "float" } else { "int" }
}

fn web_member(number: &Number, width: usize) -> Vec<String> {
    let mut lines = crate::web::documented(&number.about, width.min(crate::web::WIDTH));
    lines.push(format!("{}: number;", camel(number.name)));
    lines
}

fn web_read(number: &Number) -> String {
    let name = camel(number.name);
    if number.is_time() { format!("{name}: ms(next()),") } else { format!("{name}: next(),") }
}

fn web_value(number: &Number) -> String {
    let name = number.name;
    if number.is_time() { format!("micros(settings.{name}),") } else { format!("f64::from(settings.{name}),") }
}
