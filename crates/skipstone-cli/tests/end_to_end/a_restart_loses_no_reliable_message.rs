//! A failed restart disconnects no client; a successful one loses neither the identity nor a record of the packet log.

use crate::common::{Running, SKIPSTONE, Served, fresh_file, run};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Lets a process open this many more files.
fn leave_descriptors(id: u32, more: usize) {
    let open = fs::read_dir(format!("/proc/{id}/fd")).expect("it runs").count();
    let limit = format!("--nofile={}:", open + more);
    let set = Command::new("prlimit").args(["--pid", &id.to_string(), &limit]).status().expect("it is part of Linux");
    assert!(set.success());
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

#[test]
fn a_server_without_descriptors_for_the_next_keeps_its_players() {
    let mut served = Served::start(&["--shards", "4"]);
    let mut stress = Running::tool(&["stress", &served.url, "-c", "4", "-r", "5/s", "-d", "5s"]);
    stress.until("4 clients");
    std::thread::sleep(Duration::from_millis(1_000));
    // Enough to start the check of its flags, too few for second handles to nine sockets.
    leave_descriptors(served.running.id(), 8);
    served.running.signal("USR2");
    served.running.until_complaint("no restart: ");
    stress.wait().expect(&[0, 98]);
    leave_descriptors(served.running.id(), 1_000);
    served.running.signal("USR2");
    served.running.until("the server restarts after");
    run(&["stress", &served.url, "-c", "2", "-d", "1s"]).expect(&[0, 98]);
    let ended = served.stop();
    assert_eq!(ended.text().matches("the server restarts after").count(), 1, "{}", ended.text());
    assert!(ended.text().contains("Too many open files"), "{}", ended.text());
}

#[test]
fn an_identity_without_a_file_survives_a_restart() {
    let start = |home: Option<&Path>| {
        let mut command = Command::new(SKIPSTONE);
        command.args(["serve", "--listen", "127.0.0.1:0", "--console", "off"]);
        for name in ["HOME", "XDG_STATE_HOME", "LOCALAPPDATA", "STATE_DIRECTORY"] {
            command.env_remove(name);
        }
        Running::start(match home {
            Some(home) => {
                command.env("HOME", home);
                command
            }
            None => command,
        })
    };
    let addresses = |text: &str| -> Vec<String> {
        let wanted = |line: &&str| ["native", "pages", "that follows"].iter().any(|word| line.contains(word));
        text.lines().filter(wanted).map(str::to_owned).collect()
    };
    let mut homeless = start(None);
    homeless.until("stop with Ctrl-C");
    for _ in 0..2 {
        let before = homeless.out().len();
        homeless.signal("USR2");
        homeless.until("the server restarts after");
        while !homeless.out()[before..].contains("stop with Ctrl-C") {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    homeless.signal("TERM");
    let ended = homeless.wait();
    let told = addresses(&ended.out);
    assert_eq!(told.len(), 9, "{}", ended.out);
    assert!(told[3..].chunks(3).all(|again| again == &told[..3]), "{told:?}");
    assert!(ended.err.contains("--identity FILE"), "it says so: {}", ended.err);

    let home = fresh_file("home");
    let kept: Vec<Vec<String>> = (0..2)
        .map(|_| {
            let mut at_home = start(Some(&home));
            let text = at_home.until("stop with Ctrl-C");
            at_home.signal("TERM");
            assert!(!at_home.wait().err.contains("--identity FILE"));
            addresses(&text).iter().map(|line| line.split(['#', ':']).next_back().expect("a hash").to_owned()).collect()
        })
        .collect();
    assert_eq!(kept[0], kept[1], "players and pages know the next start");
    fs::remove_dir_all(home).expect("it is ours");
}

#[test]
fn the_log_of_packets_ends_with_whole_records() {
    let folder = fresh_file("restart-logs");
    let mut served = Served::start(&["--qlog", text(&folder)]);
    let mut stress = Running::tool(&["stress", &served.url, "-c", "20", "-r", "20/s", "-d", "4s", "--reconnect"]);
    stress.until("20 clients");
    std::thread::sleep(Duration::from_millis(1_500));
    served.running.signal("USR2");
    served.running.until("the server restarts after");
    stress.wait().expect(&[0, 98, 99]);
    served.stop();
    let mut closed = 0;
    for entry in fs::read_dir(&folder).expect("it was made") {
        let log = fs::read_to_string(entry.expect("it has a name").path()).expect("it was written");
        assert!(log.ends_with('\n') && log.lines().count() > 2, "{log}");
        closed += usize::from(log.contains("connection_closed"));
    }
    assert!(closed >= 20, "{closed} logs tell how their connection ended");
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_restart_without_its_database_or_folders_is_refused_first() {
    let folder = fresh_file("surroundings");
    fs::create_dir(&folder).expect("a folder");
    let (database, record) = (folder.join("db"), folder.join("rec"));
    for part in [&database, &record] {
        fs::create_dir(part).expect("a folder");
    }
    let url = format!("sqlite:{}/t.db", database.display());
    let mut served = Served::start(&["--db", &url, "--record", text(&record.join("game.rec"))]);
    for part in [&database, &record] {
        let away = part.with_extension("away");
        fs::rename(part, &away).expect("it is ours");
        served.running.signal("USR2");
        served.running.until_complaint(if part == &database { "there is no folder" } else { "cannot write --record" });
        fs::rename(away, part).expect("it is ours");
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(!served.running.out().contains("the server restarts"), "{}", served.running.out());
    served.stop().expect(&[0]);
    fs::remove_dir_all(folder).expect("it is ours");
}

/// A command whose program is gone once it was asked: its own file continues.
#[test]
fn a_restarted_program_takes_the_place_of_the_previous_one() {
    let folder = fresh_file("gone");
    fs::create_dir(&folder).expect("a folder");
    let program = folder.join("server");
    let line = "exec -a \"$0\" \"$SKIPSTONE\" serve --listen 127.0.0.1:0 --console off --identity new";
    let mut command = Command::new("bash");
    command.args(["-c", line, text(&program)]).env("SKIPSTONE", SKIPSTONE);
    let mut server = Running::start(command);
    server.until("stop with Ctrl-C");
    fs::write(&program, "#!/bin/sh\nrm \"$0\"\n").expect("it is written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&program, mode).expect("it is ours");
    server.signal("USR2");
    server.until_complaint("this program starts again");
    while server.out().matches("stop with Ctrl-C").count() < 2 {
        assert!(server.is_alive());
        std::thread::sleep(Duration::from_millis(10));
    }
    server.signal("TERM");
    let ended = server.wait();
    ended.expect(&[0]);
    let urls: Vec<&str> = ended.out.lines().filter(|line| line.contains("native")).collect();
    assert!(urls.len() == 2 && urls[0] == urls[1], "{urls:?}");
    fs::remove_dir_all(folder).expect("it is ours");
}

/// Meanwhile all of them try to connect at once, and none is connected.
#[test]
fn a_slow_restart_is_not_reported_as_a_departed_server() {
    for kind in ["skip", "ws"] {
        let mut served = Served::start(&[]);
        let url = if kind == "ws" { served.ws.clone() } else { served.url.clone() };
        let mut stress = Running::tool(&["stress", &url, "-c", "3", "-r", "5/s", "-d", "6s", "--reconnect"]);
        stress.until("1.0 s running");
        served.running.signal("USR2");
        served.running.until("the server restarts after");
        served.running.signal("STOP");
        std::thread::sleep(Duration::from_millis(2_000));
        served.running.signal("CONT");
        let ended = stress.wait();
        ended.expect(&[0, 98]);
        assert!(ended.out.contains("clients came back 3 times"), "{kind}: {}", ended.out);
    }
}
