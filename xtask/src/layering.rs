//! Inside the protocol, imports point down. A module is a folder or a file directly in `src/`; `lib.rs` stands above
//! all of them and may name any. Tests inside a module keep to the same rule: who needs more belongs in `tests/`.

use std::collections::BTreeSet;

use crate::rust_source::{Placed, Token, tokens};
use crate::tree::File;

/// The modules, highest rank first. A module imports from lower ranks only, and never from its own.
const RANKS: &[&[&str]] = &[
    &["endpoint"],
    &["connection"],
    &["channel"],
    &["fec", "recovery", "congestion", "mtu", "security"],
    &["wire", "rtt", "loss", "delivery"],
    &["ranges", "spare"],
    &["time", "seq", "rng", "path"],
];

/// Where the protocol's sources lie.
pub(crate) const PROTOCOL: &str = "crates/skipstone-proto/src/";

/// What stands against the order, each as `path:line: what`.
pub(crate) fn breaches(files: &[File]) -> Vec<String> {
    let sources: Vec<(Vec<&str>, &File)> =
        files.iter().filter_map(|file| Some((module_path(&file.path)?, file))).collect();
    let modules: BTreeSet<&str> = sources.iter().filter_map(|(path, _)| path.first().copied()).collect();
    let mut breaches = Vec::new();
    for module in modules.iter().filter(|module| rank(module).is_none()) {
        breaches.push(format!(
            "{PROTOCOL}{module}: has no rank; add it to RANKS in xtask/src/layering.rs, as low as its imports allow"
        ));
    }
    for (path, file) in &sources {
        let Some(own) = path.first() else {
            continue;
        };
        for (target, line) in root_imports(&tokens(&file.text), path.len()) {
            if let Some(what) = judge(own, target, &modules) {
                breaches.push(format!("{}:{line}: {what}", file.path));
            }
        }
    }
    breaches
}

/// What is wrong with `own` naming `crate::target`, if anything is.
fn judge(own: &str, target: &str, modules: &BTreeSet<&str>) -> Option<String> {
    if own == target {
        return None;
    }
    match (rank(own), rank(target)) {
        (Some(own_rank), Some(target_rank)) if target_rank > own_rank => None,
        (Some(own_rank), Some(target_rank)) if target_rank == own_rank => {
            Some(format!("`{own}` and `{target}` are siblings; they meet in a module above them"))
        }
        (Some(_), Some(_)) => Some(format!("`{own}` is below `{target}` and must not know it")),
        // Said once, for the module as a whole.
        (None, _) => None,
        (Some(_), None) if modules.contains(target) => None,
        (Some(_), None) => {
            Some(format!("`crate::{target}` goes through the root of the crate; name the module that it lives in"))
        }
    }
}

fn rank(module: &str) -> Option<usize> {
    RANKS.iter().position(|rank| rank.contains(&module))
}

/// The module that a file is: `wire/frame.rs` is `[wire, frame]`, `wire/mod.rs` and `wire.rs` are `[wire]`, and
/// `lib.rs` is the root, `[]`. Files outside of the protocol are none.
fn module_path(path: &str) -> Option<Vec<&str>> {
    let inside = path.strip_prefix(PROTOCOL)?.strip_suffix(".rs")?;
    let mut parts: Vec<&str> = inside.split('/').collect();
    if parts == ["lib"] || parts.last() == Some(&"mod") {
        parts.pop();
    }
    Some(parts)
}

/// Each name that is taken from the root of the crate, through `crate::` or enough `super::`, with its line.
/// `depth` is how many modules the file is below the root.
fn root_imports<'a>(tokens: &[Placed<'a>], depth: usize) -> Vec<(&'a str, usize)> {
    let mut imports = Vec::new();
    let mut braces = 0;
    let mut inline_modules = Vec::new();
    for (at, placed) in tokens.iter().enumerate() {
        match placed.token {
            Token::Mark('{') => {
                if at >= 2 && tokens[at - 2].token == Token::Word("mod") {
                    inline_modules.push(braces);
                }
                braces += 1;
            }
            Token::Mark('}') => {
                braces = usize::saturating_sub(braces, 1);
                if inline_modules.last() == Some(&braces) {
                    inline_modules.pop();
                }
            }
            Token::Word(word @ ("crate" | "super")) if !follows_separator(tokens, at) => {
                let height = if word == "crate" { 0 } else { depth + inline_modules.len() };
                names_at_root(tokens, at, height, &mut imports);
            }
            _ => {}
        }
    }
    imports
}

fn follows_separator(tokens: &[Placed<'_>], at: usize) -> bool {
    at > 0 && tokens[at - 1].token == Token::PathSeparator
}

/// Follows the path whose first word is at `at`, `height` modules below the root, and notes what it names there.
fn names_at_root<'a>(tokens: &[Placed<'a>], mut at: usize, mut height: usize, imports: &mut Vec<(&'a str, usize)>) {
    while tokens.get(at).is_some_and(|placed| placed.token == Token::Word("super")) {
        height = height.saturating_sub(1);
        at += 2;
    }
    if tokens.get(at).is_some_and(|placed| placed.token == Token::Word("crate")) {
        at += 2;
    }
    if height > 0 || !follows_separator(tokens, at.min(tokens.len())) {
        return; // stays inside of its own module, or is no path: `pub(crate)`
    }
    match tokens.get(at) {
        Some(Placed { token: Token::Word(name), line }) => imports.push((name, *line)),
        Some(Placed { token: Token::Mark('*'), line }) => imports.push(("*", *line)),
        Some(Placed { token: Token::Mark('{'), .. }) => names_in_group(&tokens[at..], imports),
        _ => {}
    }
}

/// `{wire::Frame, time::{self, Time}}` names `wire` and `time`.
fn names_in_group<'a>(tokens: &[Placed<'a>], imports: &mut Vec<(&'a str, usize)>) {
    let mut depth = 0;
    for (at, placed) in tokens.iter().enumerate() {
        let begins_item = at > 0 && matches!(tokens[at - 1].token, Token::Mark('{' | ','));
        match placed.token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            Token::Word(name) if depth == 1 && begins_item => imports.push((name, placed.line)),
            Token::Mark('*') if depth == 1 && begins_item => imports.push(("*", placed.line)),
            _ => {}
        }
        if depth == 0 {
            return;
        }
    }
}

#[cfg(test)]
#[path = "layering_tests.rs"]
mod tests;
