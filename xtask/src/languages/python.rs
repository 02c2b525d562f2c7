//! The Python module, `clients/python`: built by maturin into its own environment, linted, tested, and compared with
//! the types that it states.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::{Verdict, counted, once};
use crate::machine::{process, system};

/// The step `python`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    run(tree).map_or_else(|verdict| verdict, Verdict::Tests)
}

/// The Python of the environment that contains the module, if the step has made it.
pub(crate) fn interpreter(tree: &Tree) -> Option<PathBuf> {
    let python = programs(tree).join("python");
    let mut imports = process::command(&python.to_string_lossy(), tree);
    imports.args(["-c", "import skipstone"]);
    process::succeeds(imports).then_some(python)
}

/// Newer than this, one wheel serves them all.
const OLDEST: (u32, u32) = (3, 11);
const PACKAGES: [&str; 3] = ["maturin>=1.9,<2", "pytest>=8,<10", "mypy>=1.15,<3"];
const CLIPPY: [&str; 5] = ["clippy", "--all-targets", "--", "-D", "warnings"];

fn run(tree: &Tree) -> Result<Tally, Verdict> {
    environment(tree)?;
    let mut tally = Tally::default();
    for arguments in [&["fmt", "--check"][..], &CLIPPY] {
        tally += once(cargo(tree, arguments))?;
    }
    tally += once(tool(tree, "maturin", &["develop", "--locked"]))?;
    tally += counted(tool(tree, "python", &["-m", "pytest"]), Tally::from_pytest_line)?;
    tally += once(tool(tree, "mypy", &[]))?;
    let stubs = ["-m", "mypy.stubtest", "skipstone", "--allowlist", "tests/stubtest.txt"];
    tally += once(tool(tree, "python", &stubs))?;
    Ok(tally)
}

/// Python, and the packages that the step needs, in their own environment; or why they are not available.
fn environment(tree: &Tree) -> Result<(), Verdict> {
    if let Some(why) = system::program("python3", "python3", "the Python module cannot be tried", tree) {
        return Err(Verdict::Skipped(why));
    }
    let python = system::python(tree).unwrap_or("python3");
    if version(python, tree).is_none_or(|version| version < OLDEST) {
        let (major, minor) = OLDEST;
        return Err(Verdict::Skipped(format!("the Python module needs Python {major}.{minor} or later: install it")));
    }
    if let Some(why) = system::program("venv", "python3-venv", "the Python module cannot be tried", tree) {
        return Err(Verdict::Skipped(why));
    }
    let stamp = folder(tree).join("installed.txt");
    let wanted = PACKAGES.join("\n");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let mut made = process::command(python, tree);
    made.args(["-m", "venv"]).arg(folder(tree));
    process::run(made)?;
    let mut pip = tool(tree, "python", &["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    pip.args(PACKAGES);
    let remedy = "connect to the network, or name a registry by PIP_INDEX_URL";
    process::run(pip).map_err(|why| Verdict::Skipped(format!("{why}: {remedy}")))?;
    // If the stamp cannot be written, that costs some seconds.
    let _ = std::fs::write(stamp, wanted);
    Ok(())
}

fn version(python: &str, tree: &Tree) -> Option<(u32, u32)> {
    let mut asked = process::command(python, tree);
    asked.args(["-c", "import sys; print(*sys.version_info[:2])"]);
    let answer = process::output(asked)?;
    let (major, minor) = answer.trim().split_once(' ')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn folder(tree: &Tree) -> PathBuf {
    process::target_dir(tree).join("python/environment")
}

fn programs(tree: &Tree) -> PathBuf {
    folder(tree).join(if cfg!(windows) { "Scripts" } else { "bin" })
}

/// A program of the environment, in the module's folder.
fn tool(tree: &Tree, name: &str, arguments: &[&str]) -> Command {
    let mut tool = process::command(&programs(tree).join(name).to_string_lossy(), tree);
    tool.current_dir(package(tree)).env("VIRTUAL_ENV", folder(tree)).args(arguments);
    with_what_is_built(tool, tree)
}

fn cargo(tree: &Tree, arguments: &[&str]) -> Command {
    let mut cargo = process::cargo(tree);
    cargo.current_dir(package(tree)).args(arguments);
    with_what_is_built(cargo, tree)
}

/// In the workspace's target folder, where third-party crates are already built, for the C library.
fn with_what_is_built(mut command: Command, tree: &Tree) -> Command {
    command.env("CARGO_TARGET_DIR", process::target_dir(tree)).env("CARGO_INCREMENTAL", "0");
    command
}

fn package(tree: &Tree) -> PathBuf {
    Path::new(tree.root()).join("clients/python")
}
