//! The requests of a worker's bots. The worker polls the sockets, says when one is ready, and takes what is finished.

use super::HttpTicket;
use super::connection::{Broken, Driven, HttpConnection};
use super::exchange::Exchange;
use super::lookups::{Lookup, Lookups};
use super::request::{HttpOrigin, HttpRequest};
use super::response::HttpResponse;
use crate::target::check_allowed;
use mio::{Poll, Registry, Token, Waker};
use skipstone_lab::units::Allowed;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// All requests of a worker. Times are since the run began.
#[derive(Debug)]
pub(crate) struct HttpClient {
    registry: Registry,
    /// Servers that may be asked; any, if there is no such list.
    allowed: Option<Vec<Allowed>>,
    lookups: Lookups,
    /// Requests that wait for an address of their host.
    waiting: BTreeMap<HttpTicket, Job>,
    /// Connections by the names by which the poll calls them.
    connections: BTreeMap<usize, Line>,
    /// Connections that may be used again, the latest last.
    idle: BTreeMap<(usize, HttpOrigin), Vec<usize>>,
    deadlines: BTreeSet<(Duration, HttpTicket)>,
    finished: VecDeque<HttpFinished>,
    unread: Vec<usize>,
    next_token: usize,
    waker_token: usize,
    plain: Vec<u8>,
}

/// A request that has ended.
#[derive(Debug)]
pub(crate) struct HttpFinished {
    /// Its number and bot.
    pub(crate) ticket: HttpTicket,
    /// The answer, or why there is none.
    pub(crate) outcome: Result<HttpResponse, String>,
    /// From the call to the end.
    pub(crate) took: Duration,
}

/// A connection, the bot that owns it, and its request.
#[derive(Debug)]
struct Line {
    connection: HttpConnection,
    slot: usize,
    origin: HttpOrigin,
    job: Option<Job>,
}

/// A request under way.
#[derive(Debug)]
struct Job {
    ticket: HttpTicket,
    request: HttpRequest,
    began: Duration,
    until: Duration,
    /// Further addresses of the host, in case that the first does not answer.
    addresses: VecDeque<SocketAddr>,
    /// Whether the connection has served a request before: then the server may have ended it meanwhile.
    is_on_used: bool,
}

impl HttpClient {
    /// A client whose sockets are polled here, with names from this one on, and which asks these servers alone if there
    /// is a list.
    ///
    /// # Errors
    /// The system has no room for it.
    pub(crate) fn new(poll: &Poll, first_token: usize, allowed: Option<Vec<Allowed>>) -> std::io::Result<Self> {
        let waker = Arc::new(Waker::new(poll.registry(), Token(first_token))?);
        Ok(HttpClient {
            registry: poll.registry().try_clone()?,
            allowed,
            lookups: Lookups::new(waker),
            waiting: BTreeMap::new(),
            connections: BTreeMap::new(),
            idle: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            finished: VecDeque::new(),
            unread: Vec::new(),
            next_token: first_token + 1,
            waker_token: first_token,
            plain: Vec::new(),
        })
    }

    /// Begins a request, on a connection of the bot that is idle or on a new one.
    pub(crate) fn start(&mut self, now: Duration, ticket: HttpTicket, request: HttpRequest, scratch: &mut [u8]) {
        let until = now + request.timeout;
        self.deadlines.insert((until, ticket));
        let mut job = Job { ticket, request, began: now, until, addresses: VecDeque::new(), is_on_used: false };
        match self.take_idle(&job) {
            Some(token) => {
                job.is_on_used = true;
                self.send(token, job, now, scratch);
            }
            None => self.look_up(job, now, scratch),
        }
    }

    /// A socket is ready, or an address is known.
    pub(crate) fn handle_ready(&mut self, token: usize, now: Duration, scratch: &mut [u8]) {
        if token != self.waker_token {
            return self.drive(token, now, scratch);
        }
        for job in std::mem::take(&mut self.waiting).into_values() {
            self.look_up(job, now, scratch);
        }
        self.lookups.forget_failures();
    }

    /// Ends what has taken too long, and reads on where more waits.
    pub(crate) fn handle_time(&mut self, now: Duration, scratch: &mut [u8]) {
        for token in std::mem::take(&mut self.unread) {
            self.drive(token, now, scratch);
        }
        while let Some((until, ticket)) = self.deadlines.first().copied().filter(|(until, _)| *until <= now) {
            self.deadlines.remove(&(until, ticket));
            let (job, stage) = match self.waiting.remove(&ticket) {
                Some(job) => (job, "the address of the host"),
                None => {
                    let Some(token) = self.token_of(ticket) else { continue };
                    let Some(line) = self.connections.remove(&token) else { continue };
                    let stage = line.connection.waits_for();
                    let Some(job) = line.job else { continue };
                    (job, stage)
                }
            };
            let seconds = job.request.timeout.as_secs_f64();
            self.finish(job, now, Err(format!("no answer within {seconds} s: it waited for {stage}")));
        }
    }

