//! The script and its folder: nothing outside of it is ever read.

use std::path::{Component, Path, PathBuf};

/// A script's source and its folder.
#[derive(Clone, Debug)]
pub(crate) struct ScriptFolder {
    /// The file's name, by which errors name it.
    pub(crate) name: String,
    /// Its text.
    pub(crate) source: String,
    folder: PathBuf,
}

impl ScriptFolder {
    /// Reads a script.
    ///
    /// # Errors
    /// It cannot be read: one sentence.
    pub(crate) fn open(path: &str) -> Result<Self, String> {
        let cannot = |why: String| format!("cannot read the script {path}: {why}");
        let source = std::fs::read_to_string(path).map_err(|error| cannot(error.to_string()))?;
        let whole = std::fs::canonicalize(path).map_err(|error| cannot(error.to_string()))?;
        let name = whole.file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned());
        let folder = whole.parent().map(Path::to_path_buf).ok_or_else(|| cannot("it is in no folder".into()))?;
        Ok(ScriptFolder { name, source, folder })
    }

    /// A script that is no file, for tests.
    #[cfg(test)]
    pub(crate) fn of_text(name: &str, source: &str, folder: &Path) -> Self {
        ScriptFolder { name: name.into(), source: source.into(), folder: folder.to_path_buf() }
    }

    /// Reads another file of the folder.
    ///
    /// # Errors
    /// It is outside of the folder, too long, or cannot be read: one sentence.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let asked = Path::new(path);
        let inside = asked.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let outside = || {
            format!("{path:?} is outside of the script's folder; put the file beside the script or in a folder below")
        };
        if !inside {
            return Err(outside());
        }
        let cannot = |error: std::io::Error| format!("cannot read {path:?} in the script's folder: {error}");
        // A link may lead out.
        let whole = std::fs::canonicalize(self.folder.join(asked)).map_err(cannot)?;
        let folder = std::fs::canonicalize(&self.folder).map_err(cannot)?;
        if !whole.starts_with(&folder) {
            return Err(outside());
        }
        let found = std::fs::metadata(&whole).map_err(cannot)?;
        if !found.is_file() {
            // To open a pipe waits for its other end, which may never come.
            return Err(format!("{path:?} in the script's folder is no file"));
        }
        let size = found.len();
        if size > FILE_BYTES_MAX {
            return Err(format!("{path:?} has {size} bytes; a file of a script has at most {FILE_BYTES_MAX}"));
        }
        std::fs::read(whole).map_err(cannot)
    }
}

/// All bots of a worker share one copy.
const FILE_BYTES_MAX: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_folder_are_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let inner = root.path().join("bots");
        std::fs::create_dir(&inner).expect("created");
        std::fs::write(root.path().join("secret.txt"), "s").expect("written");
        std::fs::write(inner.join("names.txt"), "Ada\n").expect("written");
        let script = ScriptFolder::of_text("a.luau", "", &inner);
        assert_eq!(script.read("names.txt").as_deref(), Ok(&b"Ada\n"[..]));
        assert_eq!(script.read("./names.txt").as_deref(), Ok(&b"Ada\n"[..]));
        let absolute = root.path().join("secret.txt");
        for path in ["../secret.txt", &absolute.to_string_lossy(), "a/../../secret.txt"] {
            assert!(script.read(path).is_err_and(|why| why.contains("outside")), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.path().join("secret.txt"), inner.join("link.txt")).expect("linked");
            assert!(script.read("link.txt").is_err_and(|why| why.contains("outside")));
        }
        assert!(script.read("").is_err_and(|why| why.contains("no file")), "a folder");
        assert!(script.read("none.txt").is_err_and(|why| why.contains("cannot read")));
    }
}
