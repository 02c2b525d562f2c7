//! Deployments to a local folder, by an ssh that runs everything locally.

use super::*;
use crate::lock::SiteLock;
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
    fs::write(at.join("site/.skipstone-deploy"), "game\n").expect("written");
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

fn site<'p>(plan: &'p Plan, program: &'p str) -> Site<'p> {
    Site { remote: Remote { plan: &plan.targets["here"], practice: Practice::Real, program } }
}

fn move_to<'p>(plan: &'p Plan, program: &'p str) -> Move<'p> {
    let target = LockedSite::lock(site(plan, program), "game").expect("it is free");
    Move { name: "here", target, before: "1".into() }
}

fn current(place: &Path) -> String {
    fs::read_link(place.join("site/current")).expect("a link").display().to_string()
}

#[test]
fn the_previous_process_does_not_count_for_the_new_release() {
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
    let site = Site { remote: Remote { plan: &plan.targets["here"], practice: Practice::Real, program: &ssh } };
    let (first, second) = (site.runs_from("1"), site.runs_from("2"));
    let _ = server.kill();
    let _ = server.wait();
    assert_eq!((first, second, site.runs_from("1")), (Ok(Some(true)), Ok(Some(false)), Ok(Some(false))));
}

#[test]
fn an_unwritable_log_or_mark_neither_fails_a_release_nor_stops_a_rollback() {
    let (place, plan, ssh) = place();
    fs::create_dir_all(place.path().join("site/deploy.log")).expect("a folder");
    fs::create_dir_all(place.path().join("site/releases/3/.skipstone-failed")).expect("a folder");
    let one = [move_to(&plan, &ssh)];
    let error = turn(&plan, "3", &one).expect_err("it is sick");
    assert!(error.contains("1 is current again and healthy"), "{error}");
    assert_eq!(current(place.path()), "releases/1");
    turn(&plan, "2", &one).expect("it is well");
    assert_eq!(current(place.path()), "releases/2");
}

#[test]
fn only_a_healthy_current_release_is_a_rollback_target() {
    let (place, mut plan, ssh) = place();
    plan.targets.get_mut("here").expect("it has one").keep = 1;
    let states = |plan: &Plan| {
        let releases = site(plan, &ssh).releases().expect("a list");
        releases.into_iter().map(|release| (release.name, release.state)).collect::<Vec<_>>()
    };
    turn(&plan, "3", &[move_to(&plan, &ssh)]).expect_err("it is sick");
    turn(&plan, "2", &[move_to(&plan, &ssh)]).expect("it is well");
    let [one, two, three] = ["1", "2", "3"].map(String::from);
    assert_eq!(
        states(&plan),
        [(one, ReleaseState::Untried), (two.clone(), ReleaseState::Well), (three.clone(), ReleaseState::Failed)]
    );
    // A failed release replaces no other, and is deleted with the oldest ones.
    fs::write(place.path().join("site/releases/1/.skipstone-well"), "").expect("written");
    let deleted = move_to(&plan, &ssh).target.prune("").expect("it deletes");
    assert_eq!(deleted.trim(), "deleted 1");
    assert_eq!(states(&plan), [(two, ReleaseState::Well), (three, ReleaseState::Failed)]);
}

#[test]
fn a_lock_has_one_holder_and_ends_with_its_connection() {
    let (place, plan, ssh) = place();
    let mark = place.path().join("site/.skipstone-deploy");
    fs::remove_file(&mark).expect("it is there");
    let lock = || LockedSite::lock(site(&plan, &ssh), "game");
    assert!(lock().is_err_and(|why| why.contains("belongs to no deployment")));
    fs::write(mark, "game\n").expect("written");
    let first = lock().expect("it is free");
    first.note("a line").expect("it is held");
    assert!(lock().is_err_and(|why| why.contains("under way")));
    first.break_off();
    assert!(first.note("another").is_err_and(|why| why.contains("run it again")));
    drop(first);
    lock().expect("it is free again").note("a third").expect("it is held");
    let log = fs::read_to_string(place.path().join("site/deploy.log")).expect("it is there");
    assert_eq!(log.lines().count(), 2, "{log}");
}

