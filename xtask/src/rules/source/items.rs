//! The items of a file: the range of each, its name, and whether it exists only in tests.

use std::ops::Range;

use super::tokens::{Placed, Token};

/// One item, or one method of an `impl` or `trait`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item<'a> {
    /// `fn`, `struct`, `mod` and so on.
    pub(crate) keyword: &'a str,
    /// Empty for an `impl` and for a `use`.
    pub(crate) name: &'a str,
    /// From its first attribute to its last brace or semicolon, as indexes of tokens.
    pub(crate) tokens: Range<usize>,
    /// Index of its keyword.
    pub(crate) keyword_at: usize,
    /// Names of the inline modules around it, outermost first.
    pub(crate) modules: Vec<&'a str>,
    pub(crate) visibility: Visibility,
    /// Whether the item, or something around it, is behind `#[cfg(test)]` or `#[test]`.
    pub(crate) is_test: bool,
}

/// The code that may name an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    /// Written without `pub`.
    Private,
    /// `pub(crate)`, `pub(super)` and `pub(in path)`.
    Restricted,
    /// `pub` without a restriction.
    Public,
}

/// The items of a file, in the order of their keywords. The content of functions is not examined, except for modules:
/// an item in a function's body belongs to that function.
pub(crate) fn items<'a>(tokens: &[Placed<'a>]) -> Vec<Item<'a>> {
    let mut found = Vec::new();
    read(tokens, 0..tokens.len(), &Surroundings::default(), &mut found);
    found
}

#[derive(Clone, Default)]
struct Surroundings<'a> {
    modules: Vec<&'a str>,
    is_test: bool,
}

fn read<'a>(tokens: &[Placed<'a>], range: Range<usize>, around: &Surroundings<'a>, found: &mut Vec<Item<'a>>) {
    let mut at = range.start;
    let mut is_test = around.is_test;
    let mut visibility = Visibility::Private;
    let mut begin = at;
    while at < range.end {
        let next = match tokens[at].token {
            Token::Mark('#') => {
                let end = attribute_end(tokens, at);
                // `#![cfg(test)]` of a file is not used in this project; an attribute belongs to the next item.
                is_test |= is_test_attribute(&tokens[at..end]);
                at = end;
                continue;
            }
            Token::Word("pub") => {
                let is_restricted = is_mark(tokens, at + 1, '(');
                visibility = if is_restricted { Visibility::Restricted } else { Visibility::Public };
                at = if is_restricted { group_end(tokens, at + 1) } else { at + 1 };
                continue;
            }
            Token::Word("const" | "unsafe" | "async" | "extern") if leads_to_function(tokens, at + 1) => {
                at += 1;
                continue;
            }
            Token::Word("unsafe" | "auto" | "default") => {
                at += 1;
                continue;
            }
            Token::Word(keyword) if KEYWORDS.contains(&keyword) => {
                let end = item_end(tokens, at, keyword).min(range.end);
                let name = name_of(tokens, at, keyword);
                let modules = around.modules.clone();
                found.push(Item { keyword, name, tokens: begin..end, keyword_at: at, modules, visibility, is_test });
                if let Some(body) = body_of_container(tokens, at..end, keyword) {
                    let mut inside = Surroundings { modules: around.modules.clone(), is_test };
                    if keyword == "mod" {
                        inside.modules.push(name);
                    }
                    read(tokens, body, &inside, found);
                }
                end
            }
            _ => at + 1,
        };
        (is_test, visibility) = (around.is_test, Visibility::Private);
        (at, begin) = (next, next);
    }
}

/// Whether the words from `at` on are qualifiers of a function: `const unsafe extern fn`.
fn leads_to_function(tokens: &[Placed<'_>], mut at: usize) -> bool {
    while matches!(word(tokens, at), Some("unsafe" | "async" | "extern")) {
        at += 1;
    }
    word(tokens, at) == Some("fn")
}

fn name_of<'a>(tokens: &[Placed<'a>], at: usize, keyword: &str) -> &'a str {
    match keyword {
        "impl" | "use" => "",
        // `macro_rules! name`
        "macro_rules" => word(tokens, at + 2).unwrap_or_default(),
        "static" if word(tokens, at + 1) == Some("mut") => word(tokens, at + 2).unwrap_or_default(),
        _ => word(tokens, at + 1).unwrap_or_default(),
    }
}

