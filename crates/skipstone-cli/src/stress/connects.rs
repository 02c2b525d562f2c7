//! `stress --connects 300/s`: clients that connect, leave, and are followed by others; and the number that could not
//! connect. Open loop: each begins at its due time, regardless of earlier ones.

use super::arguments::StressArguments;
use super::child::{ServerProcess, server_of};
use super::places::target;
use super::plan::Plan;
use skipstone::{Close, ClosedBy, Event, PeerId, Pool, PoolConfig, RestartNotice, Target, code};
use skipstone_lab::clean;
use skipstone_lab::measure::machine::this_machine;
use skipstone_lab::open_files::{self, Beside};
use skipstone_lab::report::connects::{ConnectCounts, ConnectMs, ConnectsResult, SCHEMA_VERSION};
use skipstone_lab::report::format::rfc3339;
use skipstone_lab::report::output;
use skipstone_lab::report::paint::style;
use skipstone_lab::report::{Exit, ServerOwner, Verdict};
use skipstone_lab::signals::Signals;
use skipstone_lab::units::{Carrier, Rate};
use skipstone_lab::workload::{Guest, SOCKETS_AT_ONCE};
use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

/// A client that is not connected by then got no answer. This is longer than a server's restart and its clients'
/// retransmissions after that.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// The number of clients that begin in a row before answers are read.
const BEGIN_AT_ONCE: usize = 32;
/// Reasons that are distinguished.
const REASONS_MAX: usize = 64;
/// The longest time that goodbyes at the end may take.
const GOODBYE_MAX: Duration = Duration::from_secs(1);

/// Runs as the flags say, at this rate.
pub(super) fn run(arguments: &StressArguments, rate: Rate) -> Exit {
    let prepared = Signals::watch().and_then(|signals| Ok((plan(arguments, rate)?, signals)));
    let played = prepared.map(|(plan, signals)| {
        play(&plan, rate, &signals).unwrap_or_else(|sentence| Exit::Invalid.told("stress", sentence))
    });
    Exit::of("stress", played)
}

/// These flags as flags of an ordinary run, in which the number of clients is the number of sockets open at once.
fn plan(arguments: &StressArguments, rate: Rate) -> Result<Plan, String> {
    let sockets = (rate.per_second() * (ANSWER_MAX + GOODBYE_MAX).as_secs_f64()).ceil();
    if sockets > f64::from(u16::MAX / 2) {
        return Err(format!("--connects {rate}: one address has ports for 2900 new clients a second at most"));
    }
    let also = if arguments.url.is_none() { " (the server's process as well)" } else { "" };
    open_files::check(sockets as u32, Beside { files: 32, also })?;
    let clients = arguments.clients.or(arguments.mix.is_none().then_some(1));
    let plan = Plan::from(&StressArguments { clients, ..arguments.clone() })?;
    match plan.mix.iter().find(|(carrier, _)| carrier.is_page()) {
        Some((carrier, _)) => Err(format!("--connects has native clients only: leave {carrier} out of --mix")),
        None => Ok(plan),
    }
}

fn play(plan: &Plan, rate: Rate, signals: &Signals) -> Result<Exit, String> {
    let (mut server, address) = match server_of(plan) {
        Ok(found) => found,
        Err(exit) => return Ok(exit),
    };
    let own = server.as_ref().map(|server| server.url.parse()).transpose();
    let own: Option<Target> = own.map_err(|error: skipstone::UrlError| error.to_string())?;
    if !plan.flags.quiet {
        output::say(format_args!("new clients at {rate} for {} ({})", plan.flags.duration, plan.words.mix));
    }
    let mut churn = Churn::new(plan, address, own.as_ref())?;
    let started = SystemTime::now();
    let began = Instant::now();
    let span = plan.flags.duration.0;
    let count = rate.count_before(span);
    while (churn.begun < count || !churn.attempts.is_empty()) && !signals.is_set() {
        for _ in 0..BEGIN_AT_ONCE {
            let due = began + rate.due(churn.begun);
            if churn.begun >= count || due > Instant::now() {
                break;
            }
            churn.begin(due)?;
        }
        let next = (churn.begun < count).then(|| began + rate.due(churn.begun));
        let wait = next.map_or(Duration::from_millis(20), |next| next.saturating_duration_since(Instant::now()));
        churn.drive(wait.min(Duration::from_millis(20)))?;
    }
    let sending = began.elapsed().min(span);
    let mut result = churn.result(rate, started, sending);
    result.server_ended = server.as_mut().and_then(ServerProcess::ended);
    let owner = if server.is_some() { ServerOwner::ThisRun } else { ServerOwner::Another };
    result.judge(owner, signals.is_set());
    churn.end()?;
    let shown = plan.sink.show(&result, &result.table(style()), &[]);
    Ok(Exit::from(result.verdict).once_kept("stress", shown))
}

