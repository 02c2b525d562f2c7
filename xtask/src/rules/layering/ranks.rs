//! The order of the modules of each crate, and its violations.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Finding, FindingKind};
use crate::rules::source::crates::Crate;

/// The modules of each crate, highest rank first. A module imports from lower ranks only, and never from its own: the
/// modules of a rank meet in one above them. A module is a folder or a file directly in `src/`. The root of the crate
/// ranks above all of them, and its tests keep to the same order: a test that needs more belongs in `tests/`.
pub(crate) const RANKS: &[(&str, Ranks)] = &[
    (
        "crates/skipstone-proto",
        &[
            &["crossing", "endpoint"],
            &["connection"],
            &["channel"],
            &["recovery", "congestion", "mtu", "security"],
            &["moves", "redundancy"],
            &["wire", "rtt", "delivery"],
            &["allowance", "checksum", "ranges", "shrink_queue", "sparse_ranges"],
            &["catalogue", "time", "seq", "rng", "path", "network", "cost"],
        ],
    ),
    ("crates/skipstone-gf256", &[&["solve"], &["kernel"], &["simd"], &["portable"], &["field"]]),
    ("crates/skipstone-prefetch", &[]),
    ("crates/skipstone-mailbox", &[&["queue"]]),
    (
        "crates/skipstone-netsim",
        &[
            &["duplex"],
            &["link"],
            &["bottleneck", "corrupt", "cubic", "flight", "loss", "stats", "streams", "trace"],
            &["config", "fades", "fate"],
            &["rng"],
            &["opportunities"],
        ],
    ),
    (
        "crates/skipstone",
        &[
            &["pool", "server"],
            &["client", "server_config", "shards"],
            &["moving", "pool_moves", "server_moves"],
            &["handle", "reconnect"],
            &["start_error"],
            &["waiter"],
            &["driver", "statistics_reader"],
            &["statistics"],
            &["destination", "query"],
            &["deny_error", "listener_rules", "roster", "server_time", "ticks", "url"],
            &[
                "deadline",
                "driver_stats",
                "gate",
                "listen_sockets",
                "logged",
                "net",
                "qlog",
                "recipients",
                "recording",
                "restart_notice",
                "security",
                "send_error",
            ],
        ],
    ),
    (
        "crates/skipstone-lab",
        &[
            &["tests"],
            &["bench", "fairness", "sweep"],
            &["compare"],
            &["netem", "recording"],
            &["flow_recording"],
            &["report"],
            &["measure", "quic", "resilience"],
            &["child", "framing", "natural", "open_files", "signals", "socket_error", "units", "workload"],
            &["left_out"],
            &["clean"],
        ],
    ),
    (
        "crates/skipstone-ffi",
        &[
            &["boundary"],
            &["identity", "impairment", "kept", "table"],
            &["convert", "slot"],
            &["failure"],
            &["log"],
            &["types"],
        ],
    ),
    (
        "crates/skipstone-catalogue",
        &[
            &["settings", "version"],
            &["c", "configuration", "csharp", "driver", "go", "json", "pages", "python", "web"],
            &["counters"],
            &["names", "region", "text"],
        ],
    ),
    (
        "crates/skipstone-web",
        &[&["exports"], &["figures"], &["core"], &["moving"], &["connections"], &["options", "outcome", "refusal"]],
    ),
    (
        "crates/skipstone-db",
        &[
            &["tool"],
            &["bench", "commands", "recorder"],
            &["draw"],
            &["database", "statements"],
            &["migrations", "session"],
            &["account", "progress", "runtime", "timing", "url"],
            &["dialect", "error", "secret", "tls"],
            &["percent", "value"],
        ],
    ),
    (
        "crates/skipstone-deploy",
        &[
            &["tool"],
            &["deployment"],
            &["builds", "health", "locked_site"],
            &["fleet", "lock", "site", "stage"],
            &["remote", "unit"],
            &["bounded", "plan"],
            &["captured", "names"],
        ],
    ),
    (
        "crates/skipstone-bots",
        &[
            &["command"],
            &["live", "run"],
            &["script", "socket"],
            &["http", "protocols"],
            &["tls"],
            &["metrics", "plan", "protocol", "target"],
        ],
    ),
    ("crates/skipstone-fleet", &[&["feed", "groups", "moves", "tickets"], &["directory"], &["bus", "local"]]),
    (
        "crates/skipstone-siege",
        &[
            &["play"],
            &["attacker", "good", "operator"],
            &["server"],
            &["decoy", "natives", "players", "quic", "streams"],
            &["table"],
            &["row"],
            &["sent"],
            &["attack"],
            &["bucket", "memory", "openings", "process", "trust"],
        ],
    ),
    (
        "crates/skipstone-cli",
        &[
            &["config_file"],
            &["command_line"],
            &["bots"],
            &["fleet", "serve"],
            &["chat", "dashboard", "stress"],
            &["client_figures", "console", "fleet_flags", "left_out", "qlog_flags", "sharing", "trust"],
            &["door", "move_figures"],
        ],
    ),
    (
        "clients/python",
        &[
            &["server"],
            &["client"],
            &["handle"],
            &["events"],
            &["driver_stats", "impairment", "reconnect", "security", "settings", "statistics"],
            &["arguments", "errors", "modes"],
        ],
    ),
    ("crates/skipstone-bevy", &[&["client", "server"], &["failure", "schedule"]]),
    ("crates/skipstone-demo", &[]),
    (
        "examples",
        &[&["dots"], &["interop_fleet"], &["chat", "echo", "interop", "listen_server", "query", "reconnect", "typed"]],
    ),
    ("examples/bevy", &[]),
    ("examples/rooms", &[&["player"], &["entrance"], &["node"], &["failure", "question"]]),
    (
        "fuzz",
        &[
            &["first_datagrams", "operations", "pair", "quic_streams", "stream_heads"],
            &["certificate", "input", "page", "parsing", "streams"],
        ],
    ),
    ("integrations/aeronet", &[&["server"], &["client"], &["peer", "reason", "settings"]]),
    ("integrations/aeronet/cost", &[&["clients", "servers"], &["load"]]),
    ("integrations/godot", &[&["peer"], &["link"], &["transfer"]]),
    ("xtask", &[&["release", "steps"], &["languages", "programs", "protocol", "rules"], &["machine"]]),
];

