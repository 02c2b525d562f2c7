//! A root folder that has nothing but what is put there, and programs that see no other file: a system without
//! libraries, shells and certificates.

use std::path::Path;
use std::process::Command;

use crate::machine::process;
use crate::machine::tree::Tree;

/// A program, by its path below `root`, that has processes of its own and no variables. It shares the network.
pub(super) fn inside(root: &Path, program: &str, tree: &Tree) -> Result<Command, String> {
    // Linux' own view of processes is the only thing that a program may expect.
    let proc = root.join("proc");
    std::fs::create_dir_all(&proc).map_err(|error| format!("{}: {error}", proc.display()))?;
    let mut command = process::command("unshare", tree);
    command.env_clear();
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc=/proc"]);
    command.arg(format!("--root={}", root.display())).arg(program);
    Ok(command)
}

/// Why nothing can be run in such a root here, with the remedy.
pub(super) fn unavailable(tree: &Tree) -> Option<String> {
    let mut id = process::command("id", tree);
    id.arg("-u");
    let is_root = process::output(id).is_some_and(|id| id.trim() == "0");
    let is_here = process::find("unshare").is_some();
    (!is_root || !is_here).then(|| "an empty root needs root and unshare (util-linux): run this as root".into())
}
