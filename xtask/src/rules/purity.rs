//! The protocol takes time, bytes and a seed, and uses no clock, socket, thread or entropy of the system. And in the
//! whole project, `unsafe` is allowed in six files, and at the boundary to C.

use crate::machine::files::File;
use crate::rules::source::tokens::{Placed, Token, tokens};

/// The files that talk to the system below the standard library; those with instructions for which std has no safe
/// function: of vectors, and to prefetch; and those that give WebAssembly's exports their names.
const UNSAFE_HERE: &[&str] = &[
    "crates/skipstone/src/net/linux.rs",
    "crates/skipstone/src/net/linux/control.rs",
    "crates/skipstone-gf256/src/simd.rs",
    "crates/skipstone-prefetch/src/lib.rs",
    "crates/skipstone-web/examples/simulated/main.rs",
    "crates/skipstone-web/src/exports.rs",
];

/// The exported functions of the C ABI: their names are promised to be unique, and C passes them pointers.
const BOUNDARY: &str = "crates/skipstone-ffi/src/boundary/";

/// Words that the protocol's sources may not contain, and the replacement.
const NOT_IN_PROTOCOL: &[(&str, &str)] = &[
    ("Instant", "the caller says what time it is: take a `Time`"),
    ("SystemTime", "the caller says what time it is: take a `Time`"),
    ("UdpSocket", "sockets belong to the library above: take and give bytes"),
    ("TcpStream", "sockets belong to the library above: take and give bytes"),
    ("TcpListener", "sockets belong to the library above: take and give bytes"),
    ("RandomState", "entropy comes from the seed alone"),
];

/// The folder of the protocol's sources.
const PROTOCOL: &str = "crates/skipstone-proto/src/";

/// Violations of these rules, each as `path:line: what`.
pub(crate) fn breaches(files: &[File]) -> Vec<String> {
    let mut breaches = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".rs")) {
        let tokens = tokens(&file.text);
        let mut found = Vec::new();
        if !UNSAFE_HERE.contains(&file.path.as_str()) && !file.path.starts_with(BOUNDARY) {
            unsafe_code(&tokens, &mut found);
        }
        if file.path.starts_with(PROTOCOL) {
            forbidden_words(&tokens, &mut found);
            threads(&tokens, &mut found);
            default_hashers(&tokens, &mut found);
        }
        breaches.extend(found.iter().map(|(line, what)| format!("{}:{line}: {what}", file.path)));
    }
    breaches
}

type Found = Vec<(usize, String)>;

