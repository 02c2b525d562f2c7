//! `cargo run --release --ignore-rust-version -p skipstone-cost-of-adapters -- [clients] [rounds]`: CPU time of one
//! server that receives from and sends to each of its clients in every tick, on the library alone, by the Bevy plugin
//! and by aeronet. Each round runs all three in turn, and the medians are compared: a shared machine changes from
//! minute to minute. The clients are in a process of their own, which is not counted.

mod clients;
mod load;
mod servers;

use load::TICK;
use nix::sys::resource::{UsageWho, getrusage};
use servers::{Game, start};
use std::error::Error;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

const MEASURED: Duration = Duration::from_secs(5);
const CONNECT_MAX: Duration = Duration::from_secs(30);

const VARIANTS: [&str; 3] = ["library", "skipstone_bevy", "aeronet_skipstone"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, url, clients] = &arguments[..]
        && role == "clients"
    {
        return clients::run(url, clients.parse()?);
    }
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (clients, rounds) = (number(0, 1_000)?, number(1, 5)?);
    let mut costs = [const { Vec::new() }; VARIANTS.len()];
    for round in 0..rounds {
        for turn in 0..VARIANTS.len() {
            // Another one begins in each round.
            let at = (round + turn) % VARIANTS.len();
            let cost = measure(VARIANTS[at], clients)?;
            println!("round {}: {:<18} {cost}", round + 1, VARIANTS[at]);
            costs[at].push(cost);
        }
    }
    let medians = costs.map(|costs| median(costs.iter().map(|cost| cost.cpu_ns_per_message).collect()));
    println!();
    for (variant, median) in VARIANTS.iter().zip(medians) {
        let more = (median / medians[0] - 1.0) * 100.0;
        println!("{variant:<18} {median:>6.0} ns of CPU for each message, {more:+.1}%");
    }
    Ok(())
}

struct Cost {
    cpu_ns_per_message: f64,
    messages: u64,
    cpu: Duration,
}

impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cost { cpu_ns_per_message, messages, cpu } = self;
        write!(f, "{cpu_ns_per_message:>6.0} ns/message ({messages} messages, {cpu:.2?} of CPU)")
    }
}

fn measure(variant: &str, clients: usize) -> Result<Cost, Box<dyn Error>> {
    let (mut game, url) = start(variant)?;
    let mut others =
        Others(Command::new(std::env::current_exe()?).args(["clients", &url, &clients.to_string()]).spawn()?);
    let mut ticks = Ticks { next: Instant::now() };
    let end = Instant::now() + CONNECT_MAX;
    while game.connected() < clients {
        if Instant::now() > end || others.0.try_wait()?.is_some() {
            return Err(format!("{} of {clients} clients have connected", game.connected()).into());
        }
        ticks.play(&mut *game);
    }
    // The connections settle: path MTU discovery, the first acknowledgements.
    let settled = Instant::now() + Duration::from_secs(2);
    while Instant::now() < settled {
        ticks.play(&mut *game);
    }
    let (before, cpu_before, end) = (game.messages(), cpu()?, Instant::now() + MEASURED);
    while Instant::now() < end {
        ticks.play(&mut *game);
    }
    if game.connected() < clients {
        return Err("clients were lost".into());
    }
    let (messages, cpu) = (game.messages() - before, cpu()? - cpu_before);
    Ok(Cost { cpu_ns_per_message: cpu.as_nanos() as f64 / messages as f64, messages, cpu })
}

/// The process of the clients, which ends with the measurement.
struct Others(Child);

impl Drop for Others {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Ticks {
    next: Instant,
}

impl Ticks {
    fn play(&mut self, game: &mut dyn Game) {
        game.tick();
        self.next = (self.next + TICK).max(Instant::now() - TICK);
        thread::sleep(self.next.saturating_duration_since(Instant::now()));
    }
}

/// User and system time of this process.
fn cpu() -> Result<Duration, Box<dyn Error>> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let micros = [usage.user_time(), usage.system_time()].map(|time| time.tv_sec() * 1_000_000 + time.tv_usec());
    Ok(Duration::from_micros(micros.iter().sum::<i64>().try_into()?))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
