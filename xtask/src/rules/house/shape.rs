//! Lines, functions, fields and public items, tests left out.

use crate::rules::source::crates::{Crate, Source};
use crate::rules::source::items::{Item, ItemKind, Visible};
use crate::rules::source::tokens::code_lines;

/// Reports them for the crates of a tree.
pub(super) fn figures(crates: &[Crate<'_>], say: &mut impl FnMut(&str, String)) {
    for of in crates {
        say(&format!("lines of {}", of.name()), measure(&[of]).lines.to_string());
    }
    let tools: Vec<&Crate<'_>> = crates.iter().filter(|of| TOOLS.contains(&of.name())).collect();
    let tools = measure(&tools);
    say("lines of tool and lab together", tools.lines.to_string());
    say("characters in each of them, on average", format!("{:.1}", tools.characters_per_line()));

    let mut functions: Vec<(usize, String)> = crates.iter().flat_map(functions).collect();
    functions.sort_by(|a, b| b.cmp(a));
    let long = functions.iter().filter(|(lines, _)| *lines > LONG).count();
    say(&format!("functions over {LONG} lines"), long.to_string());
    say("the longest", functions.first().map_or_else(String::new, |(lines, name)| format!("{lines} ({name})")));

    let mut structs: Vec<(usize, String)> = crates.iter().flat_map(structs).collect();
    structs.sort_by(|a, b| b.cmp(a));
    for name in ["Connection", "Endpoint", "Ledger"] {
        let full = format!("skipstone-proto {name}");
        let fields = structs.iter().find(|(_, known)| *known == full).map(|(fields, _)| fields.to_string());
        say(&format!("fields of {name}"), fields.unwrap_or_else(|| "-".into()));
    }
    let largest: Vec<String> = structs.iter().take(3).map(|(fields, name)| format!("{fields} ({name})")).collect();
    say("fields of the three largest structs", largest.join(", "));

    for of in crates.iter().filter(|of| PUBLISHED.contains(&of.name())) {
        let (own, passed_on) = public_items(of);
        say(&format!("public items of {}, and re-exports", of.name()), format!("{own}, {passed_on}"));
    }
}

/// How many lines these are, tests, comments and blank lines left out.
pub(super) fn lines<'a: 'b, 'b>(sources: impl Iterator<Item = &'b Source<'a>>) -> usize {
    measure_sources(sources).lines
}

#[derive(Default)]
struct Measure {
    lines: usize,
    characters: usize,
}

impl Measure {
    fn characters_per_line(&self) -> f64 {
        self.characters as f64 / self.lines.max(1) as f64
    }
}

fn measure(crates: &[&Crate<'_>]) -> Measure {
    measure_sources(crates.iter().flat_map(|of| &of.sources))
}

/// Lines that are neither blank, nor only comment, nor test.
fn measure_sources<'a: 'b, 'b>(sources: impl Iterator<Item = &'b Source<'a>>) -> Measure {
    let mut measure = Measure::default();
    for source in sources.filter(|source| !source.is_test) {
        // It has tokens, or it would not have been read.
        let mut lines = code_lines(&source.file.text).unwrap_or_default();
        for item in source.items.iter().filter(|item| item.is_test) {
            lines.retain(|line| !item.lines.contains(line));
        }
        let texts =
            source.file.text.lines().zip(1..).filter(|(text, line)| lines.contains(line) && !text.trim().is_empty());
        for (text, _) in texts {
            measure.lines += 1;
            measure.characters += text.trim().chars().count();
        }
    }
    measure
}

/// Items that no test needs.
fn shipped<'b>(of: &'b Crate<'_>) -> impl Iterator<Item = &'b Item> {
    let sources = of.sources.iter().filter(|source| !source.is_test);
    sources.flat_map(|source| &source.items).filter(|item| !item.is_test)
}

/// How many lines each takes, from its signature to its last brace, and its name.
fn functions(of: &Crate<'_>) -> Vec<(usize, String)> {
    let measured = shipped(of).filter_map(|item| match item.kind {
        ItemKind::Function { lines, .. } => Some((lines, format!("{} {}", of.name(), item.name))),
        _ => None,
    });
    measured.collect()
}

/// How many fields each has, and its name. Tuples have none.
fn structs(of: &Crate<'_>) -> Vec<(usize, String)> {
    let counted = shipped(of).filter_map(|item| match item.kind {
        ItemKind::Struct { fields } => Some((fields, format!("{} {}", of.name(), item.name))),
        _ => None,
    });
    counted.collect()
}

/// Items and methods that are `pub`, and how many names are re-exported.
fn public_items(of: &Crate<'_>) -> (usize, usize) {
    let public = shipped(of).filter(|item| item.visibility == Visible::Public);
    public.fold((0, 0), |(own, passed_on), item| match item.kind {
        ItemKind::Use { names } => (own, passed_on + names),
        _ => (own + 1, passed_on),
    })
}

const LONG: usize = 60;
const TOOLS: &[&str] = &["skipstone-cli", "skipstone-lab"];
const PUBLISHED: &[&str] =
    &["skipstone", "skipstone-proto", "skipstone-gf256", "skipstone-netsim", "skipstone-mailbox", "skipstone-prefetch"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::files::File;
    use crate::rules::source::crates::crates;

    fn with<T>(text: &str, look: impl FnOnce(&Crate<'_>) -> T) -> T {
        let files = [File { path: "a/src/lib.rs".into(), text: text.to_owned() }];
        look(&crates(&files).expect("it parses")[0])
    }

    #[test]
    fn lines_of_tests_comments_and_blank_lines_do_not_count() {
        let source =
            "//! a\n\nfn b() {\n    // c\n}\n\n#[cfg(test)]\nmod tests {\n    fn d() {}\n}\n#[test]\nfn e() {}\n";
        with(source, |of| assert_eq!((measure(&[of]).lines, measure(&[of]).characters), (2, 9)));
    }

    #[test]
    fn functions_are_measured_from_signature_to_brace() {
        let source = "/// Doc\n#[inline]\nfn a(\n    b: u8,\n) {\n}\nimpl C { fn d() {} }";
        with(source, |of| assert_eq!(functions(of), [(4, "a a".to_owned()), (1, "a d".to_owned())]));
    }

    #[test]
    fn fields_are_counted_between_the_braces_alone() {
        let source = "struct A<T: B> where T: C { #[d(e: f)] pub g: H, i: [u8; 2], j: fn(k: u8), l: m::N }
             struct O(u8);";
        with(source, |of| assert_eq!(structs(of), [(4, "a A".to_owned()), (0, "a O".to_owned())]));
    }

    #[test]
    fn public_items_are_those_that_say_so() {
        let source =
            "pub struct A { pub b: u8 } pub(crate) fn c() {} impl A { pub fn d() {} } pub use e::{F, G}; fn h() {}";
        with(source, |of| assert_eq!(public_items(of), (2, 2)));
    }
}
