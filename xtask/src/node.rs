//! Node.js: whether it is there, and a package's dependencies as its lock file has them.

use std::path::PathBuf;
use std::process::Command;

use crate::tree::Tree;
use crate::{process, system};

/// A package of ours that is built with npm.
pub(crate) struct NodePackage {
    /// Its folder, from the root.
    pub(crate) folder: &'static str,
}

impl NodePackage {
    /// Installs what the lock file names, if that is not there yet. `Err` says why it cannot be had.
    pub(crate) fn install(&self, tree: &Tree) -> Result<(), String> {
        system::program("npm", "npm", "nothing of TypeScript can be checked", tree).map_or(Ok(()), Err)?;
        if self.is_installed(tree) {
            return Ok(());
        }
        process::run(self.npm(&["ci"], tree)).map_err(|why| format!("its dependencies cannot be had: {why}"))
    }

    /// Runs a script of its `package.json`, with more words for it.
    pub(crate) fn script(&self, name: &str, words: &[&str], tree: &Tree) -> Command {
        let mut npm = self.npm(&["run", name], tree);
        npm.arg("--").args(words);
        npm
    }

    fn npm(&self, words: &[&str], tree: &Tree) -> Command {
        let mut npm = process::command("npm", tree);
        npm.args(["--prefix", self.folder]).args(words);
        npm
    }

    /// npm writes its own lock file beside what it has installed.
    fn is_installed(&self, tree: &Tree) -> bool {
        let changed = |file: &str| self.path(tree, file).metadata().and_then(|file| file.modified()).ok();
        let wanted = changed("package-lock.json");
        wanted.is_some() && changed("node_modules/.package-lock.json") >= wanted
    }

    pub(crate) fn path(&self, tree: &Tree, file: &str) -> PathBuf {
        tree.root().join(self.folder).join(file)
    }
}
