//! The plan of a bench, from its flags: presets, and the flags that all of them share.

use std::time::Duration;

use super::line::{LINE_BYTES_MAX, LINE_BYTES_MIN};
use super::network::Network;
use super::row::Against;
use super::server_command::ServerCommand;
use super::setup::{Drive, Priority, Trial, TrialSetup};
use super::transport::BenchTransport;
use super::variant::{LineDelivery, Variant};
use crate::measure::machine::cores;
use crate::open_files::{self, Beside};
use crate::resilience::ResilienceFlags;
use crate::units::{Bounds, Named, Rate, Size, Span, Threshold};
use crate::workload::Workload;

/// The presets.
#[derive(Debug, Clone, clap::Subcommand)]
pub(crate) enum Preset {
    /// Each client sends a line at a fixed rate, and every line goes to all of them
    Fanout(Fanout),
    /// Each client sends lines, and each comes back to its sender (BenchmarkNet: 1,000 clients, 48 bytes, 15/s)
    Echo(EchoPreset),
    /// Connected clients that send nothing
    Idle(Idle),
    /// Like fanout, with clients that each used many channels once, which are now idle
    Channels(Channels),
    /// Lines that go back and forth as fast as possible (NetworkBenchmarkDotNet: 500 clients, 32 bytes)
    Pingpong(Pingpong),
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Fanout {
    /// Clients, each with its own socket; a list runs one after the other
    #[arg(short, long, value_name = "N,N,…", value_delimiter = ',', default_value = "200")]
    clients: Vec<u32>,
    /// Lines that each client sends: 1/s, 2.5/s
    #[arg(short, long, value_name = "RATE", default_value = "1/s")]
    rate: Rate,
    /// Length of a line, 24 to 1,000 bytes
    #[arg(short, long, value_name = "BYTES", default_value = "100")]
    size: Size,
    /// Search for the greatest number of clients that pass, within the bounds; ignores --clients
    #[arg(long)]
    find_limit: bool,
    /// Bounds of the search
    #[arg(long, value_name = "LOW..HIGH", default_value = "100..4000", requires = "find_limit")]
    limit_bounds: Bounds,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct EchoPreset {
    /// Clients, each with its own socket; a list runs one after the other
    #[arg(short, long, value_name = "N,N,…", value_delimiter = ',', default_value = "1000")]
    clients: Vec<u32>,
    /// Lines that each client sends
    #[arg(short, long, value_name = "RATE", default_value = "15/s")]
    rate: Rate,
    /// Length of a line, 24 to 1,000 bytes
    #[arg(short, long, value_name = "BYTES", default_value = "48")]
    size: Size,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Idle {
    /// Clients, each with its own socket; a list runs one after the other
    #[arg(short, long, value_name = "N,N,…", value_delimiter = ',', default_value = "1000")]
    clients: Vec<u32>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Channels {
    /// Clients, each with its own socket; a list runs one after the other
    #[arg(short, long, value_name = "N,N,…", value_delimiter = ',', default_value = "300")]
    clients: Vec<u32>,
    /// Channels that each client has used; the ratios are of the first of the list
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "64,4096",
          value_parser = clap::value_parser!(u16).range(1..=60_000))]
    channels: Vec<u16>,
    /// Lines that each client sends, all of them on one channel
    #[arg(short, long, value_name = "RATE", default_value = "1/s")]
    rate: Rate,
    /// Length of a line, 24 to 1,000 bytes
    #[arg(short, long, value_name = "BYTES", default_value = "100")]
    size: Size,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Pingpong {
    /// Clients, each with its own socket; a list runs one after the other
    #[arg(short, long, value_name = "N,N,…", value_delimiter = ',', default_value = "500")]
    clients: Vec<u32>,
    /// Lines of each client in flight
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', default_value = "1,10",
          value_parser = clap::value_parser!(u32).range(1..=1_000))]
    in_flight: Vec<u32>,
    /// Their delivery mode
    #[arg(long, value_enum, value_name = "HOW,HOW", value_delimiter = ',', default_value = "reliable,unreliable")]
    delivery: Vec<LineDelivery>,
    /// Length of a line, 24 to 1,000 bytes
    #[arg(short, long, value_name = "BYTES", default_value = "32")]
    size: Size,
    #[command(flatten)]
    common: Common,
}

/// Flags of all presets.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Common {
    /// Duration of the measurement
    #[arg(short, long, value_name = "TIME", default_value = "10s")]
    pub(crate) duration: Span,
    /// Warm-up before that: until paths have proved to be without loss, and connections are in their steady state
    #[arg(long, value_name = "TIME", default_value = "9s")]
    pub(crate) warmup: Span,
    /// Transports:
    /// skipstone-plain,skipstone,skipstone-ws,skipstone-wss,skipstone-wt,skipstone-mixed,enet,renet,quinn,websocket,
    /// tcp,udp-bare,udp-bare-acked [default: all but skipstone-mixed and udp-bare-acked; idle: skipstone; channels:
    /// skipstone-plain]
    #[arg(short, long, value_name = "A,B,…", value_delimiter = ',')]
    pub(crate) transports: Option<Vec<BenchTransport>>,
    /// The transport by whose cost the others' are divided [default: tcp; with --server: each by its own]
    #[arg(long, value_name = "TRANSPORT")]
    pub(crate) against: Option<BenchTransport>,
    /// Another program's server, measured in turns with this one's by the same clients; its cost is divided by that of
    /// this program's. May be given several times. The guide's page on measuring describes the interface
    #[arg(long = "server", value_name = "NAME=COMMAND")]
    pub(crate) servers: Vec<ServerCommand>,
    /// Number of rounds, in turns; the median round counts, and all must pass
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// The network: `veth` is two namespaces and a virtual cable, and needs root [default: veth if possible]
    #[arg(long, value_enum, value_name = "NETWORK", hide_possible_values = true)]
    pub(crate) network: Option<Network>,
    /// The core of the server's process, or `any`
    #[arg(long, value_name = "CPU", default_value = "0", value_parser = core)]
    pub(crate) server_cpu: Cores,
    /// The core of the load's process, or `any`; several processes take the cores of a list in turn
    #[arg(long, value_name = "CPU,CPU,…", default_value = "1")]
    pub(crate) load_cpu: Cores,
    /// Processes that share the load, with equal numbers of clients and a common clock
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) load_processes: u32,
    /// The server's ticks a second [default: 60; pingpong: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) tick: Option<u32>,
    /// When Skipstone's server reads its sockets: at its `tick`, like the other drivers; when one is `ready`; or in the
    /// `background`, in its own thread
    #[arg(long, value_enum, value_name = "WHEN", default_value = "tick", hide_possible_values = true)]
    pub(crate) drive: Drive,
    #[command(flatten)]
    pub(crate) resilience: ResilienceFlags,
    /// Let nothing else run on the two cores while server and load have work (by `chrt`; needs root), for machines with
    /// other load
    #[arg(long)]
    pub(crate) realtime: bool,
    /// A condition on every row, or on those that it names: 'passed==1', 'skipstone.cpu_us_per_delivery<=0.7',
    /// 'skipstone.600.ratio<0.4'; exit code 99 if missed
    #[arg(long, value_name = "CONDITION")]
    pub(crate) threshold: Vec<Threshold>,
    /// Write the result to this file, `-` for standard output instead of the table; its schema is
    /// schema/bench.schema.json
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<String>,
    /// Write the report to this file: one HTML file with curves and the worst clients, which needs no network
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Cores; an empty list means any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cores(pub(crate) Vec<usize>);

