//! The steps of `cargo xtask test`. Programs that a step needs are in `system`; the rules for our sources are in files
//! of their own.

use super::step::{Lane, Step};
use super::workspace;
use crate::languages::{agones, c, csharp, dashboard, go, interop, python, web, windows};
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{files, process, system, test_programs};
use crate::programs::{databases, deploy, external, fleet, sweep};
use crate::protocol::{instructions, vectors, wireshark};
use crate::rules::{claims, docs, features, layering, licences, local_paths, package, purity, snippets};

/// In this order within a lane: steps that fail fastest first, then steps whose output others use.
pub(super) const STEPS: &[Step] = &[
    Step {
        name: "toolchain",
        about: "rustfmt, clippy and the wasm32 target are there, or are added with rustup",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| system::toolchain(tree),
    },
    Step {
        name: "packages",
        about: "telnet, nc, python3 and nats-server, which some tests drive, are there, or are added with apt-get",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| system::packages(tree),
    },
    Step {
        name: "fmt",
        about: "every Rust file is formatted",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| fmt(tree),
    },
    Step {
        name: "layering",
        about: "imports point down, and no two files import each other; no clock, socket or thread in the protocol; \
                `unsafe` in nine files and at the boundary to C",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| layering_and_purity(tree),
    },
    Step {
        name: "no-local-paths",
        about: "no file contains a path of a developer's machine",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| report(local_paths::breaches(&files::files(tree))),
    },
    Step {
        name: "licences",
        about: "every crate has a licence that deny.toml allows, and comes from crates.io (cargo-deny)",
        is_fast: false,
        lane: Lane::Waits,
        after: &[],
        run: |tree, _| licences::step(tree),
    },
    Step {
        name: "advisories",
        about: "no crate has a vulnerability that RustSec's database knows (cargo-deny)",
        is_fast: false,
        lane: Lane::Waits,
        after: &["licences"],
        run: |tree, _| licences::advisories(tree),
    },
    Step {
        name: "claims",
        about: "no test is left out of its program, and those with a program of their own say why",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| claims::breaches(tree).map_or_else(Verdict::Failed, report),
    },
    Step {
        name: "snippets",
        about: "code on a page that names its file is what that file has",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| report(snippets::breaches(&files::files(tree))),
    },
    Step {
        name: "programs",
        about: "every program and every test of the workspace compiles",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| test_programs::build(tree).map_or_else(Verdict::Failed, |_| Verdict::Passed),
    },
    Step {
        name: "native",
        about: "the C library compiles as it is shipped, for the steps that use it",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| process::build_native(tree).map_or_else(Verdict::Failed, |()| Verdict::Passed),
    },
    Step {
        name: "clippy",
        about: "no lint, in any target",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| clippy(tree),
    },
    Step {
        name: "features",
        about: "each of the library's features compiles without a lint, alone and with the others, with no crate too \
                many; an application with a rustls of its own runs",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| features::step(tree),
    },
    Step {
        name: "docs",
        about: "every link on a page leads somewhere; the documentation builds without a warning",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| documentation(tree),
    },
    Step {
        name: "wasm",
        about: "the protocol compiles for wasm32-unknown-unknown",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| wasm(tree),
    },
    Step {
        name: "systems",
        about: "the libraries compile for Windows and for macOS without a lint; what needs those systems' C compilers \
                is left out",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| systems(tree),
    },
    Step {
        name: "windows",
        about: "the library's tests over loopback pass on Windows, as Wine has it; Wine and mingw-w64 are there, or \
                are added with apt-get",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| windows::step(tree),
    },
    Step {
        name: "c",
        about: "programs in C and C++ use the library by gcc and clang, under sanitizers, under valgrind, by CMake and \
                on Windows; clang, valgrind and cmake are there, or are added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["native", "windows"],
        run: |tree, _| c::step(tree),
    },
    Step {
        name: "package",
        about: "what will be published has all that a registry asks for, and builds from its packages",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| package::check(tree),
    },
    Step {
        name: "loom",
        about: "the queues between threads, in every order that the memory model allows",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| loom(tree),
    },
    Step {
        name: "tests",
        about: "every test, doc tests included, but those that are timed; with --fast, unit tests and claims of the \
                protocol and the library",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: workspace::step,
    },
    Step {
        name: "costs",
        about: "no hot path of the protocol costs 10% more instructions than before; valgrind is there, or is added \
                with apt-get",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| instructions::step(tree),
    },
    Step {
        name: "sweep",
        about: "twenty paths and workloads drawn at random: nothing is lost or out of order, and no mode falls far \
                behind",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| sweep::step(tree),
    },
    Step {
        name: "dashboard",
        about: "the dashboard's page: lints, tests, built as it is checked in, and driven in Chromium; both npm and \
                Chromium are there, or are added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| dashboard::step(tree),
    },
    Step {
        name: "databases",
        about: "every command over SQLite, MariaDB and PostgreSQL gives the same rows, and what was acknowledged \
                outlives kill -9; both servers are there, or are added with apt-get, and run in temporary folders",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| databases::step(tree),
    },
    Step {
        name: "deploy",
        about: "releases and a rollback under players who come back, to a real sshd on the loopback interface, and \
                what is wrong leaves all as it was; openssh-server and rsync are there, or are added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| deploy::step(tree),
    },
    Step {
        name: "fleet",
        about: "the message bus and stress runs on several machines, over real servers of NATS, an old and a current \
                one, that restart, freeze, refuse and lose their stores; Debian's is there, or is added with apt-get, \
                and Go builds the other",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| fleet::step(tree),
    },
    Step {
        name: "agones",
        about: "Agones' own SDK accepts the tests' SDK server, and watches a server of the tool go ready, allocated \
                and shut down; npm is there, or is added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| agones::step(tree),
    },
    Step {
        name: "vectors",
        about: "the golden datagrams mean what the independent decoder and the independent client read",
        is_fast: true,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| vectors::check(tree),
    },
    Step {
        name: "web",
        about: "the browser client builds, is typed, linted, tested and small enough; its WebAssembly plays simulated \
                runs byte by byte as the native build does; the template for bots in TypeScript builds; node and npm \
                are there, or are added with apt-get",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| web::check(tree),
    },
    Step {
        name: "browsers",
        about: "headless Chromium and Firefox talk to native players through a real server; both are there, or are \
                added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs", "web"],
        run: |tree, _| web::browsers(tree),
    },
    Step {
        name: "csharp",
        about: "the C# client compiles as C# 9, and its tests pass on Mono and on .NET 8, by one DLL; Mono comes from \
                apt-get, .NET from PyPI, the compiler from npm",
        is_fast: false,
        lane: Lane::Waits,
        after: &["native"],
        run: |tree, _| csharp::step(tree),
    },
    Step {
        name: "python",
        about: "the Python module builds, is typed as it says, and passes its tests; maturin, pytest and mypy come \
                from PyPI",
        is_fast: false,
        lane: Lane::Compiles,
        after: &[],
        run: |tree, _| python::step(tree),
    },
    Step {
        name: "go",
        about: "the Go package is formatted and vetted, and passes its tests with the race detector; go is there, or \
                is added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["native"],
        run: |tree, _| go::step(tree),
    },
    Step {
        name: "interop",
        about: "programs in every language that was built play one game on a lossy path: every line once and in order",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs", "native", "c", "csharp", "go", "python"],
        run: |tree, _| interop::step(tree),
    },
    Step {
        name: "external",
        about: "transports in programs of their own, in C and Go, take part in a comparison by its interface, and 200 \
                bots of ENet meet its C; libenet is there, or is added with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| external::step(tree),
    },
    Step {
        name: "wireshark",
        about: "the dissector reads every golden datagram and a capture of a plain run; tshark is there, or is added \
                with apt-get",
        is_fast: false,
        lane: Lane::Waits,
        after: &["programs"],
        run: |tree, _| wireshark::step(tree),
    },
    Step {
        name: "timed",
        about: "tests of the tool that state how long something takes; nothing runs beside them",
        is_fast: false,
        lane: Lane::Timed,
        after: &["programs"],
        run: |tree, _| workspace::timed(tree),
    },
];

