//! A program for macOS, which is not run here: its headers are read by LLVM's tools.

use std::path::Path;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::mach_o::judge;
use crate::release::plan::Checked;
use crate::release::systems::System;

/// That it is a program, for the processor that its archive names, and what [`judge`] reads.
pub(super) fn check(program: &Path, of: &System, tree: &Tree) -> Result<Checked, String> {
    if let Some(why) = system::program("llvm-objdump", "llvm", "formats cannot be read", tree) {
        return Ok(Checked::Skipped(why));
    }
    let mut dump = process::command("llvm-objdump", tree);
    dump.args(["--macho", "--private-headers"]).arg(program);
    let text = process::output(dump).ok_or("llvm-objdump cannot read the program")?;
    let processor = if of.target.starts_with("aarch64") { "ARM64" } else { "X86_64" };
    let is_program = |line: &str| ["MH_MAGIC_64", processor, "EXECUTE"].iter().all(|word| line.contains(word));
    if !text.lines().any(is_program) {
        return Err(format!("it is no program for {processor}"));
    }
    let said = judge(&text, of.target)?;
    Ok(Checked::Passed(format!("not run, because there is no macOS here; Mach-O: {processor}, {said}")))
}