/// Modules by rank, highest first.
pub(crate) type Ranks = &'static [&'static [&'static str]];

/// The ranks of the crate in that folder.
pub(super) fn of(folder: &str) -> Option<Ranks> {
    RANKS.iter().find(|(name, _)| *name == folder).map(|(_, ranks)| *ranks)
}

/// Violations of the crate's order, and modules that are missing in the order.
pub(super) fn findings(of: &Crate<'_>, ranks: Option<Ranks>) -> Vec<Finding> {
    let Some(ranks) = ranks else {
        let why = format!("{}: the crate has no ranks; add it to {TABLE}", of.folder);
        return vec![Finding { kind: FindingKind::Table, path: of.folder.to_owned(), text: why }];
    };
    let modules: BTreeSet<&str> = of.sources.iter().filter_map(|source| source.module.first().copied()).collect();
    let mut findings = table_findings(of.folder, &modules, ranks);
    for naming in of.namings() {
        let source = &of.sources[naming.from];
        let Some(own) = source.module.first().copied() else { continue };
        let target = naming.path.first().copied().unwrap_or("*");
        if let Some(what) = judge(own, target, &modules, ranks) {
            let text = format!("{}:{}: {what}", source.file.path, naming.line);
            findings.push(Finding { kind: FindingKind::Upward, path: source.file.path.clone(), text });
        }
    }
    findings.dedup();
    findings
}

/// Modules without a rank, and ranks without a module.
fn table_findings(folder: &str, modules: &BTreeSet<&str>, ranks: Ranks) -> Vec<Finding> {
    let unranked = modules
        .iter()
        .filter(|module| rank(module, ranks).is_none())
        .map(|module| format!("{folder}/src/{module}: has no rank; add it to {TABLE}, as low as its imports allow"));
    let stale = ranks
        .iter()
        .copied()
        .flatten()
        .filter(|module| !modules.contains(*module))
        .map(|module| format!("{folder}/src/{module}: has a rank in {TABLE}, and is no module"));
    let finding = |text: String| Finding { kind: FindingKind::Table, path: folder.to_owned(), text };
    unranked.chain(stale).map(finding).collect()
}

/// The violation, if `own` may not name `crate::target`.
fn judge(own: &str, target: &str, modules: &BTreeSet<&str>, ranks: Ranks) -> Option<String> {
    if own == target {
        return None;
    }
    match (rank(own, ranks), rank(target, ranks)) {
        (Some(own_rank), Some(target_rank)) if target_rank > own_rank => None,
        (Some(own_rank), Some(target_rank)) if target_rank == own_rank => {
            Some(format!("`{own}` and `{target}` are siblings; they meet in a module above them"))
        }
        (Some(_), Some(_)) => Some(format!("`{own}` is below `{target}` and must not know it")),
        // Reported once, for the module as a whole.
        (None, _) => None,
        (Some(_), None) if modules.contains(target) => None,
        (Some(_), None) => {
            Some(format!("`crate::{target}` goes through the root of the crate; name the module that it lives in"))
        }
    }
}

/// An order that the crate's imports allow, each module as low as it can be, as the table has it. Where modules name
/// each other, the one that names the fewest comes first.
pub(super) fn suggestion(of: &Crate<'_>) -> String {
    let mut targets: BTreeMap<&str, BTreeSet<&str>> =
        of.sources.iter().filter_map(|source| Some((*source.module.first()?, BTreeSet::new()))).collect();
    let modules: BTreeSet<&str> = targets.keys().copied().collect();
    for naming in of.namings() {
        if let (Some(own), Some(target)) = (of.sources[naming.from].module.first(), naming.path.first())
            && own != target
            && modules.contains(target)
        {
            targets.entry(own).or_default().insert(target);
        }
    }
    let mut ranks = Vec::new();
    while !targets.is_empty() {
        let left: BTreeSet<&str> = targets.keys().copied().collect();
        let waiting = |module: &str| targets[module].intersection(&left).count();
        let free: Vec<&str> = left.iter().copied().filter(|module| waiting(module) == 0).collect();
        // In a circle one at a time, so that the next may become free: the module that waits for few and that many wait
        // for.
        let waited_for = |module: &str| targets.values().filter(|named| named.contains(module)).count();
        let first = left.iter().copied().min_by_key(|module| (waiting(module), usize::MAX - waited_for(module)));
        let next = if free.is_empty() { first.into_iter().collect() } else { free };
        targets.retain(|module, _| !next.contains(module));
        ranks.push(format!("&{next:?}"));
    }
    ranks.reverse();
    format!("(\"{}\", &[{}]),", of.folder, ranks.join(", "))
}

fn rank(module: &str, ranks: Ranks) -> Option<usize> {
    ranks.iter().position(|rank| rank.contains(&module))
}

const TABLE: &str = "RANKS in xtask/src/rules/layering/ranks.rs";
