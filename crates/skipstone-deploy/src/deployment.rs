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
use crate::site::{ReleaseState, Site, SiteLock};
use skipstone_lab::report::output;

/// A target on the way to a release.
struct Move<'p> {
    name: &'p str,
    site: Site<'p>,
    /// The release that was current; empty if there was none.
    before: String,
    lock: SiteLock,
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
        // The release is current and well: old ones that stay are no reason to fail.
        let deleted = one.lock.check().and_then(|()| one.site.prune(&one.before));
        tell(one.name, "old releases are not deleted", deleted.as_ref());
        for line in deleted.unwrap_or_default().lines() {
            output::say(format_args!("  {}: {line}", one.name));
        }
    }
    Ok(())
}

/// Marks, log lines and deletions that fail are told: they neither condemn a release nor stop the way back.
fn tell<T>(name: &str, what: &str, done: Result<T, &String>) {
    if let Err(error) = done {
        output::complain(format_args!("skipstone deploy: {name}: {what}: {error}"));
    }
}

fn note(one: &Move<'_>, line: &str) {
    tell(one.name, "no line in the log", one.site.note(line).as_ref());
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
        site.upload(&lock, &folder, &source.release, &before, &source.commit)?;
        output::say(format_args!("  {name}: uploaded"));
        moves.push(Move { name, site, before, lock });
    }
    Ok(moves)
}

/// Switches one target after the other; the first that does not get well takes all of them back.
fn turn(plan: &Plan, release: &str, moves: &[Move<'_>]) -> Result<(), String> {
    for (count, one) in (1..).zip(moves) {
        if let Err(why) = turn_one(plan, release, one) {
            let mut text = format!("{}: release {release} is {why}", one.name);
            for back in moves[..count].iter().rev() {
                text += &match go_back(plan, release, back) {
                    Ok(what) => format!("\n  {}: {what}", back.name),
                    Err(error) => format!("\n  {}: the way back failed, too: {error}", back.name),
                };
            }
            tell(one.name, "not marked as failed", one.site.mark_failed(release).as_ref());
            return Err(text);
        }
        output::say(format_args!("  {}: {release} is current, and well", one.name));
    }
    Ok(())
}

fn turn_one(plan: &Plan, release: &str, one: &Move<'_>) -> Result<(), String> {
    one.lock.check()?;
    one.site.switch(release)?;
    one.site.restart(&plan.name).map_err(|error| format!("not restarted: {error}"))?;
    if one.site.remote.practice == Practice::Real {
        health::wait(&one.site, release)?;
    }
    tell(one.name, "not marked as well", one.site.mark_well(release).as_ref());
    note(one, &format!("{release} is current; before it {}", or_none(&one.before)));
    Ok(())
}

fn go_back(plan: &Plan, release: &str, one: &Move<'_>) -> Result<String, String> {
    one.site.switch(&one.before)?;
    let line = format!("{release} did not get well; back to {}", or_none(&one.before));
    if one.before.is_empty() {
        note(one, &line);
        return Ok("there was no release before; nothing is current".into());
    }
    // A server that refused the new release still runs, and its players need not leave.
    if one.site.runs_from(&one.before) != Ok(Some(true)) {
        one.site.restart(&plan.name)?;
        health::wait(&one.site, &one.before).map_err(|error| format!("{} is {error}", one.before))?;
    }
    note(one, &line);
    Ok(format!("{} is current again, and well", one.before))
}

/// Back to a release, or to the one before the current that was well.
pub(crate) fn roll_back(plan: &Plan, only: &[String], to: Option<&str>, practice: Practice) -> Result<(), String> {
    for (name, site) in sites(plan, only, practice)? {
        let lock = site.lock(&plan.name)?;
        let before = site.current()?;
        let all = site.releases()?;
        let older = all.iter().rev().filter(|release| release.state == ReleaseState::Well && release.name < before);
        let release = match (to, older.map(|release| release.name.clone()).next()) {
            (Some(release), _) => release.to_owned(),
            (None, Some(release)) => release,
            (None, None) if practice == Practice::Dry => "RELEASE".into(),
            (None, None) => {
                return Err(format!(
                    "{name}: there is no older release that was well; `status` lists all, and `rollback RELEASE` names one"
                ));
            }
        };
        if release == before {
            return Err(format!("{name}: {release} is current already"));
        }
        turn(plan, &release, &[Move { name, site, before, lock }])?;
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
            let state = match release.state {
                ReleaseState::Well => "",
                ReleaseState::Failed => ", did not get well",
                ReleaseState::Untried => ", was never current and well",
            };
            output::say(format_args!("  {mark} {} of {}{state}", release.name, release.about));
        }
    }
    Ok(is_well)
}

