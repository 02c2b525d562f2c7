//! The condition of a run: a plan with the values of the command line, checked.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use skipstone::netsim::{LinkConfig, Loss};

use super::beside::Flow;
use super::delivery::Delivery;
use super::directions::{Directions, MTU_DEFAULT, fields, words};
use super::payload;
use super::plan::{Bulk, ComparePlan, CompetingFlow, Kind, LinkValues, Misfit, PlanCondition, misfit};
use crate::recording::schedule::{PlayedPlayer, PlayedRecording, Schedule, Sender, players};
use crate::units::Span;

/// Values other than the plan's, so that one plan can be swept.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Values in place of the plan's")]
pub(crate) struct Flags {
    /// Simulated minutes for which updates are sent
    #[arg(short, long, value_name = "M")]
    pub(super) minutes: Option<f64>,
    /// Entities, each with an ordered channel of its own
    #[arg(long, value_name = "N")]
    entities: Option<u16>,
    /// Ticks a second; every entity has an update at each
    #[arg(long, value_name = "N")]
    ticks: Option<u32>,
    /// Bytes of an update
    #[arg(long, value_name = "BYTES")]
    payload: Option<usize>,
    #[command(flatten)]
    link: LinkValues,
    /// Interval at which the client's address changes
    #[arg(long, value_name = "TIME")]
    roam_every: Option<Span>,
}

/// The condition that all contenders meet, alike.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    /// The plan's name.
    pub(crate) plan: String,
    /// Which of the plan's conditions, if it has several.
    pub(crate) name: Option<String>,
    /// How long updates are sent.
    pub(crate) lasting: Duration,
    pub(crate) entities: u16,
    pub(crate) ticks_per_second: u32,
    pub(crate) payload_bytes: usize,
    /// The recorded messages that replace the equal updates; the three fields above are then their means.
    pub(crate) schedule: Option<Arc<Schedule>>,
    /// Of all updates. `None`: as recorded, else reliable and in order.
    pub(crate) delivery: Option<Delivery>,
    pub(crate) bulk: Option<Bulk>,
    /// The way to the server. Outages count from the first update.
    pub(crate) link: LinkConfig,
    /// The way back.
    pub(crate) back: LinkConfig,
    pub(crate) roam_every: Option<Duration>,
    /// The number of updates of each entity that may wait at a sender; further ones are refused.
    pub(crate) waiting_max: Option<u32>,
    /// Updates without an echo this long after the last one was sent are lost.
    pub(crate) patience: Duration,
    pub(crate) beside: Vec<Flow>,
    /// As text, for people and results.
    pub(crate) words: BTreeMap<String, String>,
}

/// The default of a plan.
const PATIENCE: Duration = Duration::from_secs(5);
const MINUTES_MAX: f64 = 24.0 * 60.0;

impl Condition {
    /// The plan with the flags' values. The error names the key that does not fit.
    pub(crate) fn from(plan: &ComparePlan, flags: &Flags) -> Result<Self, Misfit> {
        let minutes = flags.minutes.unwrap_or(plan.minutes);
        if !(minutes > 0.0 && minutes <= MINUTES_MAX) {
            let range = format!("a run lasts more than 0 minutes and at most {MINUTES_MAX}");
            return misfit("minutes", format!("{minutes} minutes: {range}"));
        }
        let Updates { entities, ticks_per_second, payload_bytes, schedule } = updates(plan, flags)?;
        check_bulk(plan.bulk)?;
        let given = overlaid(&plan.link, fields(&flags.link));
        let Directions { there: link, back } = Directions::of(&given)?;
        let roam_every = flags.roam_every.or(plan.roam_every).map(|span| span.0);
        if roam_every.is_some_and(|every| every < Duration::from_millis(100)) {
            return misfit("roam_every", "an address must not change more often than every 100ms");
        }
        let lasting = Duration::from_micros((minutes * 60e6).round() as u64);
        let lasting = schedule.as_ref().map_or(lasting, |schedule| lasting.min(schedule.length()));
        let beside: Result<Vec<Flow>, Misfit> = plan.beside.iter().map(|beside| flow(beside, &link, lasting)).collect();
        let beside = beside?;
        if plan.waiting_max == Some(0) {
            return misfit("waiting_max", "a queue of 0 updates: at least 1 must be able to wait");
        }
        let patience = plan.patience.map_or(PATIENCE, |span| span.0);
        if patience > PATIENCE_MAX {
            return misfit(
                "patience",
                format!("{} of patience: the maximum is {}", Span(patience), Span(PATIENCE_MAX)),
            );
        }
        let company: Vec<String> = beside.iter().map(told).collect();
        let more = [
            ("delivery", plan.delivery.filter(|it| *it != Delivery::default()).map(|delivery| delivery.to_string())),
            ("recording", schedule.as_ref().map(|schedule| schedule.words())),
            ("latency", schedule.as_ref().filter(|it| it.is_both_ways()).map(|_| "of one way each".to_owned())),
            ("bulk", plan.bulk.map(|bulk| format!("{} bytes every {}", bulk.bytes, bulk.every))),
            ("roam_every", roam_every.map(|every| Span(every).to_string())),
            ("waiting_max", plan.waiting_max.map(|updates| updates.to_string())),
            ("beside", (!company.is_empty()).then(|| company.join(" and "))),
        ];
        let mut words = words(&given);
        words.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Ok(Self {
            plan: plan.name.clone(),
            name: None,
            lasting,
            entities,
            ticks_per_second,
            payload_bytes,
            schedule,
            delivery: plan.delivery,
            bulk: plan.bulk,
            link,
            back,
            roam_every,
            waiting_max: plan.waiting_max,
            patience,
            beside,
            words,
        })
    }

