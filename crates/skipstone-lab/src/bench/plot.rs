//! `skipstone bench plot`: results as a picture, the server's cost by the number of clients.

use crate::report::replace::replace;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use serde::Deserialize;

use super::setup::row_name;

/// Flags of `bench plot`.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = include_str!("plot-help.txt"))]
pub(crate) struct PlotArguments {
    /// Results written by `--json`, all of one preset
    #[arg(required = true, value_name = "RESULT.json")]
    results: Vec<PathBuf>,
    /// The picture
    #[arg(short, long, value_name = "FILE.svg")]
    output: PathBuf,
}

/// The part of a result that is read.
#[derive(Deserialize)]
struct PlottedResult {
    preset: String,
    results: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    transport: String,
    server: Option<String>,
    clients: u32,
    passed: bool,
    cpu_us_per_delivery: Option<f64>,
    server_cpu_percent: Option<f64>,
}

/// A run's place in the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    clients: f64,
    cost: f64,
    passed: bool,
}

/// By transport, in the order of their names.
type CostLines = BTreeMap<String, Vec<Point>>;

const SIZE: (u32, u32) = (860, 440);
/// Costs beyond this multiple of the median are cut off at the upper edge: an overloaded server would hide the
/// differences of the others.
const OUTLIER: f64 = 6.0;

/// Draws the requested picture; an error is a sentence.
pub(crate) fn plot(arguments: &PlotArguments) -> Result<(), String> {
    let found = arguments.results.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let preset = found[0].preset.clone();
    if let Some(other) = found.iter().find(|found| found.preset != preset) {
        return Err(format!("results of `{preset}` and of `{}` cannot be drawn in one picture", other.preset));
    }
    let is_idle = preset == "idle";
    let lines = lines(found.into_iter().flat_map(|found| found.results), is_idle);
    if lines.is_empty() {
        return Err("no run has a cost by the number of clients; `bench fanout` and `bench idle` have".into());
    }
    let what = if is_idle { "µs of server CPU a second, per connection" } else { "µs of server CPU per delivery" };
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", arguments.output.display());
    let picture = draw(&lines, what).map_err(|error| failed(&error))?;
    replace(&arguments.output, picture.as_bytes()).map_err(|error| failed(&error))
}

fn read(path: &Path) -> Result<PlottedResult, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{} is not a result of a bench: {error}", path.display()))
}

fn lines(runs: impl Iterator<Item = Run>, is_idle: bool) -> CostLines {
    let mut lines = CostLines::new();
    for run in runs {
        let clients = f64::from(run.clients);
        let cost = if is_idle { run.server_cpu_percent.map(|p| p * 1e4 / clients) } else { run.cpu_us_per_delivery };
        if let Some(cost) = cost {
            lines.entry(row_name(&run.transport, run.server.as_deref())).or_default().push(Point {
                clients,
                cost,
                passed: run.passed,
            });
        }
    }
    lines.values_mut().for_each(|points| points.sort_by(|a, b| a.clients.total_cmp(&b.clients)));
    lines
}

/// The ranges of the axes.
fn axes(lines: &CostLines) -> (Range<f64>, Range<f64>) {
    let points = || lines.values().flatten();
    let least = points().map(|point| point.clients).fold(f64::MAX, f64::min);
    let most = points().map(|point| point.clients).fold(0.0, f64::max);
    let mut costs: Vec<f64> = points().map(|point| point.cost).collect();
    costs.sort_by(f64::total_cmp);
    let highest = costs[costs.len() - 1].min(OUTLIER * costs[costs.len() / 2]);
    (least * 0.95..most * 1.05, 0.0..highest * 1.05)
}

fn draw(lines: &CostLines, what: &str) -> Result<String, Box<dyn std::error::Error>> {
    let mut picture = String::new();
    draw_into(&mut picture, lines, what)?;
    Ok(picture)
}

