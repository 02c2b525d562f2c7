//! `cargo xtask instructions`: the cost of the protocol's hot paths, in instructions counted by callgrind, which do not
//! depend on how busy the machine is; compared with the recorded costs, and with each other. The scenarios are in the
//! protocol's `benches/instructions.rs`, the recorded costs in `instructions.toml` next to it.

mod record;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use self::record::{Counts, Record};
use crate::machine::arguments::Arguments;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system, test_programs};

/// The growth of a path's cost that is accepted, in percent.
const GROWTH_PERCENT_MAX: f64 = 10.0;

/// The additional cost of a message that is accepted, in percent, where each of 4,096 channels carries one in turn
/// instead of 64.
const CHANNELS_PERCENT_MAX: f64 = 10.0;

/// The additional cost of a datagram that is accepted, in percent, when its sender adds more of what might make it
/// expensive: by the names of the scenario with little of that, and of the one with much.
const STRANGERS_PERCENT_MAX: f64 = 30.0;
const OF_STRANGERS: [(&str, &str); 3] =
    [("resets-100", "resets-1000"), ("opens-484", "opens-984"), ("rates-1000", "rates-8000")];

/// One of the scenarios.
struct Scenario {
    /// The scenario's name in the record.
    name: &'static str,
    /// The arguments of the benchmark.
    words: &'static str,
    /// The unit that is counted.
    unit: &'static str,
}

const SCENARIOS: &[Scenario] = &[
    Scenario { name: "fanout", words: "fanout 20 60 4", unit: "delivery, 4 lines a tick to everybody: the server" },
    Scenario {
        name: "fanout-17",
        words: "fanout 20 60 17",
        unit: "delivery, 17 lines a tick to everybody: the server",
    },
    Scenario {
        name: "streams-17",
        words: "streams 20 60 17",
        unit: "delivery, 17 lines a tick to everybody by streams: the server",
    },
    Scenario { name: "acks", words: "acks 20 60 4", unit: "delivery, 4 lines: what takes the clients' datagrams" },
    Scenario { name: "receive", words: "receive 20 60 4", unit: "delivery, 4 lines a tick: the client" },
    Scenario { name: "receive-17", words: "receive 20 60 17", unit: "delivery, 17 lines a tick: the client" },
    Scenario { name: "seal-1200", words: "seal 1200 500", unit: "packet of 1,200 bytes sealed in clear and opened" },
    Scenario { name: "seal-40", words: "seal 40 500", unit: "packet of 40 bytes sealed in clear and opened" },
    Scenario { name: "idle-100", words: "idle 100 60", unit: "tick, 100 idle connections" },
    Scenario { name: "idle-1000", words: "idle 1000 60", unit: "tick, 1,000 idle connections" },
    Scenario { name: "timers", words: "timers 200 60", unit: "second of an idle connection: the server's timers" },
    Scenario { name: "channels-1", words: "channels 1 60", unit: "message, all on one channel" },
    Scenario {
        name: "channels-64",
        words: "channels 64 60",
        unit: "message, each on another of 64 channels used before",
    },
    Scenario {
        name: "channels-4096",
        words: "channels 4096 60",
        unit: "message, each on another of 4,096 channels used before",
    },
    Scenario { name: "resets-100", words: "resets 100 500", unit: "RESET of a stranger, 100 clients, no listening" },
    Scenario {
        name: "resets-1000",
        words: "resets 1000 500",
        unit: "RESET of a stranger, 1,000 clients, no listening",
    },
    Scenario { name: "opens-484", words: "opens 100 500", unit: "refused OPEN, 484 pending handshakes" },
    Scenario { name: "opens-984", words: "opens 600 500", unit: "refused OPEN, 984 pending handshakes" },
    Scenario {
        name: "rates-1000",
        words: "rates 1000",
        unit: "message, each on another of 1,000 channels with a rate",
    },
    Scenario {
        name: "rates-8000",
        words: "rates 8000",
        unit: "message, each on another of 8,000 channels with a rate",
    },
    Scenario { name: "mul-add-portable", words: "mul-add portable 500", unit: "KB multiplied and added, portable" },
    Scenario { name: "mul-add-avx2", words: "mul-add avx2 500", unit: "KB multiplied and added, AVX2" },
    Scenario { name: "encode", words: "encode 1000 100", unit: "repair over 20 packets of 1,000 bytes" },
    Scenario { name: "decode", words: "decode 1000 100", unit: "window of 20 packets, 2 of them made again" },
];

