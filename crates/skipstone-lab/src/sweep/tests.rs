//! Settings are the same every time, and `compare` reads them.

use super::setting::Setting;
use crate::compare::delivery::Owed;

#[test]
fn every_seed_draws_a_plan_that_can_be_run_and_the_same_one_each_time() {
    for seed in 0..2_000 {
        let setting = Setting::of(seed, 5.0);
        assert_eq!(setting.text, Setting::of(seed, 5.0).text);
    }
}

#[test]
fn seeds_draw_every_option() {
    let all: Vec<Setting> = (0..1_000).map(|seed| Setting::of(seed, 5.0)).collect();
    let share = |holds: &dyn Fn(&Setting) -> bool| all.iter().filter(|setting| holds(setting)).count();
    for (name, count, range) in [
        ("clean", share(&Setting::is_clean), 120..350),
        ("overloaded", share(&Setting::is_overloaded), 30..150),
        ("moves", share(&|setting| setting.condition.roam_every.is_some()), 30..150),
        ("bulk", share(&|setting| setting.condition.bulk.is_some()), 100..200),
        ("company", share(&|setting| !setting.condition.beside.is_empty()), 5..100),
        ("not all", share(&|setting| setting.condition.delivery_of(0).owes() != Owed::All), 300..450),
        ("rate", share(&|setting| setting.queue_max().is_some()), 350..600),
        ("other back", share(&|setting| setting.condition.link.loss != setting.condition.back.loss), 150..600),
    ] {
        assert!(range.contains(&count), "{name}: {count} of 1,000");
    }
}
