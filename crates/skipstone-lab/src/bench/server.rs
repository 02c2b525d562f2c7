//! The server's process: a driver and a tick. The process follows its parent's orders, and ends with it.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::drivers;
use super::drivers::driver::{BenchServer, Inbox, ServerSetup};
use super::messages::{ChildMessage, Order, ServerCounters, send};
use super::network::{self, CableEnd};
use super::other_server;
use super::place::{self, Place};
use super::setup::{Trial, TrialSetup};
use super::system;
use super::workers::ChildError;
use crate::measure::process::Probe;
use crate::report::Exit;
use crate::workload::Workload;

/// The task of the server's process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ServerTask {
    pub(crate) trial: Trial,
    pub(crate) setup: TrialSetup,
    pub(crate) place: Place,
}

/// Runs a task, given as JSON, until the parent sends `stop`, or ends.
pub fn run(task: &str) -> Exit {
    if let Err(ChildError::Failed(reason)) = place::task(task).and_then(|task| serve(&task)) {
        send(&ChildMessage::Failed { reason });
        return Exit::Fail;
    }
    Exit::Pass
}

fn serve(task: &ServerTask) -> Result<(), ChildError> {
    let orders = task.place.settle(CableEnd::Server)?;
    let ip = if task.place.apart { network::address(CableEnd::Server) } else { Ipv4Addr::LOCALHOST.into() };
    let listen = SocketAddr::new(ip, 0);
    if let Some(place) = task.trial.server {
        let command = &task.setup.servers[place];
        return Ok(other_server::serve(command, listen, task.trial, &task.setup, &orders)?);
    }
    let server = drivers::server(ServerSetup { listen, trial: task.trial, of_all: &task.setup })?;
    send(&ChildMessage::Listening { url: server.url() });
    let mut ticking = Ticking {
        server,
        orders,
        workload: task.setup.workload,
        apart: task.place.apart,
        probe: Probe::of_self(),
        inbox: Inbox::default(),
        ticks: 0,
        lines: 0,
        slowest: Duration::ZERO,
    };
    Ok(ticking.run(Duration::from_secs(1) / task.setup.ticks_per_second)?)
}

struct Ticking {
    server: Box<dyn BenchServer>,
    orders: Receiver<Order>,
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
                Ok(Order::Mark) => send(&ChildMessage::Counters(self.counters())),
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

    fn counters(&mut self) -> ServerCounters {
        let sample = self.probe.sample();
        let slowest = std::mem::take(&mut self.slowest);
        ServerCounters {
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