/// `cargo xtask instructions [--update]`. `Ok(false)` if a path costs too much more than before, or a claim does not
/// hold.
pub(crate) fn instructions(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let is_update = arguments.take_flag("--update");
    arguments.expect_end()?;
    let counts = count_all(tree)?;
    let mut record = Record::read(tree)?;
    show(&counts, &record);
    if is_update {
        record.set(&counts);
        record.write(tree)?;
        println!("{} is up to date", record::FILE);
    }
    let complaints = complaints(&counts, &record);
    complaints.iter().for_each(|complaint| println!("FAILS: {complaint}"));
    Ok(complaints.is_empty())
}

/// Compares the counts, as a step of `cargo xtask test`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if !cfg!(target_os = "linux") {
        return Verdict::Skipped("there is no valgrind for this system: run this step on Linux".into());
    }
    if let Some(why) = system::valgrind(tree) {
        return Verdict::Skipped(why);
    }
    let record = match Record::read(tree) {
        Ok(record) if record.is_empty() => {
            let arch = std::env::consts::ARCH;
            return Verdict::Skipped(format!(
                "{} has no counts for {arch}: `cargo xtask instructions --update` writes them",
                record::FILE
            ));
        }
        Ok(record) => record,
        Err(why) => return Verdict::Failed(why),
    };
    let counts = match count_all(tree) {
        Ok(counts) => counts,
        Err(why) => return Verdict::Failed(why),
    };
    show(&counts, &record);
    let complaints = complaints(&counts, &record);
    if complaints.is_empty() { Verdict::Passed } else { Verdict::Failed(complaints.join("; ")) }
}

/// Counts every scenario, as many at once as there are cores: counts do not depend on other programs.
fn count_all(tree: &Tree) -> Result<Counts, String> {
    let bench = build(tree)?;
    let (next, counts) = (AtomicUsize::new(0), Mutex::new(Ok(Counts::new())));
    let work = || {
        while let Some(scenario) = SCENARIOS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let counted = count(&bench, tree, scenario.words);
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *counts, counted) {
                (Ok(counts), Ok(Some(count))) => drop(counts.insert(scenario.name, count)),
                // This machine lacks the feature that the scenario tests.
                (_, Ok(None)) | (Err(_), _) => {}
                (counts, Err(why)) => *counts = Err(why),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(SCENARIOS.len());
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    counts.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The failures, one sentence each.
fn complaints(counts: &Counts, record: &Record) -> Vec<String> {
    let mut complaints: Vec<String> = counts.iter().filter_map(|(name, new)| complaint(name, *new, record)).collect();
    let count = |name: &str| counts.get(name).copied().unwrap_or(f64::NAN);
    let growth = growth_percent(count("channels-64"), count("channels-4096"));
    if growth.is_nan() || growth > CHANNELS_PERCENT_MAX {
        complaints
            .push(format!("4,096 channels cost {growth:+.1}% against 64, and {CHANNELS_PERCENT_MAX}% are allowed"));
    }
    for (few, many) in OF_STRANGERS {
        let growth = growth_percent(count(few), count(many));
        if growth.is_nan() || growth > STRANGERS_PERCENT_MAX {
            let allowed = STRANGERS_PERCENT_MAX;
            complaints.push(format!("{many} cost {growth:+.1}% against {few}, and {allowed}% are allowed"));
        }
    }
    if count("idle-1000") != count("idle-100") {
        complaints
            .push("between keepalives, 1,000 idle connections should cost exactly as many instructions as 100".into());
    }
    complaints
}

fn complaint(name: &str, new: f64, record: &Record) -> Option<String> {
    let update = "`cargo xtask instructions --update` writes it down if it has to be";
    let Some(old) = record.count(name) else {
        return Some(format!("{name} costs {new:.1} instructions, and the record has no count for it: {update}"));
    };
    let percent = growth_percent(old, new);
    (percent > GROWTH_PERCENT_MAX + 1e-9)
        .then(|| format!("{name} cost {old:.1} instructions and costs {new:.1} now, {percent:+.1}%: {update}"))
}

fn growth_percent(old: f64, new: f64) -> f64 {
    if new == old { 0.0 } else { 100.0 * (new / old - 1.0) }
}

fn show(counts: &Counts, record: &Record) {
    println!("{:>12} {:>12} {:>8}  a", "instructions", "before", "growth");
    for scenario in SCENARIOS {
        let Some(new) = counts.get(scenario.name) else {
            println!("{:>12} {:>12} {:>8}  {}", "-", "", "", scenario.unit);
            continue;
        };
        let (old, growth) = record.count(scenario.name).map_or((String::new(), String::new()), |old| {
            (format!("{old:.1}"), format!("{:+.1}%", growth_percent(old, *new)))
        });
        println!("{new:>12.1} {old:>12} {growth:>8}  {}", scenario.unit);
    }
}

/// Builds the benchmark and returns its file.
fn build(tree: &Tree) -> Result<String, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["bench", "-p", "skipstone-proto", "--bench", "instructions", "--no-run"]);
    let built = test_programs::executables(cargo)?;
    let program = built.iter().find(|program| program.name == "instructions");
    let program = program.ok_or("cargo did not say where it put the benchmark")?;
    Ok(program.file.to_string_lossy().into_owned())
}

