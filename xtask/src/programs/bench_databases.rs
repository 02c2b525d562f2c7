//! `cargo xtask bench-databases`: the throughput of databases by the tool's own bench and by the engines' own tools, in
//! turns.

use crate::machine::arguments::Arguments;
use crate::machine::tree::Tree;
use crate::machine::{process, system};

/// Builds the tool, and measures. Flags go to the program that measures.
pub(crate) fn bench_databases(arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let python = system::python(tree).ok_or("Python 3 is not there")?;
    let missing = system::databases(tree);
    let missing = missing.or_else(|| system::program("sysbench", "sysbench", "MariaDB has no other tool here", tree));
    if let Some(why) = missing {
        return Err(why);
    }
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "--package", "skipstone-cli", "--no-default-features", "--features", "db"]);
    process::run(cargo)?;
    let mut bench = process::command(python, tree);
    bench.args(["-B", "xtask/databases/bench.py"]).arg(process::target_dir(tree).join("release/skipstone"));
    bench.args(arguments.rest());
    match process::run(bench) {
        Ok(()) => Ok(true),
        Err(why) => {
            println!("{why}");
            Ok(false)
        }
    }
}
