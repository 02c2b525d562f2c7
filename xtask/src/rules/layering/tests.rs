//! Small made-up crates, and the findings of the layering check.

use super::ranks::Ranks;
use super::*;

const RANKS: Ranks = &[&["endpoint"], &["channel", "recovery"], &["wire"], &["time", "seq"]];

fn found(sources: &[(&str, &str)]) -> Vec<Finding> {
    let file = |(path, text): &(&str, &str)| File { path: format!("a/src/{path}"), text: (*text).to_owned() };
    let mut files: Vec<File> = sources.iter().map(file).collect();
    // Every rank has its module, unless the test needs otherwise.
    for module in RANKS.iter().copied().flatten().chain(&["lib"]) {
        let is_there =
            |file: &File| [format!("a/src/{module}.rs"), format!("a/src/{module}/mod.rs")].contains(&file.path);
        if !files.iter().any(is_there) {
            files.push(File { path: format!("a/src/{module}.rs"), text: String::new() });
        }
    }
    findings_in(&crates(&files).expect("it parses")[0], Some(RANKS))
}

fn check(sources: &[(&str, &str)]) -> Vec<String> {
    found(sources).into_iter().map(|finding| finding.text).collect()
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
        ("endpoint.rs", "use crate::channel::Channel; use crate::{time::Time, wire::{self, Frame}};"),
        ("wire/mod.rs", "use super::time::Time; pub(crate) mod frame; fn f() -> crate::seq::Seq {}"),
        ("wire/frame.rs", "use super::super::seq::Seq;"),
        ("time.rs", "pub struct Time; #[cfg(test)] mod tests { use super::*; use super::Time; }"),
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
    assert_one(&[("time.rs", "use {crate::channel::X, std::mem};")], "time.rs:1:", up);
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
    assert_one(&[("recovery/mod.rs", "use crate::channel::X;")], "mod.rs:1:", "are siblings");
    assert_one(&[("seq.rs", "use crate::time::Time;")], "seq.rs:1:", "are siblings");
}

#[test]
fn modules_and_crates_without_rank_are_named_once_and_say_what_to_do() {
    let sources = [("pacing/mod.rs", "use crate::endpoint::X;"), ("wire.rs", "use crate::pacing::Y;")];
    assert_one(&sources, "src/pacing", "add it to RANKS");
    let files = [File { path: "b/src/lib.rs".into(), text: String::new() }];
    let found = findings_in(&crates(&files).expect("it parses")[0], None);
    assert!(found.len() == 1 && found[0].text.contains("b: the crate has no ranks"), "{found:?}");
    let found = findings_in(&crates(&files).expect("it parses")[0], Some(&[&["gone"]]));
    assert!(found.len() == 1 && found[0].text.contains("is no module"), "{found:?}");
}

#[test]
fn paths_through_the_root_do_not_bypass_the_order() {
    let around = "goes through the root";
    assert_one(
        &[("wire.rs", "use crate::Connection;"), ("lib.rs", "pub use quinn::Connection;")],
        "wire.rs:1:",
        around,
    );
    assert_one(
        &[("wire.rs", "use crate::{time::Time, Connection};"), ("lib.rs", "pub use quinn::Connection;")],
        "wire.rs:1:",
        around,
    );
    assert!(check(&[("wire.rs", "use crate::*;")])[0].contains(around));
    assert!(check(&[("wire.rs", "use super::*;")])[0].contains(around));
}

