//! A comparison over real sockets: every transport as two processes, client and server, through the same link with the
//! same seed, one after another. Latencies count on the client's clock alone.
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
use super::row::CompareRow;
use super::validity::disturbance;

/// The progress of a job, for the display.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moment {
    Begins,
    /// If the machine stalled in this share of the samples, the run does not count.
    Again {
        stalled: f64,
    },
    Ended,
}

/// How often runs may be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Repeats {
    /// One run.
    pub(super) each: u32,
    /// All that are still to come.
    pub(super) in_all: u32,
}

/// Runs all jobs one after another. A run that the machine disturbed is repeated, as often as `repeats` allows.
pub(super) fn run_all(
    jobs: &[Job],
    condition: &Condition,
    traces: Traces<'_>,
    repeats: &mut Repeats,
    stop: &AtomicBool,
    mut on_moment: impl FnMut(&Job, Moment),
) -> Result<Played, String> {
    check(condition)?;
    if jobs.iter().any(|job| job.contender.external.is_some()) {
        check_external(condition)?;
    }
    let (medium, over) = medium();
    let mut all = Played { is_whole: true, over: Some(over), ..Played::default() };
    for job in jobs {
        on_moment(job, Moment::Begins);
        let again = |stalled| on_moment(job, Moment::Again { stalled });
        match calmest(repeats.each.min(repeats.in_all), || run::play(*job, condition, medium, traces, stop), again) {
            Ok(row) => {
                repeats.in_all -= row.figures.repeats.unwrap_or_default() as u32;
                all.rows.push(row);
            }
            Err(RunError::Failed(reason)) => all.failures.push(format!("{reason}.")),
            Err(RunError::Interrupted) => {
                all.is_whole = false;
                break;
            }
        }
        on_moment(job, Moment::Ended);
    }
    Ok(all)
}

/// Repeats a run until one counts, and returns the run that the machine disturbed least. The figures of a run do not
/// matter for this; a failed run is a finding, and ends the search.
fn calmest(
    repeats: u32,
    mut play: impl FnMut() -> Result<CompareRow, RunError>,
    mut again: impl FnMut(f64),
) -> Result<CompareRow, RunError> {
    let (mut calmest, mut repeated) = (play()?, 0);
    while repeated < repeats && disturbance(&calmest.figures) > 1.0 {
        again(calmest.figures.stalled_share().unwrap_or_default());
        let next = play()?;
        repeated += 1;
        if disturbance(&next.figures) < disturbance(&calmest.figures) {
            calmest = next;
        }
    }
    calmest.figures.repeats = Some(repeated.into());
    Ok(calmest)
}

/// Refuses settings of a plan that only the simulator supports.
fn check(condition: &Condition) -> Result<(), String> {
    let only = |what: &str| Err(format!("{what} exist in simulated runs only so far: add --simulated"));
    if !condition.beside.is_empty() {
        return only("background flows");
    }
    if condition.roam_every.is_some() {
        return only("addresses that change");
    }
    if !condition.link.outages.is_empty() {
        return only("outages of a plan");
    }
    Ok(())
}

/// Refuses settings of a plan that external programs do not receive.
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
        "the plan has {what}, which --external programs do not receive: remove it from the plan, or run without \
         --external"
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
    use super::super::row::CompareFigures;
    use super::*;

    #[test]
    fn a_disturbed_run_is_repeated_and_the_run_with_the_fewest_stalls_counts() {
        let kept = |repeats, runs: &[(u64, f64)]| {
            let mut runs = runs.iter();
            let play = || {
                let (stalled, max) = *runs.next().ok_or(RunError::Failed("no further run".into()))?;
                let figures = CompareFigures {
                    stalled: Some(stalled),
                    delivered: Some(100),
                    max: Some(max),
                    ..Default::default()
                };
                Ok(CompareRow { figures, ..CompareRow::default() })
            };
            calmest(repeats, play, |_| ()).map(|row| (row.figures.max, row.figures.repeats)).map_err(|_| "failed")
        };
        assert_eq!(
            kept(2, &[(10, 40.0), (0, 20.0)]),
            Ok((Some(40.0), Some(0))),
            "a run that counts is not improved upon"
        );
        assert_eq!(kept(2, &[(30, 40.0), (10, 90.0), (0, 20.0)]), Ok((Some(90.0), Some(1))));
        assert_eq!(kept(2, &[(30, 40.0), (11, 90.0), (12, 20.0), (0, 20.0)]), Ok((Some(90.0), Some(2))));
        assert_eq!(kept(0, &[(30, 40.0), (0, 20.0)]), Ok((Some(40.0), Some(0))));
        assert_eq!(kept(2, &[(30, 40.0)]), Err("failed"), "a repeated run that fails is not passed over");
    }

    #[test]
    fn a_plan_that_other_programs_cannot_receive_is_refused_with_a_remedy() {
        let checked = |more: &str| {
            let text = format!(
                "name = \"t\"\nminutes = 0.01\nentities = 2\nticks_per_second = 10\npayload_bytes = \
                 50\n{more}\n[link]\nrtt = \"20ms\""
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
