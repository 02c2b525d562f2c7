//! Several runs on one server each prove their own lines, and leave no trace.

use crate::common::console::Session;
use crate::common::result::{assert_all_delivered, is_noise, number, read, stress};
use crate::common::{Running, Served, fresh_file};

#[test]
fn parallel_runs_count_each_others_lines_as_foreign() {
    let served = Served::start(&[]);
    let started: Vec<_> = [&served.url, &served.ws, &served.url]
        .into_iter()
        .map(|url| {
            let file = fresh_file("stress.json");
            // The same seed: the runs still know their own lines.
            let flags = ["-c", "5", "-r", "5/s", "-d", "3s", "--seed", "1"];
            let path = file.to_str().expect("text").to_owned();
            (Running::tool(&[&["stress", url, "--json", &path], &flags[..]].concat()), file)
        })
        .collect();
    let mut foreign = 0;
    for (run, file) in started {
        let (ended, result) = (run.wait(), read(&file));
        assert_all_delivered(&ended, &result, 5, 15);
        foreign += number(&result, "messages.foreign");
    }
    assert!(foreign > 0, "they were there at the same time");
    served.stop();
}

#[test]
fn repeated_runs_leave_the_server_unchanged() {
    let served = Served::start(&[]);
    let mut console = Session::open(served.console);
    let mut after_first = None;
    for round in 1..=3_u64 {
        let (ended, result) = stress(&[&served.url, "-c", "60", "--mix", "udp=40,ws=20", "-r", "5/s", "-d", "1s"]);
        assert_eq!((number(&result, "messages.lost"), number(&result, "messages.sent")), (0, 300));
        assert!(result["verdict"] == "pass" || is_noise(&result), "{}", ended.text());
        let stats = console.stats_until("clients 0,");
        let lines = stats.lines().find(|line| line.starts_with("lines in")).expect("it is there");
        assert_eq!(lines.split_whitespace().nth(2), Some(&*(300 * round).to_string()), "{stats}");
        let overflows = stats.lines().find(|line| line.starts_with("queue overflows")).expect("it is there");
        assert_eq!(overflows.split_whitespace().nth(2), Some("0"), "{stats}");
        after_first = after_first.or(served.rss_bytes());
    }
    // Whatever one run needs is used again by the next.
    if let (Some(first), Some(last)) = (after_first, served.rss_bytes()) {
        assert!(last < first + (24 << 20), "from {first} to {last} bytes");
    }
    served.stop();
}
