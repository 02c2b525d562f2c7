//! Pages and their figures of simulated runs, by the plans whose documented commands find them.

use std::path::PathBuf;

use super::chart::chart;
use super::plan::{DocumentedPlan, root};
use super::sentence::Sentence;
use super::table::PrintedTable;

/// A page as it is, and as the runs would have it.
pub(super) struct HeldPage {
    path: PathBuf,
    kept: String,
    made: String,
}

impl HeldPage {
    /// All figures.
    pub(super) fn all() -> Vec<Self> {
        let mut pages: Vec<Self> = Vec::new();
        for (plan, page, content) in CONTENTS {
            let path = root().join(page);
            let at = pages.iter().position(|page| page.path == path).unwrap_or_else(|| {
                pages.push(Self::read(path));
                pages.len() - 1
            });
            let plan = DocumentedPlan::of(plan);
            pages[at].take(content, &plan, &PrintedTable::new(&plan.outcome().out));
        }
        pages
    }

    fn read(path: PathBuf) -> Self {
        let kept = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kept = kept.replace("\r\n", "\n");
        Self { path, made: kept.clone(), kept }
    }

    fn take(&mut self, content: &Content, plan: &DocumentedPlan, table: &PrintedTable<'_>) {
        match content {
            Content::Chart => self.made = chart(table),
            Content::Table => {
                let command = plan.command_without_thresholds();
                let is_shown = self.made.contains(&format!("```text\n{command}\n```"));
                assert!(is_shown, "{} does not show the command of its table: {command}", self.path.display());
                self.take_table(&table.text());
            }
            Content::Sentence(text) => self.take_sentence(&Sentence(text), table),
        }
    }

    /// The block that begins with the same plan's name.
    fn take_table(&mut self, text: &str) {
        let name = text.split_inclusive(": ").next().expect("a heading");
        let fence = format!("```text\n{name}");
        let begin = self.made.find(&fence).unwrap_or_else(|| panic!("no table of {name} in {}", self.path.display()));
        let begin = begin + "```text\n".len();
        let end = begin + self.made[begin..].find("\n```").expect("a block ends");
        self.made.replace_range(begin..end, text);
    }

    fn take_sentence(&mut self, sentence: &Sentence<'_>, table: &PrintedTable<'_>) {
        let places = sentence.find(&self.made);
        let places = places.unwrap_or_else(|| panic!("{} does not say: {}", self.path.display(), sentence.0));
        for (name, range) in places.into_iter().rev() {
            let figure = table.figure(name).unwrap_or_else(|| panic!("the table has no {name}"));
            self.made.replace_range(range, figure);
        }
    }

    /// Its first line that is not as a run would have it; `None` if there is none.
    pub(super) fn difference(&self) -> Option<String> {
        let mut lines = self.kept.lines().zip(self.made.lines()).enumerate();
        let differing = lines.find(|(_, (kept, made))| kept != made);
        let (at, (kept, made)) = differing.or((self.kept != self.made).then_some((0, ("", ""))))?;
        Some(format!("{}:{}\n  has: {kept}\n  run: {made}", self.path.display(), at + 1))
    }

    /// Writes it as the runs would have it.
    pub(super) fn renew(&self) {
        if self.kept != self.made {
            std::fs::write(&self.path, &self.made).unwrap_or_else(|error| panic!("{}: {error}", self.path.display()));
        }
    }
}