    /// All conditions of a plan with the flags' values, in its order.
    pub(crate) fn all(plan: &ComparePlan, flags: &Flags) -> Result<Vec<Self>, Misfit> {
        if let Some(PlayedRecording { player: Some(PlayedPlayer::Each(_)), .. }) = &plan.recording {
            return Self::of_each_player(plan, flags);
        }
        if plan.conditions.is_empty() {
            return Ok(vec![Self::from(plan, flags)?]);
        }
        let names: Vec<&str> = plan.conditions.iter().map(|condition| condition.name.as_str()).collect();
        if let Some(at) = (1..names.len()).find(|at| names[..*at].contains(&names[*at])) {
            return misfit("conditions", format!("two conditions have the name \"{}\"", names[at]));
        }
        let of = |given: &PlanCondition| {
            let wrong = |it: Misfit| Misfit {
                key: "conditions",
                sentence: format!("the condition \"{}\": {}", given.name, it.sentence),
            };
            let condition = Self::from(&under(plan, given), flags).map_err(wrong)?;
            Ok(Self { name: Some(given.name.clone()), ..condition })
        };
        plan.conditions.iter().map(of).collect()
    }

    /// A condition for each player of the recording, the busiest first.
    fn of_each_player(plan: &ComparePlan, flags: &Flags) -> Result<Vec<Self>, Misfit> {
        let recording = plan.recording.as_ref().expect("it is played");
        if !plan.conditions.is_empty() {
            return misfit("conditions", "each player is a condition: leave out the conditions, or name one player");
        }
        let players = players(recording).map_err(|sentence| Misfit { key: "recording", sentence })?;
        if players.len() > PLAYERS_MAX {
            let busiest = players[0];
            return misfit(
                "recording",
                format!(
                    "the recording has {} players with messages {}, and at most {PLAYERS_MAX} are played one after \
                     the other: name one, such as player = {busiest}, the busiest",
                    players.len(),
                    recording.direction
                ),
            );
        }
        let of = |player: &u32| {
            let recording = PlayedRecording { player: Some(PlayedPlayer::Index(*player)), ..recording.clone() };
            let condition = Self::from(&ComparePlan { recording: Some(recording), ..plan.clone() }, flags)?;
            Ok(Self { name: Some(format!("player {player}")), ..condition })
        };
        players.iter().map(of).collect()
    }

    /// How an entity's updates are delivered; bulk has the number after the last entity's.
    pub(crate) fn delivery_of(&self, entity: u16) -> Delivery {
        let recorded = || self.schedule.as_ref()?.mode_of(entity).map(Delivery::of);
        self.delivery.or_else(recorded).unwrap_or_default()
    }

    /// Which end sends an entity's updates.
    pub(crate) fn sender_of(&self, entity: u16) -> Sender {
        self.schedule.as_ref().map_or(Sender::Client, |schedule| schedule.sender_of(entity))
    }

    /// Whether updates are echoed. Otherwise each end sends its own updates, and latency is one-way.
    pub(crate) fn is_echoed(&self) -> bool {
        self.schedule.as_ref().is_none_or(|schedule| !schedule.is_both_ways())
    }

    /// Sends updates for this duration, or until the recording ends.
    pub(crate) fn last_for(&mut self, span: Duration) {
        self.lasting = self.schedule.as_ref().map_or(span, |schedule| span.min(schedule.length()));
    }

    /// The schedule of a recording.
    pub(crate) fn schedule(recording: &PlayedRecording) -> Result<Arc<Schedule>, String> {
        Schedule::read(recording, payload::BYTES_MIN as u64..=BULK_BYTES_MAX).map(Arc::new)
    }