#[test]
fn a_target_without_a_token_is_refused_before_the_deployment() {
    let (place, plan, ssh) = place();
    for says in ["echo locked ../../x; exec sleep 60", "exec cat /dev/zero", "exec yes locked"] {
        program(Path::new(&ssh), &format!("#!/bin/sh\n{says}\n"));
        let began = std::time::Instant::now();
        let why = SiteLock::take(&site(&plan, &ssh).remote, "game").map(drop).expect_err(says);
        assert!(why.contains("here: no lock in the first 16384 bytes"), "{why}");
        assert!(began.elapsed() < std::time::Duration::from_secs(15), "{says}: {:?}", began.elapsed());
    }
    program(Path::new(&ssh), "#!/bin/sh\nexec cat /dev/zero\n");
    let why = LockedSite::lock(site(&plan, &ssh), "game").map(drop).expect_err("a flood");
    assert!(why.contains("here: ssh said more than 64 MiB"), "{why}");
    assert_eq!(current(place.path()), "releases/1");
}

/// Everything in the folder but the lock's token.
fn facts(place: &Path) -> (String, bool, bool) {
    let site = place.join("site");
    (current(place), site.join("releases/3/.skipstone-failed").exists(), site.join("deploy.log").exists())
}

/// Another deployment's switch to "2" while this one looks whether "3" is well, which it is not.
fn meanwhile(plan: &mut Plan, script: &str) {
    let command = format!("{script}; ln -sfn releases/2 current; false");
    plan.targets.get_mut("here").expect("it has one").health.command = Some(command);
}

#[test]
fn a_deployment_that_lost_its_lock_changes_nothing_further() {
    let (taken, let_go) = ("echo another > .skipstone-lock", "cp .skipstone-deploy x && mv x .skipstone-deploy");
    for lost in [taken, let_go] {
        let (place, mut plan, ssh) = place();
        plan.targets.get_mut("here").expect("it has one").restart = Some("echo >> restarts".into());
        meanwhile(&mut plan, lost);
        let error = turn(&plan, "3", &[move_to(&plan, &ssh)]).expect_err("it is sick");
        assert!(error.contains("the rollback failed, too") && error.contains("no longer this deployment's"), "{error}");
        assert_eq!(facts(place.path()), ("releases/2".into(), false, false), "{lost}");
        let restarts = fs::read_to_string(place.path().join("site/restarts")).expect("one");
        assert_eq!(restarts.lines().count(), 1, "{lost}: the first, while the lock was held");
    }
}

#[test]
fn a_release_made_current_by_hand_is_kept() {
    let (place, mut plan, ssh) = place();
    meanwhile(&mut plan, "true");
    let error = turn(&plan, "3", &[move_to(&plan, &ssh)]).expect_err("it is sick");
    assert!(error.contains("current is '2' now"), "{error}");
    assert_eq!(facts(place.path()), ("releases/2".into(), false, false), "something else was looked at");
    // It is not mistaken for the previous release either.
    let error = turn(&plan, "3", &[move_to(&plan, &ssh)]).expect_err("it is elsewhere");
    assert!(error.contains("release 3 is not current: here: current is '2' now"), "{error}");
    assert_eq!(current(place.path()), "releases/2");
}

#[test]
fn only_switched_targets_are_rolled_back() {
    let (first, plan, ssh) = place();
    let (second, other_plan, other_ssh) = place();
    let moves = [move_to(&plan, &ssh), move_to(&other_plan, &other_ssh)];
    moves[1].target.break_off();
    fs::remove_file(second.path().join("site/current")).expect("it is there");
    symlink("releases/3", second.path().join("site/current")).expect("made");
    let error = turn(&plan, "2", &moves).expect_err("the second is lost");
    assert!(error.contains("release 2 is not current") && error.contains("1 is current again and healthy"), "{error}");
    assert!(!error.contains("the rollback failed"), "{error}");
    assert_eq!((current(first.path()), current(second.path())), ("releases/1".into(), "releases/3".into()));
    assert!(!second.path().join("site/releases/2/.skipstone-failed").exists(), "it was not tried");
}

