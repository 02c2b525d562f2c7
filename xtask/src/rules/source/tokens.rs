//! Tokens as proc_macro2 gives them, for what a syntax tree does not show: the content of macros and attributes, and
//! words wherever they are.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, Ident, LexError, Spacing, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;

/// Calls `look` for each token, also for those in groups, with its group's tokens and its index among them.
pub(crate) fn each(tokens: TokenStream, look: &mut impl FnMut(&[TokenTree], usize)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        look(&tokens, at);
        if let TokenTree::Group(group) = token {
            each(group.stream(), look);
        }
    }
}

/// The name at `at`, if there is one.
pub(crate) fn name(tokens: &[TokenTree], at: usize) -> Option<String> {
    match tokens.get(at)? {
        TokenTree::Ident(ident) => Some(text(ident)),
        _ => None,
    }
}

/// A raw identifier without its `r#`.
pub(crate) fn text(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// The path that begins at `at`, single names included. Behind a dot it is a field or a method, behind `::` the rest of
/// a path.
pub(crate) fn path(tokens: &[TokenTree], at: usize) -> Option<Vec<String>> {
    let is_member = at > 0 && is_mark(tokens, at - 1, '.') || at > 1 && is_separator(tokens, at - 2);
    let mut path = vec![name(tokens, at).filter(|_| !is_member)?];
    while is_separator(tokens, at + 3 * path.len() - 2)
        && let Some(next) = name(tokens, at + 3 * path.len())
    {
        path.push(next);
    }
    Some(path)
}

/// Whether the two tokens at `at` are `::`.
pub(crate) fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let is_joint = matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.spacing() == Spacing::Joint);
    is_joint && is_mark(tokens, at, ':') && is_mark(tokens, at + 1, ':')
}

/// Whether the token at `at` is that mark.
pub(crate) fn is_mark(tokens: &[TokenTree], at: usize, mark: char) -> bool {
    matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}

/// The lines that hold code: neither blank nor only comment. A literal of several lines counts with each of them.
pub(crate) fn code_lines(source: &str) -> Result<BTreeSet<usize>, LexError> {
    let mut found = BTreeSet::new();
    each(source.parse()?, &mut |tokens, at| {
        let token = &tokens[at];
        match token {
            // A comment that documents an item is an attribute to proc_macro2.
            _ if source[token.span().byte_range()].starts_with('/') && !is_mark(tokens, at, '/') => {}
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {}
            TokenTree::Group(group) => found.extend([line(group.span_open()), line(group.span_close())]),
            _ => found.extend(lines(token.span())),
        }
    });
    Ok(found)
}

/// The line that it begins on, from 1.
pub(crate) fn line(span: Span) -> usize {
    span.start().line
}

/// From its first line to its last.
pub(crate) fn lines(span: Span) -> RangeInclusive<usize> {
    line(span)..=span.end().line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(source: &str) -> Vec<String> {
        let mut found = Vec::new();
        each(source.parse().expect("tokens"), &mut |tokens, at| {
            found.extend(path(tokens, at).map(|path| path.join("::")));
        });
        found
    }

    #[test]
    fn paths_are_found_in_groups_and_members_are_not() {
        assert_eq!(paths("f(x: c::D) { x.y.z(); r#a::g() }"), ["f", "x", "c::D", "x", "a::g"]);
        assert_eq!(paths("$crate::a::B; <H as I>::j; E::<u8>::g"), ["crate::a::B", "H", "as", "I", "E", "u8"]);
        assert_eq!(paths("\"a::b\" // c::d"), Vec::<String>::new());
    }

    #[test]
    fn lines_of_code_are_neither_blank_nor_comment() {
        let source = "// a\nb(); // c\n\n/* d\n */\n\"e\n f\";\n1\n  \n/// g\nfn h() {\n/** i */ /\n//! j\n}";
        assert_eq!(code_lines(source).expect("tokens").into_iter().collect::<Vec<_>>(), [2, 6, 7, 8, 11, 12, 14]);
    }
}
