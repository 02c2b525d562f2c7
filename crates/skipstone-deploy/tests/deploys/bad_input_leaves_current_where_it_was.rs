//! After any error the current release stays, and a sentence names the remedy.

use crate::yard::{Yard, next_second, text, until_there};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;

const BUILD: &str = "[build.server]\ncommand = \"cp input game\"\nartifacts = [\"game\", \"more\"]\n";
const TARGET: &str = "keep = 2\nrestart = \"echo restarted >> restarts\"\nhealth = { command = \"grep -q well \
    current/game\", timeout = \"1s\", settle = \"1ms\" }";

fn file_name(release: Option<&Path>) -> String {
    release.expect("a release").file_name().expect("a name").to_string_lossy().into_owned()
}

/// A yard with a first release.
fn begun() -> Option<Yard> {
    let yard = Yard::new()?;
    fs::create_dir_all(yard.repository().join("more")).expect("a folder");
    yard.commit(&[("input", "well 1"), ("more/data", "the same in each release")]);
    yard.plan(BUILD, TARGET);
    let said = yard.deploy_well(&[]);
    assert!(yard.current().is_some() && !said.contains("in no commit"), "{said}");
    next_second();
    Some(yard)
}

#[test]
fn hosts_keys_builds_and_names() {
    let Some(yard) = begun() else { return };
    let status = yard.deploy_well(&["status"]);
    assert!(status.contains(": healthy\n") || status.contains(", healthy\n"), "{status}");
    assert!(status.contains(&format!("-> {} of ", file_name(yard.current().as_deref()))), "{status}");
    let alone = yard.deploy(&["rollback"]);
    assert!(!alone.status.success() && text(&alone).contains("no older healthy release"), "{}", text(&alone));
    let restarts = fs::read_to_string(yard.site().join("restarts")).expect("one");
    let cases = [
        ("host = \"game\"", "host = \"away\"", 99, "away cannot be reached"),
        ("host = \"game\"", "host = \"stranger\"", 99, "compare its fingerprint, and connect once by hand"),
        ("cp input game", "echo the compiler is unhappy; exit 3", 99, "the compiler is unhappy"),
        ("cp input game", "true", 99, "has not produced the artifact 'game'"),
        ("[\"game\", \"more\"]", "[\"../game\"]", 104, "artifact '../game'"),
        ("name = \"game\"", "name = \"my game\"", 104, "name 'my game'"),
        ("name = \"game\"", "name = \"other\"", 99, "belongs to the deployment 'game'"),
    ];
    for (from, to, code, expected) in cases {
        yard.edit(from, to);
        yard.deploy_badly(code, expected);
        yard.edit(to, from);
    }
    assert_eq!(fs::read_to_string(yard.site().join("restarts")).expect("one"), restarts, "no player was disturbed");
    assert_eq!(yard.releases().len(), 1);
}

#[test]
fn foreign_directories() {
    let Some(yard) = begun() else { return };
    let (site, other) = (yard.site(), yard.path("other"));
    fs::create_dir_all(&other).expect("a folder");
    fs::write(other.join("thesis"), "years of work").expect("written");
    let name = |path: &std::path::Path| format!("directory = \"{}\"", path.display());
    yard.edit(&name(&site), &name(&other));
    yard.deploy_badly(99, "is not empty and belongs to no deployment");
    let link = yard.path("link");
    symlink(&site, &link).expect("made");
    yard.edit(&name(&other), &name(&link));
    yard.deploy_badly(99, "is a symbolic link");
    yard.edit(&name(&link), &name(&site));
    fs::rename(site.join("releases"), yard.path("moved")).expect("ours");
    symlink(yard.path("moved"), site.join("releases")).expect("made");
    yard.deploy_badly(99, "deployments do not follow it");
    assert_eq!(fs::read_to_string(other.join("thesis")).expect("it is there"), "years of work");
    assert_eq!(fs::read_dir(&other).expect("a folder").count(), 1);
}

#[test]
fn half_an_upload() {
    let Some(yard) = begun() else { return };
    // An rsync before the real one in PATH: it says that all is well and has left a file out, then it breaks off.
    let tools = yard.path("tools");
    fs::create_dir_all(&tools).expect("a folder");
    let fake = |script: &str| {
        fs::write(tools.join("rsync"), format!("#!/bin/sh\n{script}\n")).expect("written");
        fs::set_permissions(tools.join("rsync"), fs::Permissions::from_mode(0o755)).expect("ours");
    };
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").expect("set"));
    let real = if fs::exists("/usr/bin/rsync").is_ok_and(|is| is) { "/usr/bin/rsync" } else { "/usr/local/bin/rsync" };
    let before = yard.current();
    yard.commit(&[("input", "well 2")]);
    for (script, expected) in [
        (format!("exec {real} --exclude=data \"$@\""), "the upload differs from the build"),
        ("echo 'No space left on device (28)' >&2; exit 11".into(), "No space left on device"),
    ] {
        fake(&script);
        let done = yard.deployer().env("PATH", &path).output().expect("it starts");
        assert!(!done.status.success() && text(&done).contains(expected), "{}", text(&done));
        assert_eq!(yard.current(), before);
        next_second();
    }
    yard.deploy_well(&[]);
    assert!(yard.releases().iter().all(|name| !name.starts_with(".incoming")), "{:?}", yard.releases());
}

