//! A deployment from its first build to the last target, and its rollback.
//!
//! ```text
//! builds ──> for each target: lock, upload, checksums ──> for each target: switch, restart, health ──> prune
//!                                                              └── unhealthy ──> every switched target is rolled back
//! ```
//! A target that is a node of a fleet is switched only while other nodes can take its players, which it gives them when
//! it is told to restart; it is well when the fleet's directory shows it with the new release.
//!
//! Each of these changes runs on its target only while the lock there is held. A deployment that has lost it changes
//! nothing any more, and does not roll back either: `current` then belongs to another deployment.

use crate::builds::Source;
use crate::fleet::NodeStanding;
use crate::health::{self, Turn};
use crate::locked_site::LockedSite;
use crate::plan::{Plan, TargetPlan};
use crate::remote::{Practice, Remote};
use crate::site::{ReleaseState, Site};
use skipstone_lab::report::output;

/// A target on the way to a release.
struct Move<'p> {
    name: &'p str,
    target: LockedSite<'p>,
    /// The release that was current; empty if there was none.
    before: String,
}

/// Why a target is not at a release, and well.
#[derive(Debug)]
enum TurnFailure {
    /// It has refused the switch: `current` is where it was.
    NotSwitched(String),
    /// No answer to the switch arrived: `current` may point to the release.
    Unknown(String),
    /// It was switched, and the release failed its health check.
    NotWell(String),
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
        output::say(format_args!(
            "  {} changed files are not committed, and therefore not in this release",
            source.changed
        ));
    }
    let built = source.build(plan, practice).and_then(|()| upload(plan, source, sites));
    let moves = built.inspect_err(|_| source.tidy());
    let done = moves.and_then(|moves| turn(plan, release, &moves).map(|()| moves));
    source.tidy();
    for one in done? {
        // The release is current and well: old ones that stay are no reason to fail.
        let deleted = one.target.prune(&one.before);
        tell(one.name, "old releases are not deleted", deleted.as_ref());
        for line in deleted.unwrap_or_default().lines() {
            output::say(format_args!("  {}: {line}", one.name));
        }
    }
    Ok(())
}

/// Failures to mark, log or delete are reported, but neither fail a release nor stop a rollback.
fn tell<T>(name: &str, what: &str, done: Result<T, &String>) {
    if let Err(error) = done {
        output::complain(format_args!("skipstone deploy: {name}: {what}: {error}"));
    }
}

fn note(one: &Move<'_>, line: &str) {
    tell(one.name, "no line in the log", one.target.note(line).as_ref());
}

fn upload<'p>(plan: &'p Plan, source: &Source, sites: Vec<(&'p str, Site<'p>)>) -> Result<Vec<Move<'p>>, String> {
    let mut moves = Vec::new();
    for (name, site) in sites {
        let target = LockedSite::lock(site, &plan.name)?;
        let before = site.current()?;
        let folder = match site.remote.practice {
            Practice::Real => source.stage(plan, name, site.remote.plan)?,
            Practice::Dry => source.stage_of(name),
        };
        target.upload(&folder, &source.release, &before, &source.commit)?;
        output::say(format_args!("  {name}: uploaded"));
        moves.push(Move { name, target, before });
    }
    Ok(moves)
}

