//! A deployment from its first build to the last target, and the way back.
//!
//! ```text
//! builds ──> for each target: lock, upload, checksums ──> for each target: switch, restart, health ──> prune
//!                                                              └── not well ──> every target switched so far goes back
//! ```

use crate::builds::Source;
use crate::health;
use crate::plan::{Plan, TargetPlan};
use crate::remote::{Practice, Remote};
use crate::site::{Site, SiteLock};
use skipstone_lab::report::output;

/// A target on the way to a release.
struct Move<'p> {
    name: &'p str,
    site: Site<'p>,
    /// The release that was current; empty if there was none.
    before: String,
    _lock: SiteLock,
}

/// The sites of a plan, or of one target.
pub(crate) fn sites<'p>(
    plan: &'p Plan,
    only: &[String],
    practice: Practice,
) -> Result<Vec<(&'p str, Site<'p>)>, String> {
    if let Some(name) = only.iter().find(|name| !plan.targets.contains_key(*name)) {
        let all: Vec<&str> = plan.targets.keys().map(String::as_str).collect();
        return Err(format!("there is no target '{}'; there are {}", name.escape_debug(), all.join(", ")));
    }
    let is_meant = |name: &str| only.is_empty() || only.iter().any(|one| one == name);
    let site = |plan: &'p TargetPlan| Site { remote: Remote { plan, practice, program: "ssh" } };
    Ok(plan.targets.iter().filter(|(name, _)| is_meant(name)).map(|(name, plan)| (name.as_str(), site(plan))).collect())
}

/// Builds, uploads and switches.
pub(crate) fn deploy(plan: &Plan, source: &Source, only: &[String], practice: Practice) -> Result<(), String> {
    let sites = sites(plan, only, practice)?;
    let (release, commit) = (&source.release, &source.commit);
    output::say(format_args!("{}: release {release}, of commit {commit}", plan.name));
    if source.changed > 0 {
        output::say(format_args!("  {} changed files are in no commit, and so not in this release", source.changed));
    }
    let built = source.build(plan, practice).and_then(|()| upload(plan, source, sites));
    let moves = built.inspect_err(|_| source.tidy());
    let done = moves.and_then(|moves| turn(plan, release, &moves).map(|()| moves));
    source.tidy();
    for one in done? {
        for line in one.site.prune(&one.before)?.lines() {
            output::say(format_args!("  {}: {line}", one.name));
        }
    }
    Ok(())
}

fn upload<'p>(plan: &'p Plan, source: &Source, sites: Vec<(&'p str, Site<'p>)>) -> Result<Vec<Move<'p>>, String> {
    let mut moves = Vec::new();
    for (name, site) in sites {
        let lock = site.lock(&plan.name)?;
        let before = site.current()?;
        let folder = match site.remote.practice {
            Practice::Real => source.stage(plan, name, site.remote.plan)?,
            Practice::Dry => source.stage_of(name),
        };
        site.upload(&folder, &source.release, &before, &source.commit)?;
        output::say(format_args!("  {name}: uploaded"));
        moves.push(Move { name, site, before, _lock: lock });
    }
    Ok(moves)
}

/// Switches one target after the other; the first that does not get well takes all of them back.
fn turn(plan: &Plan, release: &str, moves: &[Move<'_>]) -> Result<(), String> {
    for (count, one) in (1..).zip(moves) {
        if let Err(why) = turn_one(plan, release, one) {
            let mut text = format!("{}: release {release} is {why}", one.name);
            one.site.mark_failed(release)?;
            for back in moves[..count].iter().rev() {
                text += &match go_back(plan, release, back) {
                    Ok(what) => format!("\n  {}: {what}", back.name),
                    Err(error) => format!("\n  {}: the way back failed, too: {error}", back.name),
                };
            }
            return Err(text);
        }
        output::say(format_args!("  {}: {release} is current, and well", one.name));
    }
    Ok(())
}

fn turn_one(plan: &Plan, release: &str, one: &Move<'_>) -> Result<(), String> {
    one.site.switch(release)?;
    one.site.restart(&plan.name).map_err(|error| format!("not restarted: {error}"))?;
    if one.site.remote.practice == Practice::Real {
        health::wait(&one.site, release)?;
    }
    one.site.note(&format!("{release} is current; before it {}", or_none(&one.before)))
}

fn go_back(plan: &Plan, release: &str, one: &Move<'_>) -> Result<String, String> {
    one.site.switch(&one.before)?;
    one.site.note(&format!("{release} did not get well; back to {}", or_none(&one.before)))?;
    if one.before.is_empty() {
        return Ok("there was no release before; nothing is current".into());
    }
    // A server that refused the new release still runs, and its players need not leave.
    if one.site.runs_from(&one.before)? != Some(true) {
        one.site.restart(&plan.name)?;
        health::wait(&one.site, &one.before).map_err(|error| format!("{} is {error}", one.before))?;
    }
    Ok(format!("{} is current again, and well", one.before))
}

/// Back to a release, or to the one before the current that was well.
pub(crate) fn roll_back(plan: &Plan, only: &[String], to: Option<&str>, practice: Practice) -> Result<(), String> {
    for (name, site) in sites(plan, only, practice)? {
        let lock = site.lock(&plan.name)?;
        let before = site.current()?;
        let all = site.releases()?;
        let older = all.iter().rev().filter(|release| !release.has_failed && release.name < before);
        let release = match (to, older.map(|release| release.name.clone()).next()) {
            (Some(release), _) => release.to_owned(),
            (None, Some(release)) => release,
            (None, None) if practice == Practice::Dry => "RELEASE".into(),
            (None, None) => {
                return Err(format!("{name}: there is no older release to go back to; `status` lists them"));
            }
        };
        if release == before {
            return Err(format!("{name}: {release} is current already"));
        }
        turn(plan, &release, &[Move { name, site, before, _lock: lock }])?;
    }
    Ok(())
}

/// What is where.
pub(crate) fn status(plan: &Plan, only: &[String], practice: Practice) -> Result<bool, String> {
    let mut is_well = true;
    for (name, site) in sites(plan, only, practice)? {
        let current = site.current()?;
        let looked = if current.is_empty() { Err("nothing is deployed".into()) } else { health::look(&site, &current) };
        is_well &= looked.is_ok();
        let state = looked.map_or_else(|why| format!("not well: {why}"), |()| "well".into());
        output::say(format_args!("{name}: {} at {}, {state}", or_none(&current), site.remote.plan.host));
        for release in site.releases()?.iter().rev() {
            let mark = if release.name == current { "->" } else { "  " };
            let failed = if release.has_failed { ", did not get well" } else { "" };
            output::say(format_args!("  {mark} {} of {}{failed}", release.name, release.about));
        }
    }
    Ok(is_well)
}

fn or_none(release: &str) -> &str {
    if release.is_empty() { "none" } else { release }
}
