//! Loss of either direction, reordering, duplicates.

use std::time::Duration;

use super::lines::DrawnLines;
use super::weather::Weather;
use crate::measure::chance::Chance;
use crate::units::Span;

pub(super) fn write(seed: u64, weather: Weather, link: &mut DrawnLines) {
    match weather {
        Weather::Clean => {}
        Weather::Fair => {
            write_loss(seed, 0.9, 0.01..=0.2, link);
            write_disorder(seed, 0.1, 0.3, link);
        }
        Weather::Rough => {
            write_loss(seed, 0.8, 0.05..=15.0, link);
            write_disorder(seed, 0.2, 10.0, link);
        }
    }
}

/// Both directions alike, or each by itself, or one alone.
fn write_loss(seed: u64, probability: f64, percent: std::ops::RangeInclusive<f64>, link: &mut DrawnLines) {
    let mut chance = Chance::of(seed, "loss");
    if !chance.happens(probability) {
        return;
    }
    let mut kind = |suffix: &str| {
        let rate = chance.scaled(*percent.start(), *percent.end());
        match chance.one_of(&["loss", "loss", "burst", "fade"]) {
            "burst" => (format!("burst{suffix}"), format!("{rate}%:{}", chance.scaled(1.5, 12.0))),
            "fade" => {
                let length = chance.span(Duration::from_millis(5), Duration::from_millis(1_000));
                (format!("fade{suffix}"), format!("{rate}%:{}", Span(length)))
            }
            _ => (format!("loss{suffix}"), format!("{rate}%")),
        }
    };
    let (there, back) = (kind(""), kind("_back"));
    let none = |suffix: &str| (format!("loss{suffix}"), "0%".to_owned());
    let shape = Chance::of(seed, "asymmetry of loss").one_of(&["alike", "alike", "each", "each", "there", "back"]);
    let lines = match shape {
        "alike" => vec![there],
        "each" => vec![there, back],
        "there" => vec![there, none("_back")],
        _ => vec![none(""), back],
    };
    lines.into_iter().for_each(|(key, value)| link.text(&key, value));
}

fn write_disorder(seed: u64, probability: f64, percent_max: f64, link: &mut DrawnLines) {
    for key in ["reorder", "duplicate"] {
        let mut chance = Chance::of(seed, key);
        if chance.happens(probability) {
            link.text(key, format_args!("{}%", chance.scaled(0.1, percent_max)));
        }
    }
}
