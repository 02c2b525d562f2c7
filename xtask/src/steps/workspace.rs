//! The steps `tests` and `timed`: the workspace's own tests. Those that measure time run alone, all others in parallel
//! with steps that wait, several at once.

use std::process::Command;

use super::step::Extent;
use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::test_programs::{self, DEPLOYS, ENGINES, Executable};
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// All but those that are timed, and those of steps of their own; with `--fast`, unit tests and claims of the protocol
/// and the library.
pub(super) fn step(tree: &Tree, extent: Extent) -> Verdict {
    let tally = match extent {
        Extent::Whole => whole(tree),
        Extent::Fast => fast(tree),
    };
    tally.map_or_else(Verdict::Failed, Verdict::Tests)
}

/// Those of the tool that state how long something takes.
pub(super) fn timed(tree: &Tree) -> Verdict {
    match test_programs::one(END_TO_END, tree) {
        Ok(program) => {
            let mut timed = program.command(tree);
            timed.args(TIMED.iter().map(|module| format!("{module}::")));
            Verdict::Tests(test_programs::run(vec![timed], 1, tree))
        }
        Err(why) => Verdict::Failed(why),
    }
}

fn whole(tree: &Tree) -> Result<Tally, String> {
    let programs = test_programs::all(tree)?;
    let is_elsewhere = |program: &Executable| [DEPLOYS, ENGINES].contains(&program.name.as_str());
    let (end_to_end, others): (Vec<_>, Vec<_>) =
        programs.iter().filter(|program| !is_elsewhere(program)).partition(|program| program.name == END_TO_END);
    let mut tally =
        test_programs::run(others.iter().map(|program| program.command(tree)).collect(), PROGRAMS_AT_ONCE, tree);
    tally += test_programs::run(end_to_end.iter().map(|program| untimed(program, tree)).collect(), 1, tree);
    let mut documentation = process::cargo(tree);
    documentation.args(["test", "--workspace", "--no-fail-fast", "--doc"]);
    if let Verdict::Tests(documented) = Verdict::of_tests(documentation) {
        tally += documented;
    }
    Ok(tally)
}

fn untimed(program: &Executable, tree: &Tree) -> Command {
    let mut untimed = program.command(tree);
    untimed.args(["--test-threads", THREADS_THAT_WAIT]);
    untimed.args(TIMED.iter().flat_map(|module| ["--skip".to_owned(), format!("{module}::")]));
    untimed
}

fn fast(tree: &Tree) -> Result<Tally, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--no-run", "--lib", "--test", "claims"]);
    cargo.args(["--package", "skipstone-proto", "--package", "skipstone", "--features", CARRIERS]);
    let programs = test_programs::executables(cargo)?;
    let tests = programs.iter().filter(|program| program.is_test).map(|program| program.command(tree));
    Ok(test_programs::run(tests.collect(), PROGRAMS_AT_ONCE, tree))
}

/// Without them claims about DTLS, browsers and simulated networks are left out.
const CARRIERS: &str = "skipstone/dtls,skipstone/qlog,skipstone/simulate,skipstone/webtransport";

/// The program whose tests start the tool.
const END_TO_END: &str = "end_to_end";
/// The longest ones hardly use the processor.
const PROGRAMS_AT_ONCE: usize = 3;
/// Tests of the tool mostly wait for the runs that they start.
const THREADS_THAT_WAIT: &str = "6";

/// The modules of `end_to_end` whose tests state how long something takes, or how much fits into a second.
const TIMED: &[&str] = &[
    "a_flood_disturbs_no_client",
    "a_restart_loses_no_reliable_message",
    "a_restart_refuses_no_client",
    "a_second_implementation_interoperates",
    "bench_delivers_every_line",
    "bench_reports_mistakes",
    "compare_runs_for_real",
    "no_attack_of_the_siege_costs_a_client_a_line",
    "hostile_clients_harm_no_client",
    "idle_streams_cost_a_server_little",
    "stress_reports_failures",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_timed_module_is_there() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/skipstone-cli/tests/end_to_end");
        for module in TIMED {
            let file = std::path::Path::new(folder).join(module).with_extension("rs");
            assert!(file.is_file(), "{} is not there", file.display());
        }
    }
}
