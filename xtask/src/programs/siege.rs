//! `cargo xtask siege`: attackers at a server that also has honest clients, a line for each attack. Attackers and judge
//! are the program `skipstone-siege`, which is built here with the tool, or plays at another build of it.

use std::process::Command;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// Builds the siege, and the tool unless one is given, and hands the other words on. `Ok(false)` if an attack was
/// missed.
pub(crate) fn siege(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let is_list = arguments.take_flag("--list");
    let tool = arguments.take_value("--tool")?;
    let table = arguments.take_value("--table")?;

    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "--package", "skipstone-siege"]);
    let plays = !is_list && table.is_none();
    if plays && tool.is_none() {
        cargo.args(["--package", "skipstone-cli"]);
    }
    process::run(cargo)?;
    let built = process::target_dir(tree).join("release");
    let mut siege = Command::new(built.join("skipstone-siege"));
    match table {
        Some(file) => siege.args(["table", &file]),
        None if is_list => siege.arg("list"),
        None => siege.arg("play").arg("--tool").arg(tool.map_or_else(|| built.join("skipstone"), Into::into)),
    };
    siege.args(arguments.rest());
    let status = siege.status().map_err(|error| format!("the siege does not start: {error}"))?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => Err(format!("the siege ended with {status}")),
    }
}
