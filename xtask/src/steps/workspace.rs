//! The steps `tests` and `timed`: the workspace's own tests. Those that measure time run alone, all others in parallel
//! with steps that wait, several at once.

use std::process::Command;

use super::step::Extent;
use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::test_programs::{self, DEPLOYS, END_TO_END, ENGINES, Executable, NATS};
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::programs::fleet::OVER_NATS;

/// All test programs except the timed ones and the ones that have their own step; with `--fast`, unit tests and claims
/// of the protocol and the library.
pub(super) fn step(tree: &Tree, extent: Extent) -> Verdict {
    let tally = match extent {
        Extent::Whole => whole(tree),
        Extent::Fast => fast(tree),
    };
    tally.map_or_else(Verdict::Failed, Verdict::Tests)
}

/// Those that state how long something takes, one at a time.
pub(super) fn timed(tree: &Tree) -> Verdict {
    match test_programs::all(tree) {
        Ok(programs) => Verdict::Tests(test_programs::run(timed_of(&programs, tree), 1, tree)),
        Err(why) => Verdict::Failed(why),
    }
}

/// The commands that run nothing but timed modules.
fn timed_of(programs: &[Executable], tree: &Tree) -> Vec<Command> {
    let of_program = |program: &Executable| {
        let modules: Vec<String> = timed_modules(program).collect();
        (!modules.is_empty()).then(|| {
            let mut command = program.command(tree);
            command.args(modules);
            command
        })
    };
    programs.iter().filter_map(of_program).collect()
}

/// The filters of its modules that are timed.
fn timed_modules(program: &Executable) -> impl Iterator<Item = String> + '_ {
    TIMED.iter().filter(|(of, _)| *of == program.name).map(|(_, module)| format!("{module}::"))
}

fn whole(tree: &Tree) -> Result<Tally, String> {
    let programs = test_programs::all(tree)?;
    let is_elsewhere = |program: &Executable| [DEPLOYS, ENGINES, NATS].contains(&program.name.as_str());
    let (end_to_end, others): (Vec<_>, Vec<_>) =
        programs.iter().filter(|program| !is_elsewhere(program)).partition(|program| program.name == END_TO_END);
    let untimed = |programs: Vec<&Executable>| programs.into_iter().map(|program| untimed(program, tree)).collect();
    let mut tally = test_programs::run(untimed(others), PROGRAMS_AT_ONCE, tree);
    tally += test_programs::run(untimed(end_to_end), 1, tree);
    let mut documentation = process::cargo(tree);
    documentation.args(["test", "--workspace", "--no-fail-fast", "--doc"]);
    if let Verdict::Tests(documented) = Verdict::of_tests(documentation) {
        tally += documented;
    }
    Ok(tally)
}

fn untimed(program: &Executable, tree: &Tree) -> Command {
    let mut untimed = program.command(tree);
    if program.name == END_TO_END {
        untimed.args(["--test-threads", THREADS_THAT_WAIT]);
        untimed.args(OVER_NATS.into_iter().flat_map(|module| ["--skip".to_owned(), format!("{module}::")]));
    }
    untimed.args(timed_modules(program).flat_map(|module| ["--skip".to_owned(), module]));
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

/// The longest ones hardly use the processor.
const PROGRAMS_AT_ONCE: usize = 3;
/// Tests of the tool mostly wait for the runs that they start.
const THREADS_THAT_WAIT: &str = "6";

/// The modules whose tests state how long something takes, or how much fits into a second, and their programs.
const TIMED: &[(&str, &str)] = &[
    (END_TO_END, "a_flood_disturbs_no_client"),
    (END_TO_END, "a_restart_loses_no_reliable_message"),
    (END_TO_END, "a_restart_refuses_no_client"),
    (END_TO_END, "a_second_implementation_interoperates"),
    (END_TO_END, "bench_delivers_every_line"),
    (END_TO_END, "bench_reports_mistakes"),
    (END_TO_END, "compare_runs_for_real"),
    (END_TO_END, "no_attack_of_the_siege_costs_a_client_a_line"),
    (END_TO_END, "hostile_clients_harm_no_client"),
    (END_TO_END, "idle_streams_cost_a_server_little"),
    (END_TO_END, "stress_reports_failures"),
    ("skipstone_lab", "netem::tests"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_timed_module_is_there() {
        let crates = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates"));
        for (program, module) in TIMED {
            let folder = if *program == END_TO_END { "skipstone-cli/tests/end_to_end" } else { "skipstone-lab/src" };
            let file = crates.join(folder).join(module.replace("::", "/")).with_extension("rs");
            assert!(file.is_file(), "{} is not there", file.display());
        }
    }
}
