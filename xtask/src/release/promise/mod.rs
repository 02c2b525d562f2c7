//! `cargo xtask promise`: whether this tree keeps what an earlier release has promised. A promise is a list of lines,
//! such as a function with its arguments or a field of JSON: a line that is gone or has changed breaks a program that
//! relies on it, and needs a higher number of its kind. A new line breaks nothing.

mod baseline;
mod c_abi;
mod json;
mod languages;
mod lines;
mod rust;
mod versions;
mod wire;

use std::path::Path;

use crate::machine::arguments::Arguments;
use crate::machine::tree::Tree;
use baseline::Baseline;
use lines::Lines;

/// A kind of promise, read from the folder of a tree.
struct Promise {
    name: &'static str,
    lines: fn(&Path) -> Result<Lines, String>,
    /// Rises when a line goes or changes.
    number: fn(&Path) -> Result<Vec<u32>, String>,
    /// How its number is raised.
    remedy: &'static str,
}

const PROMISES: &[Promise] = &[
    Promise {
        name: "C ABI",
        lines: c_abi::lines,
        number: c_abi::major,
        remedy: "keep the old function beside the new one, or raise the major number of ABI_VERSION in skipstone-ffi",
    },
    Promise {
        name: "wire",
        lines: wire::lines,
        number: wire::version,
        remedy: "a change of old bytes needs a new version in WIRE.md",
    },
    Promise { name: "JSON of the tool", lines: json::lines, number: versions::breaking, remedy: RELEASE },
    Promise { name: "C#", lines: languages::csharp, number: versions::breaking, remedy: RELEASE },
    Promise { name: "Go", lines: languages::go, number: versions::breaking, remedy: RELEASE },
    Promise { name: "Python", lines: languages::python, number: versions::breaking, remedy: RELEASE },
];

const RELEASE: &str = "keep the old name, or raise the minor version (from 1.0 on the major one) in Cargo.toml";

/// The command. `Ok(false)`: a promise is broken.
pub(crate) fn promise(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let against = arguments.take_value("--against")?;
    let without_rust = arguments.take_flag("--without-rust");
    arguments.expect_end()?;
    let Some(baseline) = baseline::find(against.as_deref(), tree)? else {
        println!("{NO_BASELINE}");
        return Ok(true);
    };
    let is_kept = compare(&baseline, tree)?;
    if without_rust {
        return Ok(is_kept);
    }
    let (word, text) = match rust::check(&baseline.folder, tree)? {
        Ok(text) => (KEPT, text),
        Err(text) => (BROKEN, text),
    };
    println!("{:<18}{word:<8}{text}", "Rust");
    Ok(is_kept && word == KEPT)
}

/// Refuses a release that breaks what the one before has promised, as far as lists say it: it takes no time.
pub(super) fn kept(tree: &Tree) -> Result<(), String> {
    match baseline::find(None, tree)? {
        None => println!("{NO_BASELINE}"),
        Some(baseline) if !compare(&baseline, tree)? => {
            return Err(format!("it breaks what {} has promised, see above: cargo xtask promise", baseline.name));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Whether all lists are kept.
fn compare(baseline: &Baseline, tree: &Tree) -> Result<bool, String> {
    println!("compared with {}", baseline.name);
    let mut is_kept = true;
    for promise in PROMISES {
        let (word, text) = judge(promise, &baseline.folder, tree.root())?;
        is_kept &= word == KEPT;
        println!("{:<18}{word:<8}{text}", promise.name);
    }
    Ok(is_kept)
}

fn judge(promise: &Promise, old: &Path, new: &Path) -> Result<(&'static str, String), String> {
    let (before, after) = ((promise.lines)(old)?, (promise.lines)(new)?);
    let gone: Vec<&String> = before.difference(&after).collect();
    let added = after.difference(&before).count();
    let text = format!("{} lines, {} gone or changed, {added} new", before.len(), gone.len());
    if gone.is_empty() {
        return Ok((KEPT, text));
    }
    let (was, is) = ((promise.number)(old)?, (promise.number)(new)?);
    if is > was {
        return Ok((KEPT, format!("{text}, with a new number: {} after {}", dotted(&is), dotted(&was))));
    }
    gone.iter().take(SHOWN).for_each(|line| println!("  gone or changed: {line}"));
    Ok((BROKEN, format!("{text}: {}", promise.remedy)))
}

fn dotted(number: &[u32]) -> String {
    number.iter().map(u32::to_string).collect::<Vec<_>>().join(".")
}

const NO_BASELINE: &str = "no promise is compared: no tag such as v0.1.0 is an ancestor of this commit. `cargo xtask \
                           promise --against TAG`, another revision or the folder of a clone, names a baseline";
const KEPT: &str = "kept";
const BROKEN: &str = "BROKEN";
/// Lines that are printed of one kind: the first ones say what has happened.
const SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::lines::read;
    use super::*;

    /// A tree whose promise is the words of a file, and its number the last one.
    const WORDS: Promise = Promise {
        name: "words",
        lines: |folder| Ok(read(folder, "words")?.split(' ').map(str::to_owned).collect()),
        number: |folder| Ok(read(folder, "words")?.split(' ').filter_map(|word| word.parse().ok()).collect()),
        remedy: "raise the number",
    };

    #[test]
    fn every_promise_of_this_tree_has_lines_and_a_number() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the root");
        for promise in PROMISES {
            let lines = (promise.lines)(root).unwrap_or_else(|why| panic!("{}: {why}", promise.name));
            assert!(lines.len() > 100, "{} has only {} lines", promise.name, lines.len());
            assert!((promise.number)(root).is_ok_and(|number| !number.is_empty()), "{}", promise.name);
        }
    }

    #[test]
    fn a_line_may_go_only_with_a_higher_number_and_may_be_added_without() {
        let folder = std::env::temp_dir().join(format!("skipstone-promise-{}", std::process::id()));
        let tree = |name: &str, words: &str| {
            let tree = folder.join(name);
            std::fs::create_dir_all(&tree).expect("a folder");
            std::fs::write(tree.join("words"), words).expect("written");
            tree
        };
        let old = tree("old", "1 a b");
        let judged = |words| judge(&WORDS, &old, &tree("new", words)).expect("both are read");
        assert_eq!(judged("1 a b c").0, KEPT);
        assert_eq!(judged("2 a").0, KEPT);
        let (word, text) = judged("1 a c");
        assert!(word == BROKEN && text.contains("raise the number"), "{text}");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
