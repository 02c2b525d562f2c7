//! Reads what each language shows to its users, and looks there for every figure and every close code: a region that
//! nothing includes, or a language that has none, is found here.

use crate::shown::{Shown, body_of, file};
use skipstone::DriverStats;
use skipstone_catalogue::{C_1_0, camel, go, members, pascal, screaming, server_options, stats};
use skipstone_proto::{Figure, Settings, Stats, code};

const FIGURES: &[Figure] = &Stats::FIGURES;

#[test]
fn every_statistic_is_in_every_language() {
    let surfaces = [
        Shown::new(
            "C",
            "crates/skipstone-ffi/include/skipstone.h",
            "typedef struct SkipstoneStats {",
            "}",
            str::to_owned,
        ),
        Shown::new(
            "C's overview",
            "crates/skipstone-ffi/include/skipstone.h",
            "typedef struct SkipstoneStatsOf1_0 {",
            "} SkipstoneOverview;",
            str::to_owned,
        ),
        Shown::new("Go", "clients/go/statistics.go", "type Stats struct {", "\n}", go),
        Shown::new(
            "C#",
            "clients/unity/com.skipstone.transport/Runtime/Core/Statistics.cs",
            // Behind the constructor that copies an overview's.
            "// catalogue: end\n        }\n",
            "\n    }",
            pascal,
        ),
        Shown::new(
            "Python's types",
            "clients/python/python/skipstone/__init__.pyi",
            "\nclass Stats:",
            "\n@final",
            str::to_owned,
        ),
        Shown::new("Python", "clients/python/src/statistics.rs", "pub(crate) struct Stats {", "\n}", str::to_owned),
    ];
    for counter in stats() {
        for surface in &surfaces {
            surface.expect(counter.name);
        }
    }
}

#[test]
fn every_counter_of_a_driver_is_in_every_language() {
    const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/DriverStats.cs";
    const C: &str = "crates/skipstone-ffi/include/skipstone.h";
    let c = Shown::new("C", C, "typedef struct SkipstoneDriverStats {", "}", str::to_owned);
    for member in members() {
        c.expect(&member.c_name());
        let (of_go, of_others) = match member.group {
            "" => ("DriverStats", "DriverStats"),
            "misrouted" => ("MisroutedStats", "MisroutedStats"),
            "dtls" => ("DTLSStats", "DtlsStats"),
            "webtransport" => ("WebTransportStats", "WebTransportStats"),
            "streams" => ("StreamStats", "StreamStats"),
            other => panic!("state the type of the group {other} here"),
        };
        let (python, typed) = (format!("struct {of_others} {{"), format!("class {of_others}:"));
        let (csharp, go_type) = (format!("struct {of_others}\n"), format!("type {of_go} struct {{"));
        for surface in [
            Shown::new("Go", "clients/go/driver_stats.go", &go_type, "\n}", go),
            Shown::new("C#", CSHARP, &csharp, "\n    }", pascal),
            Shown::new("Python", "clients/python/src/driver_stats.rs", &python, "\n}", str::to_owned),
            Shown::new(
                "Python's types",
                "clients/python/python/skipstone/__init__.pyi",
                &typed,
                "\n@final",
                str::to_owned,
            ),
        ] {
            surface.expect(member.name);
        }
    }
    let guide = file("docs/guide/reference.md");
    for figure in DriverStats::FIGURES.iter().chain(&DriverStats::GAUGES) {
        assert!(guide.contains(&format!("| `{}` |", figure.path())), "the guide lacks {}", figure.path());
    }
}

#[test]
fn every_statistic_is_in_the_browser_the_results_and_the_guide() {
    let page = Shown::new("the browser", "clients/web/src/statistics.ts", "export interface Counters", "\n}", camel);
    let guide = Shown::new("the guide", "docs/guide/reference.md", "## Counters", "## Close codes", str::to_owned);
    let json = Shown::new(
        "JSON",
        "crates/skipstone-lab/schema/stress.schema.json",
        "\"Redundancy\": {",
        "\u{0}",
        str::to_owned,
    );
    for figure in FIGURES {
        guide.expect(figure.name);
        match figure.group {
            "drops" => {}
            // The schema has flows under names of its own.
            "sent" | "received" => page.expect(figure.group),
            _ => {
                page.expect(figure.name);
                json.expect(if figure.name == "packets_recovered_by_peer" {
                    "packets_recovered_by_peers"
                } else {
                    figure.name
                });
            }
        }
    }
}

#[test]
fn every_statistic_is_a_metric_or_part_of_one() {
    for figure in FIGURES.iter().filter(|figure| figure.metric.is_none()) {
        // `sent_bytes` and `received_bytes` have all bytes by what they are.
        assert!(figure.name.ends_with("bytes") || figure.name == "bytes_sent", "{} is no metric", figure.path());
    }
}

