//! Links of the committed pages: each relative link leads to a committed file, and each `#anchor` to a heading there.
//! Links to other sites are not followed.

use std::collections::{BTreeMap, BTreeSet};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::machine::files::File;

/// A link or an image of a page.
pub(super) struct Link {
    /// Counted from 1.
    pub(super) line: usize,
    /// The target as on the page: a path with or without an `#anchor`, or an address.
    pub(super) target: String,
}

/// Links that lead nowhere, each as `page:line: why`.
pub(crate) fn breaches(files: &[File]) -> Vec<String> {
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let pages = files.iter().filter(|file| is_page(&file.path));
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.clone().map(|page| (page.path.as_str(), anchors(&page.text))).collect();
    let mut breaches = Vec::new();
    for page in pages {
        for link in links(&page.text) {
            if let Some(why) = breach(&page.path, &link.target, &paths, &anchors) {
                breaches.push(format!("{}:{}: {why}", page.path, link.line));
            }
        }
    }
    breaches
}

pub(super) fn is_page(path: &str) -> bool {
    path.ends_with(".md")
}

/// Why the link is broken, if it is.
fn breach(
    page: &str,
    target: &str,
    paths: &BTreeSet<&str>,
    anchors: &BTreeMap<&str, BTreeSet<String>>,
) -> Option<String> {
    if is_address(target) {
        return None;
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let Some(path) = resolve(page, path) else {
        return Some(format!("`{target}` leaves the project"));
    };
    if !paths.contains(path.as_str()) {
        let folder = format!("{path}/");
        let is_folder = paths.iter().any(|path| path.starts_with(&folder));
        let hint = if is_folder { ": it is a folder; link to a file in it" } else { "" };
        return Some(format!("`{target}` leads to {path}, which is not a file of the project{hint}"));
    }
    let anchor = anchor?;
    let there = anchors.get(path.as_str()).is_some_and(|anchors| anchors.contains(anchor));
    (!there).then(|| format!("`{target}`: {path} has no heading with the anchor #{anchor}"))
}

/// Whether the target has a scheme (RFC 3986, section 3.1).
pub(super) fn is_address(target: &str) -> bool {
    let Some((scheme, _)) = target.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|character| character.is_ascii_alphanumeric() || "+-.".contains(character))
}

/// The path from the root to which a relative path on a page leads. `None` if it is above the root.
pub(super) fn resolve(page: &str, relative: &str) -> Option<String> {
    if relative.is_empty() {
        return Some(page.to_owned());
    }
    if relative.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The links and images of a page, those in HTML too.
pub(super) fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        let mut add = |target: &str| {
            let line = text[..range.start].matches('\n').count() + 1;
            links.push(Link { line, target: target.to_owned() });
        };
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => add(&dest_url),
            Event::Html(html) | Event::InlineHtml(html) => {
                attributes(&html, "href").chain(attributes(&html, "src")).for_each(add);
            }
            _ => {}
        }
    }
    links
}

/// The anchors of a page, as GitHub and mdBook make them from headings, and those in HTML.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, OPTIONS) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let numbered = (1..).map(|number| format!("{name}-{number}"));
                let free = std::iter::once(name.clone()).chain(numbered).find(|name| !anchors.contains(name));
                anchors.extend(free);
            }
            Event::Text(piece) | Event::Code(piece) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&piece);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => anchors.extend(attributes(&html, "id").map(str::to_owned)),
            _ => {}
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ => character.is_alphanumeric().then_some(character),
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

/// The values of an attribute in HTML, quoted as `name="value"`.
pub(super) fn attributes<'a>(html: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let beginning = format!(" {name}=\"");
    let length = beginning.len();
    let starts: Vec<usize> = html.match_indices(&beginning).map(|(at, _)| at + length).collect();
    starts.into_iter().filter_map(|start| html[start..].split_once('"')).map(|(value, _)| value)
}

/// GitHub's Markdown, as far as the pages use it.
const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_FOOTNOTES).union(Options::ENABLE_STRIKETHROUGH);

#[cfg(test)]
mod tests {
    use super::*;

    fn check(page: &str) -> Vec<String> {
        let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
        breaches(&[
            file("docs/guide.md", page),
            file("docs/loss.md", "# Loss\n\n## What `send` promises, in short\n\n## Twice\n\n## Twice\n"),
            file("src/echo.go", "package main\n"),
        ])
    }

    #[test]
    fn a_relative_link_leads_to_a_committed_file() {
        assert_eq!(
            check("[a](loss.md) [b](../src/echo.go) ![c](../src/echo.go) [d](https://example.org/gone.md)"),
            [""; 0]
        );
        assert_eq!(
            check("text\n\n[a](gone.md)"),
            ["docs/guide.md:3: `gone.md` leads to docs/gone.md, which is not a file of the project"]
        );
        assert_eq!(check("<img src=\"gone.png\">\n\n[a][b]\n\n[b]: gone.md\n").len(), 2);
        assert_eq!(check("[a](../../gone.md)"), ["docs/guide.md:1: `../../gone.md` leaves the project"]);
        assert!(check("[a](../src)")[0].ends_with("it is a folder; link to a file in it"));
    }

    #[test]
    fn an_anchor_leads_to_a_heading() {
        assert_eq!(check("# Here\n[a](loss.md#loss) [b](#here) [c](loss.md#what-send-promises-in-short)"), [""; 0]);
        assert_eq!(check("[a](loss.md#twice-1)"), [""; 0]);
        assert_eq!(
            check("[a](loss.md#twice-2)"),
            ["docs/guide.md:1: `loss.md#twice-2`: docs/loss.md has no heading with the anchor #twice-2"]
        );
        assert_eq!(check("[a](#gone)").len(), 1);
    }

    #[test]
    fn code_is_not_a_link() {
        assert_eq!(check("`[a](gone.md)`\n\n```md\n[a](gone.md)\n```\n"), [""; 0]);
    }
}
