//! A setting from a seed: the text of a plan, as `skipstone compare` reads it.
//!
//! A quarter of the seeds has a clean or nearly clean path. Of the rest each feature of the path and of the workload is
//! there or not by a chance of its own, and its figures are drawn so that each decade is as likely as any other.

mod lines;
mod losses;
mod path;
mod rates;
mod weather;
mod workload;

use lines::DrawnLines;
use weather::Weather;
use workload::DrawnWorkload;

/// The plan of a seed, with this duration.
pub(super) fn plan(seed: u64, minutes: f64) -> String {
    let weather = Weather::of(seed);
    let workload = DrawnWorkload::of(seed);
    let path = path::Path::of(seed, weather);
    let rates = rates::Rates::of(seed, weather, &workload);
    let (mut top, mut link) = (DrawnLines::default(), DrawnLines::default());
    top.text("name", format_args!("sweep-{seed}"));
    top.number("minutes", minutes);
    workload.write(&mut top, path.rtt);
    path.write(&mut top, &mut link);
    losses::write(seed, weather, &mut link);
    rates.write(&mut top, &mut link, &workload);
    let (top, link, bulk, beside) = (top.0, link.0, workload.bulk_table(), rates.beside_table());
    format!("# Drawn by: skipstone sweep --seeds {seed}..{} --print\n\n{top}\n[link]\n{link}{bulk}{beside}", seed + 1)
}
