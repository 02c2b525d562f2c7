//! The clients of a stress run, all in this thread, each with its own socket: connect, send on schedule, receive
//! and check, drain, close.
//!
//! Open loop: every due time is fixed before the first line is sent, and latency counts from then (no coordinated
//! omission).

use super::attendance::{Attendance, Departure};
use super::client_drop::{ClientDrop, told};
use super::pages::{Order, Pages, Report};
use super::places::{shares, target};
use super::plan::Plan;
use super::proof::Proof;
use super::server_clock::ServerClock;
use skipstone::{
    Close, ClosedBy, Event, Overview, PacketLog, PeerId, Pool, PoolConfig, RestartNotice, SendRefusal, Stats, Target,
    code,
};
use skipstone_lab::measure::ledger::Tally;
use skipstone_lab::measure::sentence::{Parsed, parse};
use skipstone_lab::report::stress::chronicle::Chronicle;
use skipstone_lab::report::stress::judge::LATE_SEND;
use skipstone_lab::units::{Rate, Size, Span};
use skipstone_lab::workload::{CONTROL, Guest, LINES, SOCKETS_AT_ONCE, StressTurn, Word};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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

/// One client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    /// Its number in the run, by which its lines name it.
    pub(crate) number: u32,
    /// Its carrier's place in the plan's mix.
    pub(crate) carrier: usize,
    /// Its place among the clients of its carrier.
    place: u32,
    peer: Option<PeerId>,
    pub(crate) state: ClientState,
    began: Instant,
    /// How its connection ended, if it was connected and that ended before the run did.
    pub(crate) drop: Option<ClientDrop>,
    /// How long it took to connect.
    pub(crate) connected_in: Option<Duration>,
    /// If it comes back, or came back last: since when it is away, and when it tries next.
    away: Option<Absence>,
    /// When its connection opened, if it is open.
    connected_since: Option<Instant>,
}

/// A client that left and comes back.
#[derive(Clone, Debug)]
struct Absence {
    since: Instant,
    next_try: Instant,
    /// How its last connection, or its last attempt, ended, and why.
    end: ClientDrop,
    why: String,
}

/// State of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientState {
    Waiting,
    Connecting,
    Connected,
    /// On its way back after a restart.
    Away,
    Gone,
}

/// The schedule of lines, and how it was kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Which round of lines, and which client's turn in it.
    next: (u64, u32),
    /// Lines that came due while their client was connected.
    pub(crate) planned: u64,
    /// When the first of them was, since the epoch.
    first_at: Option<Duration>,
    /// Spans from due to sent of the late ones, since the epoch.
    pub(crate) late: Vec<(Duration, Duration)>,
    pub(crate) late_count: u64,
    pub(crate) latest: Duration,
    /// The latest since the live view last looked.
    pub(crate) latest_recent: Duration,
}

