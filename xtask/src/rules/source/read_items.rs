//! The items of a file, read by syn.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Fields, ForeignItem, ImplItem, ItemImpl, Meta, Signature, Token, TraitItem, Type, UseTree, Visibility,
};

use super::items::{Item, ItemKind};
use super::tokens::{is_mark, is_separator, line, lines, name, text};

/// The items of a file, in their order, those that a macro's content declares included. An item in a function's body
/// belongs to that function.
pub(crate) fn items(file: &syn::File) -> Vec<Item> {
    let mut found = Vec::new();
    Surroundings::default().read(&file.items, &mut found);
    found
}

#[derive(Clone, Default)]
struct Surroundings {
    modules: Vec<String>,
    /// The type of the `impl` block.
    of: Option<String>,
    is_test: bool,
}

/// What all items have: their attributes, their visibility, and their extent.
struct Head<'a>(&'a [Attribute], &'a Visibility, Span);

impl Surroundings {
    fn read(&self, items: &[syn::Item], found: &mut Vec<Item>) {
        items.iter().for_each(|item| self.read_item(item, found));
    }

    fn read_item(&self, item: &syn::Item, found: &mut Vec<Item>) {
        let span = item.span();
        let mut add = |kind: ItemKind, name: Option<&Ident>, attributes: &[Attribute], visibility: &Visibility| {
            found.push(self.item(kind, name, Head(attributes, visibility, span)));
        };
        match item {
            syn::Item::Const(it) => add(ItemKind::Other, Some(&it.ident), &it.attrs, &it.vis),
            syn::Item::Static(it) => add(ItemKind::Other, Some(&it.ident), &it.attrs, &it.vis),
            syn::Item::Enum(it) => add(ItemKind::OtherType, Some(&it.ident), &it.attrs, &it.vis),
            syn::Item::Union(it) => add(ItemKind::OtherType, Some(&it.ident), &it.attrs, &it.vis),
            syn::Item::Type(it) => add(ItemKind::OtherType, Some(&it.ident), &it.attrs, &it.vis),
            syn::Item::Struct(it) => add(fields(&it.fields), Some(&it.ident), &it.attrs, &it.vis),
            syn::Item::Use(it) => add(ItemKind::Use { names: leaves(&it.tree) }, None, &it.attrs, &it.vis),
            syn::Item::Fn(it) => add(self.function(&it.sig, span), Some(&it.sig.ident), &it.attrs, &it.vis),
            syn::Item::Mod(it) => {
                add(ItemKind::Module { is_inline: it.content.is_some() }, Some(&it.ident), &it.attrs, &it.vis);
                let mut inside = self.behind(&it.attrs);
                inside.modules.push(text(&it.ident));
                inside.read(it.content.as_ref().map_or(&[], |(_, items)| items), found);
            }
            syn::Item::Impl(it) => {
                add(ItemKind::Implementation { of: own_type(it) }, None, &it.attrs, PRIVATE);
                let inside = Self { of: own_type(it), ..self.behind(&it.attrs) };
                found.extend(it.items.iter().filter_map(|item| inside.of_block(item)));
            }
            syn::Item::Trait(it) => {
                add(ItemKind::OtherType, Some(&it.ident), &it.attrs, &it.vis);
                let inside = self.behind(&it.attrs);
                found.extend(it.items.iter().filter_map(|item| inside.of_trait(item)));
            }
            syn::Item::ForeignMod(it) => {
                let inside = self.behind(&it.attrs);
                found.extend(it.items.iter().filter_map(|item| inside.of_other_language(item)));
            }
            syn::Item::Macro(it) => match &it.ident {
                Some(name) => add(ItemKind::Other, Some(name), &it.attrs, PRIVATE),
                None => self.behind(&it.attrs).read_content(&it.mac.tokens, found),
            },
            _ => {}
        }
    }

    /// Reads the content of a macro: items, or structs whose fields have a syntax of the macro's own.
    fn read_content(&self, tokens: &TokenStream, found: &mut Vec<Item>) {
        let structs = |input: ParseStream<'_>| self.structs(input);
        match syn::parse2::<syn::File>(tokens.clone()) {
            Ok(content) => self.read(&content.items, found),
            // Other content declares nothing.
            Err(_) => found.extend(structs.parse2(tokens.clone()).unwrap_or_default()),
        }
    }

