//! A comparison's report is one file that needs no network, and two results are compared by what chance can do.

use std::path::Path;

use serde_json::Value;

use crate::common::comparison::{compare, plan_path, rows};
use crate::common::{fresh_file, run};

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain name")
}

#[test]
fn a_report_contains_the_result_and_loads_nothing() {
    let file = fresh_file("report.html");
    let flags = ["--seeds", "2", "--minutes", "0.1", "--transports", "skipstone,kcp", "--modes", "lean,adaptive"];
    let (ended, result) = compare("spatialos-25", &[&flags[..], &["--report", text(&file)]].concat());
    ended.expect(&[0]);
    assert_eq!(result["validity"]["level"], "exact");
    assert_eq!(result["command"][0], "skipstone");
    let page = std::fs::read_to_string(&file).expect("it was written");
    assert!(page.contains("default-src 'none'") && !page.contains("src=\"http"));
    let data = page.split("id=\"result\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("its data");
    let data: Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["results"], result["results"]);
    for row in rows(&result) {
        let blocks = row["series"]["blocks"].as_array().expect("a list");
        let sent: u64 = blocks.iter().map(|block| block["sent"].as_u64().unwrap()).sum();
        assert_eq!((blocks.len(), sent), (6, 6 * 60 * 25));
        let counts = blocks.iter().flat_map(|block| block["latencies"].as_str().unwrap().split(' '));
        let counted: u64 = counts.map(|word| word.split('*').nth(1).unwrap().parse::<u64>().unwrap()).sum();
        assert_eq!(counted, sent, "every latency is in a block");
        let lost = |way: &str| row["series"][way].as_str().unwrap().split_whitespace().count() as u64;
        let of_handshake = row["datagrams_lost"].as_u64().unwrap() - lost("lost_up") - lost("lost_down");
        assert!(of_handshake <= 2, "{row:#}");
    }
    std::fs::remove_file(file).unwrap();
}

#[test]
fn every_transport_plays_every_condition_of_a_plan() {
    let flags = ["--seeds", "1", "--minutes", "0.02", "--transports", "skipstone,kcp", "--modes", "adaptive"];
    let (ended, result) = compare("conditions", &flags);
    ended.expect(&[0]);
    let names: Vec<&str> =
        result["conditions"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), rows(&result).len()), (8, 16));
    assert_eq!(rows(&result)[2]["condition"], names[1]);
    let summary = result["summary"].as_array().unwrap();
    assert_eq!(summary.len(), 16, "a summary is of one condition");
    assert_eq!(result["conditions"][7]["floor"], 100.0);
    assert_eq!(result["conditions"][5]["entities"], 50);
}

#[test]
fn a_results_page_contains_the_commands_that_repeat_it() {
    let file = fresh_file("results.md");
    let flags = ["--seeds", "1", "--minutes", "0.02", "--transports", "skipstone,kcp", "--modes", "adaptive"];
    let (ended, _) = compare("conditions", &[&flags[..], &["--results-page", text(&file)]].concat());
    ended.expect(&[0]);
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(page.contains("conditions.toml --quiet --json - --simulated --seeds 1"), "{page}");
    assert_eq!((page.matches("\n## ").count(), page.matches("| skipstone adaptive |").count()), (8, 8), "{page}");
    assert!(page.contains("Validity: exact"), "{page}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn two_conditions_with_the_same_name_are_refused() {
    let file = fresh_file("conditions.toml");
    let plan = std::fs::read_to_string(plan_path("conditions")).unwrap();
    std::fs::write(&file, plan.replace("name = \"5%\"", "name = \"2%\"")).unwrap();
    let ended = run(&["compare", text(&file), "--simulated"]);
    ended.expect(&[104]);
    assert!(ended.err.contains("two conditions have the name \"2%\""), "{}", ended.err);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_change_is_distinguished_from_noise() {
    let write = |name: &str, flags: &[&str]| {
        let file = fresh_file(name);
        let flags =
            [&["--seeds", "1", "--minutes", "0.5", "--transports", "skipstone", "--modes", "lean"], flags].concat();
        let (ended, result) = compare("spatialos-25", &flags);
        ended.expect(&[0]);
        std::fs::write(&file, result.to_string()).unwrap();
        file
    };
    let before = write("before.json", &[]);
    let chance = write("chance.json", &["--seed", "2"]);
    let worse = write("worse.json", &["--rtt", "40ms"]);
    let report = |after: &Path| run(&["report", text(&before), text(after), "--fail-if-worse", "--json", "-"]);
    report(&before).expect(&[0]);
    let by_chance = report(&chance);
    by_chance.expect(&[0]);
    let by_change = report(&worse);
    by_change.expect(&[99]);
    let found: Value = serde_json::from_str(&by_change.out).unwrap();
    assert!(found["unlike"][0].as_str().unwrap().contains("link"), "{found:#}");
    let p50 = &found["differences"][0];
    assert_eq!((&p50["figure"], p50["is_beyond"].as_bool()), (&"p50".into(), Some(true)));
    let page = fresh_file("again.html");
    run(&["report", text(&before), "--html", text(&page)]).expect(&[0]);
    assert!(std::fs::read_to_string(&page).unwrap().contains("skipstone"));
    for file in [&before, &chance, &worse, &page] {
        std::fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_file_that_is_not_a_result_is_refused_with_the_reason() {
    let file = fresh_file("other.json");
    for (content, said) in [("{", "is not a result"), ("{\"schema_version\": 99}", "schema_version is 99")] {
        std::fs::write(&file, content).unwrap();
        let ended = run(&["report", text(&file), text(&file)]);
        ended.expect(&[104]);
        assert!(ended.err.contains(said), "{}", ended.err);
    }
    std::fs::remove_file(&file).unwrap();
    run(&["report", text(&file)]).expect(&[104]);
    run(&["compare", &plan_path("bursty"), "--simulated", "--report", "/no/such/folder/r.html"]).expect(&[104]);
}