/// Switches one target after the other; the first unhealthy one rolls back all that were switched.
fn turn(plan: &Plan, release: &str, moves: &[Move<'_>]) -> Result<(), String> {
    for (count, one) in moves.iter().enumerate() {
        let turn = if count == 0 { Turn::First } else { Turn::Later };
        if let Err(failure) = turn_one(plan, release, one, turn) {
            let (why, switched) = match &failure {
                TurnFailure::NotSwitched(why) => (format!("not current: {why}"), &moves[..count]),
                TurnFailure::Unknown(why) => (format!("maybe not current: {why}"), &moves[..=count]),
                TurnFailure::NotWell(why) => (why.clone(), &moves[..=count]),
            };
            let mut text = format!("{}: release {release} is {why}", one.name);
            if matches!(failure, TurnFailure::NotWell(_)) {
                tell(one.name, "not marked as failed", one.target.mark_failed(release).as_ref());
            }
            for back in switched.iter().rev() {
                text += &match go_back(plan, release, back) {
                    Ok(what) => format!("\n  {}: {what}", back.name),
                    Err(error) => format!("\n  {}: the rollback failed, too: {error}", back.name),
                };
            }
            return Err(text);
        }
        output::say(format_args!("  {}: {release} is current and healthy", one.name));
    }
    Ok(())
}

fn turn_one(plan: &Plan, release: &str, one: &Move<'_>, turn: Turn) -> Result<(), TurnFailure> {
    health::await_places(&one.target.site, plan.fleet.as_ref(), turn).map_err(TurnFailure::NotSwitched)?;
    one.target.switch(&one.before, release).map_err(|failure| match failure.is_refusal() {
        true => TurnFailure::NotSwitched(failure.sentence),
        false => TurnFailure::Unknown(failure.sentence),
    })?;
    get_well(plan, release, one).map_err(TurnFailure::NotWell)?;
    tell(one.name, "not marked as healthy", one.target.mark_well(release).as_ref());
    note(one, &format!("{release} is current; before it {}", or_none(&one.before)));
    Ok(())
}

fn get_well(plan: &Plan, release: &str, one: &Move<'_>) -> Result<(), String> {
    one.target.restart(&plan.name).map_err(|error| format!("not restarted: {error}"))?;
    match one.target.site.remote.practice {
        Practice::Real => health::wait(&one.target.site, plan.fleet.as_ref(), release),
        Practice::Dry => Ok(()),
    }
}

fn go_back(plan: &Plan, release: &str, one: &Move<'_>) -> Result<String, String> {
    let (target, before) = (&one.target, &one.before);
    target.switch(release, before)?;
    let line = format!("{release} was unhealthy; back to {}", or_none(before));
    if before.is_empty() {
        note(one, &line);
        return Ok("there was no release before; nothing is current".into());
    }
    // A server that refused the new release still runs, and its players need not leave.
    if target.site.runs_from(before) != Ok(Some(true)) {
        target.restart(&plan.name)?;
        health::wait(&target.site, plan.fleet.as_ref(), before).map_err(|error| format!("{before} is {error}"))?;
    }
    note(one, &line);
    Ok(format!("{before} is current again and healthy"))
}

/// Back to a release, or to the one before the current that was well.
pub(crate) fn roll_back(plan: &Plan, only: &[String], to: Option<&str>, practice: Practice) -> Result<(), String> {
    for (name, site) in sites(plan, only, practice)? {
        let target = LockedSite::lock(site, &plan.name)?;
        let before = site.current()?;
        let all = site.releases()?;
        let older = all.iter().rev().filter(|release| release.state == ReleaseState::Well && release.name < before);
        let release = match (to, older.map(|release| release.name.clone()).next()) {
            (Some(release), _) => release.to_owned(),
            (None, Some(release)) => release,
            (None, None) if practice == Practice::Dry => "RELEASE".into(),
            (None, None) => {
                return Err(format!(
                    "{name}: there is no older healthy release; `status` lists all, and `rollback RELEASE` names one"
                ));
            }
        };
        if release == before {
            return Err(format!("{name}: {release} is current already"));
        }
        turn(plan, &release, &[Move { name, target, before }])?;
    }
    Ok(())
}

/// The state of each target.
pub(crate) fn status(plan: &Plan, only: &[String], practice: Practice) -> Result<bool, String> {
    let mut is_well = true;
    for (name, site) in sites(plan, only, practice)? {
        let current = site.current()?;
        let looked = match current.is_empty() {
            true => Err("nothing is deployed".into()),
            false => health::look(&site, &current).and_then(|()| in_directory(plan, &site, &current)),
        };
        is_well &= looked.is_ok();
        let state = looked.map_or_else(|why| format!("unhealthy: {why}"), |()| "healthy".into());
        output::say(format_args!("{name}: {} at {}, {state}", or_none(&current), site.remote.plan.host));
        for release in site.releases()?.iter().rev() {
            let mark = if release.name == current { "->" } else { "  " };
            let state = match release.state {
                ReleaseState::Well => "",
                ReleaseState::Failed => ", was unhealthy",
                ReleaseState::Untried => ", was never current and healthy",
            };
            output::say(format_args!("  {mark} {} of {}{state}", release.name, release.about));
        }
    }
    Ok(is_well)
}

/// Whether the fleet's directory shows the target's node with this release.
fn in_directory(plan: &Plan, site: &Site<'_>, release: &str) -> Result<(), String> {
    match health::standing(site, plan.fleet.as_ref(), release)? {
        NodeStanding::Healthy => Ok(()),
        NodeStanding::Draining(left) => Err(format!("it gives its players away, and {left} are left")),
        NodeStanding::Otherwise(why) => Err(why),
    }
}

fn or_none(release: &str) -> &str {
    if release.is_empty() { "none" } else { release }
}

#[cfg(test)]
mod tests;
