//! Plans and flags that cannot be used are refused before anything runs; missed thresholds have their exit code.

use crate::common::comparison::{compare, plan_path, rows};
use crate::common::{Ended, fresh_file, run};

#[track_caller]
fn refused(ended: &Ended, said: &[&str]) {
    ended.expect(&[104]);
    assert!(ended.out.is_empty(), "it ran: {}", ended.out);
    for words in said {
        assert!(ended.err.contains(words), "no '{words}' in: {}", ended.err);
    }
}

#[track_caller]
fn refused_flags(flags: &[&str], said: &[&str]) {
    let plan = plan_path("spatialos-25");
    refused(&run(&[&["compare", &plan, "--simulated"], flags].concat()), said);
}

#[test]
fn a_typo_in_a_plan_has_its_line_and_column() {
    let good = std::fs::read_to_string(plan_path("spatialos-25")).unwrap();
    let line = 1 + good.lines().position(|line| line.starts_with("entities")).unwrap();
    let file = fresh_file("plan.toml");
    std::fs::write(&file, good.replace("entities =", "entites =")).unwrap();
    let path = file.to_str().unwrap();
    let place = format!("{path}:{line}:1: there is no key \"entites\"; did you mean entities?");
    refused(&run(&["compare", path, "--simulated"]), &[&place]);
    std::fs::remove_file(&file).unwrap();
    refused(&run(&["compare", path, "--simulated"]), &["cannot read the plan", path]);
}

#[test]
fn an_out_of_range_value_has_its_line_and_column() {
    let good = std::fs::read_to_string(plan_path("spatialos-25")).unwrap();
    let file = fresh_file("range.toml");
    let path = file.to_str().unwrap();
    for (from, to, said) in [
        ("entities = 25", "entities = 201", "201 entities: there can be 1 to 200"),
        ("minutes = 5", "minutes = 0", "a run lasts more than 0 minutes"),
        ("payload_bytes = 50", "payload_bytes = 7", "7 bytes of payload: there can be 8 to 1200"),
        ("loss = \"0.5%\"", "queue = \"20ms\"", "the link has a queue and no rate"),
        ("loss = \"0.5%\"", "delay_back = \"21ms\"", "more than the round trip of 20ms"),
        ("loss = \"0.5%\"", "fade = \"2%:1us\"", "a fade lasts 1ms or more"),
        (
            "[link]",
            "bulk = { bytes = 70000, every = \"1s\" }\n[link]",
            "bytes of a bulk message: there can be 8 to 65000",
        ),
    ] {
        let text = good.replace(from, to);
        let line = 1 + text.lines().position(|line| line.starts_with(to.lines().next().unwrap())).unwrap();
        let value = if to.starts_with("bulk") { "70000" } else { to.split(" = ").nth(1).unwrap() };
        let column = 1 + text.lines().nth(line - 1).unwrap().find(value).unwrap();
        std::fs::write(&file, &text).unwrap();
        refused(&run(&["compare", path, "--simulated"]), &[&format!("{path}:{line}:{column}: "), said]);
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn invalid_flags() {
    let plan = plan_path("spatialos-25");
    refused(&run(&["compare", &plan_path("bottleneck-cubic-first")]), &["background flows", "--simulated"]);
    refused(&run(&["compare", &plan, "--seconds", "5", "--minutes", "1"]), &["--seconds", "--minutes"]);
    refused_flags(&["--transports", "tcp"], &["tcp opens its own sockets", "without --simulated"]);
    refused_flags(&["--transports", "sctp"], &["no transport \"sctp\"", "quinn-tuned"]);
    refused_flags(&["--modes", "fixed:10"], &["fixed:10+3"]);
    refused_flags(&["--transports", "skipstone-ageless", "--modes", "off"], &["skipstone-ageless", "not in off"]);
    refused_flags(&["--loss", "1"], &["no percent sign"]);
    refused_flags(&["--entities", "0"], &["1 to 200"]);
    refused_flags(&["--payload", "7"], &["skipstone compare: 7 bytes", "8 to"]);
    refused_flags(&["--minutes", "0"], &["more than 0 minutes"]);
    refused_flags(&["--queue", "10ms"], &["give it a rate"]);
    refused_flags(&["--seeds", "0"], &["--seeds"]);
    refused_flags(&["--json", "/nonexistent/x.json"], &["cannot write --json /nonexistent/x.json"]);
    refused_flags(&["--threshold", "p98<5ms"], &["no \"p98\"", "did you mean p99?"]);
    refused_flags(&["--threshold", "p50<5%"], &["not measured in %"]);
    refused_flags(&["--threshold", "tcp.p998<5ms"], &["\"tcp\" does not take part"]);
}

#[test]
fn a_missed_threshold_has_its_exit_code_and_names_the_transport() {
    let short = ["--minutes", "0.05", "--seeds", "1", "--transports", "kcp,quinn"];
    let kept = ["--threshold", "p50<24ms", "--threshold", "kcp.lost==0"];
    let (ended, result) = compare("spatialos-25", &[&short[..], &kept].concat());
    ended.expect(&[0]);
    assert_eq!((result["verdict"].as_str(), rows(&result).len()), (Some("pass"), 2));
    assert_eq!(result["thresholds"].as_array().unwrap().len(), 3);
    let missed = ["--threshold", "quinn.max<0.02s"];
    let (ended, result) = compare("spatialos-25", &[&short[..], &missed].concat());
    ended.expect(&[99]);
    assert!(ended.err.contains("quinn.max<0.02s was missed: max of quinn seed 1 is"), "{}", ended.err);
    assert_eq!(result["thresholds"][0]["passed"], false);
}

#[test]
fn a_transport_that_never_connects_has_failed() {
    let flags = ["--minutes", "0.05", "--seeds", "2", "--transports", "skipstone,quinn", "--modes", "lean"];
    let (ended, result) = compare("spatialos-25", &[&flags[..], &["--loss", "100%"]].concat());
    ended.expect(&[99]);
    assert_eq!((result["verdict"].as_str(), rows(&result).len()), (Some("fail"), 4));
    for name in ["skipstone lean", "quinn"] {
        assert!(ended.err.contains(&format!("{name} never connected in 2 runs.")), "{}", ended.err);
    }
}

#[test]
fn the_table_has_a_row_for_every_transport_and_marks_the_best() {
    let plan = plan_path("spatialos-25");
    let flags = ["--simulated", "--quiet", "--minutes", "0.05", "--transports", "kcp,renet", "--seeds", "2"];
    let ended = run(&[&["compare", &plan], &flags[..]].concat());
    ended.expect(&[0]);
    let line =
        |start: &str| ended.out.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"));
    assert!(line("kcp ").contains('*') && line("renet ").contains("20.00*"), "{}", ended.out);
    assert!(line("(the path's round trip)").contains("20.00"), "{}", ended.out);
    assert!(ended.out.contains("<=p99.8"), "the worst of several seeds: {}", ended.out);
}