#[test]
fn a_switch_without_an_answer_is_rolled_back() {
    // The connection breaks after the first rename of `current`, or the time limit or a signal ends the step there.
    for code in [255, 124, 137, 143] {
        let (place, plan, ssh) = place();
        let one = [move_to(&plan, &ssh)];
        let broken = "for last; do :; done\ncase $last in *'mv -T \".current'*) [ -e broken ] || { touch broken; sh -c \
            \"$last\"; exit CODE; };; esac\n";
        let broken = broken.replace("CODE", &code.to_string());
        let text = format!("#!/bin/sh\ncd {}\n{broken}exec sh -c \"$last\"\n", place.path().display());
        program(Path::new(&ssh), &text);
        let error = turn(&plan, "2", &one).expect_err("the outcome is unknown");
        assert!(error.contains("maybe not current"), "{code}: {error}");
        assert!(error.contains("1 is current again and healthy"), "{code}: {error}");
        assert_eq!(current(place.path()), "releases/1", "{code}");
        assert!(!place.path().join("site/releases/2/.skipstone-failed").exists(), "it was not looked at");
    }
}

#[test]
fn facts_are_read_only_from_complete_answers() {
    let (place, plan, ssh) = place();
    let one = move_to(&plan, &ssh);
    let say = |before: &str, after: &str| {
        let text = format!("#!/bin/sh\nfor last; do :; done\n{before}sh -c \"$last\"{after}\n");
        program(Path::new(&ssh), &text);
    };
    say("echo Welcome\n", "");
    assert_eq!(one.target.site.current().as_deref(), Ok("1"), "a startup file may say something");
    assert_eq!(one.target.site.releases().expect("whole").len(), 3);
    let long = format!("{}\n", "x".repeat(3 << 20));
    let about = place.path().join("site/releases/2/.skipstone-release");
    fs::write(&about, long).expect("written");
    let error = one.target.site.releases().expect_err("the middle is missing");
    assert!(error.contains("the answer is truncated"), "{error}");
    fs::write(&about, "a commit\n").expect("written");
    fs::remove_dir_all(place.path().join("site/releases/3")).expect("it is there");
    let site = one.target.site;
    // Lines of each whole answer: its edges, and a line for each fact.
    for lines in 0..=4 {
        say("", &format!(" | head -n {lines}"));
        let known = [site.releases().is_ok(), site.current().is_ok(), one.target.prune("1").is_ok()];
        assert_eq!(known, [lines == 4, lines >= 3, lines >= 2], "{lines} lines");
    }
}

#[test]
fn a_server_left_behind_by_a_restart_holds_no_lock() {
    let (place, mut plan, ssh) = place();
    let restart = "sleep 600 < /dev/null > /dev/null 2>&1 & echo $! > pid";
    plan.targets.get_mut("here").expect("it has one").restart = Some(restart.into());
    turn(&plan, "2", &[move_to(&plan, &ssh)]).expect("it is well, and noted");
    let again = LockedSite::lock(site(&plan, &ssh), "game").map(drop);
    let pid = fs::read_to_string(place.path().join("site/pid")).expect("it runs");
    assert!(std::process::Command::new("kill").arg(pid.trim()).status().expect("it starts").success(), "it ran");
    again.expect("it is free");
}

/// An ssh whose connections from the target (`-W`) answer this, and record their requests; everything else runs
/// locally.
fn conversation(place: &Path, ssh: &str, ending: &str) {
    let script = format!(
        "#!/bin/sh\nfor last; do :; done\ncase $* in *' -W '*) printf '%s\\n' \"$*\" >> {0}/words; cat > {0}/question; \
         {ending};; esac\n\
         exec sh -c \"$last\"\n",
        place.display()
    );
    program(Path::new(ssh), &script);
}

