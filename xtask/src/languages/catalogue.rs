//! `cargo xtask catalogue [--update]`: the statistics, settings and close codes of the protocol's tables, in every
//! language and page. The test that compares them writes them, too; the C header and the list of the ABI follow.

use std::process::Command;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// Compares, or with `--update` writes.
pub(crate) fn catalogue(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let is_update = arguments.take_flag("--update");
    arguments.expect_end()?;
    let passes = |test: &[&str], variables| process::passes(cargo_test(tree, test, variables));
    if is_update {
        // Each reads the output of those before it: the regions; the header and its layout, at the second try; the
        // schema.
        for (test, variables) in [(CATALOGUE, UPDATE), (HEADER, UPDATE), (HEADER, UPDATE), (SCHEMA, UPDATE)] {
            passes(test, variables);
        }
    }
    Ok([CATALOGUE, HEADER, SCHEMA].iter().all(|test| passes(test, NONE)))
}

type Variables = [(&'static str, &'static str)];

fn cargo_test(tree: &Tree, test: &[&str], variables: &Variables) -> Command {
    let mut cargo = process::cargo(tree);
    cargo.args(["test", "--quiet"]).args(test).envs(variables.iter().copied());
    cargo
}

const NONE: &Variables = &[];
const UPDATE: &Variables = &[("SKIPSTONE_UPDATE", "1")];
const CATALOGUE: &[&str] = &["-p", "skipstone-catalogue", "--test", "claims"];
const HEADER: &[&str] = &["-p", "skipstone-ffi", "--test", "claims"];
const SCHEMA: &[&str] = &["-p", "skipstone-lab", "--lib", "schemas"];
