//! Small made-up protocols, and what the layering check has to say about them.

use super::*;

fn check(sources: &[(&str, &str)]) -> Vec<String> {
    let file = |(path, text): &(&str, &str)| File { path: format!("{PROTOCOL}{path}"), text: (*text).to_owned() };
    let files: Vec<File> = sources.iter().map(file).collect();
    breaches(&files)
}

fn assert_one(sources: &[(&str, &str)], line: &str, part: &str) {
    let breaches = check(sources);
    assert_eq!(breaches.len(), 1, "{breaches:?}");
    assert!(breaches[0].contains(line) && breaches[0].contains(part), "{breaches:?}");
}

#[test]
fn downward_imports_are_fine() {
    let sources = [
        ("lib.rs", "pub mod endpoint; pub use crate::wire::Frame; use self::time::Time;"),
        ("endpoint.rs", "use crate::connection::Connection; use crate::{time::Time, wire::{self, Frame}};"),
        ("wire/mod.rs", "use super::time::Time; pub(crate) mod frame; fn f() -> crate::seq::Seq {}"),
        ("wire/frame.rs", "use super::Varint; use crate::wire::Varint; use super::super::ranges::Ranges;"),
        ("time.rs", "#[cfg(test)] mod tests { use super::*; use super::Time; }"),
    ];
    assert_eq!(check(&sources), Vec::<String>::new());
}

#[test]
fn upward_imports_are_not() {
    let up = "is below `channel`";
    assert_one(&[("wire.rs", "\nuse crate::channel::Channel;")], "wire.rs:2:", up);
    assert_one(&[("wire/frame.rs", "fn f() { crate::channel::g() }")], "frame.rs:1:", up);
    assert_one(&[("time.rs", "use super::channel;")], "time.rs:1:", up);
    assert_one(&[("wire/frame.rs", "use super::super::channel;")], "frame.rs:1:", up);
    assert_one(&[("time.rs", "mod tests {\n use super::super::channel::X; }")], "time.rs:2:", up);
    assert_one(&[("rtt.rs", "use {crate::channel::X, std::mem};")], "rtt.rs:1:", up);
}

#[test]
fn groups_are_looked_into() {
    let source = "use crate::{\n    time::{Time, channel},\n    channel::Channel,\n};";
    assert_one(&[("wire.rs", source)], "wire.rs:3:", "is below `channel`");
    assert_one(&[("wire.rs", "use super::{time, channel as c};")], "wire.rs:1:", "is below `channel`");
}

#[test]
fn inline_modules_are_left_again() {
    let source = "mod tests { fn f() { { } } }\nuse super::channel;";
    assert_one(&[("time.rs", source)], "time.rs:2:", "is below `channel`");
}

#[test]
fn siblings_do_not_know_each_other() {
    assert_one(&[("recovery/mod.rs", "use crate::congestion::Bbr;")], "mod.rs:1:", "are siblings");
    assert_one(&[("seq.rs", "use crate::time::Time;")], "seq.rs:1:", "are siblings");
}

#[test]
fn a_module_without_rank_is_named_once_and_says_what_to_do() {
    let sources = [("pacing/mod.rs", "use crate::endpoint::X;"), ("wire.rs", "use crate::pacing::Y;")];
    assert_one(&sources, "src/pacing", "add it to RANKS");
}

#[test]
fn the_root_is_no_way_around_the_order() {
    let around = "goes through the root";
    assert_one(&[("wire.rs", "use crate::Connection;")], "wire.rs:1:", around);
    assert_one(&[("wire.rs", "use crate::*;")], "wire.rs:1:", around);
    assert_one(&[("wire.rs", "use super::*;")], "wire.rs:1:", around);
    assert_one(&[("wire.rs", "use crate::{time::Time, Connection};")], "wire.rs:1:", around);
}

#[test]
fn words_in_comments_strings_and_visibilities_are_no_imports() {
    let source = "/// [`crate::endpoint::Endpoint`]\npub(crate) fn f() { \"crate::endpoint\"; }\npub(super) fn g() {}";
    assert_eq!(check(&[("wire.rs", source)]), Vec::<String>::new());
}

#[test]
fn other_crates_are_not_looked_at() {
    let file = File { path: "crates/skipstone/src/wire.rs".into(), text: "use crate::endpoint::X;".into() };
    assert_eq!(breaches(&[file]), Vec::<String>::new());
}
