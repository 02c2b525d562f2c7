//! `cargo xtask`: everything that continuous integration and contributors run, in one program. Only the command line is
//! here; each command has its own file. Few dependencies, all of them Rust, so that it builds quickly on every platform
//! that has cargo.

mod languages;
mod machine;
mod programs;
mod protocol;
mod release;
mod rules;
mod steps;

use std::process::ExitCode;

use machine::arguments::Arguments;
use machine::tree::Tree;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_environment();
    let outcome = match arguments.next_word().as_deref() {
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(true)
        }
        Some(command) => Tree::find().and_then(|tree| run(command, arguments, &tree)),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::from(USAGE_ERROR)
        }
    }
}

/// Runs one command. `Ok(false)` is a check that failed; `Err` is an invalid request.
fn run(command: &str, mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    // The tool itself explains what a sweep is.
    if command != "sweep" && (arguments.take_flag("--help") || arguments.take_flag("-h")) {
        print!("{HELP}");
        return Ok(true);
    }
    match command {
        "test" => steps::test(arguments, tree),
        "step" => steps::run_one(arguments, tree),
        "catalogue" => languages::catalogue::catalogue(arguments, tree),
        "csharp" => languages::csharp::command(arguments, tree),
        "docs" => rules::docs::docs(arguments, tree),
        "house" => rules::house::house(arguments, tree),
        "joins" => programs::joins::joins(arguments, tree),
        "layering" => rules::layering::layering(arguments, tree, &machine::files::files(tree)),
        "bench-databases" => programs::bench_databases::bench_databases(arguments, tree),
        "bench-languages" => languages::bench_languages::bench_languages(arguments, tree),
        "browsers-bench" => languages::browsers_bench::browsers_bench(arguments, tree),
        "fleet-simulation" => programs::fleet::simulation(arguments, tree),
        "flood" => programs::flood::flood(arguments, tree),
        "fuzz" => protocol::fuzz::fuzz(arguments, tree),
        "image" => programs::image::image(arguments, tree),
        "manifests" => languages::manifests::check(arguments, tree),
        "install-c" => languages::c::install(arguments, tree),
        "instructions" => protocol::instructions::instructions(arguments, tree),
        "mutants" => protocol::mutants::mutants(arguments, tree),
        "promise" => release::promise::promise(arguments, tree),
        "release" => release::release(arguments, tree),
        "siege" => programs::siege::siege(arguments, tree),
        "soak" => programs::soak::soak(arguments, tree),
        "swarm" => protocol::swarm::swarm(arguments, tree),
        "sweep" => programs::sweep::sweep(arguments, tree),
        "vectors" => {
            arguments.expect_end()?;
            protocol::vectors::run(tree)
        }
        other => Err(format!("no command is called `{other}`; `cargo xtask --help` lists them")),
    }
}

/// The exit code of an invalid request, as in most command-line tools.
const USAGE_ERROR: u8 = 2;

