//! A comparison for real: every transport as two processes, client and server, through the same link with the same seed, one
//! after another. Latencies count on the client's clock alone.
//!
//! ```text
//! plan ──> run (contender, seed): link ── server's process (namespace b)
//!                                  └───── client's process (namespace a) ──> report ──> row
//! ```

mod end;
#[cfg(feature = "peers")]
mod enet_end;
mod external;
mod messages;
pub(crate) mod process;
pub(super) mod run;
mod skipstone_end;
mod socket_end;
mod talk;
#[cfg(feature = "peers")]
mod tcp_end;
#[cfg(feature = "peers")]
mod webtransport_end;

use std::sync::atomic::AtomicBool;

use self::run::{Medium, Traces};
use self::talk::RunError;
use super::condition::Condition;
use super::delivery::Delivery;
use super::jobs::{Job, Played};

/// Runs all jobs, one after another.
pub(super) fn run_all(
    jobs: &[Job],
    condition: &Condition,
    traces: Traces<'_>,
    stop: &AtomicBool,
    mut on_begin: impl FnMut(&Job),
) -> Result<Played, String> {
    check(condition)?;
    if jobs.iter().any(|job| job.contender.external.is_some()) {
        check_external(condition)?;
    }
    let (medium, over) = medium();
    let mut all = Played { is_whole: true, over: Some(over), ..Played::default() };
    for job in jobs {
        on_begin(job);
        match run::play(*job, condition, medium, traces, stop) {
            Ok(row) => all.rows.push(row),
            Err(RunError::Failed(reason)) => all.failures.push(format!("{reason}.")),
            Err(RunError::Interrupted) => {
                all.is_whole = false;
                break;
            }
        }
    }
    Ok(all)
}

/// What a plan may ask for that only the simulator has.
fn check(condition: &Condition) -> Result<(), String> {
    let only = |what: &str| Err(format!("{what} exist in simulated runs only so far: add --simulated"));
    if !condition.beside.is_empty() {
        return only("flows beside");
    }
    if condition.roam_every.is_some() {
        return only("addresses that change");
    }
    if !condition.link.outages.is_empty() {
        return only("outages of a plan");
    }
    Ok(())
}

/// What a plan may ask for that a program of its own is not told.
fn check_external(condition: &Condition) -> Result<(), String> {
    let what = if let Some(delivery) = condition.delivery.filter(|delivery| *delivery != Delivery::default()) {
        format!("delivery = \"{delivery}\"")
    } else if condition.schedule.is_some() {
        "a recording".to_owned()
    } else if condition.bulk.is_some() {
        "bulk".to_owned()
    } else {
        return Ok(());
    };
    Err(format!(
        "the plan has {what}, of which programs of --external are not told: take it out of the plan, or run without --external"
    ))
}

#[cfg(target_os = "linux")]
fn medium() -> (Medium, String) {
    match crate::netem::namespaces::check_rights() {
        Ok(()) => (Medium::Link, "a link between two namespaces".into()),
        Err(missing) => (Medium::Relay, format!("a relay over loopback: {missing}")),
    }
}

#[cfg(not(target_os = "linux"))]
fn medium() -> (Medium, String) {
    (Medium::Relay, "a relay over loopback: links between namespaces exist on Linux only".into())
}

#[cfg(test)]
mod tests {
    use super::super::condition::Flags;
    use super::super::plan::ComparePlan;
    use super::*;

    #[test]
    fn a_plan_of_which_programs_are_not_told_is_refused_with_the_remedy() {
        let checked = |more: &str| {
            let text = format!(
                "name = \"t\"\nminutes = 0.01\nentities = 2\nticks_per_second = 10\npayload_bytes = 50\n{more}\n[link]\nrtt = \"20ms\""
            );
            let plan = ComparePlan::parse("t", &text).unwrap();
            check_external(&Condition::from(&plan, &Flags::default()).unwrap())
        };
        assert_eq!(checked(""), Ok(()));
        for (more, named) in [
            ("delivery = \"unreliable\"", "delivery = \"unreliable\""),
            ("bulk = { bytes = 1000, every = \"1s\" }", "bulk"),
        ] {
            let error = checked(more).unwrap_err();
            assert!(error.contains(named) && error.contains("without --external"), "{error}");
        }
    }
}
