//! The clients of a stress run, all in this thread, each with its own socket: connect, send on schedule, receive
//! and check, drain, close.
//!
//! Open loop: every due time is fixed before the first line is sent, and latency counts from then (no coordinated
//! omission).

mod absence;
mod client;
mod findings;
mod page_reports;
mod returning;
mod schedule;
mod sending;

pub(crate) use client::{Client, ClientState};

use super::attendance::Attendance;
use super::client_drop::{ClientDrop, told};
use super::pages::Pages;
use super::places::{shares, target};
use super::plan::Plan;
use super::proof::Proof;
use schedule::Schedule;
use skipstone::{Event, PacketLog, Pool, PoolConfig, Stats, Target};
use skipstone_lab::measure::sentence::{Parsed, parse};
use skipstone_lab::report::stress::chronicle::Chronicle;
use skipstone_lab::units::Rate;
use skipstone_lab::workload::{CONTROL, Guest, LINES, SOCKETS_AT_ONCE, StressTurn, Word};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All clients of a run.
pub(crate) struct Generator<'p> {
    plan: &'p Plan,
    targets: Vec<Target>,
    address: SocketAddr,
    pub(crate) pool: Pool,
    pub(crate) clients: Vec<Client>,
    /// Clients by place in the pool.
    by_place: Vec<u32>,
    pub(crate) proof: Proof,
    /// The time at which lines began to be due.
    pub(crate) epoch: Instant,
    /// Lines sent, by client.
    pub(crate) sent: Vec<u32>,
    pub(crate) schedule: Schedule,
    /// The server's last control message to stress clients.
    pub(crate) told: Option<Word>,
    /// The time at which the server's last message came.
    heard: Instant,
    /// Counters by carrier at the end of the run before this one.
    pub(crate) wire_before: Vec<Stats>,
    /// Reasons for connections that ended unexpectedly, with their number.
    pub(crate) drops: BTreeMap<String, u64>,
    /// Reasons for lines that a connection did not take, with their number.
    pub(crate) refused_sends: BTreeMap<String, u64>,
    /// Which round of changes of the port, and which client's turn in it.
    next_move: (u32, u32),
    /// Ports changed so far.
    pub(crate) moves: u64,
    /// Connections that a client made beyond its first.
    pub(crate) reconnects: u64,
    /// The times at which clients were connected, if they reconnect.
    pub(crate) attendance: Option<Attendance>,
    /// Connections that ended because the server restarted.
    pub(crate) restarts: u64,
    is_closing: bool,
    line: Vec<u8>,
    /// Clients in browsers.
    pages: Option<Pages>,
}

/// Handshakes at once: a server's receive buffer holds many more.
const CONNECTING_MAX: usize = 256;
/// Pages learn that a run has begun from the answers to their reports, every 50 ms.
const LEAD: Duration = Duration::from_millis(500);
/// Clients that ask for the server's time before a start.
const CLOCKS: usize = 8;

impl<'p> Generator<'p> {
    /// Clients that will connect to the server at `address`.
    ///
    /// `own` is the URL of the run's own server, if it has one; `web_hash` is of the certificate that it shows to
    /// pages.
    pub(crate) fn new(
        plan: &'p Plan,
        address: SocketAddr,
        own: Option<&str>,
        web_hash: Option<&str>,
        packet_log: Option<Arc<dyn PacketLog>>,
    ) -> Result<Self, String> {
        let pool = Pool::new(PoolConfig {
            packet_log,
            merging: plan.flags.merge.map(|merge| merge.0),
            congestion: plan.flags.resilience.congestion(),
            trust: plan.trust.clone(),
            dtls_version: plan.flags.protection.dtls.map(Into::into).unwrap_or_default(),
            sockets_at_once: SOCKETS_AT_ONCE,
            follows_server_time: plan.order.is_some(),
            // Nodes of a fleet move their clients, which must not be noticed.
            follows_moves: true,
            ..PoolConfig::default()
        });
        let own: Option<Target> =
            own.map(str::parse).transpose().map_err(|error: skipstone::UrlError| error.to_string())?;
        let known = plan.target.as_ref().or(own.as_ref());
        let targets: Vec<Target> =
            plan.mix.iter().map(|(carrier, _)| target(plan.native, *carrier, address, known)).collect();
        let shares = shares(plan, &targets, web_hash);
        let pages = (!shares.is_empty()).then(|| Pages::start(shares, plan.part.total as usize)).transpose()?;
        let now = Instant::now();
        let mut clients = Vec::new();
        for carrier in 0..plan.mix.len() {
            clients.extend((0..).zip(plan.part.numbers(&plan.mix, carrier)).map(|(place, number)| Client {
                number,
                carrier,
                place,
                peer: None,
                state: ClientState::Waiting,
                began: now,
                drop: None,
                connected_in: None,
                away: None,
                connected_since: None,
            }));
        }
        Ok(Generator {
            plan,
            targets,
            address,
            pool: pool.map_err(|error| error.to_string())?,
            by_place: vec![u32::MAX; clients.len()],
            proof: proof(plan),
            epoch: now,
            sent: vec![0; clients.len()],
            clients,
            schedule: Schedule::default(),
            told: None,
            heard: now,
            wire_before: vec![Stats::default(); plan.mix.len()],
            drops: BTreeMap::new(),
            refused_sends: BTreeMap::new(),
            next_move: (1, 0),
            moves: 0,
            reconnects: 0,
            attendance: plan.flags.reconnect.then(|| Attendance::new(plan.clients as usize)),
            restarts: 0,
            is_closing: false,
            line: Vec::new(),
            pages,
        })
    }

