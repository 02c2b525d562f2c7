//! Code on a page that names its file equals that file's, word for word: a line `<!-- path/of/the/file -->` precedes
//! the block.

use crate::machine::files::File;

/// Blocks that their files do not contain, each as `page:line: block`.
pub(crate) fn breaches(files: &[File]) -> Vec<String> {
    let pages = files.iter().filter(|file| file.path.ends_with(".md"));
    pages.flat_map(|page| snippets(page).filter_map(|snippet| snippet.breach(page, files))).collect()
}

/// A block of code and the file that it names.
struct Snippet<'a> {
    line: usize,
    path: &'a str,
    code: String,
}

fn snippets(page: &File) -> impl Iterator<Item = Snippet<'_>> {
    let lines: Vec<&str> = page.text.lines().collect();
    let found = lines.windows(2).enumerate().filter_map(|(at, pair)| Some((at, named(pair[0], pair[1])?)));
    let found: Vec<(usize, &str)> = found.collect();
    found.into_iter().map(move |(at, path)| {
        let code = lines[at + 2..].iter().take_while(|line| !line.starts_with("```"));
        Snippet { line: at + 1, path, code: code.copied().collect::<Vec<_>>().join("\n") }
    })
}

/// The path in a comment that precedes a block.
fn named<'a>(comment: &'a str, fence: &str) -> Option<&'a str> {
    let path = comment.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    (fence.starts_with("```") && path.contains('/') && !path.contains(' ')).then_some(path)
}

impl Snippet<'_> {
    fn breach(&self, page: &File, files: &[File]) -> Option<String> {
        let place = format!("{}:{}", page.path, self.line);
        match files.iter().find(|file| file.path == self.path) {
            None => Some(format!("{place}: there is no {}", self.path)),
            Some(file) if file.text.contains(&self.code) => None,
            Some(_) => Some(format!("{place}: not what {} has: copy it from there", self.path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        breaches(&[file("guide.md", page), file("src/echo.go", "package main\n\nfunc main() {\n\tserve()\n}\n")])
    }

    #[test]
    fn a_block_matches_its_file() {
        assert!(check("<!-- src/echo.go -->\n```go\nfunc main() {\n\tserve()\n}\n```\n").is_empty());
        let other = check("text\n<!-- src/echo.go -->\n```go\nfunc main() {\n\tpanic()\n}\n```\n");
        assert_eq!(other, ["guide.md:2: not what src/echo.go has: copy it from there"]);
        assert_eq!(check("<!-- src/gone.go -->\n```go\n```\n"), ["guide.md:1: there is no src/gone.go"]);
    }

    #[test]
    fn other_blocks_and_comments_are_free() {
        assert!(check("<!-- layers:begin -->\n- a\n```go\nanything\n```\n").is_empty());
        assert!(check("<!-- a note about src/echo.go -->\n```go\nanything\n```\n").is_empty());
    }
}
