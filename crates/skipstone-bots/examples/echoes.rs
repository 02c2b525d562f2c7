//! Proves a protocol against an echo server, such as one of the original library: bots send numbered messages, and each
//! must come back once, unchanged and in order.
//!
//! ```sh
//! cargo run -p skipstone-bots --example echoes -- enet --server enet-echo --relay skipstone --bots 200 --seconds 10
//! ```
//!
//! Other flags: `--options` (of the target, such as `?channels=4`), `--delivery`, `--channel`, `--bytes` (the longest
//! message), `--hz` (messages a second of a bot), `--loss`, `--path` (more flags of the relay), `--server-flags` (more
//! flags of the server), `--seed`, and `--patience` (seconds to wait for the last messages).
//!
//! `--server` is started as `SERVER server --listen 127.0.0.1:0` and prints where it listens, as the programs of
//! `examples/external` do. With `--relay` a relay of the tool is between, which loses datagrams.

use skipstone_bots::protocol::{Delivery, Event, Outgoing, ProtocolCounts, SendRefused, SocketCounts};
use skipstone_bots::protocols::table;
use skipstone_bots::socket::{BotSocket, OpenError};
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

struct Flags {
    scheme: String,
    options: BTreeMap<String, String>,
}

impl Flags {
    fn read() -> Result<Self, Box<dyn Error>> {
        let mut words = std::env::args().skip(1);
        let scheme = words.next().ok_or("the first word is a scheme, such as enet")?;
        let mut options = BTreeMap::new();
        while let Some(flag) = words.next() {
            let name = flag.strip_prefix("--").filter(|name| FLAGS.contains(name));
            let name = name.ok_or_else(|| format!("{flag} is no flag; there are --{}", FLAGS.join(", --")))?;
            options.insert(name.into(), words.next().ok_or_else(|| format!("{flag} needs a value"))?);
        }
        Ok(Flags { scheme, options })
    }

    fn text(&self, name: &str, default: &str) -> String {
        self.options.get(name).map_or(default, String::as_str).into()
    }

    fn number(&self, name: &str, default: u64) -> Result<u64, Box<dyn Error>> {
        Ok(self.text(name, &default.to_string()).parse().map_err(|error| format!("--{name}: {error}"))?)
    }
}

const FLAGS: [&str; 14] = [
    "server",
    "server-flags",
    "relay",
    "loss",
    "path",
    "options",
    "bots",
    "seconds",
    "hz",
    "bytes",
    "channel",
    "delivery",
    "seed",
    "patience",
];