/// The clients that are connecting or leaving, and the counts of earlier ones.
struct Churn<'p> {
    plan: &'p Plan,
    pool: Pool,
    address: SocketAddr,
    turns: Vec<CarrierTurn>,
    attempts: HashMap<PeerId, Attempt>,
    begun: u64,
    failures: BTreeMap<String, u64>,
    told_to_return: u64,
    /// The latest client that the server answered.
    last_answered: Option<u64>,
    /// Clients that had no answer.
    silenced: Vec<u64>,
    latest: Duration,
}

/// A carrier, its share of the clients, and their outcomes.
struct CarrierTurn {
    carrier: Carrier,
    target: Target,
    share: u64,
    /// Smooth weighted round robin: the carrier with the most credit has the next client.
    credit: i64,
    counts: ConnectCounts,
    times: Vec<Duration>,
}

struct Attempt {
    number: u64,
    turn: usize,
    due: Instant,
}

impl<'p> Churn<'p> {
    fn new(plan: &'p Plan, address: SocketAddr, own: Option<&Target>) -> Result<Self, String> {
        let pool = Pool::new(PoolConfig {
            handshake_timeout: ANSWER_MAX,
            congestion: plan.flags.resilience.congestion(),
            trust: plan.trust.clone(),
            dtls_version: plan.flags.protection.dtls.map(Into::into).unwrap_or_default(),
            sockets_at_once: SOCKETS_AT_ONCE,
            ..PoolConfig::default()
        });
        let known = plan.target.as_ref().or(own);
        let turn = |(carrier, share): &(Carrier, u32)| CarrierTurn {
            carrier: *carrier,
            target: target(plan.native, *carrier, address, known),
            share: u64::from(*share),
            credit: 0,
            counts: ConnectCounts::default(),
            times: Vec::new(),
        };
        Ok(Churn {
            plan,
            pool: pool.map_err(|error| error.to_string())?,
            address,
            turns: plan.mix.iter().map(turn).collect(),
            attempts: HashMap::new(),
            begun: 0,
            failures: BTreeMap::new(),
            told_to_return: 0,
            last_answered: None,
            silenced: Vec::new(),
            latest: Duration::ZERO,
        })
    }

    /// Begins the connection of the next client, which is due at this time.
    fn begin(&mut self, due: Instant) -> Result<(), String> {
        let turn = next_turn(&mut self.turns);
        let one = &mut self.turns[turn];
        let token = Guest::Stress(self.begun as u32).token();
        let impairment = self.plan.impairments.as_ref().map(|impairments| &impairments.impairment);
        let peer = self.pool.add(&one.target, self.address, &token, impairment).map_err(|error| error.to_string())?;
        one.counts.attempted += 1;
        self.latest = self.latest.max(due.elapsed());
        self.attempts.insert(peer, Attempt { number: self.begun, turn, due });
        self.begun += 1;
        Ok(())
    }

    fn drive(&mut self, wait_max: Duration) -> Result<(), String> {
        self.pool.drive(wait_max).map_err(|error| format!("cannot wait for the sockets: {error}"))?;
        while let Some(event) = self.pool.poll_event() {
            match event {
                Event::Connected { peer, .. } => self.on_connected(peer),
                Event::Closed { peer, close } => self.on_closed(peer, &close),
                _ => {}
            }
        }
        Ok(())
    }

