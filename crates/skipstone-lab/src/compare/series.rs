//! A run over time: blocks of some seconds with all their latencies, the latest updates, the packets that the link
//! lost. The report draws it, and two runs are compared by it: what happens in different blocks is independent of each
//! other.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::latency_steps;

/// A run by blocks. Times count from the first update.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSeries {
    /// The length of a block, in seconds.
    pub(crate) block_s: f64,
    pub(crate) blocks: Vec<RunBlock>,
    /// The updates that took longest, the longest first.
    pub(crate) latest: Vec<LateUpdate>,
    /// Packets that the link lost on the way to the server, `SECONDS#NUMBER` each; NUMBER counts the direction's
    /// packets from 0.
    pub(crate) lost_up: String,
    /// The same on the way back.
    pub(crate) lost_down: String,
    /// Stalls of the machine, `SECONDS+MILLISECONDS` each.
    pub(crate) stalls: String,
}

/// The updates that were due within a block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct RunBlock {
    pub(crate) sent: u32,
    /// The longest latency, in ms.
    pub(crate) max: Option<f64>,
    /// How long those that came back took, `MICROSECONDS*COUNT` each, by seven binary digits rounded down.
    pub(crate) latencies: String,
}

/// An update that came late.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct LateUpdate {
    /// When it was due, in seconds.
    pub(crate) at: f64,
    /// In ms.
    pub(crate) latency: f64,
    /// Whether the machine stalled meanwhile.
    pub(crate) is_stalled: bool,
    /// The first packets that the link lost meanwhile, as `up 512 at 1.234567`.
    pub(crate) lost: Vec<String>,
}

/// A packet that the link lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LostPacket {
    /// Since the first update.
    pub(crate) at: Duration,
    pub(crate) is_up: bool,
    pub(crate) number: u64,
}

/// Enough for a curve.
const BLOCKS_MAX: u64 = 64;
const BLOCK_MIN: Duration = Duration::from_secs(1);
/// The number of late updates that are named, and of packets for each.
const LATEST_MAX: usize = 30;
const LOST_BESIDE_MAX: usize = 4;
/// Lost packets that are named.
pub(crate) const LOST_MAX: usize = 5_000;

/// An update that came back: when it was due since the first, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Echo {
    pub(crate) due: Duration,
    pub(crate) latency_us: u32,
}

impl RunSeries {
    /// Builds the series from sent updates (times and numbers) and echoes.
    pub(crate) fn of(sent: &[(Duration, u32)], echoes: impl Iterator<Item = Echo> + Clone) -> RunSeries {
        let Some((last, _)) = sent.last() else { return RunSeries::default() };
        let length = Duration::from_secs(last.as_secs().div_ceil(BLOCKS_MAX)).max(BLOCK_MIN);
        let block_of = |due: Duration| (due.as_micros() / length.as_micros()) as usize;
        let mut blocks = vec![(RunBlock::default(), BTreeMap::new(), 0); block_of(*last) + 1];
        for (due, count) in sent {
            blocks[block_of(*due)].0.sent += count;
        }
        for echo in echoes.clone() {
            let (_, counts, longest) = &mut blocks[block_of(echo.due)];
            *counts.entry(rounded(echo.latency_us)).or_insert(0_u32) += 1;
            *longest = echo.latency_us.max(*longest);
        }
        let finish = |(block, counts, longest): (RunBlock, BTreeMap<u32, u32>, u32)| RunBlock {
            max: (!counts.is_empty()).then(|| f64::from(longest) / 1e3),
            latencies: words(counts.into_iter().map(|(micros, count)| format!("{micros}*{count}"))),
            ..block
        };
        RunSeries {
            block_s: length.as_secs_f64(),
            blocks: blocks.into_iter().map(finish).collect(),
            latest: latest(echoes),
            ..RunSeries::default()
        }
    }

    /// Adds the packets that the link lost, in order, and names those near the latest updates.
    pub(crate) fn take_lost(&mut self, lost: &[LostPacket]) {
        let told = |is_up: bool| {
            let of_one = lost.iter().filter(move |packet| packet.is_up == is_up).take(LOST_MAX);
            words(of_one.map(|packet| format!("{}#{}", seconds(packet.at), packet.number)))
        };
        (self.lost_up, self.lost_down) = (told(true), told(false));
        for update in &mut self.latest {
            let until = update.at + update.latency / 1e3;
            let meanwhile = |packet: &&LostPacket| (update.at..=until).contains(&packet.at.as_secs_f64());
            let name = |packet: &LostPacket| {
                let way = if packet.is_up { "up" } else { "down" };
                format!("{way} {} at {}", packet.number, seconds(packet.at))
            };
            update.lost = lost.iter().filter(meanwhile).take(LOST_BESIDE_MAX).map(name).collect();
        }
    }