    fn structs(&self, input: ParseStream<'_>) -> syn::Result<Vec<Item>> {
        let mut found = Vec::new();
        while !input.is_empty() {
            let attributes = input.call(Attribute::parse_outer)?;
            let visibility: Visibility = input.parse()?;
            if input.parse::<Option<Token![struct]>>()?.is_some() {
                let (name, fields): (Ident, Group) = (input.parse()?, input.parse()?);
                let kind = ItemKind::Struct { fields: colons(fields.stream()) };
                found.push(self.item(kind, Some(&name), Head(&attributes, &visibility, fields.span())));
            } else {
                input.parse::<TokenTree>()?;
            }
        }
        Ok(found)
    }

    fn of_block(&self, item: &ImplItem) -> Option<Item> {
        let (kind, name, attributes, visibility) = match item {
            ImplItem::Fn(it) => (self.function(&it.sig, it.span()), &it.sig.ident, &it.attrs, &it.vis),
            ImplItem::Const(it) => (ItemKind::Other, &it.ident, &it.attrs, &it.vis),
            ImplItem::Type(it) => (ItemKind::OtherType, &it.ident, &it.attrs, &it.vis),
            _ => return None,
        };
        Some(self.item(kind, Some(name), Head(attributes, visibility, item.span())))
    }

    fn of_trait(&self, item: &TraitItem) -> Option<Item> {
        let (kind, name, attributes) = match item {
            TraitItem::Fn(it) => (self.function(&it.sig, it.span()), &it.sig.ident, &it.attrs),
            TraitItem::Const(it) => (ItemKind::Other, &it.ident, &it.attrs),
            TraitItem::Type(it) => (ItemKind::OtherType, &it.ident, &it.attrs),
            _ => return None,
        };
        Some(self.item(kind, Some(name), Head(attributes, PRIVATE, item.span())))
    }

    fn of_other_language(&self, item: &ForeignItem) -> Option<Item> {
        match item {
            ForeignItem::Fn(it) => {
                let head = Head(&it.attrs, &it.vis, it.span());
                Some(self.item(self.function(&it.sig, it.span()), Some(&it.sig.ident), head))
            }
            _ => None,
        }
    }

    fn function(&self, signature: &Signature, span: Span) -> ItemKind {
        ItemKind::Function { lines: span.end().line + 1 - line(signature.fn_token.span), of: self.of.clone() }
    }

    fn item(&self, kind: ItemKind, name: Option<&Ident>, Head(attributes, visibility, span): Head<'_>) -> Item {
        let Self { modules, is_test, .. } = self.behind(attributes);
        let name = name.map(text).unwrap_or_default();
        Item { kind, name, lines: lines(span), modules, visibility: visibility.into(), is_test }
    }

    /// The surroundings of the item that has these attributes.
    fn behind(&self, attributes: &[Attribute]) -> Self {
        Self { is_test: self.is_test || attributes.iter().any(is_for_tests), ..self.clone() }
    }
}

const PRIVATE: &Visibility = &Visibility::Inherited;

fn fields(fields: &Fields) -> ItemKind {
    ItemKind::Struct { fields: if let Fields::Named(fields) = fields { fields.named.len() } else { 0 } }
}

/// How many names a tree of imports gives.
fn leaves(tree: &UseTree) -> usize {
    match tree {
        UseTree::Path(path) => leaves(&path.tree),
        UseTree::Group(group) => group.items.iter().map(leaves).sum(),
        _ => 1,
    }
}

/// How many names are followed by a colon, outside of groups.
fn colons(fields: TokenStream) -> usize {
    let fields: Vec<TokenTree> = fields.into_iter().collect();
    let has_colon = |at: &usize| is_mark(&fields, at + 1, ':') && !is_separator(&fields, at + 1);
    (0..fields.len()).filter(|at| name(&fields, *at).is_some() && has_colon(at)).count()
}

