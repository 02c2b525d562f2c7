//! How tests are laid out: each crate's claims are modules of one program, `tests/claims/main.rs`, since each program
//! costs a link of its own. A test with its own program says why, and every file that looks like a test is built.

use cargo_metadata::{Package, Target};

use crate::machine::files::{self, File};
use crate::machine::packages;
use crate::machine::tree::Tree;
use crate::rules::source::items::Item;
use crate::rules::source::read_items::items;

/// Violations of this rule, each as `path: what`.
pub(crate) fn breaches(tree: &Tree) -> Result<Vec<String>, String> {
    let files = files::files(tree);
    let mut breaches = breaches_of_claims(&files);
    for described in packages::all(&files, tree)?.iter().filter(|described| is_library_untested(&described.package)) {
        breaches.extend(unit_tests_left_out(&described.folder, &files));
    }
    Ok(breaches)
}

fn breaches_of_claims(files: &[File]) -> Vec<String> {
    let mut breaches = Vec::new();
    let mains = files.iter().filter(|file| file.path.contains("/tests/") && file.path.ends_with("/main.rs"));
    breaches.extend(mains.flat_map(|main| modules_left_out(main, files)));
    for main in files {
        let Some(folder) = main.path.strip_suffix("/claims/main.rs") else { continue };
        breaches.extend(files.iter().filter(|file| is_program(&file.path, folder)).filter_map(reason_missing));
    }
    breaches
}

/// Files next to `main.rs` that it does not name.
fn modules_left_out(main: &File, files: &[File]) -> Vec<String> {
    let folder = main.path.trim_end_matches("main.rs");
    let declared = items_of(main);
    let left_out = files.iter().filter_map(|file| {
        let name = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
        let is_declared = name == "main" || declared.iter().any(|item| item.is_module() && item.name == name);
        let is_left_out = !name.contains('/') && !is_declared;
        is_left_out.then(|| format!("{}: no test runs it; add `mod {name};` to {}", file.path, main.path))
    });
    left_out.collect()
}

/// The items of a file. Source that is not Rust has none: the compiler reports it.
fn items_of(file: &File) -> Vec<Item> {
    syn::parse_file(&file.text).map_or_else(|_| Vec::new(), |parsed| items(&parsed))
}

/// Whether cargo builds it as a program of its own.
fn is_program(path: &str, folder: &str) -> bool {
    let Some(inside) = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/')) else {
        return false;
    };
    match inside.split_once('/') {
        None => inside.ends_with(".rs"),
        Some((program, rest)) => program != "claims" && rest == "main.rs",
    }
}

fn reason_missing(file: &File) -> Option<String> {
    let says_why = file.text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.contains(REASON));
    (!says_why)
        .then(|| format!("{}: belongs in claims/; else its first comment says why it needs `{REASON}`", file.path))
}

/// Whether its manifest states that its library, for Rust or for another language, has no tests.
fn is_library_untested(package: &Package) -> bool {
    let is_library = |target: &Target| target.is_lib() || target.is_cdylib() || target.is_staticlib();
    package.targets.iter().any(|target| is_library(target) && !target.test)
}

/// The first test in the sources of the package in that folder.
fn unit_tests_left_out(folder: &str, files: &[File]) -> Option<String> {
    let sources = format!("{folder}src/");
    let tested = files.iter().find(|file| file.path.starts_with(&sources) && has_tests(file))?;
    Some(format!("{}: no test of it runs, since {folder}Cargo.toml says `test = false`", tested.path))
}

fn has_tests(file: &File) -> bool {
    items_of(file).iter().any(|item| item.is_test)
}

const REASON: &str = "A process of its own";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::machine::packages::package;

    fn read(files: &[(&str, &str)]) -> Vec<File> {
        let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        files.iter().map(file).collect()
    }

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        breaches_of_claims(&read(files))
    }

    #[test]
    fn an_undeclared_claim_is_reported() {
        let files =
            [("a/tests/claims/main.rs", "mod b; // mod c;"), ("a/tests/claims/b.rs", ""), ("a/tests/claims/c.rs", "")];
        let found = check(&files);
        assert!(found.len() == 1 && found[0].starts_with("a/tests/claims/c.rs: "), "{found:?}");
    }

    #[test]
    fn a_separate_test_program_says_why() {
        let main = ("a/tests/claims/main.rs", "");
        let reason = "//! Claim.\n//!\n//! A process of its own: it counts allocations.\n";
        assert_eq!(
            check(&[main, ("a/tests/b.rs", reason), ("a/tests/c/main.rs", reason), ("a/tests/d/mod.rs", "")]).len(),
            0
        );
        assert_eq!(check(&[main, ("a/tests/b.rs", "//! Claim.\n"), ("a/tests/c/main.rs", "")]).len(), 2);
        assert_eq!(check(&[("a/tests/b.rs", "//! Claim.\n")]).len(), 0, "a crate without claims has its own way");
    }

    #[test]
    fn unit_tests_of_a_library_without_tests_are_named() {
        let found = |files: &[(&str, &str)]| unit_tests_left_out("a/", &read(files));
        let tested = ("a/src/b.rs", "#[cfg(test)] mod tests { #[test] fn c() {} }");
        assert!(found(&[tested]).is_some_and(|breach| breach.starts_with("a/src/b.rs: ")));
        assert_eq!(
            found(&[
                ("a/src/b.rs", "// #[test]\n#[a(test)] fn d() {} #[cfg(not(test))] fn e() {}"),
                ("c/src/b.rs", "#[test] fn e() {}")
            ]),
            None
        );
    }

    #[test]
    fn a_library_is_untested_if_its_manifest_says_so() {
        let target = |kind: &str, test: bool| -> serde_json::Value {
            json!({ "name": "a", "kind": [kind], "crate_types": [kind], "src_path": "/p/a/src/x.rs", "test": test })
        };
        let is_untested = |targets: &[serde_json::Value]| is_library_untested(&package(json!({ "targets": targets })));
        assert!(is_untested(&[target("lib", false), target("test", true)]));
        assert!(is_untested(&[target("cdylib", false)]));
        assert!(!is_untested(&[target("lib", true), target("bin", false)]));
        assert!(!is_untested(&[target("bin", false)]));
    }
}
