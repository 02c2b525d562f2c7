//! The protocol takes time, bytes and a seed, and uses no clock, socket, thread or entropy of the system. And in the
//! whole project, `unsafe` is allowed in eight files, and at the boundary to C.

use proc_macro2::{TokenStream, TokenTree};
use syn::AngleBracketedGenericArguments;
use syn::parse::{ParseStream, Parser};

use crate::machine::files::File;
use crate::rules::source::tokens::{self, is_separator, line, name};

/// The files that talk to the system below the standard library; those with instructions for which std has no safe
/// function: of vectors, and to prefetch; those that give WebAssembly's exports their names; and those that
/// interrupt scripts and count the memory of each.
const UNSAFE_HERE: &[&str] = &[
    "crates/skipstone-bots/src/script/memory.rs",
    "crates/skipstone-bots/src/script/watchdog.rs",
    "crates/skipstone/src/net/linux.rs",
    "crates/skipstone/src/net/linux/control.rs",
    "crates/skipstone-gf256/src/simd.rs",
    "crates/skipstone-prefetch/src/lib.rs",
    "crates/skipstone-web/examples/simulated/main.rs",
    "crates/skipstone-web/src/exports.rs",
    // One declaration, by which Godot loads the library.
    "integrations/godot/src/lib.rs",
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
    files.iter().filter(|file| file.path.ends_with(".rs")).flat_map(breaches_of).collect()
}

fn breaches_of(file: &File) -> Vec<String> {
    let may_be_unsafe = UNSAFE_HERE.contains(&file.path.as_str()) || file.path.starts_with(BOUNDARY);
    let is_protocol = file.path.starts_with(PROTOCOL);
    let mut breaches = Vec::new();
    let mut add = |line: usize, what: &str| breaches.push(format!("{}:{line}: {what}", file.path));
    match file.text.parse() {
        Ok(tokens) => tokens::each(tokens, &mut |tokens, at| {
            let Some(word) = name(tokens, at) else { return };
            let line = line(tokens[at].span());
            if word == "unsafe" && !may_be_unsafe {
                add(line, &format!("`unsafe` belongs in {BOUNDARY} and {} alone", UNSAFE_HERE.join(" and ")));
            }
            if is_protocol && let Some(what) = impurity(&word, &tokens[at + 1..]) {
                add(line, &what);
            }
        }),
        Err(error) => add(line(error.span()), &error.to_string()),
    }
    breaches
}

/// The problem with a word in the protocol, if there is one. `rest` follows it within the same brackets.
fn impurity(word: &str, rest: &[TokenTree]) -> Option<String> {
    if let Some((_, instead)) = NOT_IN_PROTOCOL.iter().find(|(forbidden, _)| *forbidden == word) {
        return Some(format!("no `{word}` in the protocol; {instead}"));
    }
    if word == "std" && leads_to_thread(rest) {
        return Some("no `std::thread` in the protocol; its caller drives it".into());
    }
    let with_hasher = HASH_TABLES.iter().find(|(table, _)| *table == word)?.1;
    let is_default = parameter_count(rest).is_some_and(|count| count < with_hasher);
    is_default.then(|| format!("`{word}` with the default hasher draws entropy from the system; give it a seeded one"))
}

/// `::thread`, alone or in a group that is imported from `std`.
fn leads_to_thread(rest: &[TokenTree]) -> bool {
    let is_thread = |tokens: &[TokenTree], at| name(tokens, at).is_some_and(|word| word == "thread");
    match rest.get(2) {
        Some(TokenTree::Group(group)) if is_separator(rest, 0) => {
            let mut found = false;
            tokens::each(group.stream(), &mut |tokens, at| found |= is_thread(tokens, at));
            found
        }
        _ => is_separator(rest, 0) && is_thread(rest, 2),
    }
}

/// The number of generic arguments that `rest` begins with, after a `::` or not.
fn parameter_count(rest: &[TokenTree]) -> Option<usize> {
    let count = |input: ParseStream<'_>| {
        let arguments: AngleBracketedGenericArguments = input.parse()?;
        input.parse::<TokenStream>()?;
        Ok(arguments.args.len())
    };
    count.parse2(rest.iter().cloned().collect()).ok()
}

/// Tables of the standard library, and their number of parameters with a hasher. Without one, `HashMap<K, V>` and
/// `HashSet<T>` draw their keys from the system.
const HASH_TABLES: &[(&str, usize)] = &[("HashMap", 3), ("HashSet", 2)];

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
    fn eight_files_and_the_boundary_to_c_alone_may_be_unsafe() {
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