    /// When [`handle_time`](Self::handle_time) is due.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        if self.unread.is_empty() { self.deadlines.first().map(|(until, _)| *until) } else { Some(Duration::ZERO) }
    }

    /// The next request that has ended.
    pub(crate) fn poll_finished(&mut self) -> Option<HttpFinished> {
        self.finished.pop_front()
    }

    /// The bot has ended: so do its requests and its connections.
    pub(crate) fn forget(&mut self, slot: usize) {
        self.waiting.retain(|ticket, _| ticket.slot != slot);
        self.connections.retain(|_, line| line.slot != slot);
        self.idle.retain(|(own, _), _| *own != slot);
        self.deadlines.retain(|(_, ticket)| ticket.slot != slot);
        self.finished.retain(|finished| finished.ticket.slot != slot);
    }

    /// The run is over: so is everything.
    pub(crate) fn close(&mut self) {
        self.waiting.clear();
        self.connections.clear();
        self.idle.clear();
        self.deadlines.clear();
        self.finished.clear();
    }

    /// Whether there is nothing to forget.
    pub(crate) fn is_unused(&self) -> bool {
        self.connections.is_empty() && self.waiting.is_empty() && self.finished.is_empty()
    }

    fn take_idle(&mut self, job: &Job) -> Option<usize> {
        let key = (job.ticket.slot, job.request.origin.clone());
        let tokens = self.idle.get_mut(&key)?;
        let token = tokens.pop();
        if tokens.is_empty() {
            self.idle.remove(&key);
        }
        token
    }

    fn look_up(&mut self, mut job: Job, now: Duration, scratch: &mut [u8]) {
        let origin = &job.request.origin;
        if let Err(why) = check_allowed(self.allowed.as_deref(), &origin.host, origin.port) {
            return self.finish(job, now, Err(why));
        }
        match self.lookups.find(&origin.host, origin.port) {
            Lookup::Running => drop(self.waiting.insert(job.ticket, job)),
            Lookup::Failed(why) => self.finish(job, now, Err(why)),
            Lookup::Known(addresses) => {
                job.addresses = addresses.into();
                self.connect(job, now, scratch);
            }
        }
    }

    /// Connects to the next address.
    fn connect(&mut self, mut job: Job, now: Duration, scratch: &mut [u8]) {
        let Some(address) = job.addresses.pop_front() else {
            return self.finish(job, now, Err("the host has no further address".into()));
        };
        let token = self.next_token;
        self.next_token += 1;
        let origin = job.request.origin.clone();
        let opened = HttpConnection::open(address, origin.tls.as_ref()).and_then(|mut connection| {
            connection.register(&self.registry, token).map_err(|error| error.to_string())?;
            Ok(connection)
        });
        match opened {
            Ok(connection) => {
                self.connections.insert(token, Line { connection, slot: job.ticket.slot, origin, job: None });
                self.send(token, job, now, scratch);
            }
            Err(why) => self.finish(job, now, Err(format!("no connection to {address}: {why}"))),
        }
    }

    fn send(&mut self, token: usize, job: Job, now: Duration, scratch: &mut [u8]) {
        let line = self.connections.get_mut(&token).expect("an idle or a new connection is there");
        match job.request.encode() {
            Ok((bytes, answer)) => {
                line.connection.begin(bytes, Exchange::new(answer, job.request.body_max));
                line.job = Some(job);
                self.drive(token, now, scratch);
            }
            Err(why) => self.finish(job, now, Err(why)),
        }
    }

    fn drive(&mut self, token: usize, now: Duration, scratch: &mut [u8]) {
        let Some(line) = self.connections.get_mut(&token) else { return };
        match line.connection.drive(scratch, &mut self.plain) {
            Driven::Waits => {}
            Driven::Unread => self.unread.push(token),
            Driven::Answered(exchange) => {
                let (response, is_kept) = exchange.finish();
                let job = line.job.take();
                if is_kept && line.connection.is_drained() {
                    self.idle.entry((line.slot, line.origin.clone())).or_default().push(token);
                } else {
                    self.connections.remove(&token);
                }
                if let Some(job) = job {
                    self.finish(job, now, Ok(response));
                }
            }
            Driven::Over(broken) => self.break_off(token, broken, now, scratch),
        }
        if self.plain.capacity() > PLAIN_KEPT {
            self.plain = Vec::new();
        }
    }

    fn break_off(&mut self, token: usize, broken: Broken, now: Duration, scratch: &mut [u8]) {
        let Some(line) = self.connections.remove(&token) else { return };
        let Some(mut job) = line.job else {
            // An idle connection.
            if let Some(tokens) = self.idle.get_mut(&(line.slot, line.origin.clone())) {
                tokens.retain(|own| *own != token);
            }
            return;
        };
        if broken.is_unreachable && !job.addresses.is_empty() {
            return self.connect(job, now, scratch);
        }
        // As browsers do: the server has ended an idle connection while the request was on its way.
        if job.is_on_used && broken.is_silent {
            job.is_on_used = false;
            return self.look_up(job, now, scratch);
        }
        let HttpOrigin { host, port, .. } = &line.origin;
        let why = if broken.is_unreachable { format!("{host}:{port}: {}", broken.why) } else { broken.why };
        self.finish(job, now, Err(why));
    }

    fn token_of(&self, ticket: HttpTicket) -> Option<usize> {
        let has = |line: &Line| line.job.as_ref().is_some_and(|job| job.ticket == ticket);
        self.connections.iter().find(|(_, line)| has(line)).map(|(token, _)| *token)
    }

    fn finish(&mut self, job: Job, now: Duration, outcome: Result<HttpResponse, String>) {
        self.deadlines.remove(&(job.until, job.ticket));
        let took = now.saturating_sub(job.began);
        self.finished.push_back(HttpFinished { ticket: job.ticket, outcome, took });
    }
}

/// Bytes of the buffer for plaintext that are kept.
const PLAIN_KEPT: usize = 256 << 10;
