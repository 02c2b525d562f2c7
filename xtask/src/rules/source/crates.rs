//! The crates of the project as modules that name each other. A module is a file here: the names in an inline module
//! count as its file's.

use std::collections::BTreeMap;

use super::imports::{Names, Use, Written, names};
use super::items::{Item, ItemKind};
use super::read_items::items;
use super::tokens::line;
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
    pub(crate) items: Vec<Item>,
    /// Whether the whole file is compiled for tests only.
    pub(crate) is_test: bool,
    names: Names,
}

/// A path in a file that leads to something of the same crate.
pub(crate) struct Naming<'a> {
    /// Index into the sources of the crate.
    pub(crate) from: usize,
    /// The path from the root of the crate.
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

/// Every folder with `src/lib.rs` or `src/main.rs`, by path. `Err` names a place that is not Rust.
pub(crate) fn crates(files: &[File]) -> Result<Vec<Crate<'_>>, String> {
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
    fn new(folder: &'a str, files: &[&'a File]) -> Result<Self, String> {
        let sources: Result<Vec<Source<'a>>, String> = files.iter().map(|file| Source::new(folder, file)).collect();
        let mut sources = sources?;
        sources.sort_by(|a, b| (a.module.len(), &a.module).cmp(&(b.module.len(), &b.module)));
        for at in 0..sources.len() {
            sources[at].is_test = is_declared_for_tests(&sources, &sources[at].module);
        }
        Ok(Self { folder, sources })
    }

    /// The short name: the last part of the folder.
    pub(crate) fn name(&self) -> &'a str {
        self.folder.rsplit('/').next().unwrap_or(self.folder)
    }

    /// Every path that leads into this crate, from its root, as written: re-exports are not followed.
    pub(crate) fn namings(&self) -> Vec<Naming<'_>> {
        let mut namings = Vec::new();
        for (from, source) in self.sources.iter().enumerate() {
            let uses = source.names.uses.iter().map(|leaf| {
                let is_passed_on = leaf.is_reexport && !source.uses_itself(leaf);
                (&leaf.written, leaf.name.is_none(), is_passed_on)
            });
            let paths = source.names.paths.iter().filter(|written| written.path.len() > 1);
            for (written, is_glob, is_passed_on) in uses.chain(paths.map(|written| (written, false, false))) {
                if let Some(path) = self.absolute(source, written) {
                    namings.push(Naming { from, path, line: written.line, is_glob, is_passed_on });
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
    fn absolute<'b>(&'b self, source: &'b Source<'a>, written: &'b Written) -> Option<Vec<&'b str>> {
        let mut here = source.module_around(&written.modules);
        let path: Vec<&str> = written.path.iter().map(String::as_str).collect();
        let mut rest = &path[..];
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
                let is_elsewhere = |leaf: &&Use| leaf.written.declaration != written.declaration;
                let leaf = &source.imported(first).find(is_elsewhere)?.written;
                if leaf.path.first().is_some_and(|begin| begin == first) {
                    return None;
                }
                let mut start = self.absolute(source, leaf)?;
                start.extend(&rest[1..]);
                return Some(start);
            }
        }
        here.extend(rest);
        Some(here)
    }

    /// Whether `parent` has a module of that name, in its own file or inline.
    fn is_module(&self, parent: &[&str], name: &str) -> bool {
        let is_file = |source: &Source<'_>| {
            source.module.split_last().is_some_and(|(last, above)| *last == name && above == parent)
        };
        let is_inline = |source: &Source<'_>| {
            parent.strip_prefix(&source.module[..]).is_some_and(|inside| source.has_inline_module(inside, name))
        };
        self.sources.iter().any(|source| is_file(source) || is_inline(source))
    }

    /// The file that defines the item of an absolute path.
    fn resolve<'b>(&'b self, mut path: Vec<&'b str>) -> Option<Target> {
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
            let next = match source.imported(name).find(|leaf| leaf.written.modules.is_empty()) {
                Some(leaf) => self.absolute(source, &leaf.written),
                None => source.globs().find_map(|leaf| {
                    let mut behind = self.absolute(source, &leaf.written)?;
                    let (globbed, depth) = self.deepest(&behind)?;
                    behind.push(name);
                    (depth + 1 == behind.len() && self.sources[globbed].offers(name)).then_some(behind)
                }),
            };
            let Some(mut next) = next else {
                // A macro made it, or it is a name of another crate that this file only re-exports.
                let is_made = source.imported(name).next().is_none();
                return is_made.then_some(Target { source: at, is_item: true });
            };
            next.extend(&path[depth + 1..]);
            path = next;
        }
        None
    }

    /// The file of the longest beginning of `path` that is a module, and how long that beginning is.
    fn deepest(&self, path: &[&str]) -> Option<(usize, usize)> {
        let inside = |(_, source): &(usize, &Source<'a>)| path.starts_with(&source.module);
        let (at, source) =
            self.sources.iter().enumerate().filter(inside).max_by_key(|(_, source)| source.module.len())?;
        Some((at, source.module.len()))
    }
}

