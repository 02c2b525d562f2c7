//! A server of one's own.

use crate::common::server;
use skipstone_fleet::local::LocalNats;
use std::time::{Duration, Instant};

#[test]
fn servers_start_side_by_side_and_leave_nothing_behind() {
    let servers: Vec<LocalNats> = (0..4).map(|_| server()).collect();
    let mut urls: Vec<String> = servers.iter().map(LocalNats::url).collect();
    let (folders, pids): (Vec<_>, Vec<_>) =
        servers.iter().map(|server| (server.folder().to_owned(), server.pid().unwrap())).unzip();
    urls.dedup();
    assert_eq!(urls.len(), 4);
    drop(servers);
    assert!(folders.iter().all(|folder| !folder.exists()));
    assert!(pids.iter().all(|pid| !is_there(*pid)));
}

#[test]
fn a_configuration_that_the_server_refuses_is_shown_with_its_words() {
    let settings = skipstone_fleet::local::LocalSettings { extra: "no_such_option: 1".into(), ..Default::default() };
    let began = Instant::now();
    let error = LocalNats::start(settings).unwrap_err().to_string();
    assert!(error.contains("nats-server did not become ready") && error.contains("no_such_option"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_ends_with_its_owner_even_if_that_is_killed() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let own = std::env::current_exe().unwrap();
    let mut owner = Command::new(own);
    owner.args(["local::owner", "--exact", "--nocapture"]).env(OWNER, "1").stdout(Stdio::piped());
    let mut owner = owner.spawn().unwrap();
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines().map_while(Result::ok);
    let folder = lines.find_map(|line| line.strip_prefix("folder ").map(ToOwned::to_owned)).unwrap();
    let pid = lines.find_map(|line| line.strip_prefix("pid ")?.parse().ok()).unwrap();
    assert!(is_there(pid));
    owner.kill().unwrap();
    owner.wait().unwrap();
    let killed = Instant::now();
    while is_there(pid) {
        assert!(killed.elapsed() < Duration::from_secs(5), "{pid} still runs");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Nobody was left to do it.
    std::fs::remove_dir_all(folder).unwrap();
}

/// The owner that the test before kills.
#[cfg(target_os = "linux")]
#[test]
fn owner() {
    if std::env::var_os(OWNER).is_none() {
        return;
    }
    let server = server();
    println!("\nfolder {}\npid {}", server.folder().display(), server.pid().unwrap());
    std::thread::sleep(Duration::from_secs(60));
}

/// Whether a process runs; one that ended and was not waited for does not.
fn is_there(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    !stat.contains(") Z ")
}

#[cfg(target_os = "linux")]
const OWNER: &str = "SKIPSTONE_TEST_OWNER";
