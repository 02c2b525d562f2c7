//! The manifests for Kubernetes and the compose file, `deploy`: built and read strictly by a Go test, `deploy/check`.
//! Nothing is deployed.

use crate::languages::go;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// The step `manifests`.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Some(why) = go::missing(tree) {
        return Verdict::Skipped(why);
    }
    let go = |words: &[&str]| {
        let mut go = process::command("go", tree);
        go.current_dir(tree.root().join("deploy/check")).args(words);
        process::run(go)
    };
    if let Err(why) = go(&["mod", "download"]) {
        return Verdict::Skipped(format!("the modules that read the manifests are out of reach: {why}"));
    }
    // A machine that builds Rust beside it has no memory for many Go compilers at once.
    go(&["test", "-p", "1", "./..."]).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}
