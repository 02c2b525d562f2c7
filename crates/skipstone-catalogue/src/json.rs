//! The results that the tool writes as JSON: counters of each side of a stress run.

use crate::region::Region;
use crate::text::comment;
use skipstone_proto::{Figure, RedundancyStats, Stats};

const PROTOCOL: &str = "crates/skipstone-lab/src/report/stress/result/protocol.rs";

pub(crate) fn regions() -> Vec<Region> {
    let of = |name, lines| Region { path: PROTOCOL, name, lines };
    vec![
        of("counters", |width| own().flat_map(|figure| field(figure, width)).collect()),
        of("counters copied", |_| own().map(|figure| format!("{0}: stats.{0},", figure.name)).collect()),
        of("redundancy", |width| RedundancyStats::FIGURES.iter().flat_map(|figure| field(figure, width)).collect()),
        of("redundancy copied", |_| {
            RedundancyStats::FIGURES.iter().map(|figure| format!("{0}: redundancy.{0},", figure.name)).collect()
        }),
    ]
}

/// The flows are elsewhere in a result.
fn own() -> impl Iterator<Item = &'static Figure> {
    const FIGURES: &[Figure] = &Stats::FIGURES;
    FIGURES.iter().filter(|figure| figure.group.is_empty())
}

fn field(figure: &Figure, width: usize) -> Vec<String> {
    let mut lines = comment("/// ", &figure.summary(), width);
    if figure.name == "packets_recovered_by_peer" {
        // The first version of the schema has this name.
        lines.push("#[serde(rename = \"packets_recovered_by_peers\")]".into());
    }
    lines.push(format!("pub {}: u64,", figure.name));
    lines
}
