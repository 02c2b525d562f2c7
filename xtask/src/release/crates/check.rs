//! The crates are unpacked and read, and the README's first program is compiled against them in an empty folder, where
//! its client gets a message from its server.

use std::path::Path;

use crate::machine::process;
use crate::machine::tree::Tree;
use crate::release::archive::unpack;
use crate::release::place::Place;
use crate::release::plan::{Checked, Release, write};
use crate::rules::package::published;

pub(super) fn check(release: &Release, tree: &Tree) -> Result<Checked, String> {
    let place = Place::empty("crates")?;
    let crates = place.path().join("crates");
    std::fs::create_dir_all(&crates).map_err(|error| format!("{}: {error}", crates.display()))?;
    let mut patches = String::new();
    let published = published(tree)?;
    for member in &published {
        let name = member.package.name.as_str();
        unpack(&release.artifact(&file_name(name, release)), &crates, tree)?;
        let folder = format!("{name}-{}", release.version);
        has_what_readers_need(&crates.join(&folder))?;
        patches += &format!("{name} = {{ path = \"crates/{folder}\" }}\n");
    }
    let manifest = MANIFEST.replace("VERSION", &release.version) + &patches;
    write(&place.path().join("Cargo.toml"), manifest)?;
    let readme = crates.join(format!("skipstone-{}/README.md", release.version));
    let readme = std::fs::read_to_string(&readme).map_err(|error| format!("{}: {error}", readme.display()))?;
    write(&place.path().join("src/main.rs"), first_program(&readme).ok_or("the README has no program in Rust")?)?;
    let target = release.work.join("first-program");
    let mut cargo = process::cargo(tree);
    cargo.current_dir(place.path()).args(["build", "--quiet", "--target-dir"]).arg(&target);
    cargo.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "false");
    process::run(cargo)?;
    let said = first_words(&target.join("debug/first"), tree)?;
    let count = published.len();
    Ok(Checked::Passed(format!("{count} crates; the README's first program in an empty folder says `{said}`")))
}

/// The name of a crate in the release.
pub(super) fn file_name(name: &str, release: &Release) -> String {
    format!("{name}-{}.crate", release.version)
}

/// The program runs forever: it is ended after some seconds.
fn first_words(program: &Path, tree: &Tree) -> Result<String, String> {
    let output =
        process::bounded(5, &program.to_string_lossy(), tree).output().map_err(|error| format!("timeout: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().map(str::to_owned);
    first.ok_or_else(|| format!("no message in 5 s: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// The first program on a page.
fn first_program(page: &str) -> Option<&str> {
    let (_, after) = page.split_once("\n```rust")?;
    let (program, _) = after.split_once('\n')?.1.split_once("\n```")?;
    program.contains("fn main").then_some(program)
}

/// A crate has texts of its own, and its manifest names no folder outside.
fn has_what_readers_need(folder: &Path) -> Result<(), String> {
    for name in ["README.md", "LICENSE-APACHE", "LICENSE-MIT", "Cargo.lock"] {
        let file = folder.join(name);
        let is_file = std::fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            return Err(format!("{} is missing in the crate, or is a link", file.display()));
        }
    }
    let manifest = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
    leads_outside(&text).map_or(Ok(()), |line| Err(format!("{}: `{line}` leads outside of it", manifest.display())))
}

/// The line of a manifest with a path that leaves the crate's folder.
fn leads_outside(manifest: &str) -> Option<&str> {
    let is_path = |line: &&str| line.split_once('=').is_some_and(|(_, value)| value.contains("../"));
    manifest.lines().filter(|line| !line.starts_with('#')).find(is_path)
}

const MANIFEST: &str = "\
[package]
name = \"first\"
version = \"0.0.0\"
edition = \"2024\"

[dependencies]
skipstone = \"VERSION\"

# As if a registry had them.
[patch.crates-io]
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_program_of_a_page_is_found() {
        let page = "# Page\n\n```sh\ncargo\n```\n\n```rust,no_run\nfn main() {}\n```\n";
        assert_eq!(first_program(page), Some("fn main() {}"));
        assert_eq!(first_program("# Page\n\n```rust\nlet a = 1;\n```\n"), None);
    }

    #[test]
    fn a_manifest_that_leads_outside_of_its_crate_is_found() {
        assert_eq!(leads_outside("[lib]\npath = \"src/lib.rs\"\n"), None);
        assert_eq!(leads_outside("# ../docs\n[lib]\npath = \"../lib.rs\"\n"), Some("path = \"../lib.rs\""));
    }
}
