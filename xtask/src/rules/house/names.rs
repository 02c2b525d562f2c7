//! Names between which a reader must guess: files whose names differ by an ending, types that share a name.

use std::collections::{BTreeMap, BTreeSet};

use crate::rules::layering::shared_names;
use crate::rules::source::crates::Crate;
use crate::rules::source::items::{Item, ItemKind};

/// Prints them for each crate, and the size of [`DIVIDED`].
pub(super) fn figures(crates: &[Crate<'_>], say: &mut impl FnMut(&str, String)) {
    let twins: Vec<String> = crates.iter().flat_map(twins).collect();
    say("files beside each other whose names differ by an ending", listed(&twins));
    let shared = |of: &Crate<'_>| shared_names(of).iter().map(|shared| shared.name.to_owned()).collect::<Vec<_>>();
    for (of, shared) in crates.iter().map(|of| (of, shared(of))).filter(|(_, shared)| !shared.is_empty()) {
        say(&format!("names of several types of {}", of.name()), listed(&shared));
    }
    for of in crates.iter().filter(|of| of.name() == DIVIDED.0) {
        let (methods, files) = methods(of, DIVIDED.1);
        say(&format!("methods of {}, and files that have some", DIVIDED.1), format!("{methods}, {files}"));
    }
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "0".into() } else { format!("{} ({})", names.len(), names.join(", ")) }
}

/// Modules of one folder, in files or folders, whose names differ by an ending, as `folder/{a b}`.
fn twins(of: &Crate<'_>) -> Vec<String> {
    let mut folders: BTreeMap<&[&str], BTreeSet<&str>> = BTreeMap::new();
    for source in &of.sources {
        for depth in 1..=source.module.len() {
            folders.entry(&source.module[..depth - 1]).or_default().insert(source.module[depth - 1]);
        }
    }
    let mut found = Vec::new();
    for (folder, names) in &folders {
        for name in names {
            let twins = names.iter().filter(|other| inflections(name).iter().any(|form| form == *other));
            found.extend(twins.map(|twin| {
                let path: Vec<&str> = [of.name()].into_iter().chain(folder.iter().copied()).collect();
                format!("{}/{{{name} {twin}}}", path.join("/"))
            }));
        }
    }
    found
}

/// The plural and the gerund of a name.
fn inflections(name: &str) -> [String; 4] {
    let stem = name.strip_suffix('e').unwrap_or(name);
    [format!("{name}s"), format!("{name}es"), format!("{stem}ing"), format!("{name}ing")]
}

/// How many functions `impl NAME` blocks have, and in how many files.
fn methods(of: &Crate<'_>, name: &str) -> (usize, usize) {
    let (mut count, mut files) = (0, 0);
    for source in of.sources.iter().filter(|source| !source.is_test) {
        let is_method = |item: &&Item| matches!(&item.kind, ItemKind::Function { of: Some(of), .. } if of == name);
        let is_block = |item: &Item| matches!(&item.kind, ItemKind::Implementation { of: Some(of) } if of == name);
        count += source.items.iter().filter(is_method).count();
        files += usize::from(source.items.iter().any(is_block));
    }
    (count, files)
}

/// The type whose behaviour is divided over files.
const DIVIDED: (&str, &str) = ("skipstone-proto", "Connection");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::files::File;
    use crate::rules::source::crates::crates;

    fn with<T>(sources: &[(&str, &str)], look: impl FnOnce(&Crate<'_>) -> T) -> T {
        let file = |(path, text): &(&str, &str)| File { path: format!("a/src/{path}"), text: (*text).to_owned() };
        let files: Vec<File> = [("lib.rs", "")].iter().chain(sources).map(file).collect();
        look(&crates(&files).expect("it parses")[0])
    }

    #[test]
    fn names_that_differ_by_an_ending_are_twins() {
        let sources = [
            ("b/timer.rs", ""),
            ("b/timers/state.rs", ""),
            ("b/receive.rs", ""),
            ("b/receiving.rs", ""),
            ("b/time.rs", ""),
            ("b/loss.rs", ""),
            ("b/losses.rs", ""),
            ("events.rs", ""),
            ("b/event.rs", ""),
        ];
        with(&sources, |of| {
            assert_eq!(twins(of), ["a/b/{loss losses}", "a/b/{receive receiving}", "a/b/{timer timers}"]);
        });
    }

    #[test]
    fn methods_are_counted_in_the_types_own_blocks() {
        let blocks = "impl Connection { fn a() {} pub fn b() {} } impl Drop for Connection { fn drop() {} }";
        let sources = [("a.rs", blocks), ("b.rs", "impl Connection { fn c() { fn d() {} } } fn e() {}"), ("c.rs", "")];
        with(&sources, |of| assert_eq!(methods(of, "Connection"), (3, 2)));
    }
}
