//! The crates of the project as modules that name each other. A module is a file here: the names in an inline module
//! count as those of its file.

use std::collections::BTreeMap;
use std::ops::Range;

use super::imports::{self, Import, Named};
use super::items::{Item, is_mark, items, word};
use super::tokens::{Placed, tokens};
use crate::machine::files::File;

/// The sources of one crate, below `src/`.
pub(crate) struct Crate<'a> {
    /// Its folder, from the root: `crates/skipstone-proto`.
    pub(crate) folder: &'a str,
    pub(crate) sources: Vec<Source<'a>>,
}

/// One file of a crate.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a File,
    /// `wire/frame.rs` is `[wire, frame]`, `wire/mod.rs` and `wire.rs` are `[wire]`, `lib.rs` and `main.rs` are `[]`.
    pub(crate) module: Vec<&'a str>,
    pub(crate) tokens: Vec<Placed<'a>>,
    pub(crate) items: Vec<Item<'a>>,
    /// Whether the whole file is compiled for tests only.
    pub(crate) is_test: bool,
    uses: Vec<Use<'a>>,
    named: Vec<Named<'a>>,
}

/// A leaf of a `use` declaration, with its place.
struct Use<'a> {
    import: Import<'a>,
    at: usize,
    is_reexport: bool,
}

/// A path in a file that leads to something of the same crate.
pub(crate) struct Naming<'a> {
    /// Index into the sources of the crate.
    pub(crate) from: usize,
    /// From the root of the crate.
    pub(crate) path: Vec<&'a str>,
    pub(crate) line: usize,
    /// Whether it ends in `*`.
    pub(crate) is_glob: bool,
    /// Whether it is a re-export of a name that its own file does not use.
    is_passed_on: bool,
}

/// A file that names something which another file of the same crate defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    /// Indexes into the sources of the crate.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The line of the first use, and the used name.
    pub(crate) line: usize,
    pub(crate) name: String,
}

/// Every folder with `src/lib.rs` or `src/main.rs`, by path.
pub(crate) fn crates(files: &[File]) -> Vec<Crate<'_>> {
    let mut folders: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in files {
        let root = file.path.strip_suffix("/src/lib.rs").or_else(|| file.path.strip_suffix("/src/main.rs"));
        if let Some(folder) = root {
            folders.entry(folder).or_default();
        }
    }
    for file in files {
        if let Some((folder, inside)) = file.path.split_once("/src/")
            && inside.ends_with(".rs")
            && let Some(sources) = folders.get_mut(folder)
        {
            sources.push(file);
        }
    }
    folders.into_iter().map(|(folder, files)| Crate::new(folder, &files)).collect()
}

