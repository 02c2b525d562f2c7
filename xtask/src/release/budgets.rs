//! The size that each artifact may have. A release with a larger one fails: raise the budget here with a reason in the
//! commit, or find what has grown.

use std::path::Path;

/// An artifact's name, in which `*` stands for anything, and its budget in bytes. The first that fits counts.
const BUDGETS: &[(&str, u64)] = &[
    // Trust: what each artifact is made of.
    ("*.cdx.json", 2 * MB),
    ("RELEASE-NOTES.md", MB / 10),
    // The libraries of other languages: above the tool, whose patterns fit them, too.
    ("skipstone-c-*-debug.*", 40 * MB),
    ("skipstone-c-*", 12 * MB),
    ("Skipstone.*.nupkg", 15 * MB),
    ("com.skipstone.transport-*.tgz", 15 * MB),
    ("skipstone*.crate", 2 * MB),
    ("skipstone-*.tgz", MB),
    ("skipstone-*.whl", 5 * MB),
    ("skipstone-go-*.tar.gz", 30 * MB),
    // The tool.
    ("skipstone-*-windows-*.zip", 30 * MB),
    ("skipstone-*-linux-musl.tar.gz", 30 * MB),
    ("skipstone-*-apple-darwin.tar.gz", 30 * MB),
    ("skipstone_*.deb", 30 * MB),
    ("skipstone-*.oci.tar", 60 * MB),
    // Python's sources, whose name has nothing but the version.
    ("skipstone-*.tar.gz", 3 * MB),
];

const MB: u64 = 1_000_000;

/// The budget of an artifact of that name.
pub(super) fn of(name: &str) -> Option<u64> {
    BUDGETS.iter().find(|(pattern, _)| fits(pattern, name)).map(|(_, budget)| *budget)
}

/// Refuses an artifact above its budget, and one that has none. Returns its size.
pub(super) fn check(artifact: &Path) -> Result<u64, String> {
    let name = artifact.file_name().unwrap_or_default().to_string_lossy();
    let size = std::fs::metadata(artifact).map_err(|error| format!("{}: {error}", artifact.display()))?.len();
    judge(&name, size).map(|()| size)
}

fn judge(name: &str, size: u64) -> Result<(), String> {
    match of(name) {
        Some(budget) if size <= budget => Ok(()),
        Some(budget) => Err(format!(
            "{name} has {size} bytes, and its budget is {budget}: find what has grown, or raise the budget in {TABLE}"
        )),
        None => Err(format!("{name} has no budget: add its name to {TABLE}")),
    }
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name
            .strip_prefix(before)
            .is_some_and(|rest| (0..=rest.len()).any(|at| rest.is_char_boundary(at) && fits(after, &rest[at..]))),
    }
}

const TABLE: &str = "xtask/src/release/budgets.rs";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_artifact_above_its_budget_or_without_one_is_refused_with_the_remedy() {
        let name = "skipstone-0.1.0-x86_64-pc-windows-gnu.zip";
        assert_eq!(judge(name, 30 * MB), Ok(()));
        assert!(judge(name, 30 * MB + 1).is_err_and(|why| why.contains("raise the budget")));
        assert!(judge("unknown.bin", 1).is_err_and(|why| why.contains("has no budget")));
    }

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("a-*-c.zip", "a-b-c.zip") && fits("a-*-c.zip", "a--c-c.zip") && fits("*", ""));
        assert!(!fits("a-*-c.zip", "a-c.zip") && !fits("a*b", "ab2"));
    }
}
