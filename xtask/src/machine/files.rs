//! The files of the project: those that are committed or about to be.

use std::path::Path;

use crate::machine::process;
use crate::machine::tree::Tree;

/// One file of the project.
pub(crate) struct File {
    /// The path from the root, with `/` on every platform.
    pub(crate) path: String,
    /// The content; bytes that are not UTF-8 are replaced.
    pub(crate) text: String,
}

/// The files that are committed or about to be, by path. Without git: all but build output.
pub(crate) fn files(tree: &Tree) -> Vec<File> {
    paths(tree).into_iter().filter_map(|path| read(tree, path)).collect()
}

/// Makes `folder` hold these files and no others. An unchanged file keeps its time, and is not built again.
pub(crate) fn copy(tree: &Tree, folder: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let paths = paths(tree);
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for stale in paths_from_disk(&Tree::at(folder.into())) {
        if paths.binary_search(&stale).is_err() {
            let path = folder.join(stale);
            std::fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        }
    }
    for path in paths {
        let (from, to) = (tree.root().join(&path), folder.join(&path));
        // Excludes links, and files whose deletion is not committed yet.
        let Ok(bytes) = std::fs::read(&from) else { continue };
        if std::fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        let parent = to.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        // Keeps permissions, because some files are programs.
        std::fs::copy(&from, &to).map_err(|error| failed(&to, error))?;
    }
    Ok(())
}

/// Sorted.
fn paths(tree: &Tree) -> Vec<String> {
    let mut paths = paths_from_git(tree).unwrap_or_else(|| {
        println!("git does not list this tree: looking at every file outside of build folders");
        paths_from_disk(tree)
    });
    paths.sort();
    paths.dedup();
    paths
}

fn read(tree: &Tree, path: String) -> Option<File> {
    let full = tree.root().join(&path);
    if !full.symlink_metadata().ok()?.is_file() {
        return None; // deleted but not yet committed so, a link, or a nested repository
    }
    let text = String::from_utf8_lossy(&std::fs::read(full).ok()?).into_owned();
    Some(File { path, text })
}

fn paths_from_git(tree: &Tree) -> Option<Vec<String>> {
    let mut git = process::command("git", tree);
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listing = process::output(git)?;
    let paths: Vec<String> = listing.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect();
    (!paths.is_empty()).then_some(paths)
}

fn paths_from_disk(tree: &Tree) -> Vec<String> {
    let mut paths = Vec::new();
    let mut pending = vec![tree.root().to_path_buf()];
    while let Some(dir) = pending.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if !BUILD_FOLDERS.iter().any(|folder| name == *folder) {
                        pending.push(entry.path());
                    }
                }
                _ => paths.extend(relative(tree, &entry.path())),
            }
        }
    }
    paths
}

fn relative(tree: &Tree, path: &Path) -> Option<String> {
    let relative = path.strip_prefix(tree.root()).ok()?;
    Some(relative.to_string_lossy().replace('\\', "/"))
}

const BUILD_FOLDERS: &[&str] = &[".git", "target", "node_modules", "dist", "__pycache__"];
