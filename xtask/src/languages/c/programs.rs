//! Programs in C and C++: how they are compiled, and how their tests are counted.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::machine::process;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;

/// The folder of the header.
pub(super) const INCLUDE: &str = "crates/skipstone-ffi/include";
/// As many warnings as possible.
pub(super) const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"];
/// C99 by itself has no sleep, and no threads.
const POSIX: &str = "-D_POSIX_C_SOURCE=200809L";
/// The programs that test, each in the way of its name's end.
const TESTS: &[&str] = &["echo.c", "play.c", "bad_input.c", "threads.c", "version_1.c", "cpp.cpp"];
/// The example programs, which can test themselves.
const EXAMPLES: &[&str] = &["echo.c", "bots.c", "bench_server.c", "echo.cpp"];
/// A program that takes longer hangs.
const SECONDS_MAX: &str = "120";

/// A way to compile and run.
struct Way {
    name: &'static str,
    c: &'static str,
    cpp: &'static str,
    flags: &'static [&'static str],
    /// In front of the program.
    runner: &'static [&'static str],
}

const SANITIZED: &[&str] = &["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"];
const MEMCHECK: &[&str] = &[
    "valgrind",
    "--quiet",
    // Otherwise a thread that makes calls without a pause may keep all others from running for minutes.
    "--fair-sched=yes",
    "--error-exitcode=9",
    "--leak-check=full",
    "--show-leak-kinds=definite,indirect",
    "--errors-for-leak-kinds=definite,indirect",
];
/// Memcheck does not understand the vector instructions of the cryptography, and reports sealed bytes as uninitialised.
/// Programs that seal nothing are checked for uninitialised bytes, too.
const ALSO_UNINITIALISED: &[&str] = &["bad_input", "threads"];

const WAYS: &[Way] = &[
    Way { name: "gcc", c: "gcc", cpp: "g++", flags: &[], runner: &[] },
    Way { name: "clang", c: "clang", cpp: "clang++", flags: &[], runner: &[] },
    Way { name: "gcc-sanitized", c: "gcc", cpp: "g++", flags: SANITIZED, runner: &[] },
    Way { name: "clang-sanitized", c: "clang", cpp: "clang++", flags: SANITIZED, runner: &[] },
    Way { name: "memcheck", c: "gcc", cpp: "g++", flags: &[], runner: MEMCHECK },
];

impl Way {
    /// Whether its programs and the libraries of its flags are installed.
    fn is_there(&self, tree: &Tree) -> bool {
        let programs = [Some(&self.c), Some(&self.cpp), self.runner.first()];
        if !programs.into_iter().flatten().all(|program| process::find(program).is_some()) {
            return false;
        }
        let folder = process::target_dir(tree).join("c");
        let source = folder.join("nothing.c");
        let written =
            std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&source, "int main(void) { return 0; }"));
        let mut compiler = process::command(self.c, tree);
        compiler.args(self.flags).arg(&source).arg("-o").arg(folder.join("nothing"));
        written.is_ok() && process::succeeds(compiler)
    }

    /// Whether the same compiler has sanitizers, which run the same code with more checks.
    fn is_covered(&self, tree: &Tree) -> bool {
        let twin = format!("{}-sanitized", self.name);
        there(tree).any(|way| way.name == twin)
    }

    /// Compiles a program with all warnings. Returns its path.
    fn compile(&self, source: &Path, tree: &Tree) -> Result<PathBuf, String> {
        let folder = process::target_dir(tree).join("c").join(self.name);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let made = folder.join(source.file_name().unwrap_or_default()).with_extension("");
        let made = if is_cpp(source) { made.with_extension("cc") } else { made };
        let mut compiler = self.compiler(source, tree);
        compiler.args(["-g", "-O1"]).args(self.flags).arg(source).arg("-o").arg(&made);
        let library = library_dir(tree);
        compiler.arg("-L").arg(&library).arg(format!("-Wl,-rpath,{}", library.display()));
        compiler.args(["-lskipstone", "-pthread"]);
        process::run(compiler).map(|()| made)
    }

    fn compiler(&self, source: &Path, tree: &Tree) -> Command {
        let (program, standard) = if is_cpp(source) { (self.cpp, "-std=c++17") } else { (self.c, "-std=c99") };
        let mut compiler = process::command(program, tree);
        compiler.arg(standard).args(WARNINGS).arg("-I").arg(INCLUDE);
        compiler.arg(POSIX);
        compiler
    }

    /// Runs a program, with a limit on its time, and counts the lines that begin with `ok `.
    fn run(&self, made: &Path, arguments: &[&str], tree: &Tree) -> Tally {
        let mut program = process::command("timeout", tree);
        program.arg(SECONDS_MAX).args(self.runner);
        let name = made.file_name().unwrap_or_default().to_string_lossy();
        if !self.runner.is_empty() && !ALSO_UNINITIALISED.contains(&&*name) {
            program.arg("--undef-value-errors=no");
        }
        program.arg(made).args(arguments);
        count_ok(program)
    }
}

