//! `SKIPSTONE_UPDATE=1` writes them.

use skipstone_catalogue::{filled, regions};
use std::collections::BTreeMap;
use std::path::Path;

#[test]
fn every_region_equals_its_generated_text() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_update = std::env::var_os("SKIPSTONE_UPDATE").is_some();
    let mut texts: BTreeMap<&str, (String, String)> = BTreeMap::new();
    for region in regions() {
        let (_, made) = texts.entry(region.path).or_insert_with(|| {
            let kept = std::fs::read_to_string(root.join(region.path)).expect(region.path).replace("\r\n", "\n");
            (kept.clone(), kept)
        });
        *made = filled(made, &region).unwrap_or_else(|error| panic!("{error}"));
    }
    let stale: Vec<_> = texts.into_iter().filter(|(_, (kept, made))| kept != made).collect();
    if is_update {
        stale.iter().for_each(|(path, (_, made))| std::fs::write(root.join(path), made).expect(path));
        return;
    }
    let differences: Vec<String> = stale.iter().map(|(path, (kept, made))| difference(path, kept, made)).collect();
    assert!(stale.is_empty(), "run `cargo xtask catalogue --update`: these differ\n{}", differences.join("\n"));
}

/// The first line that differs.
fn difference(path: &str, kept: &str, made: &str) -> String {
    let at = kept.lines().zip(made.lines()).take_while(|(kept, made)| kept == made).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("(the end)").trim().to_owned();
    format!("{path}:{}: `{}`, and the catalogue makes `{}`", at + 1, line(kept), line(made))
}