    /// Adds the machine's stalls: when, and for how long.
    pub(crate) fn take_stalls(&mut self, stalls: impl Iterator<Item = (Duration, Duration)> + Clone) {
        self.stalls = words(stalls.clone().map(|(at, length)| format!("{}+{}", seconds(at), length.as_millis())));
        for update in &mut self.latest {
            let (from, until) = (update.at, update.at + update.latency / 1e3);
            update.is_stalled =
                stalls.clone().any(|(at, length)| at.as_secs_f64() <= until && (at + length).as_secs_f64() >= from);
        }
    }
}

impl RunBlock {
    /// Latencies in µs with their counts, ascending; nothing of a text that is none.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u32, u32)> {
        let pair = |word: &str| {
            let (micros, count) = word.split_once('*')?;
            Some((micros.parse().ok()?, count.parse().ok()?))
        };
        self.latencies.split_whitespace().filter_map(pair)
    }
}

fn latest(echoes: impl Iterator<Item = Echo>) -> Vec<LateUpdate> {
    let mut all: Vec<Echo> = echoes.collect();
    all.sort_by_key(|echo| (std::cmp::Reverse(echo.latency_us), echo.due));
    // Updates of one tick that arrived together are one event.
    all.dedup();
    let of = |echo: &Echo| LateUpdate {
        at: echo.due.as_micros() as f64 / 1e6,
        latency: f64::from(echo.latency_us) / 1e3,
        is_stalled: false,
        lost: Vec::new(),
    };
    all.iter().take(LATEST_MAX).map(of).collect()
}

fn rounded(micros: u32) -> u32 {
    latency_steps::rounded(micros.into()) as u32
}

fn seconds(at: Duration) -> String {
    format!("{}.{:06}", at.as_secs(), at.subsec_micros())
}

fn words(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn run() -> RunSeries {
        let sent: Vec<_> = (0..200).map(|tick| (millis(tick * 10), 2)).collect();
        let echo = |tick: u64| Echo { due: millis(tick * 10), latency_us: if tick == 150 { 61_234 } else { 20_100 } };
        RunSeries::of(&sent, (0..200).filter(|tick| *tick != 7).map(echo))
    }

    #[test]
    fn blocks_contain_all_latencies_as_seven_digits() {
        let series = run();
        assert_eq!((series.block_s, series.blocks.len()), (1.0, 2));
        assert_eq!(series.blocks[0].counts().collect::<Vec<_>>(), [(19_968, 99)]);
        assert_eq!(series.blocks[1].counts().collect::<Vec<_>>(), [(19_968, 99), (60_928, 1)]);
        assert_eq!(series.blocks[1].max, Some(61.234));
        assert_eq!(series.blocks.iter().map(|block| block.sent).sum::<u32>(), 400);
        for micros in [0, 1, 127, 128, 20_000, u32::MAX] {
            assert!(rounded(micros) <= micros && f64::from(rounded(micros)) >= f64::from(micros) / 1.016, "{micros}");
        }
    }

    #[test]
    fn a_late_update_names_the_packets_lost_while_it_waited() {
        let mut series = run();
        let lost = |at, is_up, number| LostPacket { at: millis(at), is_up, number };
        series.take_lost(&[lost(1_200, true, 5), lost(1_501, true, 9), lost(1_530, false, 11), lost(1_700, true, 12)]);
        series.take_stalls([(millis(100), millis(5))].into_iter());
        assert_eq!(series.latest[0].latency, 61.234);
        assert_eq!(series.latest[0].lost, ["up 9 at 1.501000", "down 11 at 1.530000"]);
        assert_eq!(series.lost_up, "1.200000#5 1.501000#9 1.700000#12");
        assert_eq!((series.stalls.as_str(), series.latest[0].is_stalled), ("0.100000+5", false));
        assert!(series.latest.iter().any(|update| update.is_stalled));
    }

    #[test]
    fn a_long_run_has_longer_blocks_and_an_empty_run_has_none() {
        let sent: Vec<_> = (0..3_600).map(|second| (Duration::from_secs(second), 1)).collect();
        let series = RunSeries::of(&sent, std::iter::empty());
        assert_eq!((series.block_s, series.blocks.len()), (57.0, 64));
        assert_eq!(RunSeries::of(&[], std::iter::empty()), RunSeries::default());
    }
}