/// The content that a page takes from a run.
enum Content {
    /// The whole table, as a block.
    Table,
    /// A picture; the page is nothing else.
    Chart,
    /// Figures in a sentence, or in a row of a page's own table.
    Sentence(&'static str),
}

/// Every figure of virtual time that is published, but for those of decisions and of changes, which are of their day,
/// and those of `docs/sweep.md`, which take hours.
const CONTENTS: &[(&str, &str, Content)] = &[
    ("spatialos-25", "docs/worst-update.svg", Content::Chart),
    (
        "spatialos-25",
        "README.md",
        Content::Sentence(
            "![99.8th percentile of an update's round trip: skipstone adaptive [[skipstone adaptive|p99.8]] ms, \
             everything twice (KCP) [[kcp-fec-1-1|p99.8]] ms, QUIC [[quinn|p99.8]] ms, renet [[renet-tuned|p99.8]] ms \
             as tuned, KCP [[kcp|p99.8]] ms]",
        ),
    ),
    (
        "spatialos-25",
        "README.md",
        Content::Sentence(
            "KCP with every datagram sent three times is better still: [[kcp-fec-1-2|p99.99]] ms at the 99.99th \
             percentile, where `adaptive` has [[skipstone adaptive|p99.99]], for [[kcp-fec-1-2|bytes]] bytes per \
             payload byte instead of [[skipstone adaptive|bytes]].",
        ),
    ),
    ("spatialos-25", "docs/measurements.md", Content::Table),
    (
        "spatialos-25",
        "docs/measurements.md",
        Content::Sentence(
            "The price is bytes: [[skipstone adaptive|bytes]] per payload byte, not [[skipstone off|bytes]]. KCP that \
             sends everything twice reaches that percentile too, for [[kcp-fec-1-1|bytes]] bytes, and everything \
             three times reaches the 99.99th, for [[kcp-fec-1-2|bytes]]:",
        ),
    ),
    (
        "lossy-5",
        "docs/measurements.md",
        Content::Sentence(
            "at 5% loss (`plans/lossy-5.toml`) everything three times keeps [[kcp-fec-1-2|p99.8]] ms at the 99.8th \
             percentile for [[kcp-fec-1-2|bytes]] bytes, where `adaptive` has [[skipstone adaptive|p99.8]] for \
             [[skipstone adaptive|bytes]].",
        ),
    ),
    (
        "lossy-5",
        "docs/measurements.md",
        Content::Sentence(
            "at 5% `lean`'s 99.8th percentile is [[skipstone lean|p99.8]] ms with ages and [[skipstone-ageless \
             lean|p99.8]] without",
        ),
    ),
    (
        "spatialos-25",
        "docs/guide/loss.md",
        Content::Sentence(
            "at 0.5% loss [[skipstone lean|bytes]] bytes per payload byte in place of [[skipstone off|bytes]] | all \
             but `Off` |",
        ),
    ),
    (
        "spatialos-25",
        "docs/guide/loss.md",
        Content::Sentence(
            "| `Adaptive` | the default: anything that must not be late | [[skipstone adaptive|bytes]] | [[skipstone \
             adaptive|p50]], [[skipstone adaptive|p99]], [[skipstone adaptive|p99.8]], [[skipstone adaptive|p99.99]] |",
        ),
    ),
    (
        "spatialos-25",
        "docs/guide/loss.md",
        Content::Sentence(
            "| `Lean` | bandwidth is scarce, and one more round trip is acceptable | [[skipstone lean|bytes]] | \
             [[skipstone lean|p50]], [[skipstone lean|p99]], [[skipstone lean|p99.8]], [[skipstone lean|p99.99]] |",
        ),
    ),
    (
        "spatialos-25",
        "docs/guide/loss.md",
        Content::Sentence(
            "| `Off` | files, logs: latency does not matter | [[skipstone off|bytes]] | [[skipstone off|p50]], \
             [[skipstone off|p99]], [[skipstone off|p99.8]], [[skipstone off|p99.99]] |",
        ),
    ),
    (
        "spatialos-25",
        "docs/guide/loss.md",
        Content::Sentence(
            "| `Fixed { sources: 10, repairs: 3 }` | a constant overhead is wanted, for comparison | \
             [[skipstone fixed:10+3|bytes]] | [[skipstone fixed:10+3|p50]], [[skipstone fixed:10+3|p99]], \
             [[skipstone fixed:10+3|p99.8]], [[skipstone fixed:10+3|p99.99]] |",
        ),
    ),
    (
        "conditions",
        "docs/guide/loss.md",
        Content::Sentence(
            "`Adaptive` stops sending repairs within seconds: [[no loss|skipstone adaptive|bytes]] bytes per payload \
             byte over the first minute",
        ),
    ),
];
