//! What a wheel has to contain for its system: types, licences, and one library that the system's Python loads.

use std::path::Path;

use super::super::c::format;
use crate::machine::tree::Tree;
use crate::release::build;
use crate::release::plan::Release;
use crate::release::systems::{Kind, System};

/// Reads an unpacked wheel. Returns in a line what was compared.
pub(super) fn judge(wheel: &Path, system: &System, release: &Release, tree: &Tree) -> Result<String, String> {
    let package = wheel.join("skipstone");
    for file in ["__init__.py", "__init__.pyi", "_library.py", "py.typed"] {
        if !package.join(file).is_file() {
            return Err(format!("the wheel has no skipstone/{file}"));
        }
    }
    let info = wheel.join(format!("skipstone-{}.dist-info", release.version));
    let tags = std::fs::read_to_string(info.join("WHEEL")).map_err(|error| format!("WHEEL: {error}"))?;
    if !tags.contains("Tag: cp311-abi3-") || !tags.contains("Root-Is-Purelib: false") {
        return Err(format!("its file WHEEL does not say cp311-abi3: {tags}"));
    }
    for licence in ["LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-LICENSES.txt"] {
        if !info.join("licenses").join(licence).is_file() {
            return Err(format!("the wheel has no {licence} in {}", info.display()));
        }
    }
    let library = package.join(match system.kind {
        Kind::Windows => "skipstone.pyd",
        Kind::Linux | Kind::MacOs => "skipstone.abi3.so",
    });
    build::check_places(&library, release, tree)?;
    format::check_loaded(system, &library, "PyInit_skipstone", tree)
}