impl std::str::FromStr for Cores {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self(Vec::new()));
        }
        let cores = text.split(',').map(str::parse).collect::<Result<_, _>>();
        cores.map(Self).map_err(|_| "cores are numbers such as 1 or 1,2,3, or any".into())
    }
}

/// One core, or any.
fn core(text: &str) -> Result<Cores, &'static str> {
    let cores = text.parse::<Cores>().ok().filter(|cores| cores.0.len() < 2);
    cores.ok_or("a core is a number such as 0, or any")
}

/// The requested runs.
#[derive(Debug, Clone)]
pub(crate) struct BenchPlan {
    pub(crate) preset: &'static str,
    pub(crate) setup: TrialSetup,
    pub(crate) transports: Vec<BenchTransport>,
    pub(crate) clients: Vec<u32>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) search: Option<Bounds>,
    pub(crate) common: Common,
    /// Why it does not run on the best network.
    pub(crate) remark: Option<String>,
}

/// The criterion of every measurement: 99% within 40 ms, at 60 ticks a second.
const P99_MAX: Duration = Duration::from_millis(40);

impl BenchPlan {
    pub(crate) fn from(preset: &Preset) -> Result<Self, String> {
        let (name, common, mut clients, rate, size, workload) = match preset {
            Preset::Fanout(flags) => {
                let Fanout { clients, rate, size, common, .. } = flags;
                ("fanout", common, clients.clone(), Some(*rate), *size, Workload::Broadcast)
            }
            Preset::Echo(EchoPreset { clients, rate, size, common }) => {
                ("echo", common, clients.clone(), Some(*rate), *size, Workload::Echo)
            }
            Preset::Idle(Idle { clients, common }) => {
                ("idle", common, clients.clone(), None, Size::Bytes(LINE_BYTES_MIN), Workload::Broadcast)
            }
            Preset::Channels(Channels { clients, rate, size, common, .. }) => {
                ("channels", common, clients.clone(), Some(*rate), *size, Workload::Broadcast)
            }
            Preset::Pingpong(Pingpong { clients, size, common, .. }) => {
                ("pingpong", common, clients.clone(), None, *size, Workload::Echo)
            }
        };
        let variants = preset.variants();
        let search = match preset {
            Preset::Fanout(flags) => flags.find_limit.then_some(flags.limit_bounds),
            _ => None,
        };
        clients.dedup();
        let most = search.map_or(clients.iter().copied().max().unwrap_or(0), |bounds| bounds.high);
        if clients.contains(&0) {
            return Err("--clients 0: a bench has at least one client".into());
        }
        open_files::check(most, Beside { files: 64, also: "" })?;
        let (network, remark) = Network::choose(common.network)?;
        if common.realtime {
            check_realtime()?;
        }
        check_cores("--server-cpu", &common.server_cpu.0)?;
        check_cores("--load-cpu", &common.load_cpu.0)?;
        let setup = TrialSetup {
            workload,
            rate,
            line_bytes: line_bytes(size)?,
            warmup: common.warmup.0,
            duration: positive(common.duration)?,
            ticks_per_second: common.tick.unwrap_or(if name == "pingpong" { 1_000 } else { 60 }),
            network,
            server_cpu: common.server_cpu.0.first().copied(),
            load_processes: common.load_processes,
            load_cpus: common.load_cpu.0.clone(),
            drive: common.drive,
            servers: common.servers.clone(),
            resilience: common.resilience.clone(),
            priority: if common.realtime { Priority::Realtime } else { Priority::Usual },
            p99_max: P99_MAX,
            tells_clients_apart: common.report.is_some(),
        };
        let transports = common.transports.clone().unwrap_or_else(|| match common.servers.is_empty() {
            true => default_transports(name),
            false => vec![BenchTransport::Skipstone],
        });
        check_servers(name, search.is_some(), &transports, common)?;
        Ok(Self { preset: name, setup, transports, clients, variants, search, common: common.clone(), remark })
    }

