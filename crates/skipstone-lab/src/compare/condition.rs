//! The condition of a run: a plan with what the command line says otherwise, checked.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use serde_json::{Map, Value};
use skipstone::netsim::{LinkConfig, Loss, QueueLimit};

use super::beside::Flow;
use super::payload;
use super::plan::{Beside, ComparePlan, Kind, LinkValues, Outage};
use crate::peers::HEADER_BYTES;
use crate::units::{Span, chance, loss};

/// Values other than the plan's, so that one plan can be swept.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Values in place of the plan's")]
pub(crate) struct Flags {
    /// Simulated minutes for which updates are sent
    #[arg(short, long, value_name = "M")]
    minutes: Option<f64>,
    /// Entities, each with an ordered channel of its own
    #[arg(long, value_name = "N")]
    entities: Option<u16>,
    /// Ticks a second; at each, every entity has an update
    #[arg(long, value_name = "N")]
    ticks: Option<u32>,
    /// Bytes of an update
    #[arg(long, value_name = "BYTES")]
    payload: Option<usize>,
    #[command(flatten)]
    link: LinkValues,
    /// The client's address changes so often
    #[arg(long, value_name = "TIME")]
    roam_every: Option<Span>,
}

/// The condition that all contenders meet, alike.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    /// The plan's name.
    pub(crate) plan: String,
    /// How long updates are sent.
    pub(crate) lasting: Duration,
    pub(crate) entities: u16,
    pub(crate) ticks_per_second: u32,
    pub(crate) payload_bytes: usize,
    /// One direction; both are alike, with chances of their own. Outages count from the first update.
    pub(crate) link: LinkConfig,
    /// The rate of the other direction, if it differs.
    pub(crate) rate_back: Option<u64>,
    pub(crate) roam_every: Option<Duration>,
    /// Updates of each entity that may wait at a sender; what does not fit is refused.
    pub(crate) waiting_max: Option<u32>,
    /// Updates that have not come back so long after the last was sent are lost.
    pub(crate) patience: Duration,
    pub(crate) beside: Vec<Flow>,
    /// As text, for people and results.
    pub(crate) words: BTreeMap<String, String>,
}

/// As a plan has it that does not say.
const PATIENCE: Duration = Duration::from_secs(5);
const MTU_DEFAULT: usize = 1_500;
/// IPv6 asks for that much, and no transport here works with much less.
const MTU_MIN: usize = 1_280;
const MINUTES_MAX: f64 = 24.0 * 60.0;

impl Condition {
    /// The plan with the flags' values. The error is one sentence.
    pub(crate) fn from(plan: &ComparePlan, flags: &Flags) -> Result<Condition, String> {
        let minutes = flags.minutes.unwrap_or(plan.minutes);
        if !(minutes > 0.0 && minutes <= MINUTES_MAX) {
            return Err(format!("{minutes} minutes: a run lasts more than 0 minutes and at most {MINUTES_MAX}"));
        }
        let entities = flags.entities.unwrap_or(plan.entities);
        let ticks_per_second = flags.ticks.unwrap_or(plan.ticks_per_second);
        let payload_bytes = flags.payload.unwrap_or(plan.payload_bytes);
        within("entities", entities.into(), 1..=200)?;
        within("ticks a second", ticks_per_second.into(), 1..=1_000)?;
        within("bytes of payload", payload_bytes as u64, payload::BYTES_MIN as u64..=1_200)?;
        let given = overlaid(&plan.link, &flags.link);
        let link = given.config()?;
        let roam_every = flags.roam_every.or(plan.roam_every).map(|span| span.0);
        if roam_every.is_some_and(|every| every < Duration::from_millis(100)) {
            return Err("an address that changes more often than every 100ms is no use to anybody".into());
        }
        let lasting = Duration::from_micros((minutes * 60e6).round() as u64);
        let beside: Result<Vec<Flow>, String> = plan.beside.iter().map(|beside| flow(beside, &link, lasting)).collect();
        let beside = beside?;
        if plan.waiting_max == Some(0) {
            return Err("a queue of 0 updates: at least 1 must be able to wait".into());
        }
        let mut words = given.words();
        if let Some(every) = roam_every {
            words.insert("roam_every".into(), Span(every).to_string());
        }
        if let Some(updates) = plan.waiting_max {
            words.insert("waiting_max".into(), updates.to_string());
        }
        if !beside.is_empty() {
            words.insert("beside".into(), beside.iter().map(told).collect::<Vec<_>>().join(" and "));
        }
        Ok(Condition {
            plan: plan.name.clone(),
            lasting,
            entities,
            ticks_per_second,
            payload_bytes,
            link,
            rate_back: plan.link.rate_back.map(|rate| rate.bits_per_second()),
            roam_every,
            waiting_max: plan.waiting_max,
            patience: plan.patience.map_or(PATIENCE, |span| span.0),
            beside,
            words,
        })
    }

    /// How many ticks there are.
    pub(crate) fn ticks(&self) -> u64 {
        (self.lasting.as_micros() as u64 * u64::from(self.ticks_per_second)).div_ceil(1_000_000)
    }

    /// The share of datagrams that is lost on the way, queues and outages apart.
    pub(crate) fn loss(&self) -> f64 {
        match self.link.loss {
            Loss::None => 0.0,
            Loss::Random(rate) | Loss::Burst { rate, .. } => rate,
        }
    }

