//! `skipstone-siege`: attacks a server and prints the results. `cargo xtask siege` builds and runs it.

use clap::{Parser, Subcommand};
use skipstone_siege::attack::Attack;
use skipstone_siege::attack::list::attacks;
use skipstone_siege::attacker::{self, Victim};
use skipstone_siege::play::{Terms, play};
use skipstone_siege::row::{Row, Verdict};
use skipstone_siege::table;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Attacks a server while good clients play, on loopback addresses only
#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: Order,
}

#[derive(Subcommand)]
enum Order {
    /// Lists the attacks
    List,
    /// Runs attacks, one line each; exit code 1 if the server did not withstand one
    Play(Play),
    /// Prints the rows of results written by --json, file by file
    Table {
        /// Files written by --json
        files: Vec<PathBuf>,
    },
    /// Is the attackers of one attack
    #[command(hide = true)]
    Attack {
        name: String,
        #[arg(long)]
        at: Option<SocketAddr>,
        #[arg(long, conflicts_with = "at", required_unless_present = "at")]
        decoy: bool,
        #[arg(long)]
        millis: u64,
    },
}

#[derive(Parser)]
struct Play {
    /// Attacks by name, or by its first words: pings, pings-tls; all without it
    #[arg(long = "attack", value_name = "NAME")]
    attacks: Vec<String>,
    /// Attacks of these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    of: Vec<String>,
    /// The tool `skipstone`
    #[arg(long)]
    tool: PathBuf,
    /// Number of runs of each; the verdict is on the medians
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=9))]
    rounds: u32,
    /// Duration of each attack
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Write all rows to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Line::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("skipstone-siege: {message}");
            ExitCode::from(2)
        }
    }
}

/// `Ok(false)` if the server did not withstand an attack.
fn run(order: Order) -> Result<bool, String> {
    match order {
        Order::List => attacks().iter().for_each(|attack| println!("{:<14}{}", attack.kind, attack.name)),
        Order::Table { files } => {
            for file in files {
                println!("{}:\n\n{}", file.display(), table::HEAD);
                read(&file)?.iter().for_each(|row| println!("{}", table::line(row)));
            }
        }
        Order::Attack { name, at, millis, .. } => {
            let all = attacks();
            let attack = all.iter().find(|attack| attack.name == name).ok_or("no attack has this name")?;
            let victim = at.map_or(Victim::Decoy, Victim::At);
            let sent = attacker::attack(attack, victim, Duration::from_millis(millis))?;
            println!("{}", serde_json::to_string(&sent).expect("figures are JSON"));
        }
        Order::Play(order) => return play_all(&order),
    }
    Ok(true)
}

fn play_all(order: &Play) -> Result<bool, String> {
    let wanted: Vec<Attack> = attacks().into_iter().filter(|attack| order.wants(attack)).collect();
    if wanted.is_empty() {
        return Err("no attack has this name; `list` prints them".into());
    }
    let attacker = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let terms =
        Terms { tool: order.tool.clone(), attacker, rounds: order.rounds, lasting: Duration::from_secs(order.seconds) };
    println!("{}", table::HEAD);
    let mut rows = Vec::new();
    for attack in &wanted {
        let row = play(attack, &terms)?;
        println!("{}", table::line(&row));
        rows.push(row);
        if let Some(file) = &order.json {
            let text = serde_json::to_string_pretty(&rows).expect("rows are JSON");
            std::fs::write(file, text + "\n").map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok(rows.iter().all(|row| row.verdict() == Verdict::Held))
}

impl Play {
    fn wants(&self, attack: &Attack) -> bool {
        let is_named = self.attacks.is_empty() || self.attacks.iter().any(|name| attack.is_called(name));
        is_named && (self.of.is_empty() || self.of.iter().any(|kind| kind == attack.kind))
    }
}

fn read(file: &Path) -> Result<Vec<Row>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}
