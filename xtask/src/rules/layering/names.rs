//! Types that are visible beyond their files have names that are unique in their crate. Private types are free.
//!
//! Replacements for a part that is left out have the names of that part: files `absent.rs`, `*_absent.rs` and
//! `left_out.rs`. So have the versions of a type for different systems, which are in one file.

use std::collections::BTreeMap;

use super::finding::{Finding, FindingKind};
use crate::rules::source::crates::Crate;
use crate::rules::source::items::{Item, ItemKind, Visible};

/// A name, and the files of the types that have it.
pub(crate) struct SharedName<'b> {
    pub(crate) name: &'b str,
    pub(crate) files: Vec<&'b str>,
}

/// The names that visible types of more than one file have.
pub(crate) fn shared_names<'b>(of: &'b Crate<'_>) -> Vec<SharedName<'b>> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in of.sources.iter().filter(|source| !source.is_test && !is_stand_in(&source.file.path)) {
        for item in source.items.iter().filter(|item| is_visible_type(item)) {
            let known = files.entry(&item.name).or_default();
            if known.last() != Some(&&*source.file.path) {
                known.push(&source.file.path);
            }
        }
    }
    files.retain(|_, files| files.len() > 1);
    files.into_iter().map(|(name, files)| SharedName { name, files }).collect()
}

/// One finding for each name.
pub(super) fn findings(of: &Crate<'_>) -> Vec<Finding> {
    let finding = |shared: SharedName<'_>| {
        let (path, files) = (format!("{}::{}", of.folder, shared.name), shared.files.join(", "));
        let text = format!("{}: `{}` is the name of several types: {files}", of.folder, shared.name);
        Finding { kind: FindingKind::SharedName, path, text }
    };
    shared_names(of).into_iter().map(finding).collect()
}

fn is_visible_type(item: &Item) -> bool {
    let is_type = matches!(item.kind, ItemKind::Struct { .. } | ItemKind::OtherType);
    is_type && !item.is_test && item.visibility != Visible::Private
}

fn is_stand_in(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "absent.rs" || name == "left_out.rs" || name.ends_with("_absent.rs")
}
