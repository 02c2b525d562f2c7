//! The fields of a server's configuration that are numbers, times, texts or bytes, as each language has them. Those
//! of other kinds are written by hand. The C structure has those of its version 1.4 by hand, between others.

use crate::names::{go, pascal};
use crate::region::Region;
use crate::text::{comment, lower_first};
use skipstone::{ListenerRules, ServerConfig};
use skipstone_proto::{ConfigField, ConfigKind, MemoryBudget};

const C_READ: &str = "crates/skipstone-ffi/src/boundary/server_config.rs";
const C_DEFAULTS: &str = "crates/skipstone-ffi/src/convert.rs";
const GO: &str = "clients/go/server.go";
const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/ServerConfig.cs";
const CSHARP_FILL: &str = "clients/unity/com.skipstone.transport/Runtime/Core/Native/Configurations.cs";
const PYTHON: &str = "clients/python/src/server.rs";
const PYTHON_TYPES: &str = "clients/python/python/skipstone/__init__.pyi";

pub(crate) fn regions() -> Vec<Region> {
    let of = |path, name, lines| Region { path, name, lines };
    vec![
        of(C_READ, "server settings", |width| each(|option| c_read(option, width))),
        of(C_DEFAULTS, "server settings", |_| each(c_default)),
        of(GO, "server settings", |width| each(|option| go_field(option, width))),
        of(GO, "server settings written", |_| each(go_write)),
        of(CSHARP, "server settings", |width| each(|option| csharp_property(option, width))),
        of(CSHARP_FILL, "server settings", |_| each(csharp_fill)),
        of(PYTHON, "server settings signature", |_| each(|option| vec![format!("{} = None,", option.name)])),
        of(PYTHON, "server settings arguments", |_| each(|option| vec![python_argument(option)])),
        of(PYTHON, "server settings taken", |_| each(|option| vec![python_taken(option)])),
        of(PYTHON_TYPES, "server settings", |_| each(|option| vec![python_type(option)])),
        of("docs/guide/reference.md", "server settings", guide),
    ]
}

/// A field of a server's configuration.
pub struct ServerOption {
    /// Its name in other languages.
    pub name: &'static str,
    /// The version of the C interface that has it first.
    pub since: (u32, u32),
    path: String,
    kind: ConfigKind,
    about: String,
}

impl ServerOption {
    /// The field of the C structure, in which times are in microseconds.
    pub fn c_name(&self) -> String {
        if self.kind == ConfigKind::Time { format!("{}_us", self.name) } else { self.name.to_owned() }
    }

    /// The field of the C structure with the length of this one, if it has one.
    fn c_count(&self) -> Option<String> {
        match self.kind {
            ConfigKind::Texts => Some(match (self.name.strip_suffix("ies"), self.name.strip_suffix('s')) {
                (Some(stem), _) => format!("{stem}y_count"),
                (_, Some(stem)) => format!("{stem}_count"),
                _ => format!("{}_count", self.name),
            }),
            ConfigKind::Bytes => Some(format!("{}_length", self.name)),
            _ => None,
        }
    }
}

/// Every field that is generated.
pub fn server_options() -> Vec<ServerOption> {
    let all =
        [("", ServerConfig::FIELDS), ("memory.", MemoryBudget::FIELDS), ("listener_rules.", ListenerRules::FIELDS)];
    let option = |group: &str, field: &ConfigField| {
        let (name, since, path) = (field.name, field.since, format!("{group}{}", field.field));
        Some(ServerOption { name, since, path, kind: field.kind?, about: field.summary() })
    };
    all.into_iter().flat_map(|(group, fields)| fields.iter().filter_map(move |field| option(group, field))).collect()
}

fn each(lines: impl Fn(&ServerOption) -> Vec<String>) -> Vec<String> {
    server_options().iter().flat_map(lines).collect()
}

/// The members at the end of the C structure.
fn later() -> impl Iterator<Item = ServerOption> {
    server_options().into_iter().filter(|option| option.since > (1, 4))
}

