//! The report as one HTML file that needs no network: the result as JSON, the script that shows it, and uPlot for its
//! curves.

use std::path::PathBuf;

use serde::Serialize;

use crate::report::replace;

/// A file that a report is written into.
#[derive(Debug)]
pub struct ReportFile(PathBuf);

impl ReportFile {
    /// Checked before the run, so that a wrong path is found at once.
    pub fn open(path: &str) -> Result<ReportFile, String> {
        let file = PathBuf::from(path);
        replace::check(&file).map_err(|error| format!("cannot write --report {path}: {error}"))?;
        Ok(ReportFile(file))
    }

    /// Writes the page: a title, the result, and the same as text for browsers without scripts.
    pub fn write(&self, kind: PageKind, title: &str, result: &impl Serialize, text: &str) -> Result<(), String> {
        let written = replace::replace(&self.0, page_of(kind, title, result, text).as_bytes());
        written.map_err(|error| format!("cannot write --report {}: {error}", self.0.display()))
    }
}

/// The content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// A result of `compare`.
    Comparison,
    /// A report of `stress`.
    Stress,
    /// A report of `bench`.
    Bench,
    /// A report of `bots`.
    Bots,
}

impl PageKind {
    /// Scripts in order; each can use the names of earlier ones.
    fn scripts(self) -> impl Iterator<Item = &'static str> {
        let own: &[&str] = match self {
            PageKind::Comparison => &COMPARISON,
            PageKind::Stress => &STRESS,
            PageKind::Bench => &BENCH,
            PageKind::Bots => &BOTS,
        };
        COMMON.iter().chain(own).copied()
    }
}

/// A page: a title, the result, and the same as text for browsers without scripts.
pub fn page_of(kind: PageKind, title: &str, result: &impl Serialize, text: &str) -> String {
    let json = serde_json::to_string(result).expect("a result has only text keys");
    // A script ends at its first end tag, wherever it occurs; JSON can escape `<`.
    let json = json.replace('<', "\\u003c");
    let mut page = String::new();
    for (at, part) in TEMPLATE.split("@@").enumerate() {
        match (at % 2, part) {
            (0, text) => page.push_str(text),
            (_, "TITLE") => page.push_str(&escaped(title)),
            (_, "TEXT") => page.push_str(&escaped(text)),
            (_, "JSON") => page.push_str(&json),
            (_, "CSS") => page.push_str(include_str!("page.css")),
            (_, "JS") => kind.scripts().for_each(|script| page.push_str(script)),
            (_, "UPLOT_CSS") => page.push_str(include_str!("uPlot.min.css")),
            (_, "UPLOT_JS") => page.push_str(include_str!("uPlot.iife.min.js")),
            (_, other) => unreachable!("the template has no place {other}"),
        }
    }
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const TEMPLATE: &str = include_str!("page.html");
const COMMON: [&str; 7] = [
    include_str!("page/elements.js"),
    include_str!("page/theme.js"),
    include_str!("page/latencies.js"),
    include_str!("page/axes.js"),
    include_str!("page/verdict.js"),
    include_str!("page/table.js"),
    include_str!("page/percentile_curve.js"),
];
const COMPARISON: [&str; 8] = [
    include_str!("page/transports.js"),
    include_str!("page/summary.js"),
    include_str!("page/curves.js"),
    include_str!("page/one_run.js"),
    include_str!("page/costs.js"),
    include_str!("page/matrix.js"),
    include_str!("page/page.js"),
    include_str!("page/show.js"),
];
const STRESS: [&str; 5] = [
    include_str!("page/worst_clients.js"),
    include_str!("page/stress.js"),
    include_str!("page/over_time.js"),
    include_str!("page/stress_over_time.js"),
    include_str!("page/show.js"),
];
const BENCH: [&str; 3] =
    [include_str!("page/worst_clients.js"), include_str!("page/bench.js"), include_str!("page/show.js")];

const BOTS: [&str; 3] = [include_str!("page/over_time.js"), include_str!("page/bots.js"), include_str!("page/show.js")];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_page_is_self_contained_and_escapes_any_text() {
        let hostile = "</script><script>alert(1)</script>";
        for kind in [PageKind::Comparison, PageKind::Stress, PageKind::Bench, PageKind::Bots] {
            check(&page_of(kind, hostile, &json!({ "reason": hostile, "at": "@@JSON@@" }), hostile));
        }
    }

    fn check(page: &str) {
        assert_eq!(page.matches("<script").count(), 3, "the data, uPlot, and the page's own");
        assert!(page.contains("\\u003c/script>") && page.contains("&lt;script&gt;alert(1)"));
        for outside in ["src=", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(!page.contains("UPLOT_JS"), "every place is filled");
    }
}