/// Runs a program that prints `ok` and a name for each test that passed, and ends badly at the first that fails.
pub(super) fn count_ok(program: Command) -> Tally {
    let mut tally = Tally::default();
    let outcome = process::run_reading(program, |line| tally.passed += u64::from(line.starts_with("ok ")));
    if let Err(why) = outcome {
        println!("{why}");
        tally.failed += 1;
    }
    tally
}

/// Runs a check that counts as one test.
pub(super) fn one(outcome: Result<(), String>) -> Tally {
    match outcome {
        Ok(()) => Tally::ONE_PASSED,
        Err(why) => {
            println!("{why}");
            Tally::ONE_FAILED
        }
    }
}

/// Compiles a program as for shipping, and links the library that cargo has put into `folder`. `Ok(false)` if there is
/// no compiler.
pub(crate) fn linked(source: &str, program: &Path, folder: &Path, tree: &Tree) -> Result<bool, String> {
    let (compiler, standard) = if is_cpp(Path::new(source)) { ("c++", "-std=c++17") } else { ("cc", "-std=c99") };
    if process::find(compiler).is_none() {
        println!("no {compiler}: {source} is left out");
        return Ok(false);
    }
    let mut compile = process::command(compiler, tree);
    compile.args([standard, "-O2", POSIX]).args(WARNINGS).args(["-I", INCLUDE, source, "-o"]);
    compile.arg(program).arg(folder.join("libskipstone.a")).args(SYSTEM_LIBRARIES);
    process::run(compile).map(|()| true)
}

/// The Linux libraries that Rust's standard library needs.
const SYSTEM_LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// The folder into which cargo has put the library.
pub(super) fn library_dir(tree: &Tree) -> PathBuf {
    process::target_dir(tree).join("debug")
}

fn is_cpp(source: &Path) -> bool {
    source.extension().is_some_and(|extension| extension == "cpp" || extension == "hpp")
}

/// Only the headers, in each language and with each compiler.
pub(super) fn headers(tree: &Tree) -> Result<Tally, String> {
    let languages: [(&str, &str, &[&str]); 2] =
        [("skipstone.h", "c", &["c99", "c11"]), ("skipstone.h", "c++", &["c++17", "c++20"])];
    let mut tally = Tally::default();
    for way in there(tree).filter(|way| way.flags.is_empty() && way.runner.is_empty()) {
        for (header, language, standards) in languages {
            for standard in standards {
                tally += one(process::run(syntax(way.c, language, standard, header, tree)));
            }
        }
        tally += one(process::run(syntax(way.cpp, "c++", "c++17", "skipstone.hpp", tree)));
        let mut without_exceptions = syntax(way.cpp, "c++", "c++17", "skipstone.hpp", tree);
        without_exceptions.args(["-fno-exceptions", "-fno-rtti"]);
        tally += one(process::run(without_exceptions));
    }
    Ok(tally)
}