#[test]
fn health_is_the_final_status_of_the_url_requested_from_the_target() {
    let (place, mut plan, ssh) = place();
    let health = &mut plan.targets.get_mut("here").expect("it has one").health;
    (health.command, health.url) = (None, Some("http://127.0.0.1:7777/healthz?a".into()));
    let look = |ending: &str| {
        conversation(place.path(), &ssh, ending);
        health::look(&site(&plan, &ssh), "1")
    };
    assert_eq!(look("printf 'HTTP/1.1 200 OK\\r\\n\\r\\nok'; exit 0"), Ok(()));
    // An ssh that is cut off behind the answer has brought it.
    assert_eq!(look("printf 'HTTP/1.1 200 OK\\r\\n\\r\\nok'; exit 255"), Ok(()));
    let question = fs::read_to_string(place.path().join("question")).expect("it was asked");
    assert!(question.starts_with("GET /healthz?a HTTP/1.1\r\nHost: 127.0.0.1:7777\r\n"), "{question}");
    let words = fs::read_to_string(place.path().join("words")).expect("it was asked");
    assert!(words.contains(" -W 127.0.0.1:7777 -- here\n"), "{words}");
    let wrong = [
        ("printf 'HTTP/1.1 503 Busy\\r\\n\\r\\n200'; exit 0", "answers HTTP/1.1 503 Busy"),
        ("printf 'SSH-2.0 200\\r\\n\\r\\n'; exit 0", "answers SSH-2.0 200"),
        ("exit 0", "answers nothing"),
        ("echo 'Connection refused' >&2; exit 255", "here cannot be reached: Connection refused"),
    ];
    for (ending, expected) in wrong {
        let why = look(ending).expect_err(expected);
        assert!(why.contains(expected), "{ending}: {why}");
    }
}

#[test]
fn a_console_is_healthy_if_it_answers_stats() {
    let (place, mut plan, ssh) = place();
    let health = &mut plan.targets.get_mut("here").expect("it has one").health;
    (health.command, health.console) = (None, Some("127.0.0.1:7778".into()));
    let look = |ending: &str| {
        conversation(place.path(), &ssh, ending);
        health::look(&site(&plan, &ssh), "1")
    };
    assert_eq!(look("echo 'clients 3'; exit 0"), Ok(()));
    assert_eq!(fs::read_to_string(place.path().join("question")).as_deref().ok(), Some("stats\r\nquit\r\n"));
    assert!(look("echo 'who are you'; exit 0").is_err_and(|why| why.contains("127.0.0.1:7778 does not answer")));
}

#[test]
fn a_release_must_stay_healthy_for_the_duration_in_the_plan() {
    let (place, mut plan, ssh) = place();
    let health =
        "health = { command = \"echo >> looks; [ $(wc -l < looks) -lt 3 ]\", timeout = \"1ms\", settle = \"20s\" }";
    let text = PLAN
        .replace("health = { command = \"grep -q well current/state\", timeout = \"1ms\", settle = \"1ms\" }", health);
    plan.targets = Plan::parse(&text.replace("DIRECTORY", &place.path().join("site").display().to_string()))
        .expect("a plan")
        .targets;
    let why = health::wait(&site(&plan, &ssh), None, "1").expect_err("the third look finds it sick");
    assert!(why.starts_with("not healthy after 0 s"), "{why}");
}

/// A program whose `fleet status --json` prints the nodes of this file.
fn directory(place: &Path, plan: &mut Plan, nodes: &str) {
    let status = place.join("skipstone");
    program(&status, &format!("#!/bin/sh\ncat {}/nodes\n", place.display()));
    fs::write(place.join("nodes"), format!("{{\"nodes\":[{nodes}],\"rooms\":[]}}")).expect("written");
    let fleet = format!("[fleet]\nnats = \"nats://x\"\ndrain = \"1s\"\nprogram = \"{}\"\n", status.display());
    let here = place.join("site").display().to_string();
    let text = PLAN.replace("DIRECTORY", &here).replace("restart =", "node = \"a\"\nrestart =") + &fleet;
    *plan = Plan::parse(&text).expect("a plan");
}

