//! The template for bots in TypeScript: a wrong call is an error of its types, and the script that is checked in is what
//! its sources build.

use crate::languages::node::NodePackage;
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

const TEMPLATE: NodePackage = NodePackage { folder: "crates/skipstone-bots/typescript" };
const SCRIPT: &str = "shooter.luau";

/// A part of the step `web`, whose tools it needs.
pub(crate) fn check(tree: &Tree) -> Result<(), Verdict> {
    TEMPLATE.install(tree)?;
    process::run(TEMPLATE.script("test", &[], tree))?;
    let fresh = process::target_dir(tree).join("bots-template");
    process::run(TEMPLATE.script("build", &["--outDir", &fresh.to_string_lossy()], tree))?;
    let read = |path: std::path::PathBuf| std::fs::read(path).ok();
    let built = read(fresh.join(SCRIPT));
    if built.is_none() || built != read(TEMPLATE.path(tree, "build").join(SCRIPT)) {
        let folder = TEMPLATE.folder;
        return Err(Verdict::Failed(format!("{folder}/build is not what src builds: run `npm run build` there")));
    }
    Ok(())
}