    /// How many ticks there are.
    pub(crate) fn ticks(&self) -> u64 {
        if let Some(schedule) = &self.schedule {
            return schedule.moments_before(self.lasting);
        }
        (self.lasting.as_micros() as u64 * u64::from(self.ticks_per_second)).div_ceil(1_000_000)
    }

    /// When a tick is due, since the first; ticks do not drift. After the last tick, it is the end.
    pub(crate) fn tick_at(&self, tick: u64) -> Duration {
        match &self.schedule {
            Some(schedule) => schedule.at(tick).min(self.lasting),
            None => Duration::from_micros(tick * 1_000_000 / u64::from(self.ticks_per_second)),
        }
    }

    /// The updates of a tick: their entities and sizes in bytes.
    pub(crate) fn updates_at(&self, tick: u64) -> impl Iterator<Item = (u16, usize)> + '_ {
        let entities = if self.schedule.is_some() { 0 } else { self.entities };
        let alike = (0..entities).map(|entity| (entity, self.payload_bytes));
        let recorded = self.schedule.iter().flat_map(move |schedule| schedule.messages_at(tick));
        alike.chain(recorded.map(|message| (message.entity, message.bytes as usize)))
    }

    /// How many updates there are.
    pub(crate) fn updates(&self) -> u64 {
        let alike = || self.ticks() * u64::from(self.entities);
        self.schedule.as_ref().map_or_else(alike, |schedule| schedule.sums(self.ticks()).0)
    }

    /// How many bulk messages there are.
    pub(crate) fn bulk_messages(&self) -> u64 {
        let in_time = |bulk: Bulk| self.lasting.as_micros().div_ceil(bulk.every.0.as_micros()) as u64;
        self.bulk.map_or(0, in_time)
    }

    /// The share of datagrams that is lost on the way to the server, queues and outages apart.
    pub(crate) fn loss(&self) -> f64 {
        match self.link.loss {
            Loss::None => 0.0,
            Loss::Random(rate) | Loss::Burst { rate, .. } | Loss::Fade { rate, .. } => rate,
        }
    }

    /// The time from the established connection to the first update.
    pub(crate) fn ahead(&self) -> Duration {
        self.beside.iter().map(|flow| flow.ahead).max().unwrap_or_default()
    }

    /// Between these times after the first update, all flows share the link, and their shares are counted.
    pub(crate) fn counted(&self) -> Range<Duration> {
        let starts = self.beside.iter().map(|flow| flow.starts).max().unwrap_or_default();
        starts..self.beside.iter().map(|flow| flow.stops).min().unwrap_or(self.lasting)
    }

    /// The path's round trip without any queue.
    pub(crate) fn round_trip(&self) -> Duration {
        self.link.delay + self.back.delay
    }

    /// The minimum time of an update: a round trip, or the shorter of both directions.
    pub(crate) fn floor(&self) -> Duration {
        if self.is_echoed() { self.round_trip() } else { self.link.delay.min(self.back.delay) }
    }
}

/// Each is a run of each transport.
const PLAYERS_MAX: usize = 64;

/// The sent messages.
struct Updates {
    entities: u16,
    ticks_per_second: u32,
    payload_bytes: usize,
    schedule: Option<Arc<Schedule>>,
}

fn updates(plan: &ComparePlan, flags: &Flags) -> Result<Updates, Misfit> {
    if let Some(recording) = &plan.recording {
        return recorded(plan, recording, flags);
    }
    let missing = |key: &'static str| Misfit { key, sentence: format!("the plan has neither {key} nor a recording") };
    let entities = flags.entities.or(plan.entities).ok_or_else(|| missing("entities"))?;
    let ticks_per_second = flags.ticks.or(plan.ticks_per_second).ok_or_else(|| missing("ticks_per_second"))?;
    let payload_bytes = flags.payload.or(plan.payload_bytes).ok_or_else(|| missing("payload_bytes"))?;
    within("entities", "entities", entities.into(), 1..=200)?;
    within("ticks_per_second", "ticks a second", ticks_per_second.into(), 1..=1_000)?;
    within("payload_bytes", "bytes of payload", payload_bytes as u64, payload::BYTES_MIN as u64..=1_200)?;
    Ok(Updates { entities, ticks_per_second, payload_bytes, schedule: None })
}

