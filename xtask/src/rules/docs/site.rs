//! The site: mdBook's source, assembled from the pages in their folders, and a check of mdBook's output.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::history::History;
use super::links;
use super::summary;
use crate::machine::files::File;
use crate::machine::process;
use crate::machine::tree::Tree;

/// A folder with mdBook's source and the site.
pub(super) struct Site {
    folder: PathBuf,
}

impl Site {
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    fn html(&self) -> PathBuf {
        self.folder.join("site")
    }

    /// Writes the pages, the files that they link to, and mdBook's settings.
    pub(super) fn write_source(&self, files: &[File], tree: &Tree) -> Result<(), String> {
        let source = self.folder.join("src");
        remove(&source)?;
        let history = History::read(tree);
        let pages: Vec<&File> = files.iter().filter(|file| links::is_page(&file.path)).collect();
        let mut others = BTreeSet::new();
        for page in &pages {
            write(&source.join(&page.path), &format!("{}{}", page.text, footer(page, &history)))?;
            let targets = links::links(&page.text).into_iter().filter(|link| !links::is_address(&link.target));
            let paths = targets.filter_map(|link| links::resolve(&page.path, link.target.split('#').next()?));
            others.extend(paths.filter(|path| !links::is_page(path)));
        }
        for other in others {
            copy(&tree.root().join(&other), &source.join(&other))?;
        }
        write(&source.join(summary::API), &api_page(&history))?;
        write(&source.join("SUMMARY.md"), &summary::summary(&pages))?;
        write(&self.folder.join("site.css"), include_str!("site.css"))?;
        write(&self.folder.join("book.toml"), &settings())
    }

    /// Adds the API's pages, which rustdoc writes.
    pub(super) fn add_api(&self, tree: &Tree) -> Result<(), String> {
        // A folder of its own, because the usual one has the pages of every crate that was ever documented.
        let target = self.folder.join("api");
        remove(&target.join("doc"))?;
        let mut cargo = process::cargo(tree);
        cargo.args(["doc", "--no-deps", "--target-dir"]).arg(&target);
        cargo.args(CRATES.iter().flat_map(|(name, _)| ["--package", name]));
        process::run(cargo)?;
        let (from, to) = (target.join("doc"), self.html().join("api"));
        paths(&from)?.iter().try_for_each(|path| copy(path, &to.join(path.strip_prefix(&from).unwrap_or(path))))
    }

    /// Prints the parts of the site. `Ok(false)` if a link in it is broken; each is printed.
    pub(super) fn check_and_describe(&self) -> Result<bool, String> {
        let site = self.html();
        let paths = paths(&site)?;
        let mut bytes = 0;
        let mut pages = BTreeMap::new();
        for path in &paths {
            bytes += path.metadata().map_err(|error| failed(path, &error))?.len();
            let relative = path.strip_prefix(&site).unwrap_or(path).to_string_lossy().replace('\\', "/");
            pages.insert(relative, path);
        }
        let is_page = |path: &str| path.ends_with(".html") && !GENERATED.contains(&path);
        let (api, own): (Vec<_>, Vec<_>) = pages.keys().filter(|path| is_page(path)).partition(|path| is_api(path));
        let mut dead = 0;
        for path in &own {
            let html = std::fs::read_to_string(pages[*path]).map_err(|error| failed(pages[*path], &error))?;
            for target in links::attributes(&html, "href").chain(links::attributes(&html, "src")) {
                let target = target.split(['#', '?']).next().unwrap_or(target);
                let leads_there = links::resolve(path, target).is_some_and(|path| pages.contains_key(&path));
                if !links::is_address(target) && !leads_there {
                    println!("{path}: `{target}` leads nowhere in the site");
                    dead += 1;
                }
            }
        }
        println!(
            "{} pages and {} of the API, {:.1} MB: {}",
            own.len(),
            api.len(),
            bytes as f64 / 1e6,
            site.join("index.html").display()
        );
        Ok(dead == 0)
    }
}

fn is_api(path: &str) -> bool {
    path.starts_with("api/")
}

/// The line below each page.
fn footer(page: &File, history: &History) -> String {
    let edited = history.date(&page.path).map_or_else(|| "not committed yet".into(), |date| format!("edited {date}"));
    format!("\n\n<footer class=\"edited\">{} · {} · {edited}</footer>\n", version(history), page.path)
}

fn version(history: &History) -> String {
    match history.commit.as_str() {
        "" => format!("Skipstone {VERSION}"),
        commit => format!("Skipstone {VERSION} ({commit})"),
    }
}

fn api_page(history: &History) -> String {
    let mut text = format!("# API\n\nThe Rust crates of {}, by rustdoc.\n\n", version(history));
    for (name, about) in CRATES {
        let _ = writeln!(text, "- [`{name}`](api/{}/index.html): {about}", name.replace('-', "_"));
    }
    text + "\nOther languages: [languages](docs/guide/languages.md).\n"
}

fn settings() -> String {
    format!(
        r#"[book]
title = "Skipstone {VERSION}"
language = "en"

[build]
build-dir = "site"
use-default-preprocessors = false

[output.html]
additional-css = ["site.css"]
git-repository-url = "{repository}"
no-section-label = true

[output.html.fold]
enable = true
level = 0

[output.html.playground]
runnable = false

[output.html.print]
enable = false

[output.html.search]
limit-results = 30
use-boolean-and = true
boost-title = 4
"#,
        repository = env!("CARGO_PKG_REPOSITORY")
    )
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    make_parent(path)?;
    std::fs::write(path, text).map_err(|error| failed(path, &error))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    make_parent(to)?;
    std::fs::copy(from, to).map(drop).map_err(|error| failed(from, &error))
}

fn make_parent(path: &Path) -> Result<(), String> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent).map_err(|error| failed(parent, &error))
}

fn remove(folder: &Path) -> Result<(), String> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(failed(folder, &error)),
        _ => Ok(()),
    }
}

/// Every file below a folder.
fn paths(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).map_err(|error| failed(&folder, &error))? {
            let path = entry.map_err(|error| failed(&folder, &error))?.path();
            if path.is_dir() { &mut pending } else { &mut found }.push(path);
        }
    }
    Ok(found)
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The crates for which other projects write code.
const CRATES: &[(&str, &str)] = &[
    ("skipstone", "servers and clients"),
    ("skipstone-proto", "the protocol, without sockets and clocks"),
    ("skipstone-netsim", "the simulated network"),
    ("skipstone-gf256", "arithmetic of the erasure code"),
];

/// Pages of mdBook's own; `index.html` is the first page once more.
const GENERATED: &[&str] = &["404.html", "index.html", "toc.html"];