    fn on_connected(&mut self, peer: PeerId) {
        let Some(attempt) = self.attempts.remove(&peer) else { return };
        self.last_answered = self.last_answered.max(Some(attempt.number));
        let one = &mut self.turns[attempt.turn];
        one.counts.connected += 1;
        one.times.push(attempt.due.elapsed());
        // A connection that is over already need not be closed.
        let _ = self.pool.close(peer, code::NONE, "it only connects", Duration::ZERO);
    }

    fn on_closed(&mut self, peer: PeerId, close: &Close) {
        let Some(attempt) = self.attempts.remove(&peer) else {
            self.told_to_return += u64::from(RestartNotice::of(close).is_some());
            return;
        };
        match close.by {
            ClosedBy::Nobody => self.silenced.push(attempt.number),
            ClosedBy::Peer | ClosedBy::Local => self.last_answered = self.last_answered.max(Some(attempt.number)),
        }
        let counts = &mut self.turns[attempt.turn].counts;
        let is_silence = close.by == ClosedBy::Nobody && close.code == code::HANDSHAKE_TIMEOUT;
        if is_silence {
            counts.unanswered += 1;
        } else {
            counts.refused += 1;
        }
        let by = if close.by == ClosedBy::Peer { "the server says: " } else { "" };
        let why = format!("{by}{} (code {})", clean::line(&close.reason_text()), close.code);
        let is_known = self.failures.contains_key(&why) || self.failures.len() < REASONS_MAX;
        *self.failures.entry(if is_known { why } else { "other reasons".into() }).or_default() += 1;
    }

    fn result(&mut self, rate: Rate, started: SystemTime, sending: Duration) -> ConnectsResult {
        self.attempts.values().for_each(|attempt| self.turns[attempt.turn].counts.unfinished += 1);
        let (mut all, mut times) = (ConnectCounts::default(), Vec::new());
        for one in &mut self.turns {
            one.counts.connect_ms = ConnectMs::of(&mut one.times);
            times.extend_from_slice(&one.times);
            all.attempted += one.counts.attempted;
            all.connected += one.counts.connected;
            all.refused += one.counts.refused;
            all.unanswered += one.counts.unanswered;
            all.unfinished += one.counts.unfinished;
        }
        all.connect_ms = ConnectMs::of(&mut times);
        ConnectsResult {
            schema_version: SCHEMA_VERSION,
            verdict: Verdict::default(),
            reasons: Vec::new(),
            command: std::env::args().collect(),
            started: rfc3339(started),
            rate: rate.to_string(),
            duration_s: sending.as_secs_f64(),
            machine: this_machine(),
            all,
            carriers: self.turns.iter().map(|one| (one.carrier, one.counts.clone())).collect(),
            failures: self.failures.clone(),
            told_to_return: self.told_to_return,
            silenced_at_end: self.silenced.iter().filter(|number| Some(**number) > self.last_answered).count() as u64,
            server_ended: None,
            latest_begin_ms: self.latest.as_secs_f64() * 1e3,
        }
    }

    /// Says goodbye for those that are left.
    fn end(mut self) -> Result<(), String> {
        self.attempts.clear();
        self.pool.close_all(code::NONE, "the run is over", Duration::ZERO);
        let end = Instant::now() + GOODBYE_MAX;
        while self.pool.open_count() > 0 && Instant::now() < end {
            self.drive(Duration::from_millis(5))?;
        }
        Ok(())
    }
}

/// The carrier of the next client: any few consecutive clients have the carriers in their shares.
fn next_turn(turns: &mut [CarrierTurn]) -> usize {
    let total: u64 = turns.iter().map(|one| one.share).sum();
    turns.iter_mut().for_each(|one| one.credit += one.share as i64);
    let next = (0..turns.len()).max_by_key(|at| turns[*at].credit).unwrap_or(0);
    turns[next].credit -= total as i64;
    next
}