/// A child that ends with this process: by the end of its standard input, or killed.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a command line, which may begin with variables.
fn start(command: &str) -> Result<(Running, BufReader<ChildStdout>), Box<dyn Error>> {
    let mut child = Command::new("sh")
        .args(["-c", &format!("exec env {command}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{command}: {error}"))?;
    let output = BufReader::new(child.stdout.take().ok_or("no output")?);
    Ok((Running(child), output))
}

/// The line that `{"listening":{"address":"127.0.0.1:7777"}}` or `listening on 127.0.0.1:7777, ...` is.
fn listening(output: &mut impl BufRead) -> Result<SocketAddr, Box<dyn Error>> {
    let mut line = String::new();
    output.read_line(&mut line)?;
    let words = line.split(|letter: char| !(letter.is_ascii_digit() || ".:[]".contains(letter)));
    let address = words.filter_map(|word| word.trim_matches(':').parse::<SocketAddr>().ok()).next();
    address.ok_or_else(|| format!("it does not say where it listens: {line:?}").into())
}

/// One bot and what it expects.
struct Bot {
    socket: BotSocket,
    rng: Rng,
    next: u32,
    next_at: Time,
    is_connected: bool,
    expected: VecDeque<Vec<u8>>,
    /// Messages that came back right.
    returned: u64,
    refused: u64,
    faults: Vec<String>,
}

/// How each bot sends.
struct Plan {
    interval: Duration,
    bytes_max: u32,
    channel: u16,
    delivery: Delivery,
}

impl Bot {
    fn new(socket: BotSocket, seed: u64, next_at: Time) -> Self {
        Bot {
            socket,
            rng: Rng::new(seed),
            next: 0,
            next_at,
            is_connected: false,
            expected: VecDeque::new(),
            returned: 0,
            refused: 0,
            faults: Vec::new(),
        }
    }

    fn handle_events(&mut self, plan: &Plan) {
        while let Some(event) = self.socket.protocol().poll_event() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::Message { channel, .. } if channel != plan.channel => {
                    self.faults.push(format!("a message came on channel {channel}, sent on {}", plan.channel));
                }
                Event::Message { data, .. } => self.on_message(&data, plan.delivery),
                Event::Closed(ending) => self.faults.push(format!("closed: {ending:?}")),
            }
        }
    }

    fn on_message(&mut self, data: &[u8], delivery: Delivery) {
        let place = match delivery {
            Delivery::ReliableUnordered => self.expected.iter().position(|message| message == data),
            _ => self.expected.front().filter(|message| **message == data).map(|_| 0),
        };
        match place {
            Some(place) => {
                self.expected.remove(place);
                self.returned += 1;
            }
            None => {
                let number = |data: &[u8]| data.first_chunk().map(|number| u32::from_le_bytes(*number));
                let (came, due) = (number(data), self.expected.front().and_then(|message| number(message)));
                self.faults.push(format!("message {came:?} of {} bytes came, {due:?} is due", data.len()));
            }
        }
    }

    fn send(&mut self, now: Time, plan: &Plan) {
        let mut message = self.next.to_le_bytes().to_vec();
        let length = 4 + self.rng.below(plan.bytes_max - 3) as usize;
        message.resize_with(length, || self.rng.next_u64() as u8);
        let outgoing = Outgoing { channel: plan.channel, delivery: Some(plan.delivery), data: &message };
        match self.socket.protocol().send(now, outgoing) {
            Ok(()) => {
                self.next += 1;
                self.expected.push_back(message);
            }
            Err(SendRefused::QueueFull { .. }) => self.refused += 1,
            Err(error) => self.faults.push(error.to_string()),
        }
        self.next_at += plan.interval;
    }

    fn turn(&mut self, now: Time, ends: Time, plan: &Plan, buffers: &mut (Vec<u8>, Vec<u8>)) {
        let (incoming, outgoing) = buffers;
        while self.socket.handle_readable(now, incoming, 64) {}
        if self.socket.deadline().is_some_and(|due| due <= now) {
            self.socket.handle_deadline(now);
        }
        self.handle_events(plan);
        while self.is_connected && self.faults.is_empty() && self.next_at <= now && now < ends {
            self.send(now, plan);
        }
        self.socket.flush(now, outgoing);
    }
}

/// The server, the relay before it if there is one, and where bots connect.
struct Servers {
    _running: Vec<(Running, BufReader<ChildStdout>)>,
    address: SocketAddr,
}

fn start_servers(flags: &Flags, seed: u64) -> Result<Servers, Box<dyn Error>> {
    let (server, more) = (flags.text("server", ""), flags.text("server-flags", ""));
    let (server, mut said) = start(&format!("{server} server --listen 127.0.0.1:0 {more}"))?;
    let mut address = listening(&mut said)?;
    let mut running = vec![(server, said)];
    let relay = flags.text("relay", "");
    if !relay.is_empty() {
        let (loss, path) = (flags.text("loss", "2%"), flags.text("path", ""));
        let path = format!("--loss {loss} --seed {seed} {path}");
        let (relay, mut said) =
            start(&format!("{relay} netem relay --listen 127.0.0.1:0 --to {address} {path} --quiet --json -"))?;
        address = listening(&mut said)?;
        running.push((relay, said));
    }
    Ok(Servers { _running: running, address })
}

