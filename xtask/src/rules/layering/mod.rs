//! Inside each crate imports point down, no two files import each other, and no two visible types share a name.
//!
//! `ranks` holds the order of the modules, `circles` finds files that import each other, `names` finds types that share
//! a name, `debts` lists known violations to resolve, `page` shows the order in ARCHITECTURE.md.

mod circles;
mod debts;
mod finding;
mod names;
mod page;
mod ranks;

use self::finding::{Finding, FindingKind};
pub(crate) use self::names::shared_names;
use crate::machine::arguments::Arguments;
use crate::machine::files::File;
use crate::machine::tree::Tree;
use crate::rules::source::crates::{Crate, crates};

/// `cargo xtask layering [--update | --suggest]`: the same check as in `cargo xtask test`; or the generated texts are
/// written; or an order that the imports allow is printed.
pub(crate) fn layering(mut arguments: Arguments, tree: &Tree, files: &[File]) -> Result<bool, String> {
    let is_update = arguments.take_flag("--update");
    let is_suggestion = arguments.take_flag("--suggest");
    arguments.expect_end()?;
    if is_suggestion {
        crates(files)?.iter().for_each(|of| println!("{}", ranks::suggestion(of)));
        return Ok(true);
    }
    if is_update {
        debts::update(&findings(files)?, tree)?;
        page::update(tree)?;
        println!("{} and {} are up to date", page::PAGE, debts::FILE);
        return Ok(true);
    }
    let breaches = breaches(files)?;
    breaches.iter().for_each(|breach| println!("{breach}"));
    println!(
        "{} breaches, and {} known ones in {}",
        breaches.len(),
        debts::count(text(files, debts::FILE)),
        debts::FILE
    );
    Ok(breaches.is_empty())
}

/// Violations of the order that are not known yet, each as `path:line: what`. `Err` names a place that is not Rust.
pub(crate) fn breaches(files: &[File]) -> Result<Vec<String>, String> {
    let mut breaches = debts::settle(findings(files)?, text(files, debts::FILE));
    breaches.extend(page::complaint(text(files, page::PAGE)));
    Ok(breaches)
}

/// How many files of the crate are in a circle of sibling files, and how many in one with a parent only.
pub(crate) fn files_in_circles(of: &Crate<'_>) -> (usize, usize) {
    let found = circles::findings(of, &of.arrows());
    let beside = found.iter().filter(|finding| finding.kind == FindingKind::Circle).count();
    (beside, found.len() - beside)
}

fn findings(files: &[File]) -> Result<Vec<Finding>, String> {
    Ok(crates(files)?.iter().flat_map(|of| findings_in(of, ranks::of(of.folder))).collect())
}

fn findings_in(of: &Crate<'_>, ranks: Option<ranks::Ranks>) -> Vec<Finding> {
    let mut findings = ranks::findings(of, ranks);
    findings.extend(circles::findings(of, &of.arrows()));
    findings.extend(names::findings(of));
    findings
}

fn text<'a>(files: &'a [File], path: &str) -> &'a str {
    files.iter().find(|file| file.path == path).map_or("", |file| &file.text)
}

#[cfg(test)]
mod tests;