impl<'a> Crate<'a> {
    fn new(folder: &'a str, files: &[&'a File]) -> Self {
        let mut sources: Vec<Source<'a>> = files.iter().map(|file| Source::new(folder, file)).collect();
        sources.sort_by(|a, b| (a.module.len(), &a.module).cmp(&(b.module.len(), &b.module)));
        for at in 0..sources.len() {
            sources[at].is_test = is_declared_for_tests(&sources, &sources[at].module);
        }
        Self { folder, sources }
    }

    /// The short name: the last part of the folder.
    pub(crate) fn name(&self) -> &'a str {
        self.folder.rsplit('/').next().unwrap_or(self.folder)
    }

    /// Every path that leads into this crate, from its root, as written: re-exports are not followed.
    pub(crate) fn namings(&self) -> Vec<Naming<'a>> {
        let mut namings = Vec::new();
        for (from, source) in self.sources.iter().enumerate() {
            let uses = source.uses.iter().map(|leaf| {
                let is_passed_on = leaf.is_reexport && !source.uses_itself(leaf);
                (&leaf.import.path, leaf.import.line, leaf.at, leaf.import.name.is_none(), is_passed_on)
            });
            let named = source.named.iter().filter(|named| named.path.len() > 1);
            let named = named.map(|named| (&named.path, named.line, named.at, false, false));
            for (path, line, at, is_glob, is_passed_on) in uses.chain(named) {
                if let Some(path) = self.absolute(source, path, at) {
                    namings.push(Naming { from, path, line, is_glob, is_passed_on });
                }
            }
        }
        namings
    }

    /// The names that files use from other files. Re-exports are followed to the file that defines the name, and are no
    /// arrows themselves unless their own file uses the name.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows = Vec::new();
        for naming in self.namings().into_iter().filter(|naming| !naming.is_passed_on) {
            let (from, line) = (naming.from, naming.line);
            let name = naming.path.last().copied().unwrap_or_default().to_owned();
            let Some(target) = self.resolve(naming.path) else { continue };
            if target.source != from && (naming.is_glob || target.is_item) {
                arrows.push(Arrow { from, to: target.source, line, name });
            }
        }
        arrows.sort();
        arrows.dedup_by_key(|arrow| (arrow.from, arrow.to));
        arrows
    }

    /// The path from the root of the crate, or nothing if it leads out of the crate or to something local.
    fn absolute(&self, source: &Source<'a>, path: &[&'a str], at: usize) -> Option<Vec<&'a str>> {
        let mut here = source.module_at(at);
        let mut rest = path;
        match *rest.first()? {
            "crate" => (here, rest) = (Vec::new(), &rest[1..]),
            "self" if rest.len() > 1 => rest = &rest[1..],
            "super" => {
                while rest.first() == Some(&"super") {
                    here.pop();
                    rest = &rest[1..];
                }
            }
            first if self.is_module(&here, first) => {}
            first => {
                let leaf = source.uses.iter().find(|leaf| leaf.import.name == Some(first) && leaf.at != at)?;
                if leaf.import.path.first() == Some(&first) && !self.is_module(&here, first) {
                    return None;
                }
                let mut start = self.absolute(source, &leaf.import.path, leaf.at)?;
                start.extend(&rest[1..]);
                return Some(start);
            }
        }
        here.extend(rest);
        Some(here)
    }

    /// Whether `parent` has a module of that name, in a file of its own or inline.
    fn is_module(&self, parent: &[&'a str], name: &str) -> bool {
        let is_file = |source: &Source<'_>| {
            source.module.split_last().is_some_and(|(last, above)| *last == name && above == parent)
        };
        let is_inline = |source: &Source<'_>| {
            parent.strip_prefix(&source.module[..]).is_some_and(|inside| source.has_inline_module(inside, name))
        };
        self.sources.iter().any(|source| is_file(source) || is_inline(source))
    }

    /// The file that defines the item of an absolute path.
    fn resolve(&self, path: Vec<&'a str>) -> Option<Target> {
        let mut path = path;
        // Each turn follows one re-export.
        for _ in 0..FOLLOWED_MAX {
            let (at, depth) = self.deepest(&path)?;
            let source = &self.sources[at];
            let Some(name) = path.get(depth).copied() else {
                return Some(Target { source: at, is_item: false });
            };
            if source.defines(name) {
                return Some(Target { source: at, is_item: true });
            }
            let next = source.uses.iter().find(|leaf| leaf.import.name == Some(name) && !source.is_inline(leaf.at));
            let next = match next {
                Some(leaf) => self.absolute(source, &leaf.import.path, leaf.at),
                None => source.uses.iter().filter(|leaf| leaf.import.name.is_none()).find_map(|leaf| {
                    let mut behind = self.absolute(source, &leaf.import.path, leaf.at)?;
                    let (globbed, depth) = self.deepest(&behind)?;
                    behind.push(name);
                    (depth + 1 == behind.len() && self.sources[globbed].offers(name)).then_some(behind)
                }),
            };
            let Some(mut next) = next else {
                // A macro made it, or it is a name of another crate that this file only re-exports.
                return source
                    .uses
                    .iter()
                    .all(|leaf| leaf.import.name != Some(name))
                    .then_some(Target { source: at, is_item: true });
            };
            next.extend(&path[depth + 1..]);
            path = next;
        }
        None
    }

    /// The file of the longest beginning of `path` that is a module, and how long that beginning is.
    fn deepest(&self, path: &[&'a str]) -> Option<(usize, usize)> {
        let inside = |(_, source): &(usize, &Source<'a>)| path.starts_with(&source.module);
        let (at, source) =
            self.sources.iter().enumerate().filter(inside).max_by_key(|(_, source)| source.module.len())?;
        Some((at, source.module.len()))
    }
}

struct Target {
    source: usize,
    /// Whether the path went on behind the module.
    is_item: bool,
}

impl<'a> Source<'a> {
    fn new(folder: &str, file: &'a File) -> Self {
        let tokens = tokens(&file.text);
        let items = items(&tokens);
        let declarations = imports::declarations(&tokens);
        let named = imports::paths(&tokens, &declarations);
        let uses = declarations.iter().flat_map(|declaration| uses(&tokens, declaration)).collect();
        let module = module_path(&file.path[folder.len() + "/src/".len()..]);
        Self { file, module, tokens, items, is_test: false, uses, named }
    }

    /// The module around a token: the file's own, and inline modules.
    fn module_at(&self, at: usize) -> Vec<&'a str> {
        let around = self.items.iter().filter(|item| item.keyword == "mod" && item.tokens.contains(&at));
        self.module.iter().copied().chain(around.map(|item| item.name)).collect()
    }

    fn has_inline_module(&self, around: &[&str], name: &str) -> bool {
        self.items.iter().any(|item| item.keyword == "mod" && item.name == name && item.modules == around)
    }

    fn is_inline(&self, at: usize) -> bool {
        self.module_at(at).len() > self.module.len()
    }

    /// Whether it has an item of that name, inline modules themselves included, but not the modules of other files.
    fn defines(&self, name: &str) -> bool {
        self.items.iter().any(|item| {
            let is_elsewhere = item.keyword == "mod" && is_mark(&self.tokens, item.tokens.end - 1, ';');
            item.name == name && item.keyword != "use" && item.modules.is_empty() && !is_elsewhere
        })
    }

    /// Whether a glob import of it brings that name.
    fn offers(&self, name: &str) -> bool {
        self.defines(name) || self.uses.iter().any(|leaf| leaf.is_reexport && leaf.import.name == Some(name))
    }

    /// Whether the name of a re-export is used in the file that re-exports it.
    fn uses_itself(&self, leaf: &Use<'a>) -> bool {
        leaf.import.name.is_some_and(|name| self.named.iter().any(|named| named.path[0] == name))
    }
}

