//! The programs that the checks need on this machine: parts of the Rust toolchain, and a few small programs that tests
//! drive. Each installation is announced first; a program that cannot be installed is reported, and counted as skipped.

use std::path::{Path, PathBuf};

use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// The target that proves that the protocol needs no operating system.
pub(crate) const WASM: &str = "wasm32-unknown-unknown";

/// The targets of other systems for which the libraries compile, where their standard library is available.
pub(crate) const OTHER_SYSTEMS: [&str; 2] = ["x86_64-pc-windows-gnu", "aarch64-apple-darwin"];

/// Adds the components and the targets that are missing, if there is rustup. A machine without the targets of other
/// systems is still good: the step that needs them reports it.
pub(crate) fn toolchain(tree: &Tree) -> Verdict {
    if process::find("rustup").is_none() {
        return Verdict::Skipped(
            "no rustup: nothing is installed, and steps whose tools are missing are skipped; rustup.rs says how to get \
             it"
                .into(),
        );
    }
    let added = COMPONENTS
        .iter()
        .filter(|component| !rustup_lists("component", component, tree))
        .map(|component| ("component", *component))
        .chain((!has_target(WASM, tree)).then_some(("target", WASM)));
    let others = OTHER_SYSTEMS.iter().filter(|target| !has_target(target, tree)).map(|target| ("target", *target));
    for (kind, name) in added.chain(others) {
        println!("the {kind} {name} is missing; adding it");
        let mut rustup = process::command("rustup", tree);
        rustup.args([kind, "add", name]);
        if let Err(why) = process::run(rustup) {
            if OTHER_SYSTEMS.contains(&name) {
                println!("{why}");
                continue;
            }
            return Verdict::Failed(why);
        }
    }
    Verdict::Passed
}

/// Installs missing programs, where permitted.
pub(crate) fn packages(tree: &Tree) -> Verdict {
    let missing: Vec<&Program> = PROGRAMS.iter().filter(|program| !program.is_there(tree)).collect();
    if missing.is_empty() {
        return Verdict::Passed;
    }
    install(&missing, "tests that drive them cannot run", tree)
}

/// Adds valgrind if it is missing. Returns the reason if there is still none.
pub(crate) fn valgrind(tree: &Tree) -> Option<String> {
    program("valgrind", "valgrind", "instructions cannot be counted", tree)
}

/// Adds a program if it is missing. Returns the reason if there is still none; `without` names the consequence.
pub(crate) fn program(name: &'static str, debian_package: &'static str, without: &str, tree: &Tree) -> Option<String> {
    let wanted = Program { name, debian_package };
    if wanted.is_there(tree) {
        return None;
    }
    match install(&[&wanted], without, tree) {
        Verdict::Failed(why) | Verdict::Skipped(why) => Some(why),
        Verdict::Passed | Verdict::Tests(_) => None,
    }
}

/// Installs a package that has no program. Returns the reason if it is still missing.
pub(crate) fn package(debian_package: &'static str, without: &str, tree: &Tree) -> Option<String> {
    match install(&[&Program { name: debian_package, debian_package }], without, tree) {
        Verdict::Failed(why) | Verdict::Skipped(why) => Some(why),
        Verdict::Passed | Verdict::Tests(_) => None,
    }
}

/// Adds Wine and a compiler for Windows if they are missing. Returns the reason if there are still none.
pub(crate) fn wine(tree: &Tree) -> Option<String> {
    let without = "nothing can be tried on Windows";
    let programs = [("wine", "wine"), ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64")];
    programs.into_iter().find_map(|(name, package)| program(name, package, without, tree))
}

/// Adds the servers of databases that are missing. Returns the reason if some are still missing.
pub(crate) fn databases(tree: &Tree) -> Option<String> {
    let without = "databases of servers are not tested";
    let programs = [("mariadb-install-db", "mariadb-server"), ("initdb", "postgresql")];
    programs.into_iter().find_map(|(name, package)| program(name, package, without, tree))
}

/// Adds the programs for deployments if they are missing. Returns the reason if some are still missing.
pub(crate) fn deployments(tree: &Tree) -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("deployments are tested on Linux".into());
    }
    let without = "deployments are not tested";
    let programs = [
        ("sshd", "openssh-server"),
        ("ssh", "openssh-client"),
        ("rsync", "rsync"),
        ("git", "git"),
        ("nats-server", "nats-server"),
    ];
    programs.into_iter().find_map(|(name, package)| program(name, package, without, tree))
}