fn syntax(compiler: &str, language: &str, standard: &str, header: &str, tree: &Tree) -> Command {
    let mut command = process::command(compiler, tree);
    command.args(["-x", language]).arg(format!("-std={standard}")).args(WARNINGS).arg("-fsyntax-only");
    command.arg(format!("{INCLUDE}/{header}"));
    command
}

/// The shared library exports the functions of the header, and nothing else.
pub(super) fn exports(tree: &Tree) -> Result<Tally, String> {
    let mut nm = process::command("nm", tree);
    nm.args(["--dynamic", "--defined-only"]).arg(library_dir(tree).join("libskipstone.so"));
    let listed = process::output(nm).ok_or("`nm` cannot read the library")?;
    let mut exported: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().last()).collect();
    exported.sort_unstable();
    let promised = promised(tree)?;
    let outcome = if exported == promised {
        println!("the library exports the {} functions of the header", promised.len());
        Ok(())
    } else {
        Err(format!("the library exports {exported:?}, but the header declares {promised:?}"))
    };
    Ok(one(outcome))
}

/// The functions of the header, sorted: what every shared library exports.
pub(crate) fn promised(tree: &Tree) -> Result<Vec<String>, String> {
    let abi = std::fs::read_to_string(tree.root().join("crates/skipstone-ffi/abi.txt"));
    let abi = abi.map_err(|error| format!("abi.txt: {error}"))?;
    let mut promised: Vec<String> = abi.lines().filter_map(function).map(str::to_owned).collect();
    promised.sort_unstable();
    Ok(promised)
}

/// The name in a line that declares a function.
fn function(line: &str) -> Option<&str> {
    let (before, _) = line.strip_suffix(");")?.split_once('(')?;
    before.rsplit([' ', '*']).next()
}

/// The ways that this machine supports. Each is tried once, by compiling a program.
fn there(tree: &Tree) -> impl Iterator<Item = &'static Way> {
    static THERE: OnceLock<Vec<&Way>> = OnceLock::new();
    THERE.get_or_init(|| WAYS.iter().filter(|way| way.is_there(tree)).collect()).iter().copied()
}

/// Whether clang has its sanitizers. Call this first, because it may install them.
pub(super) fn has_sanitizers_of_clang(tree: &Tree) -> bool {
    WAYS.iter().any(|way| way.name == "clang-sanitized" && way.is_there(tree))
}

/// The ways that this machine lacks something for.
pub(super) fn missing(tree: &Tree) -> Vec<&'static str> {
    let is_there = |way: &&Way| there(tree).any(|there| there.name == way.name);
    WAYS.iter().filter(|way| !is_there(way)).map(|way| way.name).collect()
}

/// Every test in every way that no other covers.
pub(super) fn tests(tree: &Tree) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for way in there(tree).filter(|way| !way.is_covered(tree)) {
        for name in TESTS {
            let made = way.compile(&Path::new("clients/c/tests").join(name), tree)?;
            tally += way.run(&made, &[], tree);
        }
    }
    Ok(tally)
}

/// The examples, which play against themselves. The plain one of gcc is built in any case: Windows' client plays
/// against it.
pub(super) fn examples(tree: &Tree) -> Result<Tally, String> {
    let mut tally = Tally::default();
    let is_wanted = |way: &&Way| way.runner.is_empty() && (way.name == "gcc" || !way.is_covered(tree));
    for way in there(tree).filter(is_wanted) {
        for name in EXAMPLES {
            let made = way.compile(&Path::new("clients/c/examples").join(name), tree)?;
            tally += way.run(&made, &["--test"], tree);
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_abi_are_found_and_numbers_are_none() {
        assert_eq!(function("SkipstoneStatus skipstone_flush(SkipstoneHandle handle);"), Some("skipstone_flush"));
        assert_eq!(function("const char *skipstone_version(void);"), Some("skipstone_version"));
        assert_eq!(function("SKIPSTONE_STATUS_OK = 0"), None);
        assert_eq!(function("  size: 4 bytes at 0"), None);
    }
}
