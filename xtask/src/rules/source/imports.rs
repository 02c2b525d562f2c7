//! The names in a file: the leaves of its `use` declarations, and the paths in its other code.

use std::ops::Range;

use super::items::{is_mark, word};
use super::tokens::{Placed, Token};

/// One leaf of a `use` declaration: `use a::{b, c as d, e::*};` has three.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import<'a> {
    /// As written, `self` at the end left out.
    pub(crate) path: Vec<&'a str>,
    /// The name that it has in this file; a glob has none.
    pub(crate) name: Option<&'a str>,
    pub(crate) line: usize,
}

/// The `use` declarations of a file, those inside of functions included: from the keyword to the semicolon.
pub(crate) fn declarations(tokens: &[Placed<'_>]) -> Vec<Range<usize>> {
    let begins = |at: &usize| word(tokens, *at) == Some("use") && !is_mark(tokens, at + 1, '<');
    let end = |at: usize| (at..tokens.len()).find(|end| is_mark(tokens, *end, ';')).map_or(tokens.len(), |end| end + 1);
    (0..tokens.len()).filter(begins).map(|at| at..end(at)).collect()
}

/// The leaves of one declaration.
pub(crate) fn leaves<'a>(tokens: &[Placed<'a>], declaration: &Range<usize>) -> Vec<Import<'a>> {
    let mut found = Vec::new();
    branch(tokens, declaration.start + 1, &[], &mut found);
    found
}

/// Reads one branch of a tree of imports; returns where it ends.
fn branch<'a>(tokens: &[Placed<'a>], mut at: usize, prefix: &[&'a str], found: &mut Vec<Import<'a>>) -> usize {
    let mut path = prefix.to_vec();
    let Some(line) = tokens.get(at).map(|placed| placed.line) else {
        return at;
    };
    loop {
        let Some(placed) = tokens.get(at) else {
            return at;
        };
        match placed.token {
            Token::PathSeparator => at += 1,
            Token::Word("as") => {
                found.push(Import { path, name: word(tokens, at + 1), line });
                return at + 2;
            }
            // `as _`, and a raw word, are words too.
            Token::Word(name) => {
                path.push(name);
                at += 1;
            }
            Token::Mark('*') => {
                found.push(Import { path, name: None, line: placed.line });
                return at + 1;
            }
            Token::Mark('{') => {
                at += 1;
                while tokens.get(at).is_some() && !is_mark(tokens, at, '}') {
                    let end = branch(tokens, at, &path, found);
                    at = if is_mark(tokens, end, ',') { end + 1 } else { end.max(at + 1) };
                }
                return at + 1;
            }
            _ => {
                leaf(path, line, prefix, found);
                return at;
            }
        }
        if matches!(tokens.get(at).map(|next| next.token), Some(Token::Mark(',' | '}' | ';'))) {
            leaf(path, line, prefix, found);
            return at;
        }
    }
}

fn leaf<'a>(mut path: Vec<&'a str>, line: usize, prefix: &[&'a str], found: &mut Vec<Import<'a>>) {
    if path.len() > 1 && path.len() > prefix.len() && path.last() == Some(&"self") {
        path.pop();
    }
    if let Some(name) = path.last().copied() {
        found.push(Import { path, name: Some(name), line });
    }
}

/// A path in code outside of `use` declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named<'a> {
    pub(crate) path: Vec<&'a str>,
    pub(crate) line: usize,
    /// Index of its first token.
    pub(crate) at: usize,
}

/// All paths outside of the given `use` declarations, single words included.
pub(crate) fn paths<'a>(tokens: &[Placed<'a>], uses: &[Range<usize>]) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(declaration) = uses.iter().find(|range| range.contains(&at)) {
            at = declaration.end;
            continue;
        }
        let Some(first) = word(tokens, at) else {
            at += 1;
            continue;
        };
        let (start, line) = (at, tokens[at].line);
        let mut path = vec![first];
        at += 1;
        while tokens.get(at).is_some_and(|placed| placed.token == Token::PathSeparator) {
            let Some(next) = word(tokens, at + 1) else { break };
            path.push(next);
            at += 2;
        }
        // Behind a dot it is a field or a method, behind `::` the rest of a qualified path.
        let is_member = start > 0 && matches!(tokens[start - 1].token, Token::Mark('.') | Token::PathSeparator);
        if !is_member {
            found.push(Named { path, line, at: start });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::source::tokens::tokens;

    fn described(source: &str) -> Vec<String> {
        let tokens = tokens(source);
        let describe = |import: &Import<'_>| format!("{} as {}", import.path.join("::"), import.name.unwrap_or("*"));
        let found = declarations(&tokens);
        found.iter().flat_map(|declaration| leaves(&tokens, declaration)).map(|import| describe(&import)).collect()
    }

    #[test]
    fn every_leaf_of_a_tree_is_found() {
        assert_eq!(described("use a;"), ["a as a"]);
        assert_eq!(described("use crate::a::B;"), ["crate::a::B as B"]);
        assert_eq!(
            described("pub use a::b::{self, C as D, e::*, f::{G, H,},};"),
            ["a::b as b", "a::b::C as D", "a::b::e as *", "a::b::f::G as G", "a::b::f::H as H"]
        );
        assert_eq!(described("fn f() -> impl T + use<'a> { use b::C; }"), ["b::C as C"]);
        assert_eq!(
            described("use {a::B, c}; use super::*; use T as _;"),
            ["a::B as B", "c as c", "super as *", "T as _"]
        );
    }

    #[test]
    fn paths_of_code_are_found_and_members_are_not() {
        let tokens = tokens("use a::b; fn f(x: c::D) { x.y.z(); E::<u8>::g(); <H as I>::j() }");
        let paths: Vec<String> =
            paths(&tokens, &declarations(&tokens)).iter().map(|named| named.path.join("::")).collect();
        assert_eq!(paths, ["fn", "f", "x", "c::D", "x", "E", "u8", "H", "as", "I"]);
    }

    #[test]
    fn broken_source_ends() {
        for source in ["use", "use a::", "use {", "use a::{b", "use ;", "use a as", "use }"] {
            described(source);
        }
    }
}
