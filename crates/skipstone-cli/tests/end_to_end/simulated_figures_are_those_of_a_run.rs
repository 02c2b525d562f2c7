//! Figures of virtual time are exact, so plans' thresholds and pages' figures are compared with a run, to the digit.
//! `SKIPSTONE_UPDATE=1` updates the figures of pages and the recorded misses of plans.

mod chart;
mod miss;
mod pages;
mod plan;
mod sentence;
mod table;

use crate::common::run;
use miss::{Miss, differences, renewed};
use pages::HeldPage;
use plan::{DocumentedPlan, Outcome};

#[test]
fn every_plan_meets_its_thresholds_or_records_the_miss() {
    let mut complaints = Vec::new();
    for plan in DocumentedPlan::all() {
        let words = &plan.commands()[0];
        assert_eq!(words[1..3], ["compare".to_owned(), format!("plans/{}.toml", plan.name)], "{}", plan.name);
        assert!(words.iter().any(|word| word == "--threshold"), "{} says what to expect", plan.name);
        let found = misses(&plan, &plan.outcome());
        let text = renewed(&plan.text, &found);
        if is_update() && text != plan.text {
            std::fs::write(&plan.path, &text).expect("a plan can be written");
        }
        let recorded = if is_update() { Miss::all_of(&text) } else { Miss::all_of(&plan.text) };
        let told = differences(&recorded, &found);
        complaints.extend(told.into_iter().map(|told| format!("plans/{}.toml: {told}", plan.name)));
    }
    assert!(complaints.is_empty(), "{}\nWhat is recorded is renewed by `{REMEDY}`", complaints.join("\n"));
}

/// The thresholds that a run missed; nothing else may have gone wrong.
fn misses(plan: &DocumentedPlan, outcome: &Outcome) -> Vec<Miss> {
    let reasons = outcome.err.lines().filter(|line| !line.is_empty());
    let found = reasons.map(|line| Miss::of_reason(line).unwrap_or_else(|| panic!("plans/{}.toml: {line}", plan.name)));
    let found: Vec<Miss> = found.collect();
    let expected = if found.is_empty() { 0 } else { 99 };
    assert_eq!(outcome.code, Some(expected), "plans/{}.toml: {}\n{}", plan.name, outcome.err, outcome.out);
    found
}

#[test]
fn every_page_shows_the_figures_of_its_runs() {
    let pages = HeldPage::all();
    if is_update() {
        pages.iter().for_each(HeldPage::renew);
        return;
    }
    let differing: Vec<String> = pages.iter().filter_map(HeldPage::difference).collect();
    assert!(differing.is_empty(), "{}\n`{REMEDY}` writes it", differing.join("\n"));
}

/// Those behind the first, for longer or for the eye: for a moment, in which thresholds may be missed.
#[test]
fn no_other_command_of_a_plan_is_refused() {
    for plan in DocumentedPlan::all() {
        let commands = plan.commands().into_iter().skip(1);
        for words in commands.filter(|words| words.iter().any(|word| word == "--simulated")) {
            let words = shortened(&words, &plan);
            run(&words.iter().map(String::as_str).collect::<Vec<_>>()).expect(&[0, 99]);
        }
    }
}

/// The command for a moment. A flow that comes later has to come.
fn shortened(words: &[String], plan: &DocumentedPlan) -> Vec<String> {
    let mut words = words[1..].to_vec();
    words[1] = plan.path.to_str().expect("a plain path").to_owned();
    for flag in ["--seeds", "--report"] {
        if let Some(at) = words.iter().position(|word| word == flag) {
            words.drain(at..at + 2);
        }
    }
    let comes_later = plan.text.contains("\nstarts = ");
    let length: &[&str] = if comes_later { &["0.51", "--transports", "skipstone"] } else { &["0.01"] };
    words.extend(["--seeds", "1", "--quiet", "--minutes"].iter().chain(length).map(|word| (*word).to_owned()));
    words
}

fn is_update() -> bool {
    std::env::var_os("SKIPSTONE_UPDATE").is_some()
}

const REMEDY: &str = "SKIPSTONE_UPDATE=1 cargo test -p skipstone-cli --test end_to_end simulated_figures";
