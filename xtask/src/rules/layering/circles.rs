//! No two files of a crate import each other, directly or by way of others.
//!
//! Tests count, and re-exports are followed to the file that defines the name; methods are not seen, since methods are
//! not imported. A file and one inside its folder (`connection/mod.rs` and `connection/state.rs`) are told apart from
//! sibling files: where the only way back is a child that names an item of its parent, the circle is *nested*.

use std::collections::VecDeque;

use super::finding::{Finding, FindingKind};
use crate::rules::source::crates::{Arrow, Crate};

/// One finding for each file in a circle, with a shortest way around.
pub(super) fn findings(of: &Crate<'_>, arrows: &[Arrow]) -> Vec<Finding> {
    let count = of.sources.len();
    let is_outward = |arrow: &Arrow| of.sources[arrow.from].module.starts_with(&of.sources[arrow.to].module);
    let beside: Vec<&Arrow> = arrows.iter().filter(|arrow| !is_outward(arrow)).collect();
    let all: Vec<&Arrow> = arrows.iter().collect();
    let mut findings = Vec::new();
    for at in 0..count {
        let found = way_around(at, count, &beside).map(|way| (FindingKind::Circle, way));
        let found = found.or_else(|| way_around(at, count, &all).map(|way| (FindingKind::Nested, way)));
        if let Some((kind, way)) = found {
            let path = of.sources[at].file.path.clone();
            let word = if kind == FindingKind::Nested { "nested circle" } else { "circle" };
            findings.push(Finding { kind, text: format!("{path}: {word}: {}", described(of, &way)), path });
        }
    }
    findings
}

/// The fewest arrows that lead from a file back to itself.
fn way_around<'a>(start: usize, count: usize, arrows: &[&'a Arrow]) -> Option<Vec<&'a Arrow>> {
    let mut arrived_by: Vec<Option<&Arrow>> = vec![None; count];
    let mut pending = VecDeque::from([start]);
    while let Some(at) = pending.pop_front() {
        for arrow in arrows.iter().filter(|arrow| arrow.from == at) {
            if arrived_by[arrow.to].is_none() {
                arrived_by[arrow.to] = Some(arrow);
                pending.push_back(arrow.to);
            }
        }
    }
    let mut way = vec![arrived_by[start]?];
    while let Some(first) = way.last().filter(|arrow| arrow.from != start) {
        way.push(arrived_by[first.from]?);
    }
    way.reverse();
    Some(way)
}

fn described(of: &Crate<'_>, way: &[&Arrow]) -> String {
    let inside = |at: usize| of.sources[at].file.path.split_once("/src/").map_or("", |(_, inside)| inside);
    let step = |arrow: &&Arrow| {
        format!("{}:{} names `{}` of {}", inside(arrow.from), arrow.line, arrow.name, inside(arrow.to))
    };
    way.iter().map(step).collect::<Vec<_>>().join(", ")
}
