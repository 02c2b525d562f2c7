//! The page of `skipstone serve --dashboard`: its sources are checked, the committed page equals their build, and a
//! browser drives it.

use std::path::Path;

use crate::languages::node::NodePackage;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system};

const PAGE: NodePackage = NodePackage { folder: "crates/skipstone-cli/dashboard" };

/// The step of `cargo xtask test`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Err(verdict) = PAGE.install(tree) {
        return verdict;
    }
    let checked = process::run(PAGE.script("lint", &[], tree))
        .and_then(|()| process::run(PAGE.script("test", &[], tree)))
        .and_then(|()| is_as_built(tree));
    if let Err(why) = checked {
        return Verdict::Failed(why);
    }
    if let Some(why) = system::chromium(tree) {
        return Verdict::Skipped(format!("{why} The sources were checked all the same."));
    }
    drive(tree).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// Builds the page again, and compares.
fn is_as_built(tree: &Tree) -> Result<(), String> {
    let fresh = process::target_dir(tree).join("dashboard-page");
    let folder = fresh.to_string_lossy().into_owned();
    process::run(PAGE.script("build", &["--outDir", &folder, "--emptyOutDir"], tree))?;
    let kept = PAGE.path(tree, "dist");
    let differing: Vec<&str> =
        FILES.iter().copied().filter(|file| !is_same(&fresh.join(file), &kept.join(file))).collect();
    match differing.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{} in {}/dist is not what the sources build: run `npm run build` there",
            differing.join(", "),
            PAGE.folder
        )),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let read = |path: &Path| std::fs::read(path).ok();
    read(one).is_some() && read(one) == read(other)
}

fn drive(tree: &Tree) -> Result<(), String> {
    process::build_programs(tree)?;
    let mut browser = PAGE.script("test:browser", &[], tree);
    browser.env("CARGO_TARGET_DIR", process::target_dir(tree));
    process::run(browser)?;
    println!("screenshots are in {}", process::target_dir(tree).join("dashboard").display());
    Ok(())
}

const FILES: [&str; 4] = ["index.html", "dashboard.js", "dashboard.css", "icon.svg"];