fn or_none(release: &str) -> &str {
    if release.is_empty() { "none" } else { release }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    const PLAN: &str = r#"
name = "game"
[build.server]
command = "true"
artifacts = ["game"]
[target.here]
host = "here"
directory = "DIRECTORY"
restart = "true"
health = { command = "grep -q well current/state", timeout = "1ms", settle = "1ms" }
"#;

    /// A directory with a current release "1", "2" that is well and "3" that is not, and an ssh that runs everything here.
    fn place() -> (tempfile::TempDir, Plan, String) {
        let place = tempfile::Builder::new().prefix("site-").tempdir().expect("a folder");
        let at = place.path();
        for (release, state) in [("1", "well"), ("2", "well"), ("3", "sick")] {
            let folder = at.join("site/releases").join(release);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("state"), state).expect("written");
            fs::write(folder.join(".skipstone-release"), "a commit\n").expect("written");
        }
        symlink("releases/1", at.join("site/current")).expect("made");
        let ssh = at.join("ssh");
        program(&ssh, "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n");
        let directory = at.join("site").display().to_string();
        let plan = Plan::parse(&PLAN.replace("DIRECTORY", &directory)).expect("a plan");
        (place, plan, ssh.display().to_string())
    }

    /// By another process: a file that is open for writing in a child of ours cannot be run.
    fn copy(from: &Path, to: &Path) {
        assert!(std::process::Command::new("cp").arg(from).arg(to).status().expect("it starts").success());
    }

    fn program(file: &Path, text: &str) {
        let draft = file.with_extension("draft");
        fs::write(&draft, text).expect("written");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("ours");
        let _ = fs::remove_file(file);
        copy(&draft, file);
    }

    fn move_to<'p>(plan: &'p Plan, program: &'p str) -> Move<'p> {
        let remote = Remote { plan: &plan.targets["here"], practice: Practice::Real, program };
        Move { name: "here", site: Site { remote }, before: "1".into(), lock: SiteLock::none() }
    }

    fn current(place: &Path) -> String {
        fs::read_link(place.join("site/current")).expect("a link").display().to_string()
    }

    #[test]
    fn the_process_before_does_not_answer_for_the_release_after_it() {
        let (place, mut plan, ssh) = place();
        let site = place.path().join("site");
        let sleep = site.join("releases/1/sleep");
        copy(Path::new("/bin/sleep"), &sleep);
        let mut server = std::process::Command::new(&sleep).arg("60").spawn().expect("it starts");
        let target = plan.targets.get_mut("here").expect("it has one");
        // A systemctl before the real one in PATH.
        let ask = format!("#!/bin/sh\n[ \"$*\" = 'show -p MainPID --value game.service' ] && echo {}\n", server.id());
        program(&place.path().join("systemctl"), &ask);
        let path =
            format!("#!/bin/sh\nPATH={}:$PATH\nfor last; do :; done\nexec sh -c \"$last\"\n", place.path().display());
        program(Path::new(&ssh), &path);
        (target.service, target.restart) = (Some("game.service".into()), None);
        let one = move_to(&plan, &ssh);
        let (first, second) = (one.site.runs_from("1"), one.site.runs_from("2"));
        let _ = server.kill();
        let _ = server.wait();
        assert_eq!((first, second, one.site.runs_from("1")), (Ok(Some(true)), Ok(Some(false)), Ok(Some(false))));
    }

    #[test]
    fn a_log_and_a_mark_that_cannot_be_written_neither_condemn_a_release_nor_stop_the_way_back() {
        let (place, plan, ssh) = place();
        fs::create_dir_all(place.path().join("site/deploy.log")).expect("a folder");
        fs::create_dir_all(place.path().join("site/releases/3/.skipstone-failed")).expect("a folder");
        let one = [move_to(&plan, &ssh)];
        let error = turn(&plan, "3", &one).expect_err("it is sick");
        assert!(error.contains("1 is current again, and well"), "{error}");
        assert_eq!(current(place.path()), "releases/1");
        turn(&plan, "2", &one).expect("it is well");
        assert_eq!(current(place.path()), "releases/2");
    }

    #[test]
    fn only_what_was_current_and_well_counts_as_a_release_to_go_back_to() {
        let (place, mut plan, ssh) = place();
        plan.targets.get_mut("here").expect("it has one").keep = 1;
        let states = |plan: &Plan| {
            let releases = move_to(plan, &ssh).site.releases().expect("a list");
            releases.into_iter().map(|release| (release.name, release.state)).collect::<Vec<_>>()
        };
        turn(&plan, "3", &[move_to(&plan, &ssh)]).expect_err("it is sick");
        turn(&plan, "2", &[move_to(&plan, &ssh)]).expect("it is well");
        let [one, two, three] = ["1", "2", "3"].map(String::from);
        assert_eq!(
            states(&plan),
            [(one, ReleaseState::Untried), (two.clone(), ReleaseState::Well), (three.clone(), ReleaseState::Failed)]
        );
        // One that did not get well takes nobody's place, and goes with those older than what is kept.
        fs::write(place.path().join("site/releases/1/.skipstone-well"), "").expect("written");
        let deleted = move_to(&plan, &ssh).site.prune("").expect("it deletes");
        assert_eq!(deleted.trim(), "deleted 1");
        assert_eq!(states(&plan), [(two, ReleaseState::Well), (three, ReleaseState::Failed)]);
    }

    #[test]
    fn a_lock_whose_connection_has_ended_is_no_lock() {
        let (_place, plan, ssh) = place();
        let lock = move_to(&plan, &ssh).site.lock("game");
        // The directory of this test has no mark, and is not empty.
        assert!(lock.is_err_and(|why| why.contains("not ours")));
        fs::write(_place.path().join("site/.skipstone-deploy"), "game\n").expect("written");
        let lock = move_to(&plan, &ssh).site.lock("game").expect("it is free");
        assert_eq!(lock.check(), Ok(()));
        let other = move_to(&plan, &ssh).site.lock("game");
        assert!(other.is_err_and(|why| why.contains("under way")));
        lock.break_off();
        assert!(lock.check().is_err_and(|why| why.contains("start anew")));
    }
}