#[test]
fn two_at_once() {
    let Some(yard) = begun() else { return };
    yard.commit(&[("input", "well 2")]);
    let (entered, go) = (yard.path("entered"), yard.path("go"));
    let slow = format!("touch {}; while [ ! -e {} ]; do sleep 0.05; done", entered.display(), go.display());
    yard.edit("echo restarted >> restarts", &slow);
    let mut first = yard.deployer();
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until_there(&entered);
    next_second();
    let second = yard.deploy(&[]);
    fs::write(&go, "").expect("written");
    assert!(text(&second).contains("another deployment") && second.status.code() == Some(99), "{}", text(&second));
    let first = first.wait_with_output().expect("it ends");
    assert!(first.status.success(), "{}", text(&first));
    assert_eq!(yard.releases().len(), 2);
}

#[test]
fn an_unhealthy_release_is_rolled_back_and_old_releases_are_deleted() {
    let Some(yard) = begun() else { return };
    let first = yard.current();
    yard.commit(&[("input", "sick")]);
    yard.deploy_badly(99, "is current again and healthy");
    let status = yard.deploy(&["status"]);
    assert!(status.status.success() && text(&status).contains("was unhealthy"), "{}", text(&status));
    // Foreign files stay, however old their names are.
    let releases = yard.site().join("releases");
    fs::create_dir_all(releases.join("1-mine")).expect("a folder");
    fs::create_dir_all(yard.path("treasure")).expect("a folder");
    fs::write(yard.path("treasure").join(".skipstone-release"), "").expect("written");
    symlink(yard.path("treasure"), releases.join("2-link")).expect("made");
    let mut last = first.clone();
    for round in 2..5 {
        next_second();
        yard.commit(&[("input", &format!("well {round}"))]);
        yard.deploy_well(&[]);
        assert_ne!(yard.current(), last);
        last = yard.current();
    }
    let left = yard.releases();
    assert_eq!(left.len(), 5, "two that were well, the one that was not, and two that are not ours: {left:?}");
    assert!(!left.contains(&file_name(first.as_deref())), "the oldest of those that were well is gone: {left:?}");
    assert!(left.contains(&"1-mine".to_owned()) && left.contains(&"2-link".to_owned()));
    assert!(yard.path("treasure").join(".skipstone-release").exists());
    yard.deploy_well(&["rollback"]);
    assert_eq!(file_name(yard.current().as_deref()), left[3]);
    let log = yard.deploy_well(&["log"]);
    assert!(log.contains("was unhealthy; back to") && log.lines().count() >= 5, "{log}");
    let dry = yard.deploy_well(&["--dry-run"]);
    assert!(dry.contains("git clone") && dry.contains("rsync") && dry.contains("cp input game"), "{dry}");
    assert!(!dry.contains("stays: "), "there is nothing to delete: {dry}");
    assert_eq!(yard.releases(), left);
}

#[test]
fn a_game_that_writes_into_its_folder_does_not_affect_rollback() {
    let Some(yard) = begun() else { return };
    let first = file_name(yard.current().as_deref());
    yard.commit(&[("input", "well 2")]);
    yard.deploy_well(&[]);
    // Writes in place, as a program does that opens its own file.
    let data = yard.site().join("current/more/data");
    let mut file = fs::OpenOptions::new().append(true).open(&data).expect("it is there");
    std::io::Write::write_all(&mut file, b" but for a score").expect("written");
    yard.deploy_well(&["rollback"]);
    assert_eq!(file_name(yard.current().as_deref()), first);
    assert_eq!(fs::read_to_string(&data).expect("it is there"), "the same in each release");
}

/// While the server is being looked at, its lock is released on the target, and another deployment goes through.
#[test]
fn a_deployment_that_lost_its_lock_keeps_the_release_of_its_successor() {
    let Some(yard) = begun() else { return };
    yard.commit(&[("input", "well 2")]);
    let entered = yard.path("entered");
    let looks = format!("touch {}; false", entered.display());
    yard.edit("grep -q well current/game", &looks);
    yard.edit("timeout = \"1s\"", "timeout = \"8s\"");
    let mut first = yard.deployer();
    let first = first.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    until_there(&entered);
    // A file of another inode has no lock, as after the end of the connection that held it.
    let (mark, copy) = (yard.site().join(".skipstone-deploy"), yard.path("copy"));
    fs::copy(&mark, &copy).and_then(|_| fs::rename(&copy, &mark)).expect("ours");
    yard.edit(&looks, "grep -q well current/game");
    yard.commit(&[("input", "well 3")]);
    next_second();
    yard.deploy_well(&[]);
    let newer = yard.current();
    let first = first.wait_with_output().expect("it ends");
    let said = text(&first);
    assert!(first.status.code() == Some(99) && said.contains("no longer this deployment's"), "{said}");
    assert_eq!(yard.current(), newer, "{said}");
    let status = text(&yard.deploy(&["status"]));
    assert!(!status.contains("was unhealthy"), "{status}");
}