fn unsafe_code(tokens: &[Placed<'_>], found: &mut Found) {
    let places = tokens.iter().filter(|placed| placed.token == Token::Word("unsafe"));
    found.extend(places.map(|placed| {
        (placed.line, format!("`unsafe` belongs in {BOUNDARY} and {} alone", UNSAFE_HERE.join(" and ")))
    }));
}

fn forbidden_words(tokens: &[Placed<'_>], found: &mut Found) {
    for placed in tokens {
        let rule = NOT_IN_PROTOCOL.iter().find(|(word, _)| placed.token == Token::Word(word));
        if let Some((word, instead)) = rule {
            found.push((placed.line, format!("no `{word}` in the protocol; {instead}")));
        }
    }
}

/// `std::thread`, alone or in a group that is imported from `std`.
fn threads(tokens: &[Placed<'_>], found: &mut Found) {
    for at in 0..tokens.len() {
        if tokens[at].token != Token::Word("std") {
            continue;
        }
        let separated = tokens.get(at + 1).is_some_and(|next| next.token == Token::PathSeparator);
        let rest = if separated { &tokens[at + 2..] } else { &[] };
        let ends = |placed: &&Placed<'_>| !matches!(placed.token, Token::Mark(';'));
        let grouped = rest.first().is_some_and(|first| first.token == Token::Mark('{'));
        let reach = if grouped { rest.iter().take_while(ends).count() } else { rest.len().min(1) };
        for placed in rest[..reach].iter().filter(|placed| placed.token == Token::Word("thread")) {
            found.push((placed.line, "no `std::thread` in the protocol; its caller drives it".into()));
        }
    }
}

/// `HashMap<K, V>` and `HashSet<T>` without an explicit hasher draw their keys from the system.
fn default_hashers(tokens: &[Placed<'_>], found: &mut Found) {
    for (at, placed) in tokens.iter().enumerate() {
        let (name, with_hasher) = match placed.token {
            Token::Word("HashMap") => ("HashMap", 3),
            Token::Word("HashSet") => ("HashSet", 2),
            _ => continue,
        };
        let parameters = parameter_count(&tokens[at + 1..]);
        if parameters.is_some_and(|count| count < with_hasher) {
            found.push((
                placed.line,
                format!("`{name}` with the default hasher draws entropy from the system; give it a seeded one"),
            ));
        }
    }
}

/// The number of generic parameters in the angle brackets that `tokens` begin with, after a `::` or not.
fn parameter_count(tokens: &[Placed<'_>]) -> Option<usize> {
    let mut marks = tokens.iter().map(|placed| placed.token).peekable();
    marks.next_if_eq(&Token::PathSeparator);
    marks.next_if_eq(&Token::Mark('<'))?;
    let (mut count, mut depth, mut item_begun) = (0, 1_usize, false);
    let mut before = Token::Mark('<');
    for token in marks {
        match token {
            Token::Mark('>') if before == Token::Mark('-') => {} // the arrow of a function type
            Token::Mark('<' | '(' | '[' | '{') => depth += 1,
            Token::Mark('>' | ')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(count + usize::from(item_begun));
        }
        if depth == 1 && token == Token::Mark(',') {
            count += 1;
            item_begun = false;
        } else {
            item_begun = true;
        }
        before = token;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str) -> Vec<String> {
        breaches(&[File { path: path.into(), text: text.into() }])
    }

    fn check_protocol(text: &str) -> usize {
        check(&format!("{PROTOCOL}wire.rs"), text).len()
    }

    #[test]
    fn clocks_and_sockets_stay_out_of_the_protocol() {
        assert_eq!(check_protocol("use std::time::{Duration, Instant};"), 1);
        assert_eq!(check_protocol("use std::time; fn f() { time::SystemTime::now(); }"), 1);
        assert_eq!(check_protocol("fn f(socket: &std::net::UdpSocket) {}"), 1);
        assert_eq!(check_protocol("use std::net::{TcpListener, TcpStream, IpAddr};"), 2);
        assert_eq!(check_protocol("use std::time::Duration; // not Instant\nuse std::net::SocketAddr;"), 0);
        assert_eq!(check("crates/skipstone/src/clock.rs", "use std::time::Instant;").len(), 0);
    }

    #[test]
    fn threads_stay_out_of_the_protocol() {
        assert_eq!(check_protocol("use std::thread;"), 1);
        assert_eq!(check_protocol("fn f() { std::thread::yield_now() }"), 1);
        assert_eq!(check_protocol("use std::{mem, thread};"), 1);
        assert_eq!(check_protocol("use std::mem; let thread = 1; use std"), 0);
    }

    #[test]
    fn hash_tables_bring_their_own_hasher() {
        assert_eq!(check_protocol("a: HashMap<u32, Vec<(A, B)>>,"), 1);
        assert_eq!(check_protocol("a: HashSet<[u8; 4]>, b: HashMap::<A, fn(B, C) -> D,>"), 2);
        assert_eq!(check_protocol("a: HashMap<(A, B), C, Seeded>, b: HashSet<A, Seeded>"), 0);
        assert_eq!(check_protocol("use std::collections::HashMap; HashMap::with_hasher(s)"), 0);
        assert_eq!(check_protocol("a: HashMap<A, B, RandomState>"), 1);
    }

    #[test]
    fn six_files_and_the_boundary_to_c_alone_may_be_unsafe() {
        let source = "fn f() { unsafe { g() } }";
        for path in UNSAFE_HERE {
            assert_eq!(check(path, source).len(), 0);
        }
        assert_eq!(check("crates/skipstone-ffi/src/boundary/raw.rs", source).len(), 0);
        assert_eq!(check("crates/skipstone-ffi/src/convert.rs", source).len(), 1);
        assert_eq!(check("crates/skipstone-gf256/src/kernel.rs", source).len(), 1);
        assert_eq!(check("crates/skipstone/src/net/mod.rs", source).len(), 1);
        assert_eq!(check("xtask/src/main.rs", "#![deny(unsafe_code)] // unsafe\n").len(), 0);
        assert_eq!(check("README.md", source).len(), 0);
    }
}