fn listed(name: &str, version: &str, load: u32, draining: bool) -> String {
    format!(
        "{{\"name\":\"{name}\",\"version\":\"{version}\",\"load\":{load},\"capacity\":100,\"draining\":{draining},\
         \"lease_age_ms\":5}}"
    )
}

#[test]
fn a_node_is_well_once_the_fleets_directory_shows_it_with_the_new_release() {
    let (place, mut plan, ssh) = place();
    let others = listed("b", "0.9 1", 10, false);
    directory(place.path(), &mut plan, &format!("{},{others}", listed("a", "0.9 1", 30, false)));
    let error = turn(&plan, "2", &[move_to(&plan, &ssh)]).expect_err("it still runs the former release");
    assert!(error.contains("the directory says that the node a runs 0.9 1"), "{error}");
    assert!(error.contains("1 is current again and healthy"), "{error}");
    directory(place.path(), &mut plan, &format!("{},{others}", listed("a", "0.9 2", 0, false)));
    turn(&plan, "2", &[move_to(&plan, &ssh)]).expect("it runs the new one");
    assert_eq!(current(place.path()), "releases/2");
}

#[test]
fn a_node_whose_players_no_other_node_can_take_is_not_switched() {
    let (place, mut plan, ssh) = place();
    directory(place.path(), &mut plan, &format!("{},{}", listed("a", "0.9 1", 30, false), listed("b", "", 90, false)));
    let error = turn(&plan, "2", &[move_to(&plan, &ssh)]).expect_err("10 places");
    assert!(error.contains("the node a has 30 players, and the other nodes have 10 places"), "{error}");
    assert_eq!(current(place.path()), "releases/1");
}

#[test]
fn a_drain_has_an_end_and_a_directory_that_cannot_be_read_is_no_health() {
    let (place, mut plan, ssh) = place();
    directory(place.path(), &mut plan, &format!("{},{}", listed("a", "0.9 1", 7, true), listed("b", "", 9, false)));
    let error = turn(&plan, "2", &[move_to(&plan, &ssh)]).expect_err("it drains for ever");
    assert!(error.contains("still giving its players away after `fleet.drain`: 7 are left"), "{error}");
    program(&place.path().join("skipstone"), "#!/bin/sh\necho 'NATS at x: no server listens there' >&2; exit 97\n");
    let error = turn(&plan, "2", &[move_to(&plan, &ssh)]).expect_err("it is unknown");
    assert!(error.contains("the fleet's directory cannot be read: NATS at x: no server listens there"), "{error}");
}

/// The directory cannot be read at the second look, and can again later.
fn away_at_the_second_look(place: &Path) {
    let looks = place.join("looks").display().to_string();
    let away = "echo 'NATS at x: no server listens there' >&2; exit 97";
    let text = format!(
        "#!/bin/sh\necho >> {looks}\n[ $(wc -l < {looks}) = 2 ] && {{ {away}; }}\ncat {}/nodes\n",
        place.display()
    );
    program(&place.join("skipstone"), &text);
}

#[test]
fn a_directory_that_is_away_for_a_moment_turns_no_node_back() {
    let (place, mut plan, ssh) = place();
    directory(place.path(), &mut plan, &format!("{},{}", listed("a", "0.9 2", 7, false), listed("b", "", 9, false)));
    away_at_the_second_look(place.path());
    turn(&plan, "2", &[move_to(&plan, &ssh)]).expect("it is well when the directory can be read again");
    assert_eq!(current(place.path()), "releases/2");
    // The same at the turn of a later node; before the first one it is told at once.
    let here = site(&plan, &ssh);
    for (turn, is_patient) in [(Turn::Later, true), (Turn::First, false)] {
        fs::write(place.path().join("looks"), "\n").expect("written");
        assert_eq!(health::await_places(&here, plan.fleet.as_ref(), turn).is_ok(), is_patient, "{turn:?}");
    }
}