/// Fields at the end of the C structure, each with its version.
pub(crate) fn c_fields(width: usize) -> Vec<((u32, u32), Vec<String>)> {
    let field = |option: ServerOption| {
        let (major, minor) = option.since;
        let mut lines = comment("/// ", &format!("{} Since version {major}.{minor}.", option.about), width);
        let kind = match option.kind {
            ConfigKind::Time | ConfigKind::Number64 | ConfigKind::Optional64 => "u64",
            ConfigKind::Number32 | ConfigKind::Optional32 | ConfigKind::Flag => "u32",
            ConfigKind::Texts => "*const *const c_char",
            _ => "*const u8",
        };
        lines.push(format!("pub {}: {kind},", option.c_name()));
        if let Some(count) = option.c_count() {
            lines.push(format!("/// Number of `{}`.", option.name));
            lines.push(format!("pub {count}: u32,"));
        }
        (option.since, lines)
    };
    later().map(field).collect()
}

/// The same fields in C#.
pub(crate) fn csharp_fields() -> Vec<((u32, u32), Vec<String>)> {
    let field = |option: ServerOption| {
        let name = pascal(option.name);
        let mut lines = vec![match option.kind {
            ConfigKind::Time => format!("public ulong {name}Microseconds;"),
            ConfigKind::Number64 | ConfigKind::Optional64 => format!("public ulong {name};"),
            ConfigKind::Number32 | ConfigKind::Optional32 | ConfigKind::Flag => format!("public uint {name};"),
            _ => format!("public IntPtr {name};"),
        }];
        lines.extend(option.c_count().map(|count| format!("public uint {};", pascal(&count))));
        (option.since, lines)
    };
    later().map(field).collect()
}

fn c_read(option: &ServerOption, width: usize) -> Vec<String> {
    let (name, path, given) = (option.name, &option.path, option.c_name());
    const SAFE: &str = "// SAFETY: the caller's promise.";
    match (option.kind, option.c_count()) {
        (ConfigKind::Time, _) => vec![format!("config.{path} = Duration::from_micros(given.{given});")],
        (ConfigKind::Optional32 | ConfigKind::Optional64, _) => vec![format!("config.{path} = some(given.{given});")],
        (ConfigKind::Flag, _) => vec![format!("config.{path} = flag(\"{name}\", given.{given}.into())?;")],
        (ConfigKind::Texts, Some(count)) => {
            let value = format!("unsafe {{ raw::texts(\"{name}\", given.{given}, given.{count}) }}?;");
            let mut lines = vec![SAFE.to_owned()];
            match format!("config.{path} = {value}") {
                line if line.len() <= width => lines.push(line),
                // As rustfmt has it.
                _ => lines.extend([format!("config.{path} ="), format!("    {value}")]),
            }
            lines
        }
        (ConfigKind::Bytes, Some(count)) => vec![
            format!("if !given.{given}.is_null() {{"),
            format!("    {SAFE}"),
            format!("    let bytes = unsafe {{ raw::bytes(\"{name}\", given.{given}, given.{count} as usize) }}?;"),
            format!("    config.{path} = Some(Bytes::copy_from_slice(bytes));"),
            "}".into(),
        ],
        _ => vec![format!("config.{path} = given.{given};")],
    }
}

fn c_default(option: &ServerOption) -> Vec<String> {
    let (path, field) = (&option.path, option.c_name());
    let mut lines = vec![match option.kind {
        ConfigKind::Time => format!("{field}: micros(config.{path}),"),
        ConfigKind::Optional32 | ConfigKind::Optional64 => format!("{field}: config.{path}.unwrap_or(0),"),
        ConfigKind::Flag => format!("{field}: config.{path}.into(),"),
        ConfigKind::Texts | ConfigKind::Bytes => format!("{field}: std::ptr::null(),"),
        _ => format!("{field}: config.{path},"),
    }];
    lines.extend(option.c_count().map(|count| format!("{count}: 0,")));
    lines
}

fn go_field(option: &ServerOption, width: usize) -> Vec<String> {
    let name = go(option.name);
    let (kind, default) = match option.kind {
        ConfigKind::Time => ("time.Duration", " 0 has the default."),
        ConfigKind::Number64 => ("uint64", " 0 has the default."),
        ConfigKind::Number32 => ("uint32", " 0 has the default."),
        ConfigKind::Optional64 => ("uint64", ""),
        ConfigKind::Optional32 => ("uint32", ""),
        ConfigKind::Flag => ("bool", ""),
        ConfigKind::Texts => ("[]string", ""),
        _ => ("[]byte", ""),
    };
    let mut lines = comment("// ", &format!("{name}: {}{default}", lower_first(&option.about)), width);
    lines.push(format!("{name} {kind}"));
    lines
}

