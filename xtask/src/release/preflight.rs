//! What must hold before anything is built: the tree is what was committed, the tag names the version, the system has
//! what every part needs. Each refusal names its remedy.

use super::plan::CommitTime;
use crate::machine::process;
use crate::machine::tree::Tree;

/// The commit that is released.
pub(super) struct Commit {
    pub(super) revision: String,
    pub(super) time: CommitTime,
}

/// How a release is made of a tree that differs from its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dirty {
    Refused,
    Allowed,
}

/// Checks all of it.
pub(super) fn check(version: &str, tag: Option<&str>, dirty: Dirty, tree: &Tree) -> Result<Commit, String> {
    if !cfg!(target_os = "linux") {
        return Err("a release is made on Linux, for all systems: run this there".into());
    }
    for (program, package) in [("git", "git"), ("tar", "tar"), ("gzip", "gzip"), ("sha256sum", "coreutils")] {
        if process::find(program).is_none() {
            return Err(format!("{program} is missing. Debian and Ubuntu: apt-get install {package}"));
        }
    }
    judge_changes(&git(&["status", "--porcelain"], tree)?, dirty)?;
    let tags = git(&["tag", "--points-at", "HEAD"], tree)?;
    judge_tags(version, tag, &tags)?;
    let revision = git(&["rev-parse", "HEAD"], tree)?.trim().to_owned();
    let written = |format: &str| {
        let date = format!("--date=format-local:{format}");
        git(&["log", "-1", "--format=%cd", &date], tree).map(|text| text.trim().to_owned())
    };
    let epoch = written("%s")?;
    let epoch = epoch.parse().map_err(|_| format!("git gives `{epoch}` as the commit's time"))?;
    let time = CommitTime {
        epoch,
        iso_8601: written("%Y-%m-%dT%H:%M:%SZ")?,
        rfc_2822: written("%a, %d %b %Y %H:%M:%S +0000")?,
    };
    Ok(Commit { revision, time })
}

fn git(words: &[&str], tree: &Tree) -> Result<String, String> {
    let mut git = process::command("git", tree);
    git.args(words).env("TZ", "UTC").env("LC_ALL", "C");
    let remedy = "run this in a clone of the repository";
    process::output(git).ok_or_else(|| format!("`git {}` fails: {remedy}", words.join(" ")))
}

fn judge_changes(status: &str, dirty: Dirty) -> Result<(), String> {
    let Some(first) = status.lines().next() else { return Ok(()) };
    let count = status.lines().count();
    let text = format!("{count} files differ from the commit, such as `{}`", first.trim());
    if dirty == Dirty::Allowed {
        println!("{text}: these artifacts are for trying, not for publishing");
        return Ok(());
    }
    Err(format!(
        "{text}: this release could not be made again. Commit them, stash them, or try things out with --allow-dirty"
    ))
}

/// `tag` is the one that was asked for; `tags` are those of the commit, one a line.
fn judge_tags(version: &str, tag: Option<&str>, tags: &str) -> Result<(), String> {
    let right = format!("v{version}");
    if let Some(tag) = tag {
        if tag != right {
            return Err(format!(
                "the tag {tag} is not the version {version}: use --tag {right}, or set the version in Cargo.toml"
            ));
        }
        if !tags.lines().any(|own| own == tag) {
            return Err(format!("this commit does not have the tag {tag}: `git checkout {tag}`, or `git tag {tag}`"));
        }
        return Ok(());
    }
    let is_version =
        |own: &&str| own.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match tags.lines().filter(is_version).find(|own| *own != right) {
        Some(wrong) if !tags.lines().any(|own| own == right) => Err(format!(
            "this commit has the tag {wrong}, and its version is {version}: set the version in Cargo.toml, or move the \
             tag"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_differs_from_its_commit_is_refused_with_the_remedy() {
        assert_eq!(judge_changes("", Dirty::Refused), Ok(()));
        let status = " M README.md\n?? new.rs\n";
        assert_eq!(judge_changes(status, Dirty::Allowed), Ok(()));
        let why = judge_changes(status, Dirty::Refused).expect_err("it differs");
        assert!(why.contains("2 files") && why.contains("README.md") && why.contains("Commit them"), "{why}");
    }

    #[test]
    fn a_tag_that_is_not_the_version_is_refused_with_the_remedy() {
        let refused = |tag, tags: &str| judge_tags("0.2.0", tag, tags).expect_err("it is refused");
        assert_eq!(judge_tags("0.2.0", None, ""), Ok(()));
        assert_eq!(judge_tags("0.2.0", None, "nightly\nv0.2.0\n"), Ok(()));
        assert_eq!(judge_tags("0.2.0", Some("v0.2.0"), "v0.2.0\n"), Ok(()));
        assert!(refused(Some("v0.3.0"), "v0.3.0\n").contains("--tag v0.2.0"));
        assert!(refused(Some("0.2.0"), "0.2.0\n").contains("--tag v0.2.0"));
        assert!(refused(Some("v0.2.0"), "").contains("git checkout v0.2.0"));
        assert!(refused(None, "v0.1.0\n").contains("set the version"));
    }
}