impl Plan {
    fn read(flags: &Flags) -> Result<Self, Box<dyn Error>> {
        let delivery = flags.text("delivery", "reliable");
        Ok(Plan {
            interval: Duration::from_secs_f64(1.0 / flags.number("hz", 10)?.max(1) as f64),
            bytes_max: flags.number("bytes", 600)?.clamp(4, 100_000) as u32,
            channel: flags.number("channel", 0)? as u16,
            delivery: Delivery::named(&delivery).ok_or_else(|| format!("--delivery: {delivery}"))?,
        })
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let flags = Flags::read()?;
    let (count, seed, plan) = (flags.number("bots", 200)?, flags.number("seed", 1)?, Plan::read(&flags)?);
    let servers = start_servers(&flags, seed)?;
    let url = format!("{}://{}{}", flags.scheme, servers.address, flags.text("options", ""));
    let (row, target) = table::find(&url)?;
    let began = Instant::now();
    let now = || Time::from_micros(began.elapsed().as_micros() as u64 + 1);
    let bot = |index: u64| {
        let socket = BotSocket::open(row, &target, servers.address, seed + index, now())?;
        // They do not send all at once.
        let next_at = now() + plan.interval.mul_f64(index as f64 / count as f64);
        Ok(Bot::new(socket, seed + index, next_at))
    };
    let mut bots = (0..count).map(bot).collect::<Result<Vec<Bot>, OpenError>>()?;
    let ends = now() + Duration::from_secs(flags.number("seconds", 5)?);
    let gives_up = ends + Duration::from_secs(flags.number("patience", 15)?);
    let mut buffers = (vec![0; 65_536], Vec::new());
    let is_waiting = |bots: &[Bot]| bots.iter().any(|bot| !bot.expected.is_empty() && bot.faults.is_empty());
    let mut over = ends + AFTERMATH;
    loop {
        if now() < ends || (now() < gives_up && is_waiting(&bots)) {
            over = now() + AFTERMATH;
        } else if now() >= over {
            break;
        }
        let round = Instant::now();
        bots.iter_mut().for_each(|bot| bot.turn(now(), ends, &plan, &mut buffers));
        std::thread::sleep(Duration::from_millis(2).saturating_sub(round.elapsed()));
    }
    let is_right = report(&mut bots, &url);
    for bot in &mut bots {
        bot.socket.protocol().close(now());
        bot.socket.flush(now(), &mut buffers.1);
    }
    Ok(is_right)
}

/// The run goes on for this long after the last message came back, so that one that comes twice is seen.
const AFTERMATH: Duration = Duration::from_secs(1);

/// Prints the sums, and what went wrong. Returns whether nothing did.
fn report(bots: &mut [Bot], url: &str) -> bool {
    let counts: ProtocolCounts = bots.iter_mut().map(|bot| bot.socket.protocol().figures().counts).sum();
    let sockets: SocketCounts = bots.iter().map(|bot| bot.socket.counts()).sum();
    let mut rtts: Vec<Duration> = bots.iter_mut().filter_map(|bot| bot.socket.protocol().figures().rtt).collect();
    rtts.sort();
    let connected = bots.iter().filter(|bot| bot.is_connected).count();
    let (sent, returned): (u64, u64) = bots
        .iter()
        .map(|bot| (u64::from(bot.next), bot.returned))
        .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let missing: usize = bots.iter().map(|bot| bot.expected.len()).sum();
    let refused: u64 = bots.iter().map(|bot| bot.refused).sum();
    let faulty = bots.iter().filter(|bot| !bot.faults.is_empty()).count();
    for fault in bots.iter().flat_map(|bot| bot.faults.first()).take(5) {
        println!("fault: {fault}");
    }
    println!(
        "{url}: {connected} of {} bots connected; {sent} messages sent, {returned} came back once and in order, \
         {missing} missing, {faulty} bots with faults, {refused} refused by full queues; retransmitted {}, duplicates \
         {}, invalid {}; {} datagrams out, {} in; median RTT {:?}",
        bots.len(),
        counts.retransmitted,
        counts.duplicates,
        counts.invalid,
        sockets.sent,
        sockets.received,
        rtts.get(rtts.len() / 2).copied().unwrap_or_default(),
    );
    connected == bots.len() && missing == 0 && faulty == 0 && sent > 0
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("echoes: {error}");
            ExitCode::FAILURE
        }
    }
}
