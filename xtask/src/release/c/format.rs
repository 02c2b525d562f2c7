//! What a shared library says of itself: the functions that it exports, its name, the oldest system that loads it. By
//! LLVM's tools, which read the formats of all systems.

use std::path::Path;

use crate::languages::c::promised;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::build;
use crate::release::mach_o::judge;
use crate::release::plan::Release;
use crate::release::systems::{Kind, System};

/// Compares the library with what is promised. Returns in a line what was compared.
pub(crate) fn check_format(system: &System, file: &Path, release: &Release, tree: &Tree) -> Result<String, String> {
    system::program("llvm-readobj", "llvm", "formats cannot be read", tree).map_or(Ok(()), Err)?;
    build::check_places(file, release, tree)?;
    let (promised, exported) = (promised(tree)?, exported(system, file, tree)?);
    if let Some(missing) = promised.iter().find(|name| !exported.contains(name)) {
        return Err(format!("{} does not export {missing}", file.display()));
    }
    let functions = format!("{} functions", promised.len());
    match system.kind {
        Kind::Linux => elf(system, file, tree).map(|said| format!("ELF: {functions}, {said}")),
        Kind::Windows => Ok(format!("PE: {functions}")),
        Kind::MacOs => mach_o(system, file, tree).map(|said| format!("Mach-O: {functions}, {said}")),
    }
}

/// For a library that a program loads by its path, such as a module of Python: it exports that function, and the oldest
/// system that the release promises loads it.
pub(crate) fn check_loaded(system: &System, file: &Path, function: &str, tree: &Tree) -> Result<String, String> {
    system::program("llvm-readobj", "llvm", "formats cannot be read", tree).map_or(Ok(()), Err)?;
    if !exported(system, file, tree)?.iter().any(|name| name == function) {
        return Err(format!("{} does not export {function}", file.display()));
    }
    match system.kind {
        Kind::Linux => {
            let text = read("llvm-readobj", ELF, file, tree)?;
            oldest_linux(system, &text, file).map(|said| format!("ELF: {function}, {said}"))
        }
        Kind::Windows => Ok(format!("PE: {function}")),
        Kind::MacOs => {
            let text = read("llvm-objdump", MACH_O, file, tree)?;
            let said = judge(&text, system.target).map_err(|why| format!("{}: {why}", file.display()))?;
            Ok(format!("Mach-O: {function}, {said}"))
        }
    }
}

fn exported(system: &System, file: &Path, tree: &Tree) -> Result<Vec<String>, String> {
    let listed = match system.kind {
        Kind::Linux => {
            read("llvm-nm", &["--dynamic", "--defined-only", "--extern-only", "--just-symbol-name"], file, tree)?
        }
        Kind::MacOs => read("llvm-nm", &["--defined-only", "--extern-only", "--just-symbol-name"], file, tree)?,
        Kind::Windows => read("llvm-readobj", &["--coff-exports"], file, tree)?,
    };
    let names = listed.lines().map(|line| line.trim().trim_start_matches("Name: "));
    let plain =
        |name: &str| if system.kind == Kind::MacOs { name.trim_start_matches('_').to_owned() } else { name.to_owned() };
    Ok(names.map(plain).collect())
}

/// The name in programs that are linked with it, and what [`oldest_linux`] reads.
fn elf(system: &System, file: &Path, tree: &Tree) -> Result<String, String> {
    let text = read("llvm-readobj", ELF, file, tree)?;
    if !text.contains("[libskipstone.so]") {
        return Err(format!("{}: its SONAME is not libskipstone.so", file.display()));
    }
    oldest_linux(system, &text, file).map(|said| format!("SONAME, {said}"))
}

/// The newest glibc that it asks for, and the pages that it fits.
fn oldest_linux(system: &System, text: &str, file: &Path) -> Result<String, String> {
    let newest = glibc(text).ok_or("it asks for no version of glibc")?;
    if newest > GLIBC {
        return Err(format!(
            "{} asks for glibc {}.{}, newer than {}.{}",
            file.display(),
            newest.0,
            newest.1,
            GLIBC.0,
            GLIBC.1
        ));
    }
    // Linux on AArch64 may have pages of 64 KB, where a smaller alignment is not loaded.
    let least = if system.target.starts_with("aarch64") { 65_536 } else { 4_096 };
    let least_found = alignments(text).min().unwrap_or(0);
    if least_found < least {
        return Err(format!("{}: its segments are aligned to {least_found} bytes, not to {least}", file.display()));
    }
    Ok(format!("glibc {}.{}, pages of {} KB", newest.0, newest.1, least_found / 1_024))
}

/// The newest `GLIBC_2.17`.
fn glibc(text: &str) -> Option<(u32, u32)> {
    let versions = text.split("GLIBC_").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let mut numbers = rest[..end].split('.');
        Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
    });
    versions.max()
}

/// Those of the segments that are loaded.
fn alignments(text: &str) -> impl Iterator<Item = u64> {
    let segments = text.split("ProgramHeader {").skip(1).filter(|segment| segment.contains("PT_LOAD"));
    segments.filter_map(|segment| segment.split_once("Alignment: ")?.1.lines().next()?.trim().parse().ok())
}

/// Its install name, and what [`judge`] reads.
fn mach_o(system: &System, file: &Path, tree: &Tree) -> Result<String, String> {
    let text = read("llvm-objdump", MACH_O, file, tree)?;
    if !text.contains("name @rpath/libskipstone.dylib ") {
        return Err(format!("{}: its install name is not @rpath/libskipstone.dylib", file.display()));
    }
    let said = judge(&text, system.target).map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(format!("install name, {said}"))
}

fn read(program: &str, arguments: &[&str], file: &Path, tree: &Tree) -> Result<String, String> {
    let mut command = process::command(program, tree);
    command.args(arguments).arg(file);
    process::output(command).ok_or_else(|| format!("{program} cannot read {}", file.display()))
}

const ELF: &[&str] = &["--dynamic-table", "--version-info", "--program-headers"];
const MACH_O: &[&str] = &["--macho", "--private-headers"];

/// That of Red Hat Enterprise Linux 7, and of manylinux2014.
const GLIBC: (u32, u32) = (2, 17);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_glibc_counts_by_its_numbers() {
        assert_eq!(glibc("Name: GLIBC_2.2.5\nName: GLIBC_2.17\nName: GLIBC_2.4\n"), Some((2, 17)));
        assert_eq!(glibc("nothing"), None);
    }

    #[test]
    fn only_loaded_segments_have_to_fit_pages() {
        let text = "ProgramHeader {\n Type: PT_LOAD (0x1)\n Alignment: 65536\n}\nProgramHeader {\n Type: PT_NOTE (0x4)\n \
                    Alignment: 4\n}\n";
        assert_eq!(alignments(text).collect::<Vec<_>>(), [65_536]);
    }
}
