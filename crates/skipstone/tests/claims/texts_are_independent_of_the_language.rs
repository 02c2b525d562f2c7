//! Programs in C, C++, C#, Go and Python print the library's texts, and so does the tool: a text names no items of Rust
//! and no flags of the tool.

use std::fs;
use std::path::Path;

#[test]
fn texts_name_no_rust_item_and_no_command_line_flag() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of all crates");
    let mut wrong = Vec::new();
    for name in ["skipstone", "skipstone-proto", "skipstone-ffi"] {
        visit(&crates.join(name).join("src"), &mut |file, source| {
            let texts = literals(source).into_iter().filter(|text| text.split(' ').count() > 3);
            wrong.extend(texts.filter(|text| is_foreign(text)).map(|text| format!("{}: {text}", file.display())));
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_rust_path_and_a_flag_are_detected() {
    let source = "// \"a comment of Event::Closed and more\"\nlet quote = '\"'; f(\"use Event::Closed for it\", \"and \
        \\\n  or --ca is it\")";
    assert_eq!(literals(source), ["use Event::Closed for it", "and or --ca is it"]);
    assert!(literals(source).iter().all(|text| is_foreign(text)));
    assert!(!is_foreign("an address as [::]:7777 or [2001:db8::1]:7777 - or none"));
}

/// Whether a text has words of one language or of the tool.
fn is_foreign(text: &str) -> bool {
    let letters = |at: usize| text[at..].starts_with(|letter: char| letter.is_ascii_alphabetic());
    let mut paths = text.match_indices("::");
    let has_path =
        paths.any(|(at, _)| text[..at].ends_with(|letter: char| letter.is_ascii_alphabetic()) && letters(at + 2));
    // The flag of another program, certbot, is a remedy.
    let mut flags = text.match_indices(" --").filter(|(at, _)| !text[at + 1..].starts_with("--key-type"));
    let has_name_of_c = text.contains("SKIPSTONE_") || text.contains("skipstone_");
    has_path
        || has_name_of_c
        || flags.any(|(at, _)| letters(at + 3))
        || text.contains(" to None")
        || text.contains("(--")
}

fn visit(folder: &Path, found: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() && name != "tests" {
            visit(&path, found);
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            let source = fs::read_to_string(&path).expect("a source file");
            // A file's own tests come last.
            let tests = source.find("#[cfg(test)]").or_else(|| source.find("#[cfg(all(test"));
            let code = if source[tests.unwrap_or(source.len())..].contains("mod tests") { tests } else { None };
            found(&path, &source[..code.unwrap_or(source.len())]);
        }
    }
}

/// The string literals of a source file, with continued lines joined, as the compiler does.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        let (head, tail) = rest.split_at(at);
        rest = if tail.starts_with("//") {
            tail.find('\n').map_or("", |end| &tail[end..])
        } else if let Some(quote) = ["'\"'", "'\\\"'"].iter().find(|quote| tail.starts_with(**quote)) {
            &tail[quote.len()..]
        } else if tail.starts_with('"') && head.ends_with('#') {
            tail[1..].find("\"#").map_or("", |end| &tail[1 + end + 2..])
        } else if let Some(inside) = tail.strip_prefix('"') {
            let end = end_of(inside);
            found.push(joined(&inside[..end]));
            &inside[(end + 1).min(inside.len())..]
        } else {
            &tail[1..]
        };
    }
    found
}

/// Where a literal ends: at the first quote that is not escaped.
fn end_of(inside: &str) -> usize {
    let mut is_escaped = false;
    for (at, letter) in inside.char_indices() {
        match letter {
            '"' if !is_escaped => return at,
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    inside.len()
}

fn joined(literal: &str) -> String {
    let mut lines = literal.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}