    /// Begins the connections that are due `elapsed` after the first. Nothing here waits for an answer.
    pub(crate) fn connect_some(&mut self, elapsed: Duration) -> Result<(), String> {
        let total = self.clients.len();
        let due = match self.plan.flags.ramp.0 {
            Duration::ZERO => total,
            ramp => ((total as f64 * elapsed.as_secs_f64() / ramp.as_secs_f64()).ceil() as usize).min(total),
        };
        let mut connecting = self.count(ClientState::Connecting);
        for number in 0..due {
            if self.clients[number].state != ClientState::Waiting {
                continue;
            }
            if connecting >= CONNECTING_MAX {
                break;
            }
            self.connect_one(number)?;
            connecting += 1;
        }
        Ok(())
    }

    fn connect_one(&mut self, number: usize) -> Result<(), String> {
        let client = &mut self.clients[number];
        if let Some(pages) = self.pages.as_mut().filter(|pages| pages.has(client.number)) {
            pages.connect(client.number);
            (client.state, client.began) = (ClientState::Connecting, Instant::now());
            return Ok(());
        }
        let token = Guest::Stress(client.number).token();
        let target = &self.targets[self.clients[number].carrier];
        let impairment = self.plan.impairments.as_ref().map(|impairments| &impairments.impairment);
        let peer = self.pool.add(target, self.address, &token, impairment).map_err(|error| error.to_string())?;
        let place = peer.index as usize;
        if self.by_place.len() <= place {
            self.by_place.resize(place + 1, u32::MAX);
        }
        self.by_place[place] = number as u32;
        let client = &mut self.clients[number];
        (client.peer, client.state, client.began) = (Some(peer), ClientState::Connecting, Instant::now());
        Ok(())
    }

    /// Begins a run at this rate: lines are due when it returns, and from `at` on if that is given.
    pub(crate) fn start(&mut self, rate: Rate, at: Option<Instant>) -> Result<(), String> {
        self.proof = proof(self.plan);
        self.sent.fill(0);
        self.schedule = Schedule::default();
        self.refused_sends.clear();
        (self.next_move, self.moves, self.reconnects) = ((1, 0), 0, 0);
        for client in &self.clients {
            if client.state != ClientState::Connected {
                self.proof.exclude(client.carrier, client.place, client.number);
            }
        }
        // Pages learn of it later.
        let lead = self.pages.as_ref().map_or(Duration::ZERO, |_| LEAD);
        self.epoch = at.unwrap_or_else(|| Instant::now() + lead);
        if let Some(attendance) = &mut self.attendance {
            *attendance = Attendance::new(self.clients.len());
            for (number, client) in (0..).zip(&self.clients) {
                if client.state == ClientState::Connected {
                    attendance.on_connected(number, Duration::ZERO);
                }
            }
        }
        self.begin_pages(rate);
        while Instant::now() < self.epoch {
            self.drive(self.epoch.saturating_duration_since(Instant::now()).min(Duration::from_millis(5)))?;
        }
        Ok(())
    }

