//! The C library: its header with every compiler, its tests plain, under sanitizers and under valgrind, its packages,
//! its examples, and the same on Windows by Wine.

mod install;
mod packets;
mod programs;
mod windows;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

pub(crate) use install::{install, install_to};
pub(crate) use programs::{linked, promised};

/// A part of the step, which counts for itself.
type Part = fn(&Tree) -> Result<Tally, String>;

/// The step of `cargo xtask test`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    let mut left_out = Vec::new();
    for (program, package) in [("cmake", "cmake"), ("pkg-config", "pkg-config"), ("valgrind", "valgrind")] {
        left_out.extend(system::program(program, package, "the C library is tested without it", tree));
    }
    left_out.extend(system::program("clang", "clang", "the C library is tested with gcc alone", tree));
    // The sanitizers of clang are in their own package, which no program name reveals.
    if !programs::has_sanitizers_of_clang(tree) {
        left_out.extend(system::package("libclang-rt-14-dev", "clang's sanitizers are left out", tree));
    }
    left_out.extend(programs::missing(tree).iter().map(|name| format!("not tried: {name}")));
    left_out.iter().for_each(|why| println!("{why}"));
    let mut tally = Tally { skipped: left_out.len() as u64, ..Tally::default() };
    let parts: [Part; 7] = [
        programs::headers,
        programs::exports,
        programs::tests,
        programs::examples,
        packets::check,
        install::check,
        windows::check,
    ];
    if let Err(why) = process::build_native(tree) {
        return Verdict::Failed(why);
    }
    for part in parts {
        tally += part(tree).unwrap_or_else(|why| {
            println!("{why}");
            Tally::ONE_FAILED
        });
    }
    Verdict::Tests(tally)
}
