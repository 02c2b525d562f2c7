//! The chart of README, drawn from the table of `plans/spatialos-25.toml`: a bar for each contender, the quickest
//! first.

use std::fmt::Write;

use super::table::PrintedTable;

/// The picture, as SVG.
pub(super) fn chart(table: &PrintedTable<'_>) -> String {
    let mut bars: Vec<Bar> = BARS.iter().map(|(row, label)| Bar::of(table, row, label)).collect();
    bars.sort_by(|one, other| one.millis().total_cmp(&other.millis()));
    let bottom = TOP + ROW * bars.len();
    let mut svg = format!(
        "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"13\">\n",
        height = bottom + 52
    );
    let told: Vec<String> = bars.iter().map(|bar| format!("{} {}", bar.label, bar.p998)).collect();
    let _ = writeln!(svg, "<title>{TITLE}, in milliseconds: {}</title>", told.join("; "));
    let _ = writeln!(svg, "<rect width=\"{WIDTH}\" height=\"{}\" fill=\"#ffffff\"/>", bottom + 52);
    let _ = writeln!(svg, "<text x=\"14\" y=\"22\" fill=\"#111111\">The worst of 500 updates: {TITLE}, ms</text>");
    let _ = writeln!(svg, "{}", at_the_edge(22, "IP bytes per payload byte"));
    for tens in 0..=MILLIS_MAX / 10 {
        let x = x(f64::from(tens * 10));
        let _ = writeln!(svg, "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\" stroke=\"#dddddd\"/>", bottom + 8);
        let _ = writeln!(svg, "{}", beneath(x, bottom + 24, "#555555", &(tens * 10).to_string()));
    }
    bars.iter().enumerate().for_each(|(at, bar)| bar.draw(&mut svg, TOP + 11 + ROW * at));
    let x = x(FLOOR);
    let _ = writeln!(
        svg,
        "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\" stroke=\"#b04a2a\" stroke-width=\"1.5\" \
         stroke-dasharray=\"4 3\"/>",
        bottom + 8
    );
    let _ = writeln!(svg, "{}", beneath(x, bottom + 42, "#b04a2a", "the path's round trip"));
    svg + "</svg>\n"
}

struct Bar {
    label: &'static str,
    is_ours: bool,
    p998: String,
    bytes: String,
}

impl Bar {
    fn of(table: &PrintedTable<'_>, row: &str, label: &'static str) -> Self {
        let figure = |column: &str| {
            table.figure(&format!("{row}|{column}")).unwrap_or_else(|| panic!("no {column} of {row}")).to_owned()
        };
        Self { label, is_ours: row.starts_with("skipstone"), p998: figure("p99.8"), bytes: figure("bytes") }
    }

    fn millis(&self) -> f64 {
        self.p998.parse().expect("a number")
    }

    /// With its upper edge at `y`. A bar that is too long for the chart is broken.
    fn draw(&self, svg: &mut String, y: usize) {
        let end = x(self.millis().min(f64::from(MILLIS_MAX)));
        let fill = if self.is_ours { "#2a6fb0" } else { "#9a9a9a" };
        let base = y + 14;
        let _ =
            writeln!(svg, "<text x=\"200\" y=\"{base}\" text-anchor=\"end\" fill=\"#111111\">{}</text>", self.label);
        let _ = writeln!(svg, "<rect x=\"{LEFT}\" y=\"{y}\" width=\"{}\" height=\"19\" fill=\"{fill}\"/>", end - LEFT);
        if self.millis() > f64::from(MILLIS_MAX) {
            let (one, other, top) = (end - 46, end - 38, y - 2);
            let _ = writeln!(
                svg,
                "<path d=\"M{one} {top} l8 23 M{other} {top} l8 23\" stroke=\"#ffffff\" stroke-width=\"4\"/>"
            );
        }
        let _ = writeln!(svg, "<text x=\"{}\" y=\"{base}\" fill=\"#111111\">{}</text>", end + 6, self.p998);
        let _ = writeln!(svg, "{}", at_the_edge(base, &self.bytes));
    }
}

fn at_the_edge(y: usize, text: &str) -> String {
    format!("<text x=\"726\" y=\"{y}\" text-anchor=\"end\" fill=\"#555555\">{text}</text>")
}

fn beneath(x: usize, y: usize, fill: &str, text: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"{fill}\" font-size=\"11\">{text}</text>")
}

fn x(millis: f64) -> usize {
    LEFT + (millis * PIXELS_PER_MILLI).round() as usize
}

/// Rows of the table, and how the chart names them.
const BARS: [(&str, &str); 13] = [
    ("skipstone adaptive", "skipstone, adaptive (default)"),
    ("skipstone lean", "skipstone, lean"),
    ("skipstone off", "skipstone, off"),
    ("kcp", "kcp, defaults"),
    ("kcp-tuned", "kcp, tuned"),
    ("kcp-fec", "kcp-fec"),
    ("kcp-msg-fec", "kcp-msg-fec"),
    ("kcp-fec-1-1", "kcp, everything twice"),
    ("quinn", "quinn (QUIC), defaults"),
    ("quinn-tuned", "quinn, tuned"),
    ("quinn-bbr", "quinn, tuned, with BBR"),
    ("renet", "renet, defaults"),
    ("renet-tuned", "renet, tuned"),
];
const TITLE: &str = "99.8th percentile of an update's round trip";
/// The path's round trip in ms.
const FLOOR: f64 = 20.0;
const WIDTH: usize = 740;
const LEFT: usize = 210;
const TOP: usize = 38;
const ROW: usize = 30;
const MILLIS_MAX: u32 = 70;
const PIXELS_PER_MILLI: f64 = 5.43;
