//! Command lines that the tool suggests to its user, ready to run. A build that lacks a part of the tool answers with a
//! command line that does what was requested.

use crate::clean;

/// Before a command: the whole tool, from a clone.
pub const WHOLE_TOOL: &str = "cargo run --release -p skipstone-cli --";

/// The command line for this process's request, in a build without `part`.
pub fn remedy(part: &str) -> String {
    let words = std::env::args_os().skip(1);
    let words: Vec<String> = words.map(|word| quoted(&clean::line(&word.to_string_lossy()))).collect();
    format!(
        "this build has no {part}; run {WHOLE_TOOL} {}, or install the whole tool: cargo install --path \
         crates/skipstone-cli",
        words.join(" ")
    )
}

/// This program as it was started, by which a shell finds it again.
pub fn program() -> String {
    let name = std::env::args_os().next().map(|name| name.to_string_lossy().into_owned());
    quoted(&clean::line(name.as_deref().unwrap_or("skipstone")))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:=,+@%/".contains(&byte) || byte == SEPARATOR;
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Characters of paths that need no quotes. No Windows shell treats a backslash as an escape.
const SEPARATOR: u8 = std::path::MAIN_SEPARATOR as u8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_only_if_a_shell_would_change_it() {
        for plain in ["compare", "--mix", "udp=67,ws=33", "target/release/skipstone", "2%"] {
            assert_eq!(quoted(plain), plain);
        }
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("skip://a:1#sha256=0"), "'skip://a:1#sha256=0'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }
}