    /// All runs in their order: every transport once, then again, so that changes of the machine affect all transports.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let mut round = Vec::new();
        for clients in &self.clients {
            for variant in &self.variants {
                for transport in &self.transports {
                    let trial = |server| Trial { transport: *transport, server, clients: *clients, variant: *variant };
                    round.push(trial(None));
                    let others = if transport.is_ours() { self.setup.servers.len() } else { 0 };
                    round.extend((0..others).map(|place| trial(Some(place))));
                }
            }
        }
        round.repeat(self.common.rounds as usize)
    }

    /// The base of the ratios.
    pub(crate) fn against(&self) -> Against {
        if self.preset == "channels" {
            return Against::FirstVariant;
        }
        match self.common.against {
            Some(transport) => Against::BenchTransport(transport.name()),
            None if self.setup.servers.is_empty() => Against::BenchTransport(BenchTransport::Tcp.name()),
            None => Against::OwnServer,
        }
    }
}

impl Preset {
    /// The variants besides transports and numbers of clients.
    fn variants(&self) -> Vec<Variant> {
        match self {
            Self::Channels(flags) => flags.channels.iter().map(|channels| Variant::Channels(*channels)).collect(),
            Self::Pingpong(flags) => {
                let each = |delivery: LineDelivery| flags.in_flight.iter().map(move |lines| (*lines, delivery));
                let all = flags.delivery.iter().flat_map(|delivery| each(*delivery));
                all.map(|(lines, delivery)| Variant::InFlight { lines, delivery }).collect()
            }
            Self::Fanout(_) | Self::Echo(_) | Self::Idle(_) => vec![Variant::Only],
        }
    }
}

