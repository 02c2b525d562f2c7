//! A stress run whose clients are at several agents, over a real NATS server: one verdict, whatever happens to an
//! agent, to NATS or to the coordinator.

use crate::common::result::{is_noise, number, read};
use crate::common::{Ended, Running, SKIPSTONE, Served};
use serde_json::Value;
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// NATS, a server, agents and a folder for what they keep.
struct Fleet {
    nats: LocalNats,
    server: Served,
    agents: Vec<(String, Running)>,
    folder: tempfile::TempDir,
}

impl Fleet {
    fn start(agents: u32) -> Fleet {
        let nats = LocalNats::start(LocalSettings::default()).expect("a nats-server is installed");
        let folder = tempfile::tempdir().unwrap();
        let mut fleet = Fleet { nats, server: Served::start(&[]), agents: Vec::new(), folder };
        for number in 1..=agents {
            let name = format!("a{number}");
            let agent = fleet.agent(&name);
            fleet.agents.push((name, agent));
        }
        fleet
    }

    fn agent(&self, name: &str) -> Running {
        let keep = self.folder.path().join(name);
        let mut command = Command::new(SKIPSTONE);
        command.args(["agent", "--fleet", &self.nats.url(), "--name", name, "--keep"]).arg(keep);
        let mut agent = Running::start(command);
        agent.until("waits at");
        agent
    }

    fn result(&self) -> String {
        self.folder.path().join("result.json").display().to_string()
    }

    fn stress(&self, flags: &str) -> Running {
        let mut command = Command::new(SKIPSTONE);
        command.args(["stress", &self.server.url, "--fleet", &self.nats.url(), "--json", &self.result()]);
        command.args(flags.split_whitespace());
        Running::start(command)
    }

    /// The evidence that an agent keeps of its only run.
    fn evidence(&self, agent: &str) -> Value {
        let run = std::fs::read_dir(self.folder.path().join(agent)).unwrap().next().unwrap().unwrap();
        let text = std::fs::read_to_string(run.path().join("evidence.json")).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The name of the run that the first agent keeps or is in.
    fn run(&self) -> String {
        let run = std::fs::read_dir(self.folder.path().join("a1")).unwrap().next().unwrap().unwrap();
        run.file_name().into_string().unwrap()
    }
}

fn result(fleet: &Fleet) -> Value {
    read(Path::new(&fleet.result()))
}

/// Each agent logs the packets of its own clients beside its evidence, and says where.
#[test]
fn agents_keep_their_logs_of_packets_and_the_result_says_where() {
    let mut fleet = Fleet::start(2);
    let ended = fleet.stress("--agents 2 -c 6 -r 4/s -d 1s --agent-qlog=16MiB").wait();
    let merged = result(&fleet);
    assert_proven(&ended, &merged);
    for agent in 0..2 {
        let folder = merged["fleet"]["agents"][agent]["qlog"].as_str().unwrap();
        let own = fleet.folder.path().join(format!("a{}", agent + 1)).join(fleet.run());
        assert_eq!(Path::new(folder), own.join("qlog"));
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 3, "a file for each client");
        assert!(ended.out.replace(['\n', ' '], "").contains(folder), "{}", ended.out);
        let told = fleet.agents[agent].1.until(" of evidence");
        assert!(told.contains("3 of 3 clients connected") && told.contains("12 lines sent, 72 received"), "{told}");
    }
}

/// Every line was proven. Beside other programs a generator may be late, and says so.
fn assert_proven(ended: &Ended, result: &Value) {
    let is_proven = ended.status.success() || is_noise(result);
    assert!(is_proven && number(result, "messages.lost") == 0, "{}", ended.text());
}

#[test]
fn four_agents_prove_what_one_process_proves_and_start_together() {
    let fleet = Fleet::start(4);
    let ended = fleet.stress("--agents 4 -c 60 --mix udp=40,ws=12,tcp=8 -r 4/s -d 3s --seed 9").wait();
    assert!(Path::new(&fleet.result()).is_file(), "{:?}: {}{}", ended.status, ended.out, ended.err);
    let merged = result(&fleet);
    assert_proven(&ended, &merged);
    let alone = fleet.folder.path().join("alone.json");
    let words =
        [&fleet.server.url, "--mix", "udp=40,ws=12,tcp=8", "-r", "4/s", "-d", "3s", "--seed", "9", "-q", "--json"];
    let one = Command::new(SKIPSTONE).arg("stress").args(words).arg(&alone).output().unwrap();
    assert!(matches!(one.status.code(), Some(0 | 98)), "{one:?}");
    let one = read(&alone);
    for path in ["sent", "expected", "delivered", "lost", "duplicated", "reordered"] {
        let path = format!("/messages/{path}");
        assert_eq!(merged.pointer(&path), one.pointer(&path), "{path}");
    }
    for carrier in 0..3 {
        let path = format!("/carriers/{carrier}/messages/expected");
        assert_eq!(merged.pointer(&path), one.pointer(&path), "{path}");
    }
    assert_eq!(merged["fleet"]["clock"], "server");
    assert!(merged["fleet"]["clock_error_ms"].as_f64().unwrap() < 20.0, "{}", merged["fleet"]);
    // All agents are on one machine, so its clock shows when each began.
    let epochs: Vec<u64> =
        (1..=4).map(|agent| fleet.evidence(&format!("a{agent}"))["clock"]["epoch_unix_us"].as_u64().unwrap()).collect();
    let spread = epochs.iter().max().unwrap() - epochs.iter().min().unwrap();
    assert!(spread < 20_000, "{epochs:?}");
}