#[test]
fn every_close_code_is_in_every_language() {
    const C: &str = "crates/skipstone-ffi/include/skipstone.h";
    const RUST: &str = "crates/skipstone-ffi/src/types/numbers.rs";
    const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/Event.cs";
    const PYTHON: &str = "clients/python/python/skipstone/__init__.pyi";
    let surfaces = [
        Shown::new("C", C, "enum SkipstoneCloseCode\n", "}", |name| format!("SKIPSTONE_CLOSE_CODE_{name}")),
        Shown::new("C's Rust", RUST, "enum SkipstoneCloseCode {", "\n}", |name| pascal(&name.to_lowercase())),
        Shown::new("Go", "clients/go/event.go", "// Close codes of the protocol.", "\n)", |name| {
            format!("Code{}", go(&name.to_lowercase()))
        }),
        Shown::new("C#", CSHARP, "class CloseCode", "\n    }", |name| pascal(&name.to_lowercase())),
        Shown::new("Python's types", PYTHON, "__version__", "\nclass ", |name| format!("CODE_{name}")),
        Shown::new("the browser", "clients/web/src/close.ts", "const closeCode = {", "\n}", |name| {
            camel(&name.to_lowercase())
        }),
    ];
    for code in code::ALL {
        surfaces.iter().for_each(|surface| surface.expect(code.name));
    }
    let wire = file("WIRE.md");
    let table = body_of(&wire, "## 8. Close codes", "### 8.1").expect("section 8");
    for code in code::ALL {
        assert!(table.contains(&format!("| {} |", code.value)), "WIRE.md lacks {}", screaming(code.name));
    }
}

#[test]
fn every_setting_of_a_server_is_in_every_language() {
    const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/ServerConfig.cs";
    const C: &str = "crates/skipstone-ffi/include/skipstone.h";
    let c = Shown::new("C", C, "typedef struct SkipstoneServerConfig {", "}", str::to_owned);
    let surfaces = [
        Shown::new("Go", "clients/go/server.go", "type ServerConfig struct {", "\n}", go),
        Shown::new("C#", CSHARP, "public sealed class ServerConfig", "\u{0}", pascal),
        Shown::new(
            "Python's types",
            "clients/python/python/skipstone/__init__.pyi",
            "class Server:",
            "-> Self",
            str::to_owned,
        ),
        Shown::new("Python", "clients/python/src/server.rs", "fn start(", "-> PyResult", str::to_owned),
        Shown::new("the guide", "docs/guide/reference.md", "## Settings of a server", "## Close codes", str::to_owned),
    ];
    for option in server_options() {
        c.expect(&option.c_name());
        surfaces.iter().for_each(|surface| surface.expect(option.name));
    }
}

#[test]
fn the_first_version_of_the_c_structure_is_unchanged() {
    let counters = stats();
    let of_1_0: Vec<&str> = counters.iter().filter(|it| it.since == (1, 0)).map(|it| it.name).collect();
    assert_eq!(of_1_0, C_1_0, "a new counter states `since(1, N)`, the version of the C interface that has it first");
}

#[test]
fn every_setting_is_in_every_language() {
    fn c(name: &str) -> String {
        let is_time = name == "merging"
            || Settings::ALL.iter().any(|it| it.name == name && it.number.is_some_and(|it| it.unit.is_time()));
        if is_time { format!("{name}_us") } else { name.to_owned() }
    }
    const C: &str = "crates/skipstone-ffi/include/skipstone.h";
    const CSHARP: &str = "clients/unity/com.skipstone.transport/Runtime/Core/ServerConfig.cs";
    let surfaces = [
        Shown::new("C", C, "typedef struct SkipstoneServerConfig {", "}", c),
        Shown::new("Go", "clients/go/server.go", "type ServerConfig struct {", "\n}", go),
        Shown::new("C#", CSHARP, "public sealed class ServerConfig", "\u{0}", pascal),
        Shown::new(
            "Python's types",
            "clients/python/python/skipstone/__init__.pyi",
            "class Settings:",
            "-> Self",
            str::to_owned,
        ),
        Shown::new("Python", "clients/python/src/settings.rs", "impl Settings {", "-> Self", str::to_owned),
        Shown::new("the browser", "clients/web/src/settings.ts", "export interface ServerSettings", "\n}", camel),
        Shown::new("the guide", "docs/guide/reference.md", "## Settings", "## Close codes", str::to_owned),
    ];
    for setting in Settings::ALL {
        for surface in &surfaces {
            match (setting.name, surface.language()) {
                // The client's merging, beside the server's own.
                ("merging", language) if language.starts_with("Python") => surface.expect("client_merging"),
                (name, _) => surface.expect(name),
            }
        }
    }
    let wire = file("WIRE.md");
    let table = body_of(&wire, "## 5. Settings", "## 6.").expect("section 5");
    for setting in Settings::ALL {
        assert!(table.contains(&format!("| {} |", setting.id)), "WIRE.md lacks {}", setting.name);
    }
}
