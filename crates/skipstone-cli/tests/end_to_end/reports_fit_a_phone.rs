//! Pages of `--report` in a browser, as wide as a phone: nothing is wider than the screen, axes have round numbers, and
//! no more curves are drawn at first than can be distinguished. Without Chromium there is nothing to look at them with.

use crate::common::{Served, fresh_file, run};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// The report in a frame of 390 pixels, as a browser shows it: its width, the texts on its canvases, and for each plot
/// how many curves are shown. `None` without a browser.
fn on_a_phone(report: &Path) -> Option<Value> {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let is_there =
        |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    let Some(browser) = browsers.iter().find(is_there) else {
        eprintln!("left out: no Chromium");
        return None;
    };
    let page = std::fs::read_to_string(report).expect("it was written");
    let page = page.replacen("<head>", &format!("<head><script>{WATCH}</script>"), 1);
    std::fs::write(report, page.replacen("</body>", &format!("<script>{TELL}</script></body>"), 1))
        .expect("it is ours");
    let frame = fresh_file("frame.html");
    let name = report.file_name().and_then(|name| name.to_str()).expect("text");
    std::fs::write(&frame, FRAME.replace("REPORT", name)).expect("a folder for it");
    let url = format!("file://{}", frame.display());
    let profile = fresh_file("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--virtual-time-budget=5000", "--dump-dom", &url])
        .output()
        .expect("it runs");
    [report, &frame].iter().for_each(|file| std::fs::remove_file(file).expect("it is ours"));
    let _ = std::fs::remove_dir_all(&profile);
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = shown.split("<pre>").nth(1).and_then(|rest| rest.split("</pre>").next());
    Some(serde_json::from_str(told.unwrap_or_default()).unwrap_or_else(|_| panic!("no answer of the page: {shown}")))
}

/// Before the page's scripts: texts that are drawn on canvases.
const WATCH: &str = "const drawn = []; const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  drawn.push(String(text));
  return fillText.call(this, text, ...rest);
};";
/// After them.
const TELL: &str = "setTimeout(() => {
  const curves = [...document.querySelectorAll('.u-legend')].map((legend) =>
    legend.querySelectorAll('.u-series:not(.u-off)').length - 1);
  const width = document.documentElement.scrollWidth;
  parent.postMessage(JSON.stringify({ width, drawn: [...new Set(drawn)], curves }), '*');
}, 800);";
const FRAME: &str = "<!doctype html><body><pre></pre><iframe src='REPORT' width='390' height='844'></iframe>
<script>onmessage = (told) => { document.querySelector('pre').textContent = told.data; };</script></body>";

fn numbers<'a>(told: &'a Value, unit: &'a str) -> Vec<&'a str> {
    let drawn = told["drawn"].as_array().expect("a list").iter().filter_map(Value::as_str);
    drawn.filter_map(|text| text.strip_suffix(unit)).collect()
}

#[test]
fn a_report_with_a_long_url_fits_a_phone_and_has_round_axis_labels() {
    let served = Served::start(&[]);
    let file = fresh_file("stress.html");
    let report = file.to_str().expect("text");
    run(&["stress", "-q", &served.url, "-c", "8", "-r", "10/s", "-d", "4s", "--report", report]).expect(&[0, 98]);
    served.stop();
    let Some(told) = on_a_phone(&file) else { return };
    assert!(told["width"].as_u64().is_some_and(|width| width <= 390), "{told}");
    let bytes = [numbers(&told, " KiB"), numbers(&told, " B"), numbers(&told, " MiB")].concat();
    assert!(!bytes.is_empty(), "{told}");
    for number in bytes {
        let digits = number.replace([',', '.'], "");
        assert!(digits.trim_start_matches('0').trim_end_matches('0').len() <= 2, "{number} is not round: {told}");
    }
}

#[test]
fn a_report_of_many_transports_initially_draws_few_curves() {
    let file = fresh_file("compare.html");
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/lossy-2.toml");
    let transports = "skipstone,skipstone-plain,kcp,kcp-tuned,kcp-fec,quinn,renet,renet-tuned";
    let few = ["-m", "0.05", "--seeds", "1", "-q", "--transports", transports];
    let page = ["compare", plan, "--simulated", "--report", file.to_str().expect("text")];
    run(&[&page[..], &few].concat()).expect(&[0]);
    let Some(told) = on_a_phone(&file) else { return };
    assert!(told["width"].as_u64().is_some_and(|width| width <= 390), "{told}");
    let curves: Vec<u64> = told["curves"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
    assert!(curves.len() >= 2 && curves.iter().all(|count| (3..=7).contains(count)), "{curves:?}");
}