fn draw_into(picture: &mut String, lines: &CostLines, what: &str) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::with_string(picture, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (clients, costs) = axes(lines);
    let mut chart = ChartBuilder::on(&root)
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(58)
        .build_cartesian_2d(clients, costs.clone())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("clients")
        .y_desc(what)
        .x_label_formatter(&|clients| format!("{clients:.0}"))
        .draw()?;
    for (at, (name, points)) in lines.iter().enumerate() {
        let color = Palette99::pick(at).to_rgba();
        let place = |point: &Point| (point.clients, point.cost.min(costs.end));
        let legend = move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2));
        chart
            .draw_series(LineSeries::new(points.iter().map(place), color.stroke_width(2)))?
            .label(name.as_str())
            .legend(legend);
        let passed = points.iter().filter(|point| point.passed).map(place);
        chart.draw_series(passed.map(|place| Circle::new(place, 4, color.filled())))?;
        let failed = points.iter().filter(|point| !point.passed).map(place);
        chart.draw_series(failed.map(|place| Cross::new(place, 5, color.stroke_width(2))))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.4))
        .draw()?;
    root.present()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(name: &str, results: &[&str]) -> Result<String, String> {
        let folder = std::env::temp_dir().join(format!("skipstone-plot-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let paths = results.iter().enumerate().map(|(at, text)| {
            let path = folder.join(format!("{at}.json"));
            std::fs::write(&path, text).expect("a temporary file");
            path
        });
        let output = folder.join("picture.svg");
        let outcome = plot(&PlotArguments { results: paths.collect(), output: output.clone() });
        let picture = outcome.map(|()| std::fs::read_to_string(&output).expect("it was drawn"));
        std::fs::remove_dir_all(&folder).expect("it is ours");
        picture
    }

    const FANOUT: &str = r#"{"preset": "fanout", "results": [
        {"transport": "tcp", "clients": 200, "passed": true, "cpu_us_per_delivery": 2.5, "server_cpu_percent": 10.0},
        {"transport": "enet", "clients": 700, "passed": false, "cpu_us_per_delivery": 250.0,
            "server_cpu_percent": 99.0},
        {"transport": "tcp", "clients": 100, "passed": true, "cpu_us_per_delivery": 4.0, "server_cpu_percent": 5.0}]}"#;

    #[test]
    fn a_picture_names_axes_and_transports() {
        let picture = drawn("names", &[FANOUT]).expect("a good result");
        for word in ["<svg", "tcp", "enet", "clients", "per delivery"] {
            assert!(picture.contains(word), "{word}");
        }
    }

    #[test]
    fn runs_are_in_order_and_an_outlier_does_not_flatten_the_others() {
        let found: PlottedResult = serde_json::from_str(FANOUT).expect("a good result");
        let lines = lines(found.results.into_iter(), false);
        let tcp: Vec<f64> = lines["tcp"].iter().map(|point| point.clients).collect();
        assert_eq!(tcp, [100.0, 200.0]);
        assert_eq!(axes(&lines).1.end, 6.0 * 4.0 * 1.05);
    }

    #[test]
    fn idle_connections_cost_a_second_each() {
        let run = Run {
            transport: "skipstone".into(),
            server: None,
            clients: 1_000,
            passed: true,
            cpu_us_per_delivery: None,
            server_cpu_percent: Some(0.5),
        };
        assert_eq!(lines([run].into_iter(), true)["skipstone"][0].cost, 5.0);
    }

    #[test]
    fn undrawable_settings_are_named() {
        let error = |name: &str, results: &[&str]| drawn(name, results).expect_err("nothing to draw");
        assert!(error("word", &["nonsense"]).contains("is not a result of a bench"));
        assert!(error("none", &[r#"{"preset": "pingpong", "results": []}"#]).contains("no run has a cost"));
        let idle = r#"{"preset": "idle", "results": []}"#;
        assert!(error("two", &[FANOUT, idle]).contains("cannot be drawn in one picture"));
        let missing = PlotArguments { results: vec!["/nowhere/at-all.json".into()], output: "x.svg".into() };
        assert!(plot(&missing).expect_err("no such file").contains("/nowhere/at-all.json"));
    }
}