    /// When the first update leaves: so long after the connection stands.
    pub(crate) fn ahead(&self) -> Duration {
        self.beside.iter().map(|flow| flow.ahead).max().unwrap_or_default()
    }

    /// Between these moments after the first update everything that shall share the link does, and shares are counted.
    pub(crate) fn counted(&self) -> Range<Duration> {
        let starts = self.beside.iter().map(|flow| flow.starts).max().unwrap_or_default();
        starts..self.beside.iter().map(|flow| flow.stops).min().unwrap_or(self.lasting)
    }

    /// The least time that an update takes: there and back.
    pub(crate) fn floor(&self) -> Duration {
        self.link.delay * 2
    }
}

/// A flow beside, if there can be such a one.
fn flow(beside: &Beside, link: &LinkConfig, lasting: Duration) -> Result<Flow, String> {
    if link.rate_bits_per_second.is_none() {
        return Err("a flow beside fills any link without a rate; give the link a rate such as 2Mbit/s".into());
    }
    let of = |span: Option<Span>| span.map(|span| span.0);
    if beside.ahead.is_some() && beside.starts.is_some() {
        return Err("a flow beside begins ahead of the first update or starts after it; choose one".into());
    }
    let (ahead, starts) = (of(beside.ahead).unwrap_or_default(), of(beside.starts).unwrap_or_default());
    let stops = of(beside.stops).unwrap_or(lasting).min(lasting);
    if ahead > AHEAD_MAX {
        return Err(format!("{} ahead: a flow beside begins at most {} ahead", Span(ahead), Span(AHEAD_MAX)));
    }
    if starts >= stops {
        return Err(format!("a flow beside starts at {} and stops at {}", Span(starts), Span(stops)));
    }
    Ok(Flow { kind: beside.flow, ahead, starts, stops })
}

/// Connections keep themselves alive for longer, those of all transports.
const AHEAD_MAX: Duration = Duration::from_secs(20);

fn told(flow: &Flow) -> String {
    let Kind::Cubic = flow.kind;
    match flow.ahead {
        Duration::ZERO => format!("cubic from {} to {}", Span(flow.starts), Span(flow.stops)),
        ahead => format!("cubic from {} before to {}", Span(ahead), Span(flow.stops)),
    }
}

fn within(what: &str, value: u64, range: std::ops::RangeInclusive<u64>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{value} {what}: there can be {} to {}", range.start(), range.end()))
}

/// The plan's link with the flags' values.
fn overlaid(link: &LinkValues, flags: &LinkValues) -> LinkValues {
    let mut all = fields(link);
    // One kind of loss takes the place of the other.
    if flags.loss.is_some() || flags.burst.is_some() {
        all.retain(|name, _| name != "loss" && name != "burst");
    }
    all.extend(fields(flags).into_iter().filter(|(_, value)| !value.is_null()));
    let overlaid: LinkValues = serde_json::from_value(Value::Object(all)).expect("it was read before");
    LinkValues { mtu: overlaid.mtu.or(Some(MTU_DEFAULT)), outages: link.outages.clone(), ..overlaid }
}

fn fields(link: &LinkValues) -> Map<String, Value> {
    let Ok(Value::Object(all)) = serde_json::to_value(link) else { unreachable!("a link is an object") };
    all
}

impl LinkValues {
    fn config(&self) -> Result<LinkConfig, String> {
        let mtu = self.mtu.unwrap_or(MTU_DEFAULT);
        within("bytes of MTU", mtu as u64, MTU_MIN as u64..=65_535)?;
        if self.loss.is_some() && self.burst.is_some() {
            return Err("the link has a loss and a burst; choose one".into());
        }
        if self.rate_back.is_some() && self.rate.is_none() {
            return Err("the link has a rate back and none towards the server; give it a rate such as 2Mbit/s".into());
        }
        if self.queue.is_some() && self.rate.is_none() {
            return Err("the link has a queue and no rate to wait for; give it a rate such as 2Mbit/s".into());
        }
        let outage = |outage: &Outage| skipstone::netsim::Outage { start: outage.at.0, length: outage.length.0 };
        let config = LinkConfig {
            delay: self.rtt.map_or(Duration::ZERO, |span| span.0) / 2,
            jitter: self.jitter.map_or(Duration::ZERO, |span| span.0),
            rate_bits_per_second: self.rate.map(|rate| rate.bits_per_second()),
            queue: self.queue.map_or(QueueLimit::Unlimited, |queue| QueueLimit::Time(queue.0)),
            loss: loss(self.loss, self.burst),
            reorder: chance(self.reorder),
            duplicate: chance(self.duplicate),
            outages: self.outages.iter().map(outage).collect(),
            datagram_bytes_max: Some(mtu - HEADER_BYTES),
            header_bytes: HEADER_BYTES,
            ..LinkConfig::default()
        };
        config.validate().map_err(|error| format!("this link cannot be: {error}"))?;
        Ok(config)
    }

    /// As a plan has them: those that say something.
    fn words(&self) -> BTreeMap<String, String> {
        let written = fields(self).into_iter().filter(|(_, value)| !value.is_null());
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut words: BTreeMap<String, String> = written.map(|(name, value)| (name, text(value))).collect();
        let outages: Vec<_> = self.outages.iter().map(|outage| format!("{} at {}", outage.length, outage.at)).collect();
        if !outages.is_empty() {
            words.insert("outages".into(), outages.join(", "));
        }
        words
    }
}
