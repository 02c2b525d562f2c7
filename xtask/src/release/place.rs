//! An empty folder outside of the project, where an artifact is installed as a user would.

use std::path::{Path, PathBuf};

/// Removed with its content when it goes out of scope.
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn empty(name: &str) -> Result<Self, String> {
        let folder = std::env::temp_dir().join(format!("skipstone-release-{}-{name}", std::process::id()));
        // Of an earlier process of this number, if there was one.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What stays is in the folder of temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
