//! `cargo xtask instructions`: what the protocol costs, in instructions counted by callgrind, which do not depend on how
//! busy the machine is. Each claim compares two runs of `benches/instructions.rs`.

use crate::arguments::Arguments;
use crate::process;
use crate::tree::Tree;

/// Runs the scenarios and checks the claims. `Ok(false)` if one does not hold.
pub(crate) fn instructions(arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    arguments.expect_end()?;
    let bench = build(tree)?;
    let mut holds = true;

    let few = count(&bench, tree, &["channels", "1", "60"])?;
    let many = count(&bench, tree, &["channels", "4096", "60"])?;
    let per_message = |total: u64| total as f64 / (300.0 * 60.0);
    let growth = 100.0 * (many as f64 / few as f64 - 1.0);
    println!("server, per message, 1 idle channel:      {:>10.0} instructions", per_message(few));
    println!("server, per message, 4,096 idle channels: {:>10.0} instructions ({growth:+.1}%)", per_message(many));
    holds &= check("4,096 idle channels cost within 10% of one", growth.abs() <= 10.0);

    let hundred = count(&bench, tree, &["idle", "100", "60"])?;
    let thousands = count(&bench, tree, &["idle", "10000", "60"])?;
    println!("server, per tick, 100 idle connections:   {:>10.0} instructions", hundred as f64 / 60.0);
    println!("server, per tick, 10,000 idle connections:{:>10.0} instructions", thousands as f64 / 60.0);
    holds &= check("idle connections cost nothing between keepalives", thousands == hundred);

    let fanout = count(&bench, tree, &["fanout", "200", "60"])?;
    println!("server, per delivery, 200 clients:        {:>10.0} instructions", fanout as f64 / (200.0 * 4.0 * 60.0));
    Ok(holds)
}

fn check(claim: &str, holds: bool) -> bool {
    println!("{} {claim}", if holds { "holds:" } else { "FAILS:" });
    holds
}

/// Builds the benchmark and returns its file.
fn build(tree: &Tree) -> Result<String, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["bench", "-p", "skipstone-proto", "--bench", "instructions", "--no-run", "--message-format", "json"]);
    let mut file = None;
    process::run_filtering(cargo, |line| {
        if line.contains("\"name\":\"instructions\"") && line.contains("\"executable\":\"") {
            let path = line.split("\"executable\":\"").nth(1).and_then(|rest| rest.split('"').next());
            file = path.map(str::to_owned);
        }
    })?;
    file.ok_or_else(|| "cargo did not say where it put the benchmark".into())
}

/// Instructions of the measured part of one scenario.
fn count(bench: &str, tree: &Tree, words: &[&str]) -> Result<u64, String> {
    let mut valgrind = process::command("valgrind", tree);
    valgrind.args(["--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*measured_side*"]);
    valgrind.args(["--callgrind-out-file=/dev/null", bench]).args(words);
    let ran = valgrind
        .output()
        .map_err(|error| format!("valgrind could not be started ({error}); on Debian: apt-get install valgrind"))?;
    let text = String::from_utf8_lossy(&ran.stderr).into_owned();
    let counted = text.lines().find_map(|line| line.split("Collected : ").nth(1)?.trim().parse().ok());
    counted.ok_or_else(|| format!("`{}` counted nothing:\n{text}", words.join(" ")))
}