#[test]
fn a_killed_agent_ends_the_run_by_name_and_a_tolerated_one_is_excused() {
    for tolerate in [0, 1] {
        let mut fleet = Fleet::start(3);
        let mut run = fleet.stress(&format!("--agents 3 -c 30 -r 4/s -d 6s --tolerate {tolerate}"));
        run.until("running");
        std::thread::sleep(Duration::from_millis(2_500));
        let killed = Instant::now();
        fleet.agents.retain(|(name, _)| name != "a2");
        let ended = run.wait();
        let told = format!("{}{}", ended.out, ended.err);
        if tolerate == 0 {
            assert_eq!(ended.status.code(), Some(98), "{told}");
            assert!(told.contains("agent a2 was lost: no sign of life"), "{told}");
            assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
        } else {
            assert!(told.contains("LOST") && told.contains("Excused"), "{told}");
            let result = result(&fleet);
            assert_proven(&ended, &result);
            // Every line of 20 clients at all 20 of them, 24 lines each.
            assert_eq!(number(&result, "messages.expected"), 20 * 20 * 24);
            assert!(number(&result, "fleet.deliveries_excused") > 20 * 24 * 10);
        }
    }
}

#[test]
fn a_restart_of_nats_costs_no_line_and_evidence_waits_for_its_return() {
    let mut fleet = Fleet::start(2);
    let mut run = fleet.stress("--agents 2 -c 20 -r 4/s -d 6s");
    run.until("running");
    std::thread::sleep(Duration::from_secs(2));
    fleet.nats.restart().unwrap();
    let ended = run.wait();
    let merged = result(&fleet);
    assert_proven(&ended, &merged);
    assert_eq!(number(&merged, "messages.delivered"), 20 * 20 * 24);
    // Away from the middle until after the end.
    let mut run = fleet.stress("--agents 2 -c 20 -r 4/s -d 4s");
    run.until("running");
    std::thread::sleep(Duration::from_secs(2));
    fleet.nats.kill();
    std::thread::sleep(Duration::from_secs(10));
    fleet.nats.restart().unwrap();
    let ended = run.wait();
    let merged = result(&fleet);
    assert_proven(&ended, &merged);
    assert_eq!(number(&merged, "messages.delivered"), 20 * 20 * 16);
}

#[test]
fn a_run_without_its_coordinator_ends_as_planned_and_is_collected() {
    let mut fleet = Fleet::start(2);
    let mut run = fleet.stress("--agents 2 -c 20 -r 4/s -d 3s --threshold latency.p99<10s");
    run.until("running");
    std::thread::sleep(Duration::from_secs(1));
    drop(run);
    fleet.agents.iter_mut().for_each(|(_, agent)| drop(agent.until(" of evidence")));
    let collect = |flags: &[&str]| {
        let mut command = Command::new(SKIPSTONE);
        command.args(["agent", "collect", &fleet.run()]).args(flags);
        Running::start(command).wait()
    };
    let folder = fleet.folder.path().display().to_string();
    for from in [["--fleet", &fleet.nats.url()], ["--from", &folder]] {
        let ended = collect(&from);
        assert!(ended.out.contains("4,800") && ended.out.contains("kept    latency.p99<10s"), "{}", ended.out);
    }
    // One of two is not all.
    let half = fleet.folder.path().join("a2").display().to_string();
    let ended = collect(&["--from", &half]);
    assert_eq!(ended.status.code(), Some(98), "{}", ended.out);
    assert!(ended.out.contains("Lost: agent a1 (its evidence is missing)"), "{}", ended.out);
}

#[test]
fn agents_refuse_other_servers_and_names_and_coordinators_refuse_too_few_agents() {
    let fleet = Fleet::start(1);
    let told = |command: &mut Command| {
        let ended = command.output().unwrap();
        let text = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
        (ended.status.code().unwrap(), text)
    };
    let stress = |url: &str, flags: &[&str]| {
        told(Command::new(SKIPSTONE).args(["stress", url, "--fleet", &fleet.nats.url(), "-c", "4"]).args(flags))
    };
    let (code, text) = stress("skip://game.example:7777", &["--agents", "1"]);
    assert_eq!(code, 98, "{text}");
    assert!(
        text.contains("agent a1 may not stress game.example:7777") && text.contains("--allow game.example"),
        "{text}"
    );
    let (code, text) = stress(&fleet.server.url, &["--agents", "3"]);
    assert_eq!(code, 98, "{text}");
    assert!(text.contains("--agents 3: 1 agent is free; there are: a1."), "{text}");
    let (code, text) = told(Command::new(SKIPSTONE).args(["agent", "--fleet", &fleet.nats.url(), "--name", "a1"]));
    assert_eq!(code, 104, "{text}");
    assert!(text.contains("--name a1: there is an agent of that name already"), "{text}");
    let told_of = |flags: &[&str]| {
        let mut command = Command::new(SKIPSTONE);
        command.args(["stress", &fleet.server.url, "--fleet", &fleet.nats.url()]).args(flags);
        told(&mut command)
    };
    let refused: [(&[&str], &str); 4] = [
        (&["--wait"], "say by --duration how long"),
        (&["--reconnect"], "--reconnect` on one machine"),
        (&["--connects", "5/s"], "on each machine without --fleet"),
        (&["--qlog", "folder"], "--agent-qlog lets each"),
    ];
    for (flags, remedy) in refused {
        let (code, text) = told_of(flags);
        assert!(code == 104 && text.contains(remedy), "{flags:?}: {code} {text}");
    }
    let (code, text) = told(Command::new(SKIPSTONE).args(["agent", "--fleet", "nats://127.0.0.1:1", "--name", "x"]));
    assert_eq!(code, 97, "{text}");
    assert!(text.contains("no server listens there"), "{text}");
}