    /// Tells the server what the clients do, so that its operators see which clients their command reaches.
    pub(crate) fn tell(&mut self, turn: StressTurn) {
        let Some(text) = turn.encode() else { return };
        for client in self.clients.iter().filter(|client| client.state == ClientState::Connected) {
            if let Some(peer) = client.peer {
                // A client that has left needs no message.
                let _ = self.pool.send(peer, CONTROL, text);
            }
        }
        self.pool.flush();
    }

    /// One round: waits for sockets until `wait_max` is over at the latest, and takes what came.
    pub(crate) fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        self.bring_back()?;
        self.pool.drive(wait_max).map_err(|error| format!("cannot wait for the sockets: {error}"))?;
        let now_us = self.epoch.elapsed().as_micros() as u64;
        while let Some(event) = self.pool.poll_event() {
            self.on_event(event, now_us);
        }
        self.hear_pages();
        Ok(())
    }

    /// A client's connection is over, and it does not come back.
    fn on_closed(&mut self, number: u32, drop: ClientDrop, why: String) {
        let client = &mut self.clients[number as usize];
        let was_connected = client.connected_in.is_some();
        client.state = ClientState::Gone;
        if self.is_closing {
            return;
        }
        if was_connected {
            client.drop = Some(drop);
        }
        *self.drops.entry(why).or_default() += 1;
        if was_connected {
            self.proof.exclude(client.carrier, client.place, client.number);
        }
    }

    fn on_event(&mut self, event: Event, now_us: u64) {
        let number = self.by_place[event.peer().index as usize];
        if let Event::Message { .. } = event {
            self.heard = Instant::now();
        }
        let client = &mut self.clients[number as usize];
        match event {
            Event::Message { channel: LINES, payload, .. } => {
                if let (Some(attendance), Parsed::Line { client: sender, sequence, .. }) =
                    (&mut self.attendance, parse(&payload, self.plan.run))
                {
                    attendance.on_line(number, sender, sequence, Duration::from_micros(now_us));
                }
                self.proof.on_line(client.carrier, client.place, &payload, now_us);
            }
            Event::Message { channel: CONTROL, payload, .. } => {
                if let Some(word @ (Word::StressOn(_) | Word::StressOff)) = Word::decode(&payload)
                    && self.is_spokesman(number)
                {
                    self.told = Some(word);
                }
            }
            Event::Connected { .. } => {
                client.state = ClientState::Connected;
                self.reconnects += u64::from(client.connected_in.is_some());
                // How long it took the first time.
                let took = client.began.elapsed();
                client.connected_in = client.connected_in.filter(|_| client.away.is_some()).or(Some(took));
                (client.connected_since, client.drop) = (Some(Instant::now()), None);
                let at = self.epoch.elapsed();
                self.attendance.iter_mut().for_each(|attendance| attendance.on_connected(number, at));
            }
            Event::Closed { close, .. } => {
                if self.attendance.is_some() && !self.is_closing && self.will_return(number, &close) {
                    return;
                }
                self.on_closed(
                    number,
                    ClientDrop::of(close.by, close.code),
                    told(close.by, close.code, &close.reason_text()),
                );
            }
            _ => {}
        }
    }

    /// No client waits for a connection any more.
    pub(crate) fn give_up(&mut self, reason: &str) {
        let pending = self
            .clients
            .iter_mut()
            .filter(|client| matches!(client.state, ClientState::Waiting | ClientState::Connecting));
        for client in pending {
            client.state = ClientState::Gone;
            *self.drops.entry(reason.into()).or_default() += 1;
        }
    }

    /// Lets some clients ask for the server's time again.
    pub(crate) fn ask_server_clock(&mut self) {
        for peer in self.clients.iter().filter_map(|client| client.peer).take(CLOCKS) {
            self.pool.ask_server_time(peer);
        }
    }

    /// Ends every connection.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
        self.pages.iter_mut().for_each(Pages::close);
        self.pool.close_all(0, "the stress run is over", Duration::ZERO);
    }
}

fn proof(plan: &Plan) -> Proof {
    let counts: Vec<u32> = plan.mix.iter().map(|(_, count)| *count).collect();
    let chronicle = plan.has_report().then(|| Chronicle::new(plan.flags.duration.0, &counts));
    let receivers: Vec<_> = (0..plan.mix.len()).map(|carrier| plan.part.numbers(&plan.mix, carrier)).collect();
    Proof::new(plan.run, &receivers, plan.part.total, chronicle)
}