#[test]
fn the_suggested_order_is_as_low_as_imports_allow() {
    let file = |path: &str, text: &str| File { path: format!("a/src/{path}"), text: text.to_owned() };
    let files = [
        file("lib.rs", "use a::A;"),
        file("a.rs", "use crate::{b::B, c::C};"),
        file("b.rs", "use crate::d::D; use crate::c::C;"),
        file("c.rs", ""),
        file("d.rs", "use crate::b::B;"),
    ];
    let suggested = ranks::suggestion(&crates(&files).expect("it parses")[0]);
    assert_eq!(suggested, r#"("a", &[&["a", "d"], &["b"], &["c"]]),"#);
}

#[test]
fn words_in_comments_strings_and_visibilities_are_not_imports() {
    let source = "/// [`crate::endpoint::Endpoint`]\npub(crate) fn f() { \"crate::endpoint\"; }\npub(super) fn g() {}";
    assert_eq!(check(&[("wire.rs", source)]), Vec::<String>::new());
}

#[test]
fn sibling_files_do_not_import_each_other() {
    let sources = [
        ("wire/mod.rs", "mod a; mod b;"),
        ("wire/a.rs", "use super::b::B; pub struct A;"),
        ("wire/b.rs", "\nuse super::a::A; pub struct B;"),
    ];
    let found = found(&sources);
    assert!(found.iter().all(|finding| finding.kind == FindingKind::Circle));
    let texts: Vec<&str> = found.iter().map(|finding| &*finding.text).collect();
    assert_eq!(
        texts,
        [
            "a/src/wire/a.rs: circle: wire/a.rs:1 names `B` of wire/b.rs, wire/b.rs:2 names `A` of wire/a.rs",
            "a/src/wire/b.rs: circle: wire/b.rs:2 names `A` of wire/a.rs, wire/a.rs:1 names `B` of wire/b.rs",
        ]
    );
}

#[test]
fn longer_circles_and_those_through_a_reexport_are_found() {
    let sources = [
        ("wire/mod.rs", "mod a; mod b; mod c; pub use a::A;"),
        ("wire/a.rs", "use super::b::B; pub struct A;"),
        ("wire/b.rs", "use super::c::C; pub struct B;"),
        ("wire/c.rs", "use crate::wire::A; pub struct C;"),
    ];
    assert_eq!(found(&sources).iter().filter(|finding| finding.kind == FindingKind::Circle).count(), 3);
}

#[test]
fn a_parent_and_child_that_import_each_other_are_a_separate_kind_of_circle() {
    let child = ("wire/a.rs", "use super::Wire; pub struct A; impl Wire {}");
    let names_child = ("wire/mod.rs", "mod a; use a::A; pub struct Wire { a: A }");
    let kinds: Vec<FindingKind> = found(&[names_child, child]).iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Nested, FindingKind::Nested]);
    // A child may name its parent's types where the parent only declares it and passes its names on.
    assert_eq!(found(&[("wire/mod.rs", "mod a; pub use a::A; pub struct Wire;"), child]), []);
}

#[test]
fn visible_types_of_two_files_do_not_share_a_name() {
    let shared = [("wire.rs", "pub struct Limits;"), ("channel.rs", "pub(crate) enum Limits {}")];
    assert_one(&shared, "a: ", "`Limits` is the name of several types: a/src/channel.rs, a/src/wire.rs");
    assert_eq!(found(&shared)[0].entry().as_deref(), Some("shared-name a::Limits"));
    let free = [
        ("wire/mod.rs", "mod a; mod absent; pub struct Private;"),
        ("wire/a.rs", "#[cfg(unix)] pub struct System; #[cfg(not(unix))] pub struct System; pub struct StandIn;"),
        ("wire/absent.rs", "pub struct StandIn;"),
        (
            "channel.rs",
            "struct Private; impl A for B { type Private = u8; } #[cfg(test)] mod tests { pub struct System; }",
        ),
    ];
    assert_eq!(check(&free), Vec::<String>::new());
}

#[test]
fn known_findings_pass_until_they_are_gone() {
    let found = found(&[("time.rs", "use super::channel;"), ("seq.rs", "use super::channel;")]);
    assert_eq!(debts::settle(found.clone(), "").len(), 2);
    let list = "# remark\nupward a/src/time.rs\nupward a/src/seq.rs\n";
    assert_eq!(debts::settle(found.clone(), list), Vec::<String>::new());
    let list = format!("{list}circle a/src/time.rs\n");
    let left = debts::settle(found, &list);
    assert!(left.len() == 1 && left[0].contains("`circle a/src/time.rs` is no longer needed"), "{left:?}");
}
