//! The order of the site's pages, as mdBook's SUMMARY.md.

use std::fmt::Write;

use super::links;
use crate::machine::files::File;

/// The table of contents: every page once, those that no part names in the last one.
pub(super) fn summary(pages: &[&File]) -> String {
    let mut left: Vec<&File> = pages.to_vec();
    let mut text = String::from("# Summary\n");
    for (title, entries) in PARTS {
        let _ = write!(text, "\n# {title}\n\n");
        for entry in *entries {
            write_entry(&mut text, entry, &mut left);
        }
    }
    let indexes: Vec<&str> = left.iter().map(|page| &*page.path).filter(|path| path.ends_with("README.md")).collect();
    for path in indexes {
        write_entry(&mut text, path, &mut left);
    }
    left.iter().for_each(|page| write_page(&mut text, "", page));
    text
}

fn write_entry(text: &mut String, entry: &str, left: &mut Vec<&File>) {
    if entry == API {
        let _ = writeln!(text, "- [API of the Rust crates](<{API}>)");
        return;
    }
    let Some(index) = take(left, entry) else { return };
    write_page(text, "", index);
    let Some(folder) = entry.strip_suffix("README.md").filter(|folder| !folder.is_empty()) else { return };
    for page in pages_of(folder, index, left) {
        write_page(text, "  ", page);
    }
}

/// Takes the pages of a folder, without its subfolders: in the order of the links in its README, then by path.
fn pages_of<'a>(folder: &str, index: &File, left: &mut Vec<&'a File>) -> Vec<&'a File> {
    let linked = links::links(&index.text).into_iter().filter_map(|link| links::resolve(&index.path, &link.target));
    let mut taken: Vec<&File> =
        linked.filter(|path| is_in(folder, path)).filter_map(|path| take(left, &path)).collect();
    taken.extend(left.extract_if(.., |page| is_in(folder, &page.path)));
    taken
}

fn is_in(folder: &str, path: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|name| !name.contains('/'))
}

fn take<'a>(left: &mut Vec<&'a File>, path: &str) -> Option<&'a File> {
    let at = left.iter().position(|page| page.path == path)?;
    Some(left.remove(at))
}

fn write_page(text: &mut String, indent: &str, page: &File) {
    let _ = writeln!(text, "{indent}- [{}](<{}>)", title(page), page.path);
}

/// The first heading of a page, or the name of its file.
fn title(page: &File) -> &str {
    let name = page.path.rsplit('/').next().unwrap_or(&page.path);
    page.text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or(name)
}

/// The generated page that leads to the API.
pub(super) const API: &str = "api.md";

/// A README represents its folder.
const PARTS: &[(&str, &[&str])] = &[
    ("Start", &["README.md", "docs/guide/README.md"]),
    ("Reference", &["docs/limits.md", API, "WIRE.md", "SECURITY.md"]),
    ("Measurements", &["docs/results.md", "docs/measurements.md", "docs/performance.md", "docs/sweep.md"]),
    ("Why", &["docs/decisions/README.md", "docs/decisions/archive/README.md"]),
    ("Project", &["ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]),
    ("Packages", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_there_once_in_the_order_of_its_folders_index() {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        let files = [
            file("README.md", "# Skipstone\n"),
            file("clients/go/README.md", "# Go\n"),
            file("clients/unity/CHANGELOG.md", "# Changes\n"),
            file("clients/unity/README.md", "# Unity\n"),
            file("clients/unity/more/index.md", "# More\n"),
            file("docs/guide/README.md", "# Guide\n[b](b.md) [r](../results.md)\n"),
            file("docs/guide/a.md", "no heading\n"),
            file("docs/guide/b.md", "text\n\n# B `b`\n"),
            file("docs/results.md", "# Results\n"),
        ];
        let text = summary(&files.iter().collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("](<")).collect();
        assert_eq!(
            lines,
            [
                "- [Skipstone](<README.md>)",
                "- [Guide](<docs/guide/README.md>)",
                "  - [B `b`](<docs/guide/b.md>)",
                "  - [a.md](<docs/guide/a.md>)",
                "- [API of the Rust crates](<api.md>)",
                "- [Results](<docs/results.md>)",
                "- [Go](<clients/go/README.md>)",
                "- [Unity](<clients/unity/README.md>)",
                "  - [Changes](<clients/unity/CHANGELOG.md>)",
                "- [More](<clients/unity/more/index.md>)",
            ]
        );
    }
}
