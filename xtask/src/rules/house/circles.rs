//! Files that import each other, and imports of modules that no order puts below their importer.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::layering::files_in_circles;
use crate::rules::source::crates::Crate;

/// Reports how many there are, over all crates.
pub(super) fn figures(crates: &[Crate<'_>], say: &mut impl FnMut(&str, String)) {
    let (mut beside, mut nested, mut upward) = (0, 0, 0);
    for of in crates {
        let (in_crate, with_parents) = files_in_circles(of);
        beside += in_crate;
        nested += with_parents;
        upward += upward_arrows(of);
    }
    say("files in circles of files beside each other", beside.to_string());
    say("files in circles of a file and its own folder", nested.to_string());
    say("upward arrows, in the best order of modules", upward.to_string());
}

/// The fewest arrows from module to module that point up, over all orders of the modules.
fn upward_arrows(of: &Crate<'_>) -> usize {
    let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in of.arrows() {
        let ends = [arrow.from, arrow.to].map(|at| of.sources[at].module.first().copied());
        if let [Some(from), Some(to)] = ends
            && from != to
        {
            arrows.entry(from).or_default().insert(to);
        }
    }
    let circles = circles(&arrows);
    circles.iter().map(|modules| fewest_upward(modules, &arrows)).sum()
}

/// Modules that reach each other, each group once.
fn circles<'a>(arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = arrows.keys().map(|from| (*from, reach(from, arrows))).collect();
    let both_ways = |a: &str, b: &str| reached[a].contains(b) && reached.get(b).is_some_and(|back| back.contains(a));
    let groups = arrows.keys().map(|a| arrows.keys().copied().filter(|b| both_ways(a, b)).collect::<Vec<_>>());
    groups.filter(|group| !group.is_empty()).collect()
}

fn reach<'a>(from: &'a str, arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<&'a str> {
    let (mut reached, mut pending) = (BTreeSet::new(), vec![from]);
    while let Some(at) = pending.pop() {
        pending.extend(arrows.get(at).into_iter().flatten().filter(|next| reached.insert(**next)));
    }
    reached
}

/// Over all orders of the modules: the set of those already placed, from the bottom, determines the cost of the next
/// one.
fn fewest_upward(modules: &[&str], arrows: &BTreeMap<&str, BTreeSet<&str>>) -> usize {
    let names = |from: usize, to: usize| arrows.get(modules[from]).is_some_and(|targets| targets.contains(modules[to]));
    let count = modules.len().min(MODULES_MAX);
    let mut fewest = vec![usize::MAX; 1 << count];
    fewest[0] = 0;
    for placed in 0..fewest.len() {
        for next in (0..count).filter(|next| placed >> next & 1 == 0) {
            let above = (0..count).filter(|other| *other != next && placed >> other & 1 == 0);
            let cost = fewest[placed] + above.filter(|other| names(next, *other)).count();
            let with_next = &mut fewest[placed | 1 << next];
            *with_next = cost.min(*with_next);
        }
    }
    fewest[fewest.len() - 1]
}

/// With more modules, trying all orders would take too long; no crate has that many in one circle.
const MODULES_MAX: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::files::File;
    use crate::rules::source::crates::crates;

    fn upward(sources: &[(&str, &str)]) -> usize {
        let file = |(path, text): &(&str, &str)| File { path: format!("a/src/{path}"), text: (*text).to_owned() };
        let mut files: Vec<File> = sources.iter().map(file).collect();
        files.push(File { path: "a/src/lib.rs".into(), text: String::new() });
        upward_arrows(&crates(&files).expect("it parses")[0])
    }

    #[test]
    fn the_best_order_leaves_as_few_arrows_upward_as_can_be() {
        let names_all = "use crate::{b::B, c::C, d::D};";
        let all = [("a.rs", names_all), ("b.rs", "use crate::c::C;"), ("c.rs", ""), ("d.rs", "")];
        assert_eq!(upward(&all), 0);
        let back = "use crate::a::A;";
        assert_eq!(upward(&[("a.rs", names_all), ("b.rs", ""), ("c.rs", back), ("d.rs", "")]), 1);
        assert_eq!(upward(&[("a.rs", names_all), ("b.rs", back), ("c.rs", back), ("d.rs", back)]), 3);
        let ring = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c::C;"), ("c.rs", back)];
        assert_eq!(upward(&ring), 1);
    }
}
