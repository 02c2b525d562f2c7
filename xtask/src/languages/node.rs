//! Node.js: whether it is installed, and a package's dependencies as locked.

use std::path::PathBuf;
use std::process::Command;

use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system};

/// A package of ours that is built with npm.
pub(crate) struct NodePackage {
    /// Its folder, from the root.
    pub(crate) folder: &'static str,
}

impl NodePackage {
    /// Installs the packages of the lock file, if they are not there yet. `Err` is the verdict of a step that needs
    /// them.
    pub(crate) fn install(&self, tree: &Tree) -> Result<(), Verdict> {
        let missing = system::program("npm", "npm", "nothing of TypeScript can be checked", tree);
        missing.map_or(Ok(()), |why| Err(Verdict::Skipped(why)))?;
        let lock = std::fs::read(self.path(tree, "package-lock.json")).unwrap_or_default();
        let stamp = self.path(tree, "node_modules/.installed-lock.json");
        if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
            return Ok(());
        }
        if let Err(why) = process::run(self.npm(&["ci"], tree)) {
            let why = format!("the packages of {} cannot be had: {why}", self.folder);
            // If the registry answers, the lock file is wrong.
            let is_there = process::succeeds(self.npm(&["ping"], tree));
            return Err(if is_there { Verdict::Failed(why) } else { Verdict::Skipped(why) });
        }
        // So that the next run need not ask npm again. If the stamp cannot be written, that costs some seconds.
        let _ = std::fs::write(stamp, lock);
        Ok(())
    }

    /// Runs a script of its `package.json`, with further arguments.
    pub(crate) fn script(&self, name: &str, words: &[&str], tree: &Tree) -> Command {
        let mut npm = self.npm(&["run", "--silent", name], tree);
        npm.arg("--").args(words);
        npm
    }

    fn npm(&self, words: &[&str], tree: &Tree) -> Command {
        let mut npm = process::command("npm", tree);
        npm.current_dir(tree.root().join(self.folder)).env("NO_COLOR", "1").args(words);
        npm
    }

    pub(crate) fn path(&self, tree: &Tree, file: &str) -> PathBuf {
        tree.root().join(self.folder).join(file)
    }
}
