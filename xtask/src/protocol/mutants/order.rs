//! The order in which mutants are drawn: by a seed, the same on every machine, and the same for code that only moved. A
//! larger sample of the same seed begins with the same mutants.

use std::collections::{BTreeMap, BTreeSet};

/// One mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mutant {
    /// `file:line:column: replacement`.
    pub(super) name: String,
    /// Its index among the mutants of its file, and the number of these.
    pub(super) place: (usize, usize),
}

/// The mutants of a list of cargo-mutants', in the order of the seed. The list may contain one several times, where a
/// module has two declarations.
pub(super) fn drawn(listed: &[String], seed: u64) -> Vec<Mutant> {
    let mut of_file: BTreeMap<&str, usize> = BTreeMap::new();
    let places: Vec<usize> = listed.iter().map(|name| next(of_file.entry(file(name)).or_default())).collect();
    let (mut known, mut alike) = (BTreeSet::new(), BTreeMap::new());
    let mut keyed = Vec::new();
    for (name, place) in listed.iter().zip(places).filter(|(name, _)| known.insert(*name)) {
        let words = without_place(name);
        let key = hash(seed, &format!("{} {words}", next(alike.entry(words.clone()).or_default())));
        keyed.push((key, Mutant { name: name.clone(), place: (place, of_file[file(name)]) }));
    }
    keyed.sort_by(|one, other| (one.0, &one.1.name).cmp(&(other.0, &other.1.name)));
    keyed.into_iter().map(|(_, mutant)| mutant).collect()
}

fn next(counter: &mut usize) -> usize {
    core::mem::replace(counter, *counter + 1)
}

/// The mutants of a list with these names, even if the code has moved: of mutants with equal names, the nearest.
pub(super) fn found(listed: &[String], names: &[String]) -> Vec<Mutant> {
    let all = drawn(listed, 0);
    let nearest = |name: &String| {
        let alike = all.iter().filter(|mutant| without_place(&mutant.name) == without_place(name));
        alike.min_by_key(|mutant| line(&mutant.name).abs_diff(line(name))).cloned()
    };
    names.iter().filter_map(nearest).collect()
}

fn line(name: &str) -> u32 {
    name.split(':').nth(1).and_then(|line| line.parse().ok()).unwrap_or(0)
}

/// The file of a mutant.
pub(super) fn file(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// The name without line and column. Mutants that differ only in these are told apart by their order in the file.
fn without_place(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    let file = parts.next().unwrap_or_default();
    format!("{file}:{}", parts.nth(2).unwrap_or_default())
}

/// FNV-1a, and SplitMix64's last steps, for FNV's high bits hardly change with the last byte.
fn hash(seed: u64, text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let fnv = text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(first_line: u32) -> Vec<String> {
        (0..40).map(|at| format!("src/a.rs:{}:9: replace f{} with ()", first_line + at, at / 2)).collect()
    }

    fn words(drawn: &[Mutant]) -> Vec<String> {
        drawn.iter().map(|mutant| without_place(&mutant.name)).collect()
    }

    #[test]
    fn a_seed_draws_the_same_mutants_when_code_moves_and_another_seed_draws_others() {
        let (one, moved, other) = (drawn(&listed(1), 1), drawn(&listed(300), 1), drawn(&listed(1), 2));
        assert_eq!(words(&one), words(&moved));
        assert_ne!(words(&one), words(&other));
        let all: BTreeSet<&str> = one.iter().map(|mutant| mutant.name.as_str()).collect();
        assert_eq!((all.len(), one.len()), (40, 40), "none is lost");
    }

    #[test]
    fn a_mutant_that_is_listed_twice_is_drawn_once_and_found_at_its_first_place() {
        let name = |line: u32| format!("src/b.rs:{line}:1: replace f with ()");
        let mut drawn = drawn(&[name(3), listed(1)[0].clone(), name(9), name(3), name(9)], 1);
        drawn.retain(|mutant| file(&mutant.name) == "src/b.rs");
        drawn.sort_by_key(|mutant| mutant.place);
        assert_eq!(drawn, [Mutant { name: name(3), place: (0, 4) }, Mutant { name: name(9), place: (1, 4) }]);
    }

    #[test]
    fn a_mutant_is_found_again_after_its_code_moved() {
        let names = [listed(1)[5].clone(), "src/a.rs:9:9: replace gone with ()".to_owned()];
        let found = found(&listed(2), &names);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, listed(2)[4], "the nearest of two that are alike");
    }

    #[test]
    fn the_order_is_written_down_so_that_every_machine_has_it() {
        assert_eq!(drawn(&listed(1), 1)[0].name, FIRST_OF_SEED_1);
        assert_eq!(file(FIRST_OF_SEED_1), "src/a.rs");
    }

    const FIRST_OF_SEED_1: &str = "src/a.rs:30:9: replace f14 with ()";
}