/// How many browsers the tests drive.
pub(crate) const BROWSERS: usize = 2;

/// Installs missing browsers. Returns the reason for each that is still missing.
pub(crate) fn browsers(tree: &Tree) -> Vec<String> {
    [chromium(tree), browser("FIREFOX", FIREFOX, tree)].into_iter().flatten().collect()
}

/// Adds Chromium if it is missing. Returns the reason if there is still none.
pub(crate) fn chromium(tree: &Tree) -> Option<String> {
    browser("CHROMIUM", CHROMIUM, tree)
}

/// A browser is the one that the variable names, or one of these names; the tests look for it in the same way.
fn browser(variable: &str, names: &[&'static str], tree: &Tree) -> Option<String> {
    if std::env::var_os(variable).is_some() || names.iter().any(|name| process::find(name).is_some()) {
        return None;
    }
    program(names[0], names[0], "pages are not tested in it", tree)
}

/// Adds programs where that is permitted; if it is not, `without` names the consequence.
fn install(missing: &[&Program], without: &str, tree: &Tree) -> Verdict {
    let names: Vec<&str> = missing.iter().map(|program| program.name).collect();
    let packages: Vec<&str> = missing.iter().map(|program| program.debian_package).collect();
    if !is_debian() || !is_root(tree) {
        return Verdict::Skipped(format!(
            "not found: {}; {without}. Debian and Ubuntu: apt-get install {}",
            names.join(", "),
            packages.join(" "),
        ));
    }
    // Another step may install, too, and apt-get does not wait for another apt-get.
    let lock = process::target_dir(tree).join("xtask-install.lock");
    let lock = std::fs::File::create(&lock).and_then(|file| file.lock().map(|()| file));
    if let Err(error) = &lock {
        println!("another step that installs is not waited for: {error}");
    }
    println!("not found: {}; installing {} with apt-get", names.join(", "), packages.join(", "));
    if let Err(why) = apt_get(&["update"], tree) {
        println!("{why}; trying with the package lists that there are");
    }
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(packages);
    apt_get(&arguments, tree).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// Obtains the original source of a package, an archive, into `folder`. The archive's package lists are separate from
/// the system's.
pub(crate) fn debian_source(package: &str, folder: &Path, tree: &Tree) -> Result<PathBuf, String> {
    let there = || {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        files.into_iter().find(|path| path.to_string_lossy().contains(".orig.tar"))
    };
    if let Some(archive) = there() {
        return Ok(archive);
    }
    if !is_debian() {
        return Err(format!("the source of {package} is obtained by apt-get source, which this system does not have"));
    }
    let mut known = process::command("apt-get", tree);
    known.args(["indextargets", "--format", "deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"]);
    known.arg("Component: main");
    let sources = process::output(known).ok_or("apt-get does not say where it finds packages")?;
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    std::fs::create_dir_all(folder.join("lists/partial")).map_err(failed)?;
    std::fs::write(folder.join("sources.list"), sources).map_err(failed)?;
    let options = [
        format!("Dir::Etc::SourceList={}", folder.join("sources.list").display()),
        "Dir::Etc::SourceParts=/dev/null".into(),
        format!("Dir::State::Lists={}", folder.join("lists").display()),
    ];
    for words in [&["update"][..], &["source", "--download-only", "--tar-only", package]] {
        let mut apt_get = process::command("apt-get", tree);
        apt_get.current_dir(folder).args(options.iter().flat_map(|option| ["--option", option])).args(words);
        process::run(apt_get)?;
    }
    there().ok_or_else(|| format!("apt-get source has not left the archive of {package}"))
}

/// Whether the standard library for `target` is where the compiler looks for it; works without rustup too.
pub(crate) fn has_target(target: &str, tree: &Tree) -> bool {
    let mut rustc = process::command("rustc", tree);
    rustc.args(["--print", "target-libdir", "--target", target]);
    process::output(rustc).is_some_and(|dir| std::path::Path::new(dir.trim()).is_dir())
}

/// Why something cannot be compiled for `target`, with the remedy; `None` if its standard library is installed.
pub(crate) fn without_target(target: &str, tree: &Tree) -> Option<String> {
    (!has_target(target, tree))
        .then(|| format!("the standard library for {target} is not installed: `rustup target add {target}` does that"))
}

/// Whether cargo has the command, `fmt` for example.
pub(crate) fn has_cargo_command(name: &str, tree: &Tree) -> bool {
    let mut cargo = process::cargo(tree);
    cargo.args([name, "--version"]);
    process::succeeds(cargo)
}

/// The command that starts Python 3, if there is one.
pub(crate) fn python(tree: &Tree) -> Option<&'static str> {
    ["python3", "python"].into_iter().find(|name| {
        let mut python = process::command(name, tree);
        python.arg("--version");
        process::output(python).is_some_and(|version| version.starts_with("Python 3"))
    })
}

fn rustup_lists(kind: &str, name: &str, tree: &Tree) -> bool {
    let mut rustup = process::command("rustup", tree);
    rustup.args([kind, "list", "--installed"]);
    // A component is listed with the host as its suffix: `clippy-x86_64-unknown-linux-gnu`.
    process::output(rustup).is_some_and(|list| list.lines().any(|line| line.starts_with(name)))
}

fn apt_get(arguments: &[&str], tree: &Tree) -> Result<(), String> {
    let mut apt_get = process::command("apt-get", tree);
    apt_get.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
    process::run(apt_get)
}

fn is_debian() -> bool {
    std::path::Path::new("/etc/debian_version").exists() && process::find("apt-get").is_some()
}

fn is_root(tree: &Tree) -> bool {
    let mut id = process::command("id", tree);
    id.arg("-u");
    process::output(id).is_some_and(|id| id.trim() == "0")
}

/// A program that tests drive, and the Debian package that contains it.
struct Program {
    name: &'static str,
    debian_package: &'static str,
}

impl Program {
    fn is_there(&self, tree: &Tree) -> bool {
        match self.name {
            "python3" => python(tree).is_some(),
            "venv" => {
                let mut python = process::command(python(tree).unwrap_or("python3"), tree);
                python.args(["-c", "import ensurepip, venv"]);
                process::succeeds(python)
            }
            // Debian puts it outside the search path, in a folder for each version of PostgreSQL.
            "initdb" => {
                let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
                process::find("initdb").is_some()
                    || versions.into_iter().any(|version| version.path().join("bin/initdb").is_file())
            }
            // A folder for services, which is not on every user's search path.
            "sshd" | "nats-server" => {
                process::find(self.name).is_some() || Path::new("/usr/sbin").join(self.name).is_file()
            }
            "pip" => {
                let mut python = process::command(python(tree).unwrap_or("python3"), tree);
                python.args(["-m", "pip", "--version"]);
                process::succeeds(python)
            }
            name => process::find(name).is_some(),
        }
    }
}

const PROGRAMS: &[Program] = &[
    Program { name: "telnet", debian_package: "telnet" },
    Program { name: "nc", debian_package: "netcat-openbsd" },
    Program { name: "python3", debian_package: "python3" },
    Program { name: "nats-server", debian_package: "nats-server" },
];

/// The first name is Debian's.
const CHROMIUM: &[&str] = &["chromium", "chromium-browser", "google-chrome"];
const FIREFOX: &[&str] = &["firefox-esr", "firefox"];

const COMPONENTS: &[&str] = &["rustfmt", "clippy"];