fn uses<'a>(tokens: &[Placed<'a>], declaration: &Range<usize>) -> Vec<Use<'a>> {
    let at = declaration.start;
    let is_reexport = at > 0 && (word(tokens, at - 1) == Some("pub") || is_mark(tokens, at - 1, ')'));
    imports::leaves(tokens, declaration).into_iter().map(|import| Use { import, at, is_reexport }).collect()
}

fn is_declared_for_tests(sources: &[Source<'_>], module: &[&str]) -> bool {
    let Some((name, parent)) = module.split_last() else {
        return false;
    };
    let declared = |source: &&Source<'_>| source.module == parent;
    sources.iter().find(declared).is_some_and(|source| {
        source.is_test || source.items.iter().any(|item| item.is_test && item.keyword == "mod" && item.name == *name)
    })
}

fn module_path(inside: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = inside.trim_end_matches(".rs").split('/').collect();
    if matches!(parts[..], ["lib"] | ["main"]) || parts.last() == Some(&"mod") {
        parts.pop();
    }
    parts
}

/// Re-exports of re-exports end after this many, in source that does not compile.
const FOLLOWED_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrows of a made-up crate, as `from > to: name`.
    fn arrows(sources: &[(&str, &str)]) -> Vec<String> {
        let file = |(path, text): &(&str, &str)| File { path: format!("a/src/{path}"), text: (*text).to_owned() };
        let mut files: Vec<File> = sources.iter().map(file).collect();
        if !sources.iter().any(|(path, _)| *path == "lib.rs") {
            files.push(File { path: "a/src/lib.rs".into(), text: String::new() });
        }
        let crates = crates(&files);
        let module = |at: usize| crates[0].sources[at].module.join("::");
        let describe = |arrow: &Arrow| format!("{} > {}: {}", module(arrow.from), module(arrow.to), arrow.name);
        crates[0].arrows().iter().map(describe).collect()
    }

    #[test]
    fn imports_and_paths_lead_to_the_file_that_defines_the_name() {
        let b = ("b.rs", "pub struct B; pub fn f() {}");
        assert_eq!(arrows(&[("a.rs", "use crate::b::B;"), b]), ["a > b: B"]);
        assert_eq!(arrows(&[("a.rs", "fn g() { crate::b::f() }"), b]), ["a > b: f"]);
        assert_eq!(arrows(&[("a.rs", "use super::b; fn g() { b::f() }"), b]), ["a > b: f"]);
        assert_eq!(arrows(&[("a.rs", "use crate::{b as c}; fn g() { c::f() }"), b]), ["a > b: f"]);
        assert_eq!(arrows(&[("a.rs", "fn g() { use crate::b::*; }"), b]), ["a > b: b"]);
        assert_eq!(arrows(&[("lib.rs", "mod b; use b::B; fn g() { b::f() }"), b]), [" > b: B"]);
        assert_eq!(arrows(&[("a.rs", "#[cfg(test)] mod tests { use super::super::b::B; }"), b]), ["a > b: B"]);
    }

    #[test]
    fn a_module_that_is_only_named_and_other_crates_are_no_arrows() {
        let b = ("b.rs", "pub struct B;");
        assert_eq!(
            arrows(&[("a.rs", "use crate::b; use std::b::B; use c::B as C; fn b() {}"), b]),
            Vec::<String>::new()
        );
        assert_eq!(arrows(&[("a.rs", "struct A; mod tests { use super::*; use super::A; }"), b]), Vec::<String>::new());
    }

    #[test]
    fn reexports_are_followed_and_are_arrows_only_where_the_name_is_used() {
        let c = ("b/c.rs", "pub struct C;");
        let passes_on = ("b/mod.rs", "mod c; pub use c::C;");
        assert_eq!(arrows(&[("a.rs", "use crate::b::C;"), passes_on, c]), ["a > b::c: C"]);
        assert_eq!(arrows(&[passes_on, c]), Vec::<String>::new());
        assert_eq!(arrows(&[("b/mod.rs", "mod c; pub use c::C; fn f(x: C) {}"), c]), ["b > b::c: C"]);
        assert_eq!(arrows(&[("a.rs", "use crate::b::C;"), ("b/mod.rs", "mod c; pub use c::*;"), c]), ["a > b::c: C"]);
        let inline = ("b/mod.rs", "mod c; pub use d::D; mod d { use crate::b::c::C; pub struct D; }");
        assert_eq!(arrows(&[("a.rs", "use crate::b::D;"), inline, c]), ["a > b: D", "b > b::c: C"]);
    }

    #[test]
    fn files_that_only_tests_compile_are_known() {
        let file = |path: &str, text: &str| File { path: format!("a/src/{path}"), text: text.to_owned() };
        let files = [
            file("lib.rs", "mod a; #[cfg(test)] mod b;"),
            file("a.rs", ""),
            file("b/mod.rs", "mod c;"),
            file("b/c.rs", ""),
        ];
        let crates = crates(&files);
        let tests: Vec<&str> =
            crates[0].sources.iter().filter(|source| source.is_test).map(|source| &*source.file.path).collect();
        assert_eq!(tests, ["a/src/b/mod.rs", "a/src/b/c.rs"]);
    }
}
