//! The status bar: the connection's state in one row, which omits its least important parts when the screen is narrow.

use ratatui::buffer::CellWidth;
use skipstone::Overview;
use skipstone_lab::report::format::{bytes, counted, milliseconds, percent, three_digits};
use std::time::{Duration, Instant};

/// Figures, taken from time to time.
#[derive(Debug)]
pub(super) struct Status {
    taken: Option<Instant>,
    /// Number of lines at that time.
    lines: u64,
    lines_per_second: f64,
    figures: Option<Figures>,
}

/// The part of an overview that is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figures {
    rtt: Option<Duration>,
    payload_bytes: u64,
    /// Bytes on the wire, with all headers.
    wire_bytes: u64,
}

impl Status {
    /// Nothing is known yet.
    pub(super) fn new() -> Self {
        Self { taken: None, lines: 0, lines_per_second: 0.0, figures: None }
    }

    /// Whether the figures are old.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.taken.is_none_or(|taken| now - taken >= SPACING)
    }

    /// Updates the figures; `lines` were received up to now.
    pub(super) fn take(&mut self, now: Instant, lines: u64, overview: Option<&Overview>) {
        let seconds = self.taken.map_or(0.0, |taken| (now - taken).as_secs_f64());
        let heard = lines.saturating_sub(self.lines) as f64;
        self.lines_per_second = if seconds > 0.0 { heard / seconds } else { 0.0 };
        (self.taken, self.lines) = (Some(now), lines);
        self.figures = overview.map(Figures::of);
    }

    /// The row. `unread` lines wait below the screen.
    pub(super) fn row(&self, width: u16, server: &str, state: &str, unread: u64) -> String {
        let mut parts = vec![state.to_owned()];
        if unread > 0 {
            parts.push(format!("{} unread (PgDn, Ctrl-End)", counted(unread, "line")));
        }
        if let Some(rtt) = self.figures.and_then(|figures| figures.rtt) {
            parts.push(format!("RTT {}", milliseconds(rtt.as_secs_f64() * 1000.0)));
        }
        parts.push(format!("{} lines/s", self.rate()));
        parts.extend(self.figures.map(|figures| figures.text()));
        parts.push(server.to_owned());
        fit(&parts, width)
    }

    /// The rate, without decimal places if it is high.
    fn rate(&self) -> String {
        match self.lines_per_second {
            none if none < 0.05 => "0".into(),
            few if few < 9.95 => format!("{few:.1}"),
            many => three_digits(many.round()).trim_end_matches(".0").into(),
        }
    }
}

impl Figures {
    fn of(overview: &Overview) -> Self {
        let (sent, received) = (&overview.stats.sent, &overview.stats.received);
        Self {
            rtt: overview.rtt.is_measured().then(|| overview.rtt.smoothed()),
            payload_bytes: sent.payload_bytes + received.payload_bytes,
            wire_bytes: sent.ip_bytes + received.ip_bytes,
        }
    }

    fn text(self) -> String {
        let overhead = self.wire_bytes.saturating_sub(self.payload_bytes);
        let payload = bytes(self.payload_bytes);
        if self.payload_bytes == 0 {
            return format!("payload {payload}, overhead {}", bytes(overhead));
        }
        let share = overhead as f64 / self.payload_bytes as f64 * 100.0;
        format!("payload {payload}, overhead {}", percent(share))
    }
}

/// As many parts, from the first on, as fit into the width.
fn fit(parts: &[String], width: u16) -> String {
    let mut row = String::new();
    for part in parts {
        let longer = format!("{row}{}{part}", if row.is_empty() { " " } else { " │ " });
        if longer.cell_width() > width && !row.is_empty() {
            break;
        }
        row = longer;
    }
    row
}

/// Time between two looks at the connection.
const SPACING: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> Status {
        let rtt = Some(Duration::from_micros(1_234));
        let figures = Some(Figures { rtt, payload_bytes: 2_048, wire_bytes: 2_560 });
        Status { taken: None, lines: 0, lines_per_second: 12.4, figures }
    }

    #[test]
    fn a_wide_row_shows_every_field() {
        assert_eq!(
            status().row(200, "ws://a:1", "connected", 3),
            " connected │ 3 lines unread (PgDn, Ctrl-End) │ RTT 1.23 ms │ 12 lines/s │ \
             payload 2.00 KiB, overhead 25.0% │ ws://a:1"
        );
    }

    #[test]
    fn a_narrow_row_keeps_the_most_important_cells() {
        assert_eq!(status().row(45, "ws://a:1", "connected", 0), " connected │ RTT 1.23 ms │ 12 lines/s");
        assert_eq!(status().row(3, "ws://a:1", "connected", 0), " connected");
    }

    #[test]
    fn rates_cover_the_time_between_two_reads() {
        let (mut status, start) = (Status::new(), Instant::now());
        assert!(status.is_due(start));
        status.take(start, 0, None);
        assert!(!status.is_due(start));
        for (lines, rate) in [(1_250, "2,500"), (1_250, "0"), (1_251, "2.0"), (1_271, "40")] {
            status.taken = status.taken.map(|taken| taken - Duration::from_millis(500));
            status.take(start, lines, None);
            status.taken = Some(start);
            assert_eq!(status.rate(), rate);
        }
    }
}