fn recorded(plan: &ComparePlan, recording: &PlayedRecording, flags: &Flags) -> Result<Updates, Misfit> {
    let is_given = [
        ("entities", plan.entities.is_some() || flags.entities.is_some()),
        ("ticks_per_second", plan.ticks_per_second.is_some() || flags.ticks.is_some()),
        ("payload_bytes", plan.payload_bytes.is_some() || flags.payload.is_some()),
    ];
    if let Some((key, _)) = is_given.into_iter().find(|(_, is_given)| *is_given) {
        return misfit(key, format!("a recording brings its own messages: leave out {key} and its flag"));
    }
    let schedule = Condition::schedule(recording).map_err(|sentence| Misfit { key: "recording", sentence })?;
    Ok(Updates {
        entities: schedule.entities(),
        ticks_per_second: schedule.moments_per_second(),
        payload_bytes: schedule.mean_bytes(),
        schedule: Some(schedule),
    })
}

/// A background flow, if it is possible.
fn flow(beside: &CompetingFlow, link: &LinkConfig, lasting: Duration) -> Result<Flow, Misfit> {
    if link.rate_bits_per_second.is_none() {
        return misfit(
            "beside",
            "a background flow fills any link without a rate; give the link a rate such as 2Mbit/s",
        );
    }
    let of = |span: Option<Span>| span.map(|span| span.0);
    if beside.ahead.is_some() && beside.starts.is_some() {
        let sentence = "a background flow begins ahead of the first update or starts after it; choose one";
        return misfit("beside.starts", sentence);
    }
    let (ahead, starts) = (of(beside.ahead).unwrap_or_default(), of(beside.starts).unwrap_or_default());
    let stops = of(beside.stops).unwrap_or(lasting).min(lasting);
    if ahead > AHEAD_MAX {
        let most = format!("a background flow begins at most {} ahead", Span(AHEAD_MAX));
        return misfit("beside.ahead", format!("{} ahead: {most}", Span(ahead)));
    }
    if starts >= stops {
        return misfit("beside", format!("a background flow starts at {} and stops at {}", Span(starts), Span(stops)));
    }
    Ok(Flow { kind: beside.flow, ahead, starts, stops })
}

/// Connections of all transports stay alive for longer without traffic.
const AHEAD_MAX: Duration = Duration::from_secs(20);

fn told(flow: &Flow) -> String {
    let Kind::Cubic = flow.kind;
    match flow.ahead {
        Duration::ZERO => format!("cubic from {} to {}", Span(flow.starts), Span(flow.stops)),
        ahead => format!("cubic from {} before to {}", Span(ahead), Span(flow.stops)),
    }
}

fn within(key: &'static str, what: &str, value: u64, range: RangeInclusive<u64>) -> Result<(), Misfit> {
    if range.contains(&value) {
        return Ok(());
    }
    misfit(key, format!("{value} {what}: there can be {} to {}", range.start(), range.end()))
}

fn check_bulk(bulk: Option<Bulk>) -> Result<(), Misfit> {
    let Some(bulk) = bulk else { return Ok(()) };
    within("bulk.bytes", "bytes of a bulk message", bulk.bytes as u64, payload::BYTES_MIN as u64..=BULK_BYTES_MAX)?;
    if bulk.every.0 < BULK_EVERY_MIN {
        return misfit("bulk.every", format!("a bulk message every {}: the minimum is 1ms", bulk.every));
    }
    Ok(())
}

/// KCP sends a message in at most 128 segments.
const BULK_BYTES_MAX: u64 = 65_000;
const BULK_EVERY_MIN: Duration = Duration::from_millis(1);
const PATIENCE_MAX: Duration = Duration::from_secs(3_600);

/// The plan under one of its conditions.
fn under(plan: &ComparePlan, given: &PlanCondition) -> ComparePlan {
    let entities = given.entities.or(plan.entities);
    ComparePlan { link: overlaid(&plan.link, fields(given)), entities, ..plan.clone() }
}

/// The plan's link with the values of a condition or of the flags, which apply to both directions.
fn overlaid(link: &LinkValues, given: Map<String, Value>) -> LinkValues {
    let mut all = fields(link);
    all.retain(|name, _| !given.keys().any(|flag| replaces(flag, name)));
    all.extend(given);
    let overlaid: LinkValues = serde_json::from_value(Value::Object(all)).expect("it was read before");
    LinkValues { mtu: overlaid.mtu.or(Some(MTU_DEFAULT)), outages: link.outages.clone(), ..overlaid }
}

/// Whether a flag replaces this value of the plan: one kind of loss replaces the other kinds.
fn replaces(flag: &str, name: &str) -> bool {
    let alike = |of: &str| match of {
        "loss" | "burst" | "fade" => "loss".to_owned(),
        "delay" => "rtt".to_owned(),
        other => other.to_owned(),
    };
    alike(flag) == alike(name.strip_suffix("_back").unwrap_or(name))
}
