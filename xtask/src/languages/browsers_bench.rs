//! `cargo xtask browsers-bench`: the throughput and latency of browsers, measured with an optimised server;
//! `clients/web/tests/experiments` has the experiments.

use crate::languages::web;
use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

/// Runs one measurement, or all.
pub(crate) fn browsers_bench(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let seconds = arguments.take_value("--seconds")?;
    let json = arguments.take_value("--json")?;
    let name = arguments.next_word();
    arguments.expect_end()?;
    check(name.as_deref(), seconds.as_deref())?;

    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "-p", "skipstone-cli", "--example", "pages", "--bin", "skipstone"]);
    process::run(cargo)?;
    let built = process::target_dir(tree).join("release");
    let mut npm = web::experiment(tree)?;
    npm.args(name).env("SKIPSTONE_PAGES", built.join("examples/pages")).env("SKIPSTONE_TOOL", built.join("skipstone"));
    for (variable, value) in [("SKIPSTONE_SECONDS", seconds), ("SKIPSTONE_JSON", json)] {
        if let Some(value) = value {
            npm.env(variable, value);
        }
    }
    Ok(process::passes(npm))
}

fn check(name: Option<&str>, seconds: Option<&str>) -> Result<(), String> {
    if let Some(name) = name.filter(|name| !NAMES.contains(name)) {
        return Err(format!("there is no measurement `{name}`: there are {}", NAMES.join(", ")));
    }
    match seconds.map(str::parse::<u32>) {
        None | Some(Ok(1..=3_600)) => Ok(()),
        _ => Err("--seconds: a measurement lasts 1 to 3600 seconds".into()),
    }
}

const NAMES: [&str; 3] = ["throughput", "updates", "joins"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_spans_that_make_no_sense_are_refused() {
        assert_eq!(check(None, None), Ok(()));
        assert_eq!(check(Some("updates"), Some("120")), Ok(()));
        assert!(check(Some("speed"), None).is_err_and(|why| why.contains("throughput, updates, joins")));
        assert!(check(None, Some("0")).is_err());
        assert!(check(None, Some("long")).is_err());
    }
}
