//! How tests are laid out: each crate's claims are modules of one program, `tests/claims/main.rs`, since each program
//! costs a link of its own. A test with a program of its own says why, and every file that looks like a test is built.

use crate::machine::files::File;
use crate::rules::source::tokens::{Placed, Token, tokens};

/// Violations of this rule, each as `path: what`.
pub(crate) fn breaches(files: &[File]) -> Vec<String> {
    let mut breaches = Vec::new();
    let mains = files.iter().filter(|file| file.path.contains("/tests/") && file.path.ends_with("/main.rs"));
    breaches.extend(mains.flat_map(|main| modules_left_out(main, files)));
    for main in files {
        let Some(folder) = main.path.strip_suffix("/claims/main.rs") else { continue };
        breaches.extend(files.iter().filter(|file| is_program(&file.path, folder)).filter_map(reason_missing));
    }
    breaches.extend(
        files
            .iter()
            .filter(|file| file.path.ends_with("Cargo.toml"))
            .flat_map(|manifest| unit_tests_left_out(manifest, files)),
    );
    breaches
}

/// Files next to `main.rs` that it does not name.
fn modules_left_out(main: &File, files: &[File]) -> Vec<String> {
    let tokens = tokens(&main.text);
    let folder = main.path.trim_end_matches("main.rs");
    let left_out = files.iter().filter_map(|file| {
        let name = file.path.strip_prefix(folder)?.strip_suffix(".rs")?;
        let is_left_out = !name.contains('/') && name != "main" && !declares(&tokens, name);
        is_left_out.then(|| format!("{}: no test runs it; add `mod {name};` to {}", file.path, main.path))
    });
    left_out.collect()
}

fn declares(tokens: &[Placed<'_>], name: &str) -> bool {
    tokens.windows(2).any(|pair| pair[0].token == Token::Word("mod") && pair[1].token == Token::Word(name))
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

/// Tests in a library whose manifest states that it has none.
fn unit_tests_left_out(manifest: &File, files: &[File]) -> Option<String> {
    let library = manifest.text.split("[lib]").nth(1)?.split("\n[").next()?;
    if !library.lines().any(|line| line.replace(' ', "") == "test=false") {
        return None;
    }
    let sources = format!("{}src/", manifest.path.strip_suffix("Cargo.toml")?);
    let tested = files.iter().find(|file| {
        file.path.starts_with(&sources)
            && tokens(&file.text).windows(4).any(|four| four.iter().map(|placed| placed.token).eq(TEST))
    })?;
    Some(format!("{}: no test of it runs, since {} says `test = false`", tested.path, manifest.path))
}

/// `#[test]`
const TEST: [Token<'_>; 4] = [Token::Mark('#'), Token::Mark('['), Token::Word("test"), Token::Mark(']')];
const REASON: &str = "A process of its own";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File { path: (*path).into(), text: (*text).into() };
        breaches(&files.iter().map(file).collect::<Vec<_>>())
    }

    #[test]
    fn a_claim_that_nobody_declares_is_named() {
        let files =
            [("a/tests/claims/main.rs", "mod b; // mod c;"), ("a/tests/claims/b.rs", ""), ("a/tests/claims/c.rs", "")];
        let found = check(&files);
        assert!(found.len() == 1 && found[0].starts_with("a/tests/claims/c.rs: "), "{found:?}");
    }

    #[test]
    fn a_program_of_its_own_says_why() {
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
        let without = ("a/Cargo.toml", "[package]\nname = \"a\"\n\n[lib]\ntest = false\n\n[lints]\n");
        let tested = ("a/src/b.rs", "#[cfg(test)] mod tests { #[test] fn c() {} }");
        assert_eq!(check(&[without, tested]).len(), 1);
        assert_eq!(check(&[("a/Cargo.toml", "[lib]\ndoctest = false\n[lints]\ntest = false"), tested]).len(), 0);
        assert_eq!(check(&[without, ("a/src/b.rs", "// #[test]"), ("c/src/b.rs", "#[test]")]).len(), 0);
    }
}
