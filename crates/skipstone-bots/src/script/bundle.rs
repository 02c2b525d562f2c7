//! A script with the files of its folder, as one piece that travels to another machine: a line of JSON with the files'
//! paths and sizes, then their content.

use super::folder::ScriptFolder;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Component, Path, PathBuf};

/// A script and its folder's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptBundle {
    bytes: Vec<u8>,
    files: usize,
}

/// What a bundle begins with.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    /// The script's own path.
    script: String,
    files: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: String,
    bytes: u64,
}

impl ScriptBundle {
    /// That of a script: its folder's files and those of folders below, save hidden ones and `node_modules`.
    ///
    /// # Errors
    /// There are too many, they are too large, or one cannot be read: one sentence.
    pub(crate) fn of(script: &ScriptFolder) -> Result<Self, String> {
        let mut files = Vec::new();
        let mut bytes = Vec::new();
        let Some(paths) = script.files(FILES_MAX)? else {
            return Err(too_much(&format!("more than {FILES_MAX} files")));
        };
        for path in paths {
            let content = script.read(&path)?;
            if bytes.len() + content.len() > BYTES_MAX {
                return Err(too_much(&format!("more than {} MiB", BYTES_MAX >> 20)));
            }
            files.push(Entry { path, bytes: content.len() as u64 });
            bytes.extend_from_slice(&content);
        }
        let count = files.len();
        let contents = Contents { script: script.name.clone(), files };
        let mut whole = serde_json::to_vec(&contents).map_err(|error| error.to_string())?;
        whole.push(b'\n');
        whole.append(&mut bytes);
        Ok(ScriptBundle { bytes: whole, files: count })
    }

    /// The whole, to be sent.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many files it has.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Its SHA-256, hexadecimal.
    pub fn sha256(&self) -> String {
        sha256(&self.bytes)
    }

    /// Writes the files of a bundle to a folder, which is the script's from then on. Returns the script's path.
    ///
    /// # Errors
    /// It is not the one with this SHA-256, is malformed, or cannot be written: one sentence.
    pub fn unpack(bytes: &[u8], expected: &str, folder: &Path) -> Result<PathBuf, String> {
        if sha256(bytes) != expected {
            return Err("the script's files arrived incomplete or changed; start the run again".into());
        }
        let malformed = |why: &str| format!("the script's files are malformed: {why}");
        let end = bytes.iter().position(|byte| *byte == b'\n').ok_or_else(|| malformed("no list"))?;
        let (list, mut content) = (&bytes[..end], &bytes[end + 1..]);
        let contents: Contents = serde_json::from_slice(list).map_err(|error| malformed(&error.to_string()))?;
        if contents.files.len() > FILES_MAX || !contents.files.iter().any(|file| file.path == contents.script) {
            return Err(malformed("too many files, or the script is not among them"));
        }
        for Entry { path, bytes } in &contents.files {
            let size = usize::try_from(*bytes).ok().filter(|size| *size <= content.len());
            let (own, rest) = content.split_at(size.ok_or_else(|| malformed("a file is cut off"))?);
            content = rest;
            let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            if !inside || path.is_empty() || path.contains('\\') {
                return Err(malformed(&format!("{path:?} leads out of the folder")));
            }
            let file = folder.join(path);
            let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            let written = made.and_then(|()| std::fs::write(&file, own));
            written.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        }
        Ok(folder.join(contents.script))
    }
}

/// The bytes that an unpacked bundle has at most, its list included.
pub const BUNDLE_BYTES_MAX: usize = BYTES_MAX + (1 << 20);

fn too_much(what: &str) -> String {
    format!(
        "the script's folder has {what}, the most that is sent to agents: put the script into a folder of its own, \
         with the files that it reads and no others"
    )
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

const FILES_MAX: usize = 1_000;
const BYTES_MAX: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, ScriptFolder) {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            std::fs::write(path, text).expect("written");
        }
        let script = ScriptFolder::open(&folder.path().join("a.luau").to_string_lossy()).expect("a script");
        (folder, script)
    }

    const FILES: [(&str, &str); 6] = [
        ("a.luau", "-- script"),
        ("maps/deep/one.json", "{}"),
        ("names.txt", "Ada\nBob\n"),
        (".env", "PASSWORD=x"),
        (".git/config", "x"),
        ("node_modules/x/index.js", "x"),
    ];

    #[test]
    fn a_bundle_unpacks_to_the_same_files_without_hidden_ones() {
        let (_kept, script) = folder(&FILES);
        let bundle = ScriptBundle::of(&script).expect("a bundle");
        let there = tempfile::tempdir().expect("a folder");
        let path = ScriptBundle::unpack(bundle.bytes(), &bundle.sha256(), there.path()).expect("unpacked");
        assert_eq!(path, there.path().join("a.luau"));
        let copy = ScriptFolder::open(&path.to_string_lossy()).expect("a script");
        assert_eq!(ScriptBundle::of(&copy), Ok(bundle.clone()), "the same script has the same hash");
        assert_eq!((copy.read("maps/deep/one.json"), bundle.files()), (Ok(b"{}".to_vec()), 3));
        assert!(!there.path().join(".env").exists() && !there.path().join("node_modules").exists());
    }

    #[test]
    fn files_that_are_too_many_or_too_large_are_refused_with_a_remedy() {
        let (kept, script) = folder(&FILES);
        std::fs::write(kept.path().join("map.bin"), vec![0; BYTES_MAX]).expect("written");
        let why = ScriptBundle::of(&script).expect_err("too large");
        assert!(why.contains("more than 16 MiB") && why.contains("a folder of its own"), "{why}");
        std::fs::remove_file(kept.path().join("map.bin")).expect("removed");
        (0..=FILES_MAX).for_each(|file| std::fs::write(kept.path().join(file.to_string()), "").expect("written"));
        let why = ScriptBundle::of(&script).expect_err("too many");
        assert!(why.contains("more than 1000 files"), "{why}");
    }

    #[test]
    fn bundles_that_lead_out_of_the_folder_or_were_changed_are_refused() {
        let there = tempfile::tempdir().expect("a folder");
        let inner = there.path().join("inner");
        let unpack = |text: &str| ScriptBundle::unpack(text.as_bytes(), &sha256(text.as_bytes()), &inner);
        for path in ["../a.luau", "/tmp/a.luau", "x/../../a.luau", "", "a\\\\..\\\\b"] {
            let list = format!(r#"{{"script":"{path}","files":[{{"path":"{path}","bytes":1}}]}}"#);
            let why = unpack(&format!("{list}\nx")).expect_err("it leads out");
            assert!(why.contains("leads out"), "{path}: {why}");
        }
        let list = r#"{"script":"a.luau","files":[{"path":"a.luau","bytes":2}]}"#;
        assert!(unpack(&format!("{list}\nx")).expect_err("cut off").contains("cut off"));
        assert!(unpack(r#"{"script":"a.luau","files":[]}"#).is_err());
        assert!(unpack(&format!("{list}\nxy")).is_ok());
        let changed = ScriptBundle::unpack(format!("{list}\nxy").as_bytes(), &sha256(b""), &inner);
        assert!(changed.expect_err("changed").contains("incomplete or changed"));
    }
}
