//! The project's own tree: where its root is, and which files belong to it.

use std::path::{Path, PathBuf};

use crate::process;

/// The root folder of the project.
pub(crate) struct Tree {
    root: PathBuf,
}

/// One file of the project.
pub(crate) struct File {
    /// From the root, with `/` on every platform.
    pub(crate) path: String,
    /// What it holds; bytes that are no UTF-8 are replaced.
    pub(crate) text: String,
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

    /// The root folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Whether `path`, from the root, is a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).is_file()
    }

    /// The files that are committed or about to be, by path. Without git: all but build output.
    pub(crate) fn files(&self) -> Vec<File> {
        let mut paths = self.paths_from_git().unwrap_or_else(|| {
            println!("git does not list this tree: looking at every file outside of build folders");
            self.paths_from_disk()
        });
        paths.sort();
        paths.dedup();
        paths.into_iter().filter_map(|path| self.read(path)).collect()
    }

    fn read(&self, path: String) -> Option<File> {
        let full = self.root.join(&path);
        if !full.symlink_metadata().ok()?.is_file() {
            return None; // deleted but not yet committed so, a link, or a nested repository
        }
        let text = String::from_utf8_lossy(&std::fs::read(full).ok()?).into_owned();
        Some(File { path, text })
    }

    fn paths_from_git(&self) -> Option<Vec<String>> {
        let mut git = process::command("git", self);
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let listing = process::output(git)?;
        let paths: Vec<String> = listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
        (!paths.is_empty()).then_some(paths)
    }

    fn paths_from_disk(&self) -> Vec<String> {
        let mut paths = Vec::new();
        let mut pending = vec![self.root.clone()];
        while let Some(dir) = pending.pop() {
            for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
                let name = entry.file_name();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => {
                        if !BUILD_FOLDERS.iter().any(|folder| name == *folder) {
                            pending.push(entry.path());
                        }
                    }
                    _ => paths.extend(self.relative(&entry.path())),
                }
            }
        }
        paths
    }

    fn relative(&self, path: &Path) -> Option<String> {
        let relative = path.strip_prefix(&self.root).ok()?;
        Some(relative.to_string_lossy().replace('\\', "/"))
    }
}

const BUILD_FOLDERS: &[&str] = &[".git", "target", "node_modules", "dist", "__pycache__"];
