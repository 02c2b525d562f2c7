//! `cargo xtask manifests`: the manifests for Kubernetes and the compose file, `deploy`, built and read strictly by a Go
//! test, `deploy/check`. Nothing is deployed. It is no step of the tests, because Kubernetes' types take minutes to
//! compile.

use crate::languages::go;
use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::tree::Tree;

pub(crate) fn check(arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    arguments.expect_end()?;
    if let Some(why) = go::missing(tree) {
        return Err(why);
    }
    let go = |words: &[&str]| {
        let mut go = process::command("go", tree);
        go.current_dir(tree.root().join("deploy/check")).args(words);
        process::run(go)
    };
    go(&["mod", "download"]).map_err(|why| format!("the modules that read the manifests are out of reach: {why}"))?;
    // A machine that builds Rust beside it has no memory for many Go compilers at once.
    go(&["test", "-p", "1", "./..."]).map(|()| true)
}