fn go_write(option: &ServerOption) -> Vec<String> {
    let (name, field) = (go(option.name), option.c_name());
    let set = |convert: &str| {
        vec![format!("if config.{name} != 0 {{"), format!("\traw.{field} = {convert}(config.{name})"), "}".into()]
    };
    let counted = |value: String, count: String| {
        vec![format!("raw.{field}, raw.{count} = {value}, C.uint32_t(len(config.{name}))")]
    };
    match (option.kind, option.c_count()) {
        (ConfigKind::Time, _) => set("micros"),
        (ConfigKind::Number64 | ConfigKind::Optional64, _) => set("C.uint64_t"),
        (ConfigKind::Flag, _) => vec![format!("raw.{field} = flag(config.{name})")],
        (ConfigKind::Texts, Some(count)) => counted(format!("memory.texts(\"{name}\", config.{name})"), count),
        (ConfigKind::Bytes, Some(count)) => counted(format!("memory.bytes(config.{name})"), count),
        _ => set("C.uint32_t"),
    }
}

fn csharp_property(option: &ServerOption, width: usize) -> Vec<String> {
    let mut lines = comment("/// ", &format!("<summary>{}</summary>", option.about), width);
    let kind = match option.kind {
        ConfigKind::Time => "TimeSpan?",
        ConfigKind::Number64 | ConfigKind::Optional64 => "ulong?",
        ConfigKind::Flag => "bool?",
        ConfigKind::Texts => "IReadOnlyList<string>",
        ConfigKind::Bytes => "byte[]",
        _ => "uint?",
    };
    lines.push(format!("public {kind} {} {{ get; set; }}", pascal(option.name)));
    lines
}

fn csharp_fill(option: &ServerOption) -> Vec<String> {
    let name = pascal(option.name);
    match (option.kind, option.c_count().map(|count| pascal(&count))) {
        (ConfigKind::Time, _) => {
            vec![format!("Set(ref native->{name}Microseconds, config.{name}, nameof(config.{name}));")]
        }
        (ConfigKind::Flag, _) => vec![format!("Set(ref native->{name}, config.{name});")],
        (ConfigKind::Texts, Some(count)) => vec![
            format!("native->{name} = arena.Texts(config.{name}, nameof(config.{name}));"),
            format!("native->{count} = Count(config.{name});"),
        ],
        (ConfigKind::Bytes, Some(count)) => vec![
            format!("native->{name} = arena.Bytes(config.{name});"),
            format!("native->{count} = (uint)(config.{name}?.Length ?? 0);"),
        ],
        _ => vec![format!("native->{name} = config.{name} ?? native->{name};")],
    }
}

fn python_argument(option: &ServerOption) -> String {
    let kind = match option.kind {
        ConfigKind::Time => "Seconds",
        ConfigKind::Number64 | ConfigKind::Optional64 => "u64",
        ConfigKind::Flag => "bool",
        ConfigKind::Texts => "Vec<String>",
        ConfigKind::Bytes => "Payload",
        _ => "u32",
    };
    format!("{}: Option<{kind}>,", option.name)
}

fn python_taken(option: &ServerOption) -> String {
    let (name, path) = (option.name, &option.path);
    match option.kind {
        ConfigKind::Time => format!("config.{path} = {name}.map_or(config.{path}, |span| span.0);"),
        ConfigKind::Optional32 | ConfigKind::Optional64 => format!("config.{path} = {name};"),
        ConfigKind::Texts => format!("config.{path} = {name}.unwrap_or_default();"),
        ConfigKind::Bytes => format!("config.{path} = {name}.map(|bytes| bytes.0);"),
        _ => format!("config.{path} = {name}.unwrap_or(config.{path});"),
    }
}

fn python_type(option: &ServerOption) -> String {
    let kind = match option.kind {
        ConfigKind::Time => "float",
        ConfigKind::Flag => "bool",
        ConfigKind::Texts => "Sequence[str]",
        ConfigKind::Bytes => "Payload",
        _ => "int",
    };
    format!("{}: {kind} | None = None,", option.name)
}

fn guide(_: usize) -> Vec<String> {
    let row = |option: &ServerOption| {
        let about = lower_first(option.about.trim_end_matches('.'));
        vec![format!("| `{}` | {} | {about} |", option.name, option.kind.name())]
    };
    let head = ["| setting | | meaning |".to_owned(), "|---|---|---|".into()];
    head.into_iter().chain(each(row)).collect()
}