/// One past the last token of the item whose keyword is at `at`.
fn item_end(tokens: &[Placed<'_>], at: usize, keyword: &str) -> usize {
    let ends_with_braces = !matches!(keyword, "use" | "const" | "static" | "type");
    let mut next = at + 1;
    while let Some(placed) = tokens.get(next) {
        match placed.token {
            Token::Mark(';') => return next + 1,
            Token::Mark('{') if ends_with_braces => return group_end(tokens, next),
            Token::Mark('(' | '[' | '{') => next = group_end(tokens, next),
            _ => next += 1,
        }
    }
    next
}

/// The inside of the braces of an item that contains items.
fn body_of_container(tokens: &[Placed<'_>], item: Range<usize>, keyword: &str) -> Option<Range<usize>> {
    if !matches!(keyword, "mod" | "impl" | "trait") || !is_mark(tokens, item.end - 1, '}') {
        return None;
    }
    let depth_before = |at: &usize| is_mark(tokens, *at, '{') && group_end(tokens, *at) == item.end;
    let open = item.clone().find(depth_before)?;
    Some(open + 1..item.end - 1)
}

/// One past the bracket that closes the one at `open`.
pub(crate) fn group_end(tokens: &[Placed<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, placed) in tokens.iter().enumerate().skip(open) {
        match placed.token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn attribute_end(tokens: &[Placed<'_>], hash: usize) -> usize {
    let open = if is_mark(tokens, hash + 1, '!') { hash + 2 } else { hash + 1 };
    if is_mark(tokens, open, '[') { group_end(tokens, open) } else { hash + 1 }
}

/// `#[test]`, `#[cfg(test)]` and `#[cfg(all(test, …))]`, but not `#[cfg(not(test))]` or `#[cfg(any(test, …))]`.
fn is_test_attribute(attribute: &[Placed<'_>]) -> bool {
    let words: Vec<&str> = (0..attribute.len()).filter_map(|at| word(attribute, at)).collect();
    matches!(words[..], ["test"] | ["cfg", "test"] | ["cfg", "all", "test", ..])
}

/// The word at `at`, if there is one.
pub(crate) fn word<'a>(tokens: &[Placed<'a>], at: usize) -> Option<&'a str> {
    match tokens.get(at)?.token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

/// Whether the token at `at` is that mark.
pub(crate) fn is_mark(tokens: &[Placed<'_>], at: usize, mark: char) -> bool {
    tokens.get(at).is_some_and(|placed| placed.token == Token::Mark(mark))
}

const KEYWORDS: &[&str] =
    &["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "use", "impl", "macro_rules"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::source::tokens::tokens;

    fn described(source: &str) -> Vec<String> {
        let leaked: &'static str = source.to_owned().leak();
        let describe = |item: &Item<'_>| {
            let test = if item.is_test { " test" } else { "" };
            let visibility = match item.visibility {
                Visibility::Private => "",
                Visibility::Restricted => "pub() ",
                Visibility::Public => "pub ",
            };
            format!("{visibility}{} {}::{}{test}", item.keyword, item.modules.join("::"), item.name)
        };
        items(&tokens(leaked)).iter().map(describe).collect()
    }

    #[test]
    fn items_are_found_with_their_names_and_visibility() {
        let source =
            "pub struct A { pub x: u8 } pub(crate) enum B { C, D } pub const fn f() -> u8 { const N: u8 = 1; N }
            const Z: &[u8] = &[1]; static mut S: u8 = 1; type T = u8; macro_rules! m { () => { fn g() {} } } struct U;";
        let expected = [
            "pub struct ::A",
            "pub() enum ::B",
            "pub fn ::f",
            "const ::Z",
            "static ::S",
            "type ::T",
            "macro_rules ::m",
            "struct ::U",
        ];
        assert_eq!(described(source), expected);
    }

    #[test]
    fn methods_and_inline_modules_are_looked_into_and_function_bodies_are_not() {
        let source =
            "impl<'a> T for A<'a> { pub fn f() { fn inner() {} } } mod m { pub fn g() {} mod n { fn h() {} } }";
        assert_eq!(described(source), ["impl ::", "pub fn ::f", "mod ::m", "pub fn m::g", "mod m::n", "fn m::n::h"]);
    }

    #[test]
    fn what_exists_in_tests_only_is_known_by_its_attribute() {
        let source = "#[cfg(test)] mod t { fn a() {} } fn b() {} #[test] fn c() {} #[cfg(not(test))] fn d() {}
            #[cfg(test)] mod out; #[derive(Debug)] struct E;";
        let expected =
            ["mod ::t test", "fn t::a test", "fn ::b", "fn ::c test", "fn ::d", "mod ::out test", "struct ::E"];
        assert_eq!(described(source), expected);
    }

    #[test]
    fn broken_source_ends() {
        for source in ["pub", "fn", "impl {", "mod m { fn", "#[", "pub(", "use", "}", "macro_rules"] {
            described(source);
        }
    }
}
