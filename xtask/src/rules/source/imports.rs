//! The names in a file: the leaves of its `use` declarations, and the paths in its other code.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, Macro, MetaList, Path, UseName, UseRename, UseTree, Visibility};

use super::tokens::{self, line, text};

/// The names in a file.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) uses: Vec<Use>,
    pub(crate) paths: Vec<Named>,
}

/// One leaf of a `use` declaration: `use a::{b, c as d, e::*};` has three.
pub(crate) struct Import {
    /// As written, `self` at the end left out.
    pub(crate) path: Vec<String>,
    /// The name that it has in this file; a glob has none.
    pub(crate) name: Option<String>,
    pub(crate) line: usize,
}

/// An import, with its place.
pub(crate) struct Use {
    pub(crate) import: Import,
    /// The number of its declaration in this file.
    pub(crate) declaration: usize,
    /// Names of the inline modules around it, outermost first.
    pub(crate) modules: Vec<String>,
    pub(crate) is_reexport: bool,
}

/// A path in code outside of `use` declarations, single names included.
pub(crate) struct Named {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    pub(crate) modules: Vec<String>,
}

/// A path, and what its meaning depends on.
pub(crate) struct Written<'b> {
    pub(crate) path: Vec<&'b str>,
    pub(crate) modules: &'b [String],
    /// The `use` declaration that it is part of.
    pub(crate) declaration: Option<usize>,
}

impl Use {
    pub(crate) fn written(&self) -> Written<'_> {
        let path = self.import.path.iter().map(String::as_str).collect();
        Written { path, modules: &self.modules, declaration: Some(self.declaration) }
    }
}

impl Named {
    pub(crate) fn written(&self) -> Written<'_> {
        let path = self.path.iter().map(String::as_str).collect();
        Written { path, modules: &self.modules, declaration: None }
    }
}

/// The names in a file, those in functions, macros and attributes included.
pub(crate) fn names(file: &syn::File) -> Names {
    let mut reader = Reader::default();
    reader.visit_file(file);
    reader.found
}

/// The leaves of one declaration.
pub(crate) fn leaves(tree: &UseTree) -> Vec<Import> {
    let mut found = Vec::new();
    branch(tree, &[], &mut found);
    found
}

fn branch(tree: &UseTree, prefix: &[String], found: &mut Vec<Import>) {
    let with = |ident: &Ident| [prefix, &[text(ident)]].concat();
    let leaf = |ident: &Ident| if ident == "self" && !prefix.is_empty() { prefix.to_vec() } else { with(ident) };
    match tree {
        UseTree::Path(path) => branch(&path.tree, &with(&path.ident), found),
        UseTree::Group(group) => group.items.iter().for_each(|tree| branch(tree, prefix, found)),
        UseTree::Name(UseName { ident }) => {
            let path = leaf(ident);
            found.push(Import { name: path.last().cloned(), path, line: line(ident.span()) });
        }
        UseTree::Rename(UseRename { ident, rename, .. }) => {
            found.push(Import { path: leaf(ident), name: Some(text(rename)), line: line(ident.span()) });
        }
        UseTree::Glob(glob) => {
            found.push(Import { path: prefix.to_vec(), name: None, line: line(glob.star_token.span) });
        }
    }
}

#[derive(Default)]
struct Reader {
    modules: Vec<String>,
    declarations: usize,
    found: Names,
}

impl Reader {
    fn add_path(&mut self, path: Vec<String>, line: usize) {
        self.found.paths.push(Named { path, line, modules: self.modules.clone() });
    }

    fn add_use(&mut self, declared: &ItemUse) {
        self.declarations += 1;
        let (declaration, is_reexport) = (self.declarations, !matches!(declared.vis, Visibility::Inherited));
        let (leaves, modules) = (leaves(&declared.tree).into_iter(), &self.modules);
        self.found.uses.extend(leaves.map(|import| Use { import, declaration, modules: modules.clone(), is_reexport }));
    }

    /// Only the macro knows the syntax of what is in it: each run of names and `::` is taken for a path.
    fn read_tokens(&mut self, tokens: &TokenStream) {
        tokens::each(tokens.clone(), &mut |tokens, at| {
            let Some(path) = tokens::path(tokens, at) else { return };
            if path == ["use"]
                && let Some(declared) = declaration(&tokens[at..])
            {
                self.add_use(&declared);
            }
            self.add_path(path, line(tokens[at].span()));
        });
    }
}

/// The `use` declaration that `tokens` begin with.
fn declaration(tokens: &[TokenTree]) -> Option<ItemUse> {
    let end = (0..tokens.len()).find(|at| tokens::is_mark(tokens, *at, ';'))?;
    syn::parse2(tokens[..=end].iter().cloned().collect()).ok()
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        self.modules.push(text(&module.ident));
        visit::visit_item_mod(self, module);
        self.modules.pop();
    }

    fn visit_item_use(&mut self, declared: &'ast ItemUse) {
        self.add_use(declared);
        visit::visit_item_use(self, declared);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        // `::a` is another crate, and `<A>::b` something of a type.
        if path.leading_colon.is_none()
            && let Some(first) = path.segments.first()
        {
            let names = path.segments.iter().map(|segment| text(&segment.ident)).collect();
            self.add_path(names, line(first.ident.span()));
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        self.visit_path(&called.path);
        self.read_tokens(&called.tokens);
    }

    fn visit_meta_list(&mut self, attribute: &'ast MetaList) {
        self.visit_path(&attribute.path);
        self.read_tokens(&attribute.tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Names {
        names(&syn::parse_str(source).expect("it parses"))
    }

    fn described(source: &str) -> Vec<String> {
        let name = |import: &Import| import.name.clone().unwrap_or_else(|| "*".into());
        let describe = |Use { import, .. }: &Use| format!("{} as {}", import.path.join("::"), name(import));
        read(source).uses.iter().map(describe).collect()
    }

    #[test]
    fn every_leaf_of_a_tree_is_found() {
        assert_eq!(described("use a;"), ["a as a"]);
        assert_eq!(described("use crate::a::r#B;"), ["crate::a::B as B"]);
        assert_eq!(
            described("pub use a::b::{self, C as D, e::*, f::{G, H,},};"),
            ["a::b as b", "a::b::C as D", "a::b::e as *", "a::b::f::G as G", "a::b::f::H as H"]
        );
        assert_eq!(described("fn f<'a>() -> impl T + use<'a> { use b::C; }"), ["b::C as C"]);
        assert_eq!(
            described("use {a::B, c}; use super::*; use T as _;"),
            ["a::B as B", "c as c", "super as *", "T as _"]
        );
        assert_eq!(described("macro_rules! m { () => { use a::{b, c}; fn f() {} } }"), ["a::b as b", "a::c as c"]);
    }

    #[test]
    fn paths_of_code_are_found_and_members_are_not() {
        let paths =
            |source: &str| -> Vec<String> { read(source).paths.iter().map(|named| named.path.join("::")).collect() };
        let source = "use a::b; fn f(x: c::D) { x.y.z(); E::<u8>::g(); <H as I>::j() }";
        assert_eq!(paths(source), ["c::D", "x", "E::g", "u8", "H", "I::j"]);
        assert_eq!(paths("#[a(b::c)] fn f() { d!(e::f, \"g::h\") }"), ["a", "b::c", "d", "e::f"]);
        assert_eq!(paths("fn f() { ::a::b(); <A>::b() }"), ["A"]);
    }
}
