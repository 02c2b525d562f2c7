//! Known findings that must be resolved: a list that only gets shorter. An entry that is no longer needed fails, too.

use std::collections::BTreeSet;

use super::finding::Finding;
use crate::machine::tree::Tree;

/// One `kind path` a line; a line that begins with `#` is a remark.
pub(super) const FILE: &str = "xtask/src/rules/layering/debts.txt";

/// The findings that are not in the list, and the entries of the list that are no longer needed.
pub(super) fn settle(findings: Vec<Finding>, list: &str) -> Vec<String> {
    let entries: BTreeSet<&str> = entries(list).collect();
    let (known, new): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(|finding| finding.entry().is_some_and(|entry| entries.contains(&*entry)));
    let needed: BTreeSet<String> = known.iter().filter_map(Finding::entry).collect();
    let stale = entries.iter().filter(|entry| !needed.contains(**entry));
    let stale =
        stale.map(|entry| format!("{FILE}: `{entry}` is no longer needed; `cargo xtask layering --update` removes it"));
    new.into_iter().map(|finding| finding.text).chain(stale).collect()
}

/// Removes the entries that are no longer needed. It never adds one.
pub(super) fn update(findings: &[Finding], tree: &Tree) -> Result<(), String> {
    let path = tree.root().join(FILE);
    let list = std::fs::read_to_string(&path).unwrap_or_default();
    let needed: BTreeSet<String> = findings.iter().filter_map(Finding::entry).collect();
    let stays = |line: &&str| entries(line).all(|entry| needed.contains(entry));
    let kept: String = list.lines().filter(stays).map(|line| format!("{line}\n")).collect();
    std::fs::write(path, kept).map_err(|error| format!("{FILE} cannot be written: {error}"))
}

/// How many entries the list has.
pub(super) fn count(list: &str) -> usize {
    entries(list).count()
}

fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}
