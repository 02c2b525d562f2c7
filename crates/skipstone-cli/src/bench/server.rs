//! The server's process: a driver and a tick. It does what its parent says, and ends with it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use super::drivers::{self, Drive, Inbox, Server, ServerSetup};
use super::network::{self, End};
use super::place::Place;
use super::system;
use super::transport::Transport;
use super::variant::Delivery;
use super::words::{Snapshot, Told, tell};
use crate::measure::process::Probe;
use crate::report::exit::Exit;
use crate::resilience::ResilienceFlags;

/// Flags of the server's process.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    #[arg(long)]
    pub(crate) transport: Transport,
    #[arg(long)]
    pub(crate) clients: u32,
    #[arg(long, value_enum)]
    pub(crate) workload: Workload,
    #[arg(long)]
    pub(crate) tick: u32,
    #[arg(long, value_enum)]
    pub(crate) delivery: Delivery,
    #[arg(long)]
    pub(crate) channels: u16,
    #[arg(long, value_enum)]
    pub(crate) drive: Drive,
    #[command(flatten)]
    pub(crate) resilience: ResilienceFlags,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Workload {
    /// It goes to every client, the sender included
    Broadcast,
    /// It goes back to its sender
    Echo,
}

/// Runs until the parent says `stop`, or is gone.
pub(crate) fn run(arguments: &Arguments) -> Exit {
    serve(arguments).map_or_else(
        |reason| {
            tell(&Told::Failed { reason });
            Exit::Fail
        },
        |()| Exit::Pass,
    )
}

fn serve(arguments: &Arguments) -> Result<(), String> {
    let Some(orders) = arguments.place.settle(End::Server)? else { return Ok(()) };
    let ip = if arguments.place.apart { network::address(End::Server) } else { Ipv4Addr::LOCALHOST.into() };
    let setup = ServerSetup {
        listen: SocketAddr::new(ip, 0),
        clients: arguments.clients,
        delivery: arguments.delivery,
        channels: arguments.channels,
        drive: arguments.drive,
        redundancy: arguments.resilience.redundancy(),
        congestion: arguments.resilience.congestion(),
    };
    let server = drivers::server(arguments.transport, setup)?;
    tell(&Told::Listening { url: server.url() });
    let mut ticking = Ticking {
        server,
        orders,
        workload: arguments.workload,
        apart: arguments.place.apart,
        probe: Probe::of_self(),
        inbox: Inbox::default(),
        ticks: 0,
        lines: 0,
        slowest: Duration::ZERO,
    };
    ticking.run(Duration::from_secs(1) / arguments.tick)
}

struct Ticking {
    server: Box<dyn Server>,
    orders: Receiver<String>,
    workload: Workload,
    apart: bool,
    probe: Probe,
    inbox: Inbox,
    ticks: u64,
    lines: u64,
    slowest: Duration,
}

impl Ticking {
    fn run(&mut self, interval: Duration) -> Result<(), String> {
        let mut due = Instant::now();
        loop {
            match self.orders.try_recv() {
                Ok(word) if word == "mark" => tell(&Told::Snapshot(self.snapshot())),
                Ok(_) | Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => {}
            }
            self.tick()?;
            self.slowest = self.slowest.max(due.elapsed());
            self.ticks += 1;
            due += interval;
            // Ticks that were missed altogether are left out, and missing in their number.
            let now = Instant::now();
            if now > due + interval {
                due = now;
            }
            self.server.rest(due)?;
        }
    }

    fn tick(&mut self) -> Result<(), String> {
        self.server.receive(&mut self.inbox)?;
        self.lines += self.inbox.0.len() as u64;
        for (client, line) in self.inbox.0.drain(..) {
            match self.workload {
                Workload::Broadcast => self.server.broadcast(&line),
                Workload::Echo => self.server.answer(client, line),
            }
        }
        self.server.flush()
    }

    fn snapshot(&mut self) -> Snapshot {
        let sample = self.probe.sample();
        let slowest = std::mem::take(&mut self.slowest);
        Snapshot {
            at_ns: system::now_ns(),
            cpu_us: system::cpu_time().map(|time| time.as_micros() as u64),
            ticks: self.ticks,
            slowest_tick_us: slowest.as_micros() as u64,
            lines: self.lines,
            clients: self.server.clients() as u64,
            ip_bytes: self.server.ip_bytes().or_else(|| self.apart.then(network::ip_bytes).flatten()),
            rss_bytes: sample.map(|sample| sample.rss_bytes),
        }
    }
}
