//! Scripted bots that are at several agents, over a real NATS server: one result, which is that of one process.

use crate::common::result::number;
use crate::common::{Ended, Running, SKIPSTONE};
use serde_json::Value;
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Each bot draws numbers from its seed, and hears each of its words back. It reads files beside the script.
const SCRIPT: &str = r#"
local words = require("./words")
local names = data.lines("names.txt")
local bot = skipstone.bot{ api = 1, text = true }
local draws = metrics.trend("drawn_ms")
local odd = metrics.rate("odd")
local heard = metrics.counter("heard")
function bot:start()
    check("has_name", names[self.number % #names + 1] ~= nil)
    assert(self:connect())
    for round = 1, 20 do
        local drawn = math.random(1, 1000000)
        draws:add(drawn / 1000)
        odd:add(drawn % 2 == 1)
        local word = words.of(self.number, round)
        repeat
            self:send(0, word)
        until self:wait(word, 2)
        heard:add(1)
        self:sleep(0.05)
    end
end
"#;
const WORDS: &str = r#"return { of = function(bot, round) return string.format("%06d:%03d", bot, round) end }"#;

/// A server of the test, which sends each datagram back.
struct Echo {
    url: String,
    stop: Arc<AtomicBool>,
}

impl Echo {
    fn start() -> Echo {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let url = format!("udp://{}", socket.local_addr().unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let own = Arc::clone(&stop);
        std::thread::spawn(move || {
            let mut buffer = [0; 2_048];
            while !own.load(Ordering::Relaxed) {
                if let Ok((count, from)) = socket.recv_from(&mut buffer) {
                    let _ = socket.send_to(&buffer[..count], from);
                }
            }
        });
        Echo { url, stop }
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

struct Fleet {
    nats: LocalNats,
    agents: Vec<Running>,
    folder: tempfile::TempDir,
    echo: Echo,
}

impl Fleet {
    fn start(agents: u32) -> Fleet {
        let nats = LocalNats::start(LocalSettings::default()).expect("a nats-server is installed");
        let folder = tempfile::tempdir().unwrap();
        let agent = |number: u32| {
            let mut command = Command::new(SKIPSTONE);
            let name = format!("a{number}");
            command.args(["agent", "--fleet", &nats.url(), "--name", &name, "--keep"]).arg(folder.path().join(name));
            let mut agent = Running::start(command);
            agent.until("waits at");
            agent
        };
        let agents = (1..=agents).map(agent).collect();
        let scripts = folder.path().join("script");
        std::fs::create_dir(&scripts).unwrap();
        for (name, text) in [("bot.luau", SCRIPT), ("words.luau", WORDS), ("names.txt", "Ada\nBob\n")] {
            std::fs::write(scripts.join(name), text).unwrap();
        }
        Fleet { nats, agents, folder, echo: Echo::start() }
    }

    fn script(&self) -> PathBuf {
        self.folder.path().join("script").join("bot.luau")
    }

    fn result(&self) -> PathBuf {
        self.folder.path().join("result.json")
    }

    fn bots(&self, flags: &str) -> Running {
        let mut command = Command::new(SKIPSTONE);
        command.arg("bots").arg(self.script()).arg(&self.echo.url).arg("--json").arg(self.result());
        command.args(flags.split_whitespace());
        Running::start(command)
    }

    fn led(&self, flags: &str) -> Running {
        self.bots(&format!("--fleet {} {flags}", self.nats.url()))
    }
}

/// The result, which has to be as the schema says.
fn read(file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    std::fs::remove_file(file).unwrap();
    let result: Value = serde_json::from_str(&text).unwrap();
    let schema = serde_json::from_str(include_str!("../../../skipstone-lab/schema/bots.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let errors: Vec<String> = validator.iter_errors(&result).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    result
}

/// All went well. Beside other programs a generator may be late, and says so.
fn assert_judged(ended: &Ended, result: &Value) {
    let is_noise = |reason: &Value| reason.as_str().is_some_and(|why| why.contains("late") || why.contains("CPU"));
    let only_noise = result["reasons"].as_array().is_some_and(|reasons| reasons.iter().all(is_noise));
    assert!(ended.status.success() || ended.status.code() == Some(98) && only_noise, "{}", ended.text());
}

#[test]
fn two_agents_of_fifty_bots_find_what_one_process_of_a_hundred_finds() {
    let mut fleet = Fleet::start(2);
    let ended = fleet.led("--agents 2 -c 100 -d 4s --ramp 500ms --seed 7 --threshold heard.sum==2000").wait();
    let merged = read(&fleet.result());
    assert_judged(&ended, &merged);
    let ended = fleet.bots("-c 100 -d 4s --ramp 500ms --seed 7").wait();
    let one = read(&fleet.result());
    assert_judged(&ended, &one);
    let equal = [
        "/metrics/drawn_ms",
        "/metrics/odd",
        "/metrics/has_name",
        "/metrics/heard/sum",
        "/bots",
        "/seed",
        "/duration_asked_s",
        "/endings",
        "/faults",
        "/worst_bots",
    ];
    for path in equal {
        assert!(merged.pointer(path).is_some(), "{path}: {merged:#}");
        assert_eq!(merged.pointer(path), one.pointer(path), "{path}");
    }
    assert_eq!(merged["metrics"]["drawn_ms"]["count"], 2_000);
    let agents = merged["fleet"]["agents"].as_array().unwrap();
    assert_eq!(agents.iter().map(|agent| &agent["bots"]["connected"]).collect::<Vec<_>>(), [50, 50]);
    assert!(merged["fleet"]["clock_error_ms"].as_f64().unwrap() < 100.0, "{}", merged["fleet"]);
    assert_eq!((&one["fleet"], merged["fleet"]["script_sha256"].as_str().map(str::len)), (&Value::Null, Some(64)));
    for agent in &mut fleet.agents {
        let told = agent.until(" of evidence");
        assert!(told.contains("50 bots wait for the start"), "{told}");
    }
    // What agents keep says the same later.
    let keep: Vec<PathBuf> = ["a1", "a2"].map(|agent| fleet.folder.path().join(agent)).into();
    let run = std::fs::read_dir(&keep[0]).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let left: Vec<_> = std::fs::read_dir(keep[0].join(&run)).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(left, ["evidence.json"], "the script is gone");
    let collected = fleet.folder.path().join("collected.json");
    let mut command = Command::new(SKIPSTONE);
    command.args(["agent", "collect", &run, "--from"]).arg(&keep[0]).arg("--from").arg(&keep[1]);
    let ended = Running::start({
        command.arg("--json").arg(&collected);
        command
    })
    .wait();
    let again = read(&collected);
    assert_judged(&ended, &again);
    for path in ["/metrics", "/bots", "/messages", "/wire", "/thresholds", "/fleet", "/worst_bots", "/slow_times"] {
        assert_eq!(again.pointer(path), merged.pointer(path), "{path}");
    }
}

#[test]
fn a_killed_agent_of_bots_ends_the_run_by_name_and_a_tolerated_one_is_excused() {
    for tolerate in [0, 1] {
        let mut fleet = Fleet::start(3);
        let mut run = fleet.led(&format!("--agents 3 -c 30 -d 6s --ramp 0s --tolerate {tolerate}"));
        run.until("30 connected");
        std::thread::sleep(Duration::from_millis(1_500));
        let killed = Instant::now();
        drop(fleet.agents.remove(1));
        let ended = run.wait();
        let told = ended.text();
        if tolerate == 0 {
            assert_eq!(ended.status.code(), Some(98), "{told}");
            assert!(told.contains("agent a2 was lost: no sign of life"), "{told}");
            assert!(killed.elapsed() < Duration::from_secs(5), "{:?}", killed.elapsed());
        } else {
            let result = read(&fleet.result());
            assert_judged(&ended, &result);
            assert!(told.contains("LOST") && told.contains("Excused: 10 bots"), "{told}");
            assert_eq!((number(&result, "bots.asked"), number(&result, "bots.connected")), (20, 20));
            assert_eq!(number(&result, "fleet.bots_excused"), 10);
        }
    }
}

#[test]
fn agents_let_no_script_connect_where_they_may_not_and_refusals_name_the_remedy() {
    let fleet = Fleet::start(1);
    let led = |script: &Path, url: &[&str], flags: &[&str]| {
        let mut command = Command::new(SKIPSTONE);
        command.arg("bots").arg(script).args(url).args(["--fleet", &fleet.nats.url(), "-c", "4", "-d", "1s"]);
        command.arg("--agents=1").args(flags);
        Running::start(command).wait()
    };
    let ended = led(&fleet.script(), &["udp://game.example:9000"], &[]);
    assert_eq!(ended.status.code(), Some(98), "{}", ended.text());
    assert!(ended.text().contains("may not stress game.example:9000"), "{}", ended.text());
    let sly = fleet.folder.path().join("script").join("sly.luau");
    let text = "local bot = skipstone.bot{ api = 1 }\nfunction bot:start() self:connect(\"udp://127.0.0.2:9\") end";
    std::fs::write(&sly, text).unwrap();
    let ended = led(&sly, &[], &[]);
    assert_eq!(ended.status.code(), Some(99), "{}", ended.text());
    let joined = ended.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("this agent may not connect to 127.0.0.2"), "{joined}");
    let asking = "local bot = skipstone.bot{ api = 1 }\nfunction bot:start()\n\
                  local answer, why = http.get(\"http://127.0.0.2:9/\")\nassert(answer, why) end";
    std::fs::write(&sly, asking).unwrap();
    let joined = led(&sly, &[], &[]).text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("this agent may not connect to 127.0.0.2"), "HTTP: {joined}");
    for (flag, wanted) in [
        ("--find-limit --threshold=heard.sum>1", "--find-limit: "),
        ("--watch-pid=1", "--watch-pid: "),
        ("--only-bot=1 --seed=7", "--only-bot: "),
        ("--live=127.0.0.1:0", "--live: "),
        ("--agents=3", "there are: a1"),
        ("-c 1 --agents=2", "--agents 2"),
    ] {
        let ended = fleet.led(flag).wait();
        assert!(ended.text().contains(wanted) && !ended.status.success(), "{flag}: {}", ended.text());
    }
}