struct Target {
    source: usize,
    /// Whether the path continued after the module.
    is_item: bool,
}

impl<'a> Source<'a> {
    fn new(folder: &str, file: &'a File) -> Result<Self, String> {
        let parsed = syn::parse_file(&file.text);
        let parsed = parsed.map_err(|error| format!("{}:{}: {error}", file.path, line(error.span())))?;
        let module = module_path(&file.path[folder.len() + "/src/".len()..]);
        Ok(Self { file, module, items: items(&parsed), is_test: false, names: names(&parsed) })
    }

    /// The file's own module, and inline modules in it.
    fn module_around<'b>(&'b self, inline: &'b [String]) -> Vec<&'b str> {
        self.module.iter().copied().chain(inline.iter().map(String::as_str)).collect()
    }

    fn has_inline_module(&self, around: &[&str], name: &str) -> bool {
        self.items.iter().any(|item| item.is_module() && item.name == name && item.modules == around)
    }

    /// The leaves of its `use` declarations that give something that name.
    fn imported(&self, name: &str) -> impl Iterator<Item = &Use> {
        self.names.uses.iter().filter(move |leaf| leaf.name.as_deref() == Some(name))
    }

    fn globs(&self) -> impl Iterator<Item = &Use> {
        self.names.uses.iter().filter(|leaf| leaf.name.is_none())
    }

    /// Whether it has an item of that name, inline modules themselves included, but not the modules of other files.
    fn defines(&self, name: &str) -> bool {
        let is_elsewhere = |item: &Item| item.kind == ItemKind::Module { is_inline: false };
        self.items.iter().any(|item| item.name == name && item.modules.is_empty() && !is_elsewhere(item))
    }

    /// Whether a glob import of it brings that name.
    fn offers(&self, name: &str) -> bool {
        self.defines(name) || self.imported(name).any(|leaf| leaf.is_reexport)
    }

    /// Whether the name of a re-export is used in the file that re-exports it.
    fn uses_itself(&self, leaf: &Use) -> bool {
        leaf.name.as_ref().is_some_and(|name| self.names.paths.iter().any(|written| written.path[0] == *name))
    }
}

fn is_declared_for_tests(sources: &[Source<'_>], module: &[&str]) -> bool {
    let Some((name, parent)) = module.split_last() else {
        return false;
    };
    let declared = |source: &&Source<'_>| source.module == parent;
    sources.iter().find(declared).is_some_and(|source| {
        source.is_test || source.items.iter().any(|item| item.is_test && item.is_module() && item.name == *name)
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
        let crates = crates(&files).expect("it parses");
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
    fn naming_a_module_or_another_crate_makes_no_arrow() {
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
        let crates = crates(&files).expect("it parses");
        let tests: Vec<&str> =
            crates[0].sources.iter().filter(|source| source.is_test).map(|source| &*source.file.path).collect();
        assert_eq!(tests, ["a/src/b/mod.rs", "a/src/b/c.rs"]);
    }

    #[test]
    fn a_source_that_is_not_rust_is_named_with_its_line() {
        let file = |path: &str, text: &str| File { path: format!("a/src/{path}"), text: text.to_owned() };
        let files = [file("lib.rs", "mod b;"), file("b.rs", "\nfn {}")];
        let why = crates(&files).err();
        assert!(why.as_ref().is_some_and(|why| why.starts_with("a/src/b.rs:2: ")), "{why:?}");
    }
}