const HELP: &str = "\
cargo xtask: what continuous integration and contributors run

  cargo xtask test                    every check, also after a failure; steps that wait overlap with compiling
  cargo xtask test --fast             the checks of two minutes, for every change; see below for its contents
  cargo xtask test --list             the steps of `test`, one line each
  cargo xtask test --only clippy      one step; repeat --only, or separate names with commas, for more
  cargo xtask fuzz TARGET --seconds N one fuzz target on the nightly toolchain (default: 60 seconds)
  cargo xtask fuzz                    lists the fuzz targets
  cargo xtask fleet-simulation --seeds N
                                      leases, epochs, takeovers and moves of a fleet over N seeds of faults; optimised
                                      build
  cargo xtask flood --count N         N datagrams (1000000) of an attacker at a server with 200 clients; optimised build
  cargo xtask bench-languages [--rounds N] [--json FOLDER] [FLAG OF BENCH]...
                                      the cost of servers in C, C# and Go compared with Rust; optimised builds
  cargo xtask bench-databases [--rounds N] [--seconds S] [--engines sqlite,postgres,mariadb]
                                      figures of `skipstone db bench` next to those of the engines' own tools
  cargo xtask browsers-bench [NAME] [--seconds N] [--json FILE]
                                      browsers: `throughput`, and through loss `updates` and `joins` (Linux, root)
  cargo xtask manifests               the manifests and the compose file in deploy/ build, and have only fields that
                                      exist (Go)
  cargo xtask image [--tool PATH] [--try]
                                      the tool as an OCI image, target/image/skipstone.oci.tar, without a daemon;
                                      --tool: this program in place of a release build; --try: a container of it passes
                                      a stress run (Linux, root; umoci and crun)
  cargo xtask mutants --sample N --seed S [--of proto,driver,mailbox,deploy] [--json FILE]
                                      N (200) small changes of the code, and which of them no test detects; one to two
                                      hours; an interrupted run continues from its FILE
  cargo xtask mutants --list          lists the possible changes; `--again FILE` retries the survivors in a --json FILE
  cargo xtask promise [--against TAG] [--without-rust]
                                      whether the interfaces of Rust, C, C#, Go and Python, the tool's JSON and the
                                      wire keep what the release before has promised; TAG: another revision, or the
                                      folder of a clone; the first time compiles cargo-semver-checks (minutes)
  cargo xtask release [--only NAMES] [--tag TAG] [--dist FOLDER] [--sign-with KEY] [--allow-dirty]
                                      everything that people install, for all systems, into dist/ (Linux); sizes and
                                      budgets at the end; --list: its parts; KEY is a private key of OpenSSH
  cargo xtask release --check [--only NAMES]
                                      installs what is in dist/ where nothing is, and uses it
  cargo xtask siege [--attack NAME]... [--of KIND,...] [--tool PATH] [--rounds N] [--seconds S] [--json FILE]
                                      attacks on a server, and their effect on good clients; optimised build (Linux)
  cargo xtask siege --list            lists the attacks; `--table FILE` prints a result that --json wrote
  cargo xtask soak [--minutes N] [--restart N] [--sample N]
                                      two hours on every carrier, with restarts, clock jumps, console and dashboard
                                      (Linux)
  cargo xtask swarm --seeds A..B      simulated runs with the seeds from A up to, not including, B; optimised build
  cargo xtask sweep --seeds A..B      random paths and workloads by seed, judged by rules and compared with other
                                      libraries; --help says more
  cargo xtask instructions [--update] instructions of the hot paths, counted by callgrind, compared with the last ones
  cargo xtask install-c PREFIX        the C library, its headers and its files for CMake and pkg-config; optimised build
  cargo xtask csharp test [NAME]...   the C# client's tests on Mono and on .NET 8 whose names contain one of the words
  cargo xtask csharp nuget            the C# client as a NuGet package, with the available native libraries
  cargo xtask csharp unity            the Unity package as an archive, with the native library of this machine
  cargo xtask csharp original DLL     an echo server by kcp2k.dll or LiteNetLib.dll, for interop/originals: its command
  cargo xtask joins [--carriers skip,plain,dtls,ws] [--clients 1,50] [--rates 1/s,20/s] [--losses 0%,5%]
                    [--delays 1ms,150ms]
                                      how many of 750 clients join a busy server over a bad network; optimised build
  cargo xtask catalogue [--update]    statistics, settings and close codes in every language and page; --update writes
                                      them
  cargo xtask layering [--update]     the order of modules in each crate; --update writes it into ARCHITECTURE.md
  cargo xtask layering --suggest      an order that the imports allow, for a crate whose modules have changed
  cargo xtask docs                    every page and the API as one searchable offline site; installs mdBook
  cargo xtask house [--of PATH]...    the shape of the code in figures, a column for each tree
  cargo xtask vectors                 checks the golden datagrams with the independent decoder (Python 3)

`test` shows the output of each step in one piece, then a summary with each step's time, that of its last run, and its
CPU time. The last line is `N passed, N failed`, followed by `, N skipped` if something was skipped: it counts tests,
and steps that do not consist of tests. `test` may install missing tools: rustup components and targets, and Debian
packages if it runs as root. It reports each installation.

`test --fast` is for every change: formatting, the rules about the sources, all lints, links and documentation, the
golden vectors, and the unit tests and claims of the protocol and the library. After its first run it takes under two
minutes; everything else is left to `test`.

While you work:                  cargo xtask test --fast
Before you send a change:        cargo xtask test
While you work on the protocol:  cargo xtask test --only fmt,clippy,layering
To replay seed 4711:             cargo xtask swarm --seeds 4711..4712

Exit code: 0 all well, 1 a check failed, 2 the command line made no sense.
";
