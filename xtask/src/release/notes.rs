//! RELEASE-NOTES.md, the text that a releaser publishes: what to change in an upgrade, by the change log's own lines, and
//! how files are verified.

use std::path::PathBuf;

use super::plan::{Checked, Part, Release, write};
use crate::machine::tree::Tree;

pub(super) const PARTS: &[Part] = &[Part {
    name: "notes",
    about: "the release's text: what to change in an upgrade, from the change log",
    make,
    check,
}];

/// Refuses a release that the change log does not know.
pub(super) fn check_change_log(release: &Release, tree: &Tree) -> Result<(), String> {
    match section(&change_log(tree)?, &release.version) {
        Some(_) => Ok(()),
        None => Err(format!(
            "CHANGELOG.md has no section `## [{0}]`: rename [Unreleased] to `[{0}] - DATE`, and commit that before the tag",
            release.version
        )),
    }
}

fn make(release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    let to = release.artifact(NAME);
    write(&to, text(&change_log(tree)?, release)?).map(|()| vec![to])
}

fn check(release: &Release, _tree: &Tree) -> Result<Checked, String> {
    let notes = release.artifact(NAME);
    let text = std::fs::read_to_string(&notes).map_err(|error| format!("{}: {error}", notes.display()))?;
    match text.starts_with(&format!("# Skipstone {}\n", release.version)) {
        true => Ok(Checked::Passed(format!("{} lines", text.lines().count()))),
        false => Err(format!("{} is of another version", notes.display())),
    }
}

fn change_log(tree: &Tree) -> Result<String, String> {
    let path = tree.root().join("CHANGELOG.md");
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

fn text(change_log: &str, release: &Release) -> Result<String, String> {
    let version = &release.version;
    let section = section(change_log, version).or_else(|| section(change_log, "Unreleased"));
    let section = section.ok_or("CHANGELOG.md has neither a section of this version nor [Unreleased]")?;
    let changes = breaking(section);
    let upgrade = match (is_first(change_log, version), changes.is_empty()) {
        (true, _) => "This is the first release.\n".to_owned(),
        (false, true) => "Nothing has to be changed.\n".to_owned(),
        (false, false) => changes.concat(),
    };
    Ok(TEXT.replace("VERSION", version).replace("REVISION", &release.revision).replace("UPGRADE\n", &upgrade))
}

/// The lines below the heading of a version.
fn section<'a>(change_log: &'a str, version: &str) -> Option<&'a str> {
    let (_, after) = change_log.split_once(&format!("\n## [{version}]"))?;
    let (_, below) = after.split_once('\n')?;
    Some(below.split("\n## [").next().unwrap_or(below))
}

/// Whether the change log has no section of another version.
fn is_first(change_log: &str, version: &str) -> bool {
    let own = ["Unreleased", version].map(|own| format!("{own}]"));
    change_log.split("\n## [").skip(1).all(|section| own.iter().any(|own| section.starts_with(own)))
}

/// The items that ask users for a change: those below "Breaking", those that say so, and those about the wire.
fn breaking(section: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut is_below, mut is_open) = (false, false);
    for line in section.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            is_below = heading == "Breaking";
        }
        if line.starts_with("- ") {
            found.push(String::new());
        }
        is_open = line.starts_with("- ") || is_open && line.starts_with("  ");
        if let Some(item) = found.last_mut().filter(|_| is_open) {
            *item += &format!("{line}\n");
            if line.starts_with("- ") && is_below {
                item.insert_str(0, MARK);
            }
        }
    }
    let asks = |item: &String| {
        [MARK, "(breaking)", "**Breaking**", "**Wire**", "WIRE.md"].iter().any(|word| item.contains(word))
    };
    found.into_iter().filter(asks).map(|item| item.replace(MARK, "")).collect()
}

/// Before an item below "Breaking", until items are chosen.
const MARK: &str = "\u{1}";
const NAME: &str = "RELEASE-NOTES.md";
const TEXT: &str = "\
# Skipstone VERSION

Of commit REVISION. How each file is installed: docs/guide/install.md. All changes: CHANGELOG.md.

## To change in an upgrade

UPGRADE

## To verify

```sh
sha256sum --check --ignore-missing SHA256SUMS
# If the release has SHA256SUMS.sig:
ssh-keygen -Y verify -n skipstone-release -f ALLOWED_SIGNERS -I IDENTITY -s SHA256SUMS.sig < SHA256SUMS
```

ALLOWED_SIGNERS is a file with the line `IDENTITY KEY`, where KEY is the project's public key. What each file contains is
in the file of its name with `.cdx.json` (CycloneDX).
";

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
# Changelog

## [Unreleased]

- Later (breaking).

## [0.2.0] - 2027-01-01

### Servers

- New: `--flag`.
- C#: `Granted` is `Sessions`
  (breaking).

### Breaking

- `Flow::overhead` is an `Option`:
  null without payload.

### Links

- **Wire**: setting 11.

## [0.1.0] - 2026-12-01

- Old (breaking).
";

    #[test]
    fn items_that_ask_for_a_change_are_upgrade_notes() {
        let section = section(LOG, "0.2.0").expect("it has one");
        let expected = [
            "- C#: `Granted` is `Sessions`\n  (breaking).\n",
            "- `Flow::overhead` is an `Option`:\n  null without payload.\n",
            "- **Wire**: setting 11.\n",
        ];
        assert_eq!(breaking(section), expected);
    }

    #[test]
    fn the_first_release_has_nothing_to_upgrade_from() {
        let release = Release::for_tests("work".into());
        let first = "# Changelog\n\n## [0.1.0] - today\n\n- Old (breaking).\n";
        assert!(text(first, &release).is_ok_and(|text| text.contains("first release") && !text.contains("Old")));
        let of_second = Release { version: "0.2.0".into(), ..Release::for_tests("work".into()) };
        assert!(text(LOG, &of_second).is_ok_and(|text| text.contains("setting 11") && !text.contains("Later")));
        assert!(!is_first("# Changelog\n\n## [Unreleased]\n\n## [0.1.0]\n", "0.2.0"), "an untagged try of the second");
    }
}
