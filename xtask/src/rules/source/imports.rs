//! The names in a file: the leaves of its `use` declarations, and the paths in its other code.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, Macro, MetaList, Path, UseName, UsePath, UseRename, UseTree, Visibility};

use super::tokens::{self, line, text};

/// The names in a file.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) uses: Vec<Use>,
    /// Outside of `use` declarations, single names included.
    pub(crate) paths: Vec<Written>,
}

/// One leaf of a `use` declaration: `use a::{b, c as d, e::*};` has three.
pub(crate) struct Use {
    /// `self` at the end left out.
    pub(crate) written: Written,
    /// The name that it has in this file; a glob has none.
    pub(crate) name: Option<String>,
    pub(crate) is_reexport: bool,
}

/// A path as it is written, and what its meaning depends on.
pub(crate) struct Written {
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// Names of the inline modules around it, outermost first.
    pub(crate) modules: Vec<String>,
    /// The number of the `use` declaration that it is part of.
    pub(crate) declaration: Option<usize>,
}

/// The names in a file, those in functions, macros and attributes included.
pub(crate) fn names(file: &syn::File) -> Names {
    let mut reader = Reader::default();
    reader.visit_file(file);
    reader.found
}

#[derive(Default)]
struct Reader {
    modules: Vec<String>,
    declarations: usize,
    found: Names,
}

impl Reader {
    fn add_path(&mut self, path: Vec<String>, line: usize) {
        self.found.paths.push(Written { path, line, modules: self.modules.clone(), declaration: None });
    }

    fn add_use(&mut self, declared: &ItemUse) {
        self.declarations += 1;
        self.add_branch(&declared.tree, &[], !matches!(declared.vis, Visibility::Inherited));
    }

    fn add_branch(&mut self, tree: &UseTree, prefix: &[String], is_reexport: bool) {
        let (ident, name) = match tree {
            UseTree::Group(group) => {
                return group.items.iter().for_each(|tree| self.add_branch(tree, prefix, is_reexport));
            }
            UseTree::Path(UsePath { ident, tree, .. }) => {
                return self.add_branch(tree, &[prefix, &[text(ident)]].concat(), is_reexport);
            }
            UseTree::Name(UseName { ident }) => (Some(ident), Some(ident)),
            UseTree::Rename(UseRename { ident, rename, .. }) => (Some(ident), Some(rename)),
            UseTree::Glob(_) => (None, None),
        };
        let last = ident.filter(|ident| prefix.is_empty() || *ident != "self").map(text);
        let path: Vec<String> = prefix.iter().cloned().chain(last).collect();
        let name = name.and_then(|name| if name == "self" { path.last().cloned() } else { Some(text(name)) });
        let declaration = Some(self.declarations);
        let written = Written { path, line: line(tree.span()), modules: self.modules.clone(), declaration };
        self.found.uses.push(Use { written, name, is_reexport });
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
        let describe =
            |leaf: &Use| format!("{} as {}", leaf.written.path.join("::"), leaf.name.as_deref().unwrap_or("*"));
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
