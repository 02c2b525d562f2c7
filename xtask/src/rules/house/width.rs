//! Lines of Rust that are wider than rustfmt's width, which rustfmt leaves in comments and strings.

use crate::machine::files::File;

/// Prints how many lines of comments and of code there are.
pub(super) fn figures(files: &[File], say: &mut impl FnMut(&str, String)) {
    let sources = files.iter().filter(|file| file.path.ends_with(".rs"));
    let wide = sources.flat_map(|file| file.text.lines().filter(|line| line.chars().count() > WIDTH));
    let (comments, code): (Vec<&str>, Vec<&str>) = wide.partition(|line| line.trim_start().starts_with("//"));
    say(&format!("lines of Rust above {WIDTH} columns: comments, code"), format!("{}, {}", comments.len(), code.len()));
}

/// The width in `rustfmt.toml`.
const WIDTH: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_lines_of_comments_and_code_are_counted_in_characters() {
        let line = |begin: &str, length: usize| format!("{begin}{}\n", "é".repeat(length - begin.len()));
        let text = [line("    /// ", 120), line("    /// ", 121), line("let a", 121), line("//! ", 130)].concat();
        let file = |path: &str| File { path: path.into(), text: text.clone() };
        let mut figure = String::new();
        figures(&[file("a.rs"), file("b.md")], &mut |_, said| figure = said);
        assert_eq!(figure, "2, 1");
    }
}