fn default_transports(preset: &str) -> Vec<BenchTransport> {
    if preset == "idle" {
        return vec![BenchTransport::Skipstone];
    }
    if preset == "channels" {
        return vec![BenchTransport::SkipstonePlain];
    }
    let extra = [BenchTransport::SkipstoneMixed, BenchTransport::UdpBareAcked];
    BenchTransport::built_in().into_iter().filter(|transport| !extra.contains(transport)).collect()
}

/// Other programs' servers forward lines to all clients or back, on one reliable channel, at their tick.
fn check_servers(preset: &str, is_search: bool, transports: &[BenchTransport], common: &Common) -> Result<(), String> {
    let Some(first) = common.servers.first() else { return Ok(()) };
    let refuse = |why: &str| Err(format!("--server {}: {why}", first.name));
    if !matches!(preset, "fanout" | "echo" | "idle") {
        return refuse("only fanout, echo and idle support external servers");
    }
    if is_search {
        return refuse("--find-limit supports only the built-in server");
    }
    if common.drive != Drive::Tick || !common.resilience.words().is_empty() {
        return refuse("it has its own settings; leave --drive, --redundancy and --congestion out");
    }
    if !transports.iter().any(|transport| transport.is_ours()) {
        return refuse("it speaks Skipstone; add one of its transports to --transports");
    }
    let mut names: Vec<&str> = common.servers.iter().map(|server| server.name.as_str()).collect();
    names.sort_unstable();
    names
        .windows(2)
        .find(|pair| pair[0] == pair[1])
        .map_or(Ok(()), |pair| Err(format!("--server {}: two servers have that name", pair[0])))
}

fn line_bytes(size: Size) -> Result<usize, String> {
    match size {
        Size::Bytes(bytes) if (LINE_BYTES_MIN..=LINE_BYTES_MAX).contains(&bytes) => Ok(bytes),
        _ => Err(format!("--size {size}: a line has {LINE_BYTES_MIN} to {LINE_BYTES_MAX} bytes")),
    }
}

fn positive(duration: Span) -> Result<Duration, String> {
    match duration.0 {
        Duration::ZERO => Err("--duration 0s: nothing would be measured".into()),
        duration => Ok(duration),
    }
}

fn check_cores(flag: &str, asked: &[usize]) -> Result<(), String> {
    let cores = cores();
    match asked.iter().find(|core| **core >= cores) {
        Some(core) => {
            Err(format!("{flag} {core}: this machine has {cores} cores, counted from 0; use another, or any"))
        }
        None => Ok(()),
    }
}

fn check_realtime() -> Result<(), String> {
    let tried = std::process::Command::new("chrt").args(["--fifo", "10", "true"]).output();
    match tried {
        Ok(tried) if tried.status.success() => Ok(()),
        Ok(tried) => Err(format!("--realtime: {}; run as root", String::from_utf8_lossy(&tried.stderr).trim())),
        Err(error) => Err(format!("--realtime: cannot run `chrt` (of util-linux): {error}")),
    }
}