fn own_type(block: &ItemImpl) -> Option<String> {
    match &*block.self_ty {
        Type::Path(of) if block.trait_.is_none() => of.path.get_ident().map(text),
        _ => None,
    }
}

/// `#[test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`, but not `#[cfg(not(test))]` or `#[cfg(any(test, …))]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let condition = || attribute.parse_args::<Meta>();
    let path = attribute.path();
    path.is_ident("test") || path.is_ident("cfg") && condition().is_ok_and(|condition| asks_for_tests(&condition))
}

fn asks_for_tests(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(all) if all.path.is_ident("all") => all
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|conditions| conditions.iter().any(asks_for_tests)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::source::items::Visible;

    fn read(source: &str) -> Vec<Item> {
        items(&syn::parse_str(source).expect("it parses"))
    }

    /// Each item's visibility and name, with the modules around it.
    fn described(source: &str) -> Vec<String> {
        let describe = |item: &Item| {
            let test = if item.is_test { " test" } else { "" };
            let visibility = match item.visibility {
                Visible::Private => "",
                Visible::Restricted => "pub() ",
                Visible::Public => "pub ",
            };
            format!("{visibility}{}::{}{test}", item.modules.join("::"), item.name)
        };
        read(source).iter().map(describe).collect()
    }

    #[test]
    fn items_are_found_with_their_names_and_visibility() {
        let source =
            "pub struct A { pub x: u8 } pub(crate) enum B { C, D } pub const fn f() -> u8 { const N: u8 = 1; N }
            const Z: &[u8] = &[1]; static mut S: u8 = 1; type T = u8; macro_rules! m { () => { fn g() {} } } struct U;
            extern \"C\" { fn h(); } m! { pub fn i() {} } m!(+);
            m! { /// J
                pub struct J { a: u8, \"b\"; c: d::E; } }";
        let expected =
            ["pub ::A", "pub() ::B", "pub ::f", "::Z", "::S", "::T", "::m", "::U", "::h", "pub ::i", "pub ::J"];
        assert_eq!(described(source), expected);
    }

    #[test]
    fn methods_and_inline_modules_are_looked_into_and_function_bodies_are_not() {
        let source =
            "impl<'a> T for A<'a> { pub fn f() { fn inner() {} } } mod m { pub fn g() {} mod n { fn h() {} } }";
        assert_eq!(described(source), ["::", "pub ::f", "::m", "pub m::g", "m::n", "m::n::h"]);
    }

    #[test]
    fn test_only_items_are_known_by_their_attribute() {
        let source = "#[cfg(test)] mod t { fn a() {} } fn b() {} #[test] fn c() {} #[cfg(not(test))] fn d() {}
            #[cfg(test)] mod out; #[derive(Debug)] struct E; #[cfg(all(test, unix))] fn f() {}
            #[cfg(any(test, unix))] fn g() {}";
        let expected = ["::t test", "t::a test", "::b", "::c test", "::d", "::out test", "::E", "::f test", "::g"];
        assert_eq!(described(source), expected);
    }

    #[test]
    fn each_kind_has_its_own_figures() {
        let source = "struct A { b: u8, c: fn(d: u8) } struct E(u8); impl A { fn f() {\n} } impl<T> G<T> {}
            impl H for A { fn i() {} } use j::{k, l}; mod m; mod n {} o! { struct P { q: r::S, +; } }";
        let kinds: Vec<ItemKind> = read(source).into_iter().map(|item| item.kind).collect();
        let of = || Some("A".to_owned());
        let expected = [
            ItemKind::Struct { fields: 2 },
            ItemKind::Struct { fields: 0 },
            ItemKind::Implementation { of: of() },
            ItemKind::Function { lines: 2, of: of() },
            ItemKind::Implementation { of: None },
            ItemKind::Implementation { of: None },
            ItemKind::Function { lines: 1, of: None },
            ItemKind::Use { names: 2 },
            ItemKind::Module { is_inline: false },
            ItemKind::Module { is_inline: true },
            ItemKind::Struct { fields: 1 },
        ];
        assert_eq!(kinds, expected);
    }
}
