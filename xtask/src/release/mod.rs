//! `cargo xtask release`: everything that people install, made from one commit into `dist/`, and checked by installing
//! it where nothing is. Each part has a file or a folder of its own; `plan` has what they share.

mod archive;
mod bill;
mod budgets;
mod build;
mod c;
mod contents;
mod crates;
mod csharp;
mod emulated;
mod go;
mod library;
mod mach_o;
mod notes;
mod npm;
mod parts;
mod place;
mod plan;
mod preflight;
pub(crate) mod promise;
mod python;
mod sums;
mod systems;
mod table;
mod third_party;
mod tool;
mod unity;
mod universal;
mod uuid;
mod zig;

use std::path::PathBuf;
use std::time::Instant;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::rules::licences;
use plan::{Checked, Part, Release};
use preflight::Dirty;
use table::Row;

/// The command.
pub(crate) fn release(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    if arguments.take_flag("--list") {
        parts::all().for_each(|part| println!("{:<22}{}", part.name, part.about));
        return arguments.expect_end().map(|()| true);
    }
    let only = arguments.take_value("--only")?;
    let dist = arguments.take_value("--dist")?.unwrap_or_else(|| "dist".into());
    let tag = arguments.take_value("--tag")?;
    let key = arguments.take_value("--sign-with")?.map(PathBuf::from);
    let dirty = if arguments.take_flag("--allow-dirty") { Dirty::Allowed } else { Dirty::Refused };
    let is_check = arguments.take_flag("--check");
    arguments.expect_end()?;
    let parts = parts::chosen(only.as_deref())?;
    let version = env!("CARGO_PKG_VERSION");
    // What is installed has been made already: the tree may have changed since.
    let dirty = if is_check { Dirty::Allowed } else { dirty };
    let commit = preflight::check(version, tag.as_deref(), dirty, tree)?;
    let release = Release {
        version: version.into(),
        revision: commit.revision,
        time: commit.time,
        dist: tree.root().join(dist),
        work: process::target_dir(tree).join("dist"),
    };
    if is_check {
        return check(&parts, &release, tree);
    }
    if let Some(key) = &key {
        sums::check_key(key, tree)?;
    }
    if tag.is_some() {
        notes::check_change_log(&release, tree)?;
    }
    if only.is_none() {
        only_allowed_crates(tree)?;
        promise::kept(tree)?;
        // Nothing of an earlier release is published with this one.
        let _ = std::fs::remove_dir_all(&release.dist);
    }
    make(&parts, key, &release, tree)
}

/// A whole release has no crate whose licence `deny.toml` does not allow, and none with a known vulnerability. Parts
/// alone are for trying.
fn only_allowed_crates(tree: &Tree) -> Result<(), String> {
    match licences::step(tree) {
        Verdict::Failed(why) | Verdict::Skipped(why) => return Err(format!("licences: {why}")),
        Verdict::Passed | Verdict::Tests(_) => {}
    }
    match licences::advisories(tree) {
        Verdict::Failed(why) => return Err(format!("advisories: {why}")),
        // A release can be made without a network; who publishes it reads this.
        Verdict::Skipped(why) => println!("ADVISORIES NOT CHECKED: {why}"),
        Verdict::Passed | Verdict::Tests(_) => {}
    }
    Ok(())
}

fn make(parts: &[&Part], key: Option<PathBuf>, release: &Release, tree: &Tree) -> Result<bool, String> {
    std::fs::create_dir_all(&release.dist).map_err(|error| format!("{}: {error}", release.dist.display()))?;
    let mut rows = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        println!("== {} ({} of {}): {}", part.name, at + 1, parts.len(), part.about);
        let started = Instant::now();
        let made = (part.make)(release, tree);
        let seconds = started.elapsed().as_secs_f64();
        match made {
            Ok(artifacts) => rows.extend(artifacts.iter().map(|artifact| Row::of(artifact, seconds))),
            Err(why) => rows.push(Row::failed(part.name, seconds, why)),
        }
    }
    let is_good = rows.iter().all(Row::is_good);
    println!("{}", sums::write_sums(release, tree)?.display());
    if let Some(key) = key.filter(|_| is_good) {
        println!("{}", sums::sign(&key, release, tree)?.display());
    }
    print!("{}", table::text(&rows));
    Ok(is_good)
}

fn check(parts: &[&Part], release: &Release, tree: &Tree) -> Result<bool, String> {
    sums::check_sums(release, tree)?;
    let mut lines = Vec::new();
    let mut failed = 0;
    for part in parts {
        println!("== {}", part.name);
        let started = Instant::now();
        let (word, text) = match (part.check)(release, tree) {
            Ok(Checked::Passed(text)) => ("passed", text),
            Ok(Checked::Skipped(why)) => ("skipped", why),
            Err(why) => {
                failed += 1;
                ("FAILED", why)
            }
        };
        let seconds = started.elapsed().as_secs_f64();
        lines.push(format!("{:<22}{word:<9}{seconds:>6.1} s  {text}", part.name));
    }
    lines.iter().for_each(|line| println!("{line}"));
    Ok(failed == 0)
}