/// Handshakes at once: a server's receive buffer holds many more.
const CONNECTING_MAX: usize = 256;
/// Pages learn that a run has begun from the answers to their reports, every 50 ms.
const LEAD: Duration = Duration::from_millis(500);
/// Clients that ask for the server's time before a start.
const CLOCKS: usize = 8;
/// Late sends that are remembered one by one.
const LATE_MAX: usize = 100_000;
/// A server that takes part has sent a line back by then, over any path on which clients could connect.
const UNHEARD_MAX: Duration = Duration::from_secs(10);
/// A client that is away for longer is given up.
const AWAY_MAX: Duration = Duration::from_secs(20);
/// A client whose connection stood for less is still away, so that a server which closes each one at once is given up.
const STANDS_MIN: Duration = Duration::from_secs(1);
/// After a lost connection a client tries again in once to twice this time.
const RETRY: Duration = Duration::from_millis(250);

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

    /// How many clients are in this state.
    pub(crate) fn count(&self, state: ClientState) -> usize {
        self.clients.iter().filter(|client| client.state == state).count()
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
        if let Some(pages) = &mut self.pages {
            pages.begin(&order_to_start(self.plan, rate, self.epoch));
        }
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

    /// When the next line is due, since the epoch; `None` when all of the run's lines are.
    pub(crate) fn next_due(&self, rate: Rate, until: Duration) -> Option<Duration> {
        let (round, client) = self.schedule.next;
        let number = self.clients.get(client as usize)?.number;
        let offset = rate.interval().mul_f64(f64::from(number) / f64::from(self.plan.part.total));
        let due = rate.due(round) + offset;
        (due < until).then_some(due)
    }

    /// Sends every line that is due by now.
    pub(crate) fn send_due(&mut self, rate: Rate, until: Duration) {
        while let Some(due) = self.next_due(rate, until) {
            let now = self.epoch.elapsed();
            if due > now {
                break;
            }
            let (round, number) = self.schedule.next;
            self.schedule.next =
                if (number as usize) + 1 < self.clients.len() { (round, number + 1) } else { (round + 1, 0) };
            self.send_line(number, due, now);
        }
        self.pool.flush();
    }

    /// Changes the ports that are due: each client's once in the plan's span, one after the other.
    pub(crate) fn roam_due(&mut self) -> Result<(), String> {
        let Some(Span(span)) = self.plan.flags.roam else { return Ok(()) };
        let count = self.clients.len() as u32;
        loop {
            let (round, number) = self.next_move;
            let due = span * round + span.mul_f64(f64::from(number) / f64::from(count));
            if due > self.epoch.elapsed() {
                return Ok(());
            }
            self.next_move = if number + 1 < count { (round, number + 1) } else { (round + 1, 0) };
            let client = &self.clients[number as usize];
            if let (ClientState::Connected, Some(peer)) = (client.state, client.peer) {
                let moved = self.pool.rebind(peer).map_err(|error| format!("no socket for a new port: {error}"))?;
                self.moves += u64::from(moved);
            }
        }
    }

    fn send_line(&mut self, number: u32, due: Duration, now: Duration) {
        let client = &self.clients[number as usize];
        let (ClientState::Connected, Some(peer)) = (client.state, client.peer) else { return };
        self.schedule.plan(1, now);
        let sequence = self.sent[number as usize];
        self.plan.sentences.write(client.number, sequence, due.as_micros() as u64, &mut self.line);
        if let Err(error) = self.pool.send(peer, LINES, self.line.clone()) {
            // A client learns of the end of its connection by an event.
            if error.reason != SendRefusal::NotConnected {
                *self.refused_sends.entry(error.to_string()).or_default() += 1;
            }
            return;
        }
        self.sent[number as usize] += 1;
        self.schedule.note(due, now);
        let at = self.epoch.elapsed();
        self.attendance.iter_mut().for_each(|attendance| attendance.on_sent(number, at));
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

    /// Handles what pages have reported.
    fn hear_pages(&mut self) {
        while let Some((carrier, report)) = self.pages.as_mut().and_then(Pages::poll) {
            self.on_report(carrier, &report);
        }
        while let Some((numbers, why)) = self.pages.as_mut().and_then(Pages::poll_deserted) {
            for number in numbers {
                let place = self.plan.part.place(&self.plan.mix, number);
                self.on_closed(place as u32, ClientDrop::Ended, why.clone());
            }
        }
    }

    fn on_report(&mut self, carrier: usize, report: &Report) {
        for (number, took_ms) in report.connected() {
            let client = &mut self.clients[self.plan.part.place(&self.plan.mix, number)];
            client.state = ClientState::Connected;
            client.connected_in = Some(Duration::from_secs_f64(took_ms / 1e3));
        }
        for (number, due, sent) in report.sent() {
            self.schedule.plan(1, Duration::from_micros(due));
            self.sent[self.plan.part.place(&self.plan.mix, number)] += 1;
            self.schedule.note(Duration::from_micros(due), Duration::from_micros(sent.max(due)));
        }
        self.schedule.plan(report.refused, self.epoch.elapsed());
        if report.refused > 0 {
            *self.refused_sends.entry("the page's connection did not take it".into()).or_default() += report.refused;
        }
        for line in report.lines() {
            let parsed = Parsed::Line { client: line.client, sequence: line.sequence, scheduled_us: line.scheduled_us };
            self.heard = Instant::now();
            let place = self.plan.part.place(&self.plan.mix, line.number);
            self.proof.on_parsed(carrier, self.clients[place].place, parsed, line.received_us);
        }
        for (numbers, parsed) in [(&report.corrupt, Parsed::Corrupt), (&report.foreign, Parsed::Foreign)] {
            for number in numbers {
                let place = self.plan.part.place(&self.plan.mix, *number);
                self.proof.on_parsed(carrier, self.clients[place].place, parsed, 0);
            }
        }
        for closed in report.closed() {
            let drop = ClientDrop::of(closed.by, closed.code);
            let place = self.plan.part.place(&self.plan.mix, closed.number);
            self.on_closed(place as u32, drop, told(closed.by, closed.code, &closed.reason));
        }
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

    /// Connections that are not over.
    pub(crate) fn open_count(&mut self) -> usize {
        self.pool.open_count() + self.pages.as_ref().map_or(0, Pages::open_count)
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

    /// Whether a client whose connection ended comes back, and when.
    fn will_return(&mut self, number: u32, close: &Close) -> bool {
        let (now, at) = (Instant::now(), self.epoch.elapsed());
        let notice = RestartNotice::of(close);
        let is_temporary = notice.is_some() || close.by == ClosedBy::Nobody || close.code == code::FULL;
        let client = &mut self.clients[number as usize];
        let since = client.away_since(now);
        if !is_temporary || now.saturating_duration_since(since) > AWAY_MAX {
            return false;
        }
        if let Some((host, port)) = notice.as_ref().and_then(RestartNotice::address) {
            let moved = self.targets[client.carrier].moved(host, port);
            // A name without an address: the client looks where it was.
            if let Ok(address) = moved.resolve() {
                self.address = address;
                self.targets.iter_mut().for_each(|target| *target = target.moved(host, port));
            }
        }
        self.restarts += u64::from(notice.is_some());
        let departure = if notice.is_some() { Departure::Restart } else { Departure::Lost };
        self.attendance.iter_mut().for_each(|attendance| attendance.on_closed(number, at, departure));
        // Each client draws a moment of its own; a multiplicative hash spreads their numbers evenly.
        let chance = (number ^ self.restarts as u32).wrapping_mul(0x9E37_79B9);
        let notice = notice.unwrap_or_else(|| RestartNotice::after(RETRY).spread(RETRY));
        let next_try = now + notice.pause(chance);
        let why = told(close.by, close.code, &close.reason_text());
        client.away = Some(Absence { since, next_try, end: ClientDrop::of(close.by, close.code), why });
        client.state = ClientState::Away;
        true
    }

    /// Begins the connections of clients whose time to come back it is.
    fn bring_back(&mut self) -> Result<(), String> {
        if self.attendance.is_none() || self.is_closing || self.count(ClientState::Away) == 0 {
            return Ok(());
        }
        let now = Instant::now();
        for number in 0..self.clients.len() {
            let client = &self.clients[number];
            if client.state == ClientState::Away && client.away.as_ref().is_none_or(|away| away.next_try <= now) {
                self.connect_one(number)?;
            }
        }
        Ok(())
    }

    /// Every client receives each word of the server; the first client's counts, so that the word counts once.
    fn is_spokesman(&self, number: u32) -> bool {
        self.clients.iter().position(|client| client.state == ClientState::Connected) == Some(number as usize)
    }

    /// Whether any client ever had an answer: a connection or a refusal.
    pub(crate) fn was_answered(&self) -> bool {
        self.clients.iter().any(|client| client.connected_in.is_some() || client.state == ClientState::Gone)
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

    /// Datagrams that native clients sent, and that they received.
    pub(crate) fn datagrams(&self) -> (u64, u64) {
        let overviews = self.clients.iter().filter_map(|client| self.pool.overview(client.peer?));
        overviews.fold((0, 0), |(sent, received), Overview { stats, .. }| {
            (sent + stats.sent.datagrams, received + stats.received.datagrams)
        })
    }

    /// For how long no message came from the server.
    pub(crate) fn silence(&self) -> Duration {
        self.heard.elapsed()
    }

    /// Whether enough time has passed since the first line was due for its echo to have arrived.
    pub(crate) fn is_unheard(&self) -> bool {
        self.proof.delivered == 0 && self.schedule.span(self.epoch.elapsed()) > UNHEARD_MAX
    }

    /// Whether any client is there or comes back.
    pub(crate) fn has_clients(&self) -> bool {
        self.clients.iter().any(|client| client.state == ClientState::Connected || client.comes_back())
    }

    /// Clients that were there and have not come back count as dropped. Returns them by the reason of their last
    /// attempt.
    pub(crate) fn drop_missing(&mut self) -> BTreeMap<String, u64> {
        let mut missing = BTreeMap::new();
        for client in self.clients.iter_mut().filter(|client| client.is_on_its_way()) {
            let Some(away) = &client.away else { continue };
            client.drop = Some(away.end);
            *missing.entry(format!("did not come back, {}", away.why)).or_default() += 1;
        }
        missing
    }

    /// Numbers of clients that nothing has to reach: they dropped, or never connected.
    pub(crate) fn absent(&self) -> Vec<u32> {
        let absent = self.clients.iter().filter(|client| client.connected_in.is_none() || client.drop.is_some());
        absent.map(|client| client.number).collect()
    }

    /// Lets some clients ask for the server's time again.
    pub(crate) fn ask_server_clock(&mut self) {
        for peer in self.clients.iter().filter_map(|client| client.peer).take(CLOCKS) {
            self.pool.ask_server_time(peer);
        }
    }

    /// The server's clock now: what the estimates of all clients have in common.
    pub(crate) fn server_clock(&self) -> Option<ServerClock> {
        ServerClock::common(self.clients.iter().filter_map(|client| self.pool.server_time(client.peer?)))
    }

    /// Whether the lines of its own clients have arrived at its own clients: all lines, unless others have clients too.
    pub(crate) fn has_own_back(&self) -> bool {
        let tally = self.tally(None);
        tally.delivered >= tally.expected
    }

    /// Whether others have clients of this run too.
    pub(crate) fn is_part(&self) -> bool {
        self.plan.order.is_some()
    }

    /// Whether everything sent has arrived everywhere. Unknown, and so false, while others have clients too.
    pub(crate) fn is_complete(&self) -> bool {
        if self.is_part() {
            return false;
        }
        if self.pages.as_ref().is_some_and(|pages| !pages.is_done()) {
            return false;
        }
        if let Some(attendance) = &self.attendance {
            // A client that is still reconnecting misses earlier messages.
            let on_the_way = self.count(ClientState::Away) + self.count(ClientState::Connecting);
            return on_the_way == 0 && attendance.pending() == 0 && attendance.tally(|_| true).lost == 0;
        }
        self.has_own_back()
    }

    /// The tally of one carrier's clients, or of all. Lines of others' clients are not counted.
    pub(crate) fn tally(&self, carrier: Option<usize>) -> Tally {
        let mut sent = vec![0; self.plan.part.total as usize];
        self.clients.iter().zip(&self.sent).for_each(|(client, lines)| sent[client.number as usize] = *lines);
        self.proof.tally(carrier, &sent)
    }

    /// Ends every connection.
    pub(crate) fn close(&mut self) {
        self.is_closing = true;
        self.pages.iter_mut().for_each(Pages::close);
        self.pool.close_all(0, "the stress run is over", Duration::ZERO);
    }

    /// Counters of the clients of each carrier that are connected, by their place in the mix.
    pub(crate) fn stats_by_carrier(&mut self) -> Vec<Stats> {
        let mut sums = vec![Stats::default(); self.plan.mix.len()];
        for client in &self.clients {
            if let Some(overview) = client.peer.and_then(|peer| self.pool.overview(peer)) {
                sums[client.carrier].add(&overview.stats);
            }
        }
        self.pages.iter().for_each(|pages| pages.add_stats(&mut sums));
        sums
    }
}

impl Client {
    /// Its connection, or an attempt, ends now. Since when it is away.
    fn away_since(&mut self, now: Instant) -> Instant {
        let connected = self.connected_since.take();
        let has_stood = connected.is_some_and(|since| now.saturating_duration_since(since) >= STANDS_MIN);
        self.away.as_ref().filter(|_| !has_stood).map_or(now, |away| away.since)
    }

    fn is_on_its_way(&self) -> bool {
        matches!(self.state, ClientState::Away | ClientState::Connecting)
    }

    /// Whether it was there, and waits or tries to be there again.
    fn comes_back(&self) -> bool {
        self.is_on_its_way() && self.away.is_some()
    }
}

impl Schedule {
    /// Lines came due at this time since the epoch.
    fn plan(&mut self, count: u64, at: Duration) {
        self.planned += count;
        self.first_at = self.first_at.or((count > 0).then_some(at));
    }

    /// For how long lines have been due, at this time since the epoch.
    fn span(&self, now: Duration) -> Duration {
        self.first_at.map_or(Duration::ZERO, |first| now.saturating_sub(first))
    }

    fn note(&mut self, due: Duration, sent: Duration) {
        let late_by = sent - due;
        self.latest = self.latest.max(late_by);
        self.latest_recent = self.latest_recent.max(late_by);
        if late_by > LATE_SEND {
            self.late_count += 1;
            if self.late.len() < LATE_MAX {
                self.late.push((due, sent));
            }
        }
    }
}

fn proof(plan: &Plan) -> Proof {
    let counts: Vec<u32> = plan.mix.iter().map(|(_, count)| *count).collect();
    let chronicle = plan.has_report().then(|| Chronicle::new(plan.flags.duration.0, &counts));
    let receivers: Vec<_> = (0..plan.mix.len()).map(|carrier| plan.part.numbers(&plan.mix, carrier)).collect();
    Proof::new(plan.run, &receivers, plan.part.total, chronicle)
}

fn order_to_start(plan: &Plan, rate: Rate, epoch: Instant) -> Order {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = now + epoch.saturating_duration_since(Instant::now());
    Order::Start {
        epoch_ms: epoch.as_secs_f64() * 1e3,
        interval_ms: rate.interval().as_secs_f64() * 1e3,
        until_ms: plan.flags.duration.0.as_secs_f64() * 1e3,
        clients: plan.part.total,
        run: plan.run.0,
        bytes: match plan.flags.size {
            Size::Bytes(bytes) => Some(bytes),
            Size::Sentence => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_timeout_starts_with_the_first_line() {
        let (mut schedule, now) = (Schedule::default(), Duration::from_secs(60));
        schedule.plan(0, Duration::from_secs(1));
        assert_eq!(schedule.span(now), Duration::ZERO, "no line was due");
        schedule.plan(1, Duration::from_secs(59));
        schedule.plan(1, now);
        assert_eq!((schedule.span(now), schedule.planned), (Duration::from_secs(1), 2));
    }

    #[test]
    fn a_client_closed_right_after_reconnecting_counts_as_absent() {
        let left = Instant::now();
        let (next_try, end) = (left, ClientDrop::of(ClosedBy::Peer, code::RESTART));
        let mut client = Client {
            number: 0,
            carrier: 0,
            place: 0,
            peer: None,
            state: ClientState::Connected,
            began: left,
            drop: None,
            connected_in: None,
            away: Some(Absence { since: left, next_try, end, why: String::new() }),
            connected_since: None,
        };
        let [back, soon, late] = [500, 600, 1_600].map(|ms| left + Duration::from_millis(ms));
        client.connected_since = Some(back);
        assert_eq!(client.away_since(soon), left);
        assert_eq!(client.away_since(late), left, "nor by an attempt that fails");
        client.connected_since = Some(back);
        assert_eq!(client.away_since(late), late);
    }
}