fn cargo(tree: &Tree, arguments: &[&str]) -> Verdict {
    let mut cargo = process::cargo(tree);
    cargo.args(arguments);
    process::run(cargo).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

fn fmt(tree: &Tree) -> Verdict {
    if !system::has_cargo_command("fmt", tree) {
        return Verdict::Skipped("`cargo fmt` is not installed: `rustup component add rustfmt` does that".into());
    }
    cargo(tree, &["fmt", "--all", "--check"])
}

fn clippy(tree: &Tree) -> Verdict {
    if !system::has_cargo_command("clippy", tree) {
        return Verdict::Skipped("`cargo clippy` is not installed: `rustup component add clippy` does that".into());
    }
    cargo(tree, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn layering_and_purity(tree: &Tree) -> Verdict {
    let files = files::files(tree);
    let mut breaches = layering::breaches(&files).unwrap_or_else(|unread| vec![unread]);
    breaches.extend(purity::breaches(&files));
    report(breaches)
}

fn report(breaches: Vec<String>) -> Verdict {
    for breach in &breaches {
        println!("{breach}");
    }
    match breaches.len() {
        0 => Verdict::Passed,
        1 => Verdict::Failed("1 breach".into()),
        count => Verdict::Failed(format!("{count} breaches")),
    }
}

fn documentation(tree: &Tree) -> Verdict {
    if let Verdict::Failed(why) = report(docs::breaches(&files::files(tree))) {
        return Verdict::Failed(format!("links: {why}"));
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["doc", "--workspace", "--no-deps"]);
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    process::run(cargo).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

fn wasm(tree: &Tree) -> Verdict {
    if let Some(why) = system::without_target(system::WASM, tree) {
        return Verdict::Skipped(why);
    }
    // The step `web` generates its code.
    cargo(tree, &["check", "-p", "skipstone-proto", "--target", system::WASM])
}

/// Without cryptography, whose crates call a C compiler of the system that they are built for.
fn systems(tree: &Tree) -> Verdict {
    let mut missing = Vec::new();
    for target in system::OTHER_SYSTEMS {
        if let Some(why) = system::without_target(target, tree) {
            missing.push(why);
            continue;
        }
        let mut arguments =
            vec!["clippy", "--package", "skipstone-proto", "--package", "skipstone", "--target", target];
        arguments.extend(["--no-default-features", "--features", "skipstone/websocket,skipstone/simulate"]);
        arguments.extend(["--", "-D", "warnings"]);
        if let Verdict::Failed(why) = cargo(tree, &arguments) {
            return Verdict::Failed(format!("{target}: {why}"));
        }
    }
    match missing.is_empty() {
        true => Verdict::Passed,
        false => Verdict::Skipped(missing.join("; ")),
    }
}

/// The tests of the queues, built against a model of memory and threads. The compiler flag for this would have
/// everything compiled again, hence a build folder of its own.
fn loom(tree: &Tree) -> Verdict {
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--package", "skipstone-mailbox", "--lib", "--target-dir"]);
    cargo.arg(process::target_dir(tree).join("loom")).arg("loom_");
    cargo.env("RUSTFLAGS", "--cfg loom");
    // Most of the time goes into compiling the model checker.
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
    Verdict::of_tests(cargo)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_there_once() {
        let mut names: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }

    #[test]
    fn a_step_comes_after_those_whose_products_it_uses() {
        for (at, step) in STEPS.iter().enumerate() {
            for name in step.after {
                assert!(STEPS[..at].iter().any(|earlier| earlier.name == *name), "{} after {name}", step.name);
            }
        }
    }
}