/// Instructions of the measured part of one scenario, per unit; `None` if it did no unit of work.
fn count(bench: &str, tree: &Tree, words: &str) -> Result<Option<f64>, String> {
    let mut valgrind = process::command("valgrind", tree);
    valgrind.args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*measured_side*"]);
    valgrind.args(["--callgrind-out-file=/dev/null", bench]).args(words.split(' '));
    let ran = valgrind
        .output()
        .map_err(|error| format!("valgrind could not be started ({error}); on Debian: apt-get install valgrind"))?;
    let (said, counted) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    let wrong = || format!("`{words}` counted nothing:\n{said}{counted}");
    let number = |text: &str, name: &str| {
        text.lines().find_map(|line| line.split(name).nth(1)?.trim().parse::<u64>().ok()).ok_or_else(wrong)
    };
    if !ran.status.success() {
        return Err(wrong());
    }
    let (units, total) = (number(&said, "units ")?, number(&counted, "Collected : ")?);
    // To one decimal place, as recorded.
    Ok((units > 0).then(|| (10.0 * total as f64 / units as f64).round() / 10.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(fanout: f64, idle: f64) -> Counts {
        let mut counts = Counts::from([
            ("fanout", fanout),
            ("channels-64", 100.0),
            ("channels-4096", 101.0),
            ("idle-100", 100.0),
            ("idle-1000", idle),
        ]);
        counts.extend(OF_STRANGERS.into_iter().flat_map(|(few, many)| [(few, 50.0), (many, 60.0)]));
        counts
    }

    #[test]
    fn growth_above_a_tenth_is_reported_with_old_new_and_percent() {
        let mut record = Record::default();
        record.set(&counts(100.0, 100.0));
        for cheaper_or_hardly_dearer in [1.0, 100.0, 110.0] {
            assert_eq!(complaints(&counts(cheaper_or_hardly_dearer, 100.0), &record), Vec::<String>::new());
        }
        let told = complaints(&counts(110.3, 100.0), &record);
        assert!(told.len() == 1 && told[0].contains("100.0") && told[0].contains("110.3 now, +10.3%"), "{told:?}");
        assert_eq!(complaints(&counts(100.0, 100.1), &record).len(), 1, "idle connections cost nothing");
    }

    #[test]
    fn a_path_without_a_record_is_told() {
        let counts = counts(1.0, 100.0);
        let told = complaints(&counts, &Record::default());
        assert!(told.len() == counts.len() && told[0].contains("--update"), "{told:?}");
    }
}
