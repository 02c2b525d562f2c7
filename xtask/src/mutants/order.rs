//! In which order mutants are drawn: by a seed, the same on every machine, and the same for code that only moved. More of the
//! same seed are the same ones and others behind them.

use std::collections::BTreeMap;

/// Sorts what cargo-mutants lists (`file:line:column: what is replaced`) as the seed says.
pub(super) fn drawn(listed: Vec<String>, seed: u64) -> Vec<String> {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let mut keyed: Vec<(u64, String)> = listed
        .into_iter()
        .map(|name| {
            let place = seen.entry(without_place(&name)).or_default();
            let key = hash(seed, &format!("{place} {}", without_place(&name)));
            *place += 1;
            (key, name)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, name)| name).collect()
}

/// The file of a mutant.
pub(super) fn file(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// The name without line and column. Mutants that are alike without them are told apart by their order in the file.
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

    fn words(drawn: &[String]) -> Vec<String> {
        drawn.iter().map(|name| without_place(name)).collect()
    }

    #[test]
    fn a_seed_draws_the_same_mutants_when_code_moves_and_another_seed_draws_others() {
        let (one, moved, other) = (drawn(listed(1), 1), drawn(listed(300), 1), drawn(listed(1), 2));
        assert_eq!(words(&one), words(&moved));
        assert_ne!(words(&one), words(&other));
        let mut all = one.clone();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 40, "none is lost, and none comes twice");
    }

    #[test]
    fn the_order_is_written_down_so_that_every_machine_has_it() {
        assert_eq!(drawn(listed(1), 1)[0], FIRST_OF_SEED_1);
        assert_eq!(file(FIRST_OF_SEED_1), "src/a.rs");
    }

    const FIRST_OF_SEED_1: &str = "src/a.rs:30:9: replace f14 with ()";
}
