//! The project's own tree: where its root is.

use std::path::{Path, PathBuf};

/// The root folder of the project.
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Finds the root: above the manifest that cargo names, else above the current folder.
    pub(crate) fn find() -> Result<Self, String> {
        let manifest_dir = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let current_dir = std::env::current_dir().ok();
        manifest_dir
            .iter()
            .chain(&current_dir)
            .flat_map(|start| start.ancestors())
            .find(|dir| dir.join("xtask/Cargo.toml").is_file())
            .map(|root| Self { root: root.into() })
            .ok_or_else(|| "run me inside the project: no folder above has xtask/Cargo.toml".into())
    }

    /// The tree at a given folder.
    pub(crate) fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether `path`, from the root, is a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }
}
