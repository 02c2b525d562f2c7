//! A program for macOS, which is not run here: its processor, its oldest system, its signature, and the libraries that
//! it asks for, all of which every macOS has.

use std::path::Path;

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::plan::Checked;
use crate::release::systems::System;

/// Reads it by LLVM's tools.
pub(super) fn check(program: &Path, of: &System, tree: &Tree) -> Result<Checked, String> {
    if let Some(why) = system::program("llvm-objdump", "llvm", "formats cannot be read", tree) {
        return Ok(Checked::Skipped(why));
    }
    let mut dump = process::command("llvm-objdump", tree);
    dump.args(["--macho", "--private-headers"]).arg(program);
    let text = process::output(dump).ok_or("llvm-objdump cannot read the program")?;
    let said = judge(&text, of.target)?;
    Ok(Checked::Passed(format!("not run, because there is no macOS here; Mach-O: {said}")))
}

/// What the headers say, if it is as it should be.
fn judge(headers: &str, target: &str) -> Result<String, String> {
    let processor = if target.starts_with("aarch64") { "ARM64" } else { "X86_64" };
    if !headers.lines().any(|line| line.contains("MH_MAGIC_64") && line.contains(processor) && line.contains("EXECUTE"))
    {
        return Err(format!("it is no program for {processor}"));
    }
    let names = headers.lines().filter_map(|line| line.trim().strip_prefix("name ")?.split(' ').next());
    let libraries: Vec<&str> = names.filter(|name| name.starts_with('/') && *name != "/usr/lib/dyld").collect();
    let is_system = |name: &&str| name.starts_with("/usr/lib/") || name.starts_with("/System/Library/Frameworks/");
    if let Some(other) = libraries.iter().find(|name| !is_system(name)) {
        return Err(format!("it asks for {other}, which macOS does not have"));
    }
    if processor == "ARM64" && !headers.contains("LC_CODE_SIGNATURE") {
        return Err("it has no signature, without which Apple silicon runs no program".into());
    }
    let oldest = headers.lines().find_map(|line| {
        let line = line.trim();
        line.strip_prefix("minos ").or_else(|| line.strip_prefix("version ").filter(|rest| rest.contains('.')))
    });
    let oldest = oldest.map(str::trim).ok_or("it does not name its oldest system")?;
    let signed = if headers.contains("LC_CODE_SIGNATURE") { "signed ad hoc" } else { "not signed" };
    Ok(format!("{processor}, macOS {oldest} or later, {signed}, {} libraries of the system", libraries.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADERS: &str = "\
MH_MAGIC_64    ARM64        ALL  0x00     EXECUTE    20       1976   NOUNDEFS DYLDLINK TWOLEVEL PIE
Load command 6
          cmd LC_LOAD_DYLINKER
         name /usr/lib/dyld (offset 12)
      cmd LC_BUILD_VERSION
    minos 11.0
      cmd LC_LOAD_DYLIB
         name /usr/lib/libSystem.B.dylib (offset 24)
      cmd LC_CODE_SIGNATURE
";

    #[test]
    fn a_program_that_macos_would_not_load_is_refused() {
        let judged = |from: &str, to: &str| judge(&HEADERS.replace(from, to), "aarch64-apple-darwin");
        assert!(judged("", "").is_ok_and(|said| said.contains("macOS 11.0 or later, signed ad hoc, 1 libraries")));
        assert!(judged("/usr/lib/libSystem", "/opt/lib/libz").is_err_and(|why| why.contains("/opt/lib/libz")));
        assert!(judged("LC_CODE_SIGNATURE", "LC_NONE").is_err_and(|why| why.contains("no signature")));
        assert!(judge(HEADERS, "x86_64-apple-darwin").is_err_and(|why| why.contains("X86_64")));
    }
}
