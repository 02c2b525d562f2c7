//! A release: the artifacts of its builds in one folder, with their checksums.

use sha2::{Digest, Sha256};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of checksums in a release, as sha256sum reads it.
const SUMS: &str = ".skipstone-sums";

/// Copies one artifact into the folder, by its last name.
pub(crate) fn add(folder: &Path, clone: &Path, artifact: &str) -> Result<(), String> {
    let from = clone.join(artifact);
    let name = artifact.rsplit('/').next().unwrap_or(artifact);
    let to = folder.join(name);
    if to.exists() {
        return Err(format!("two artifacts have the name '{name}': rename one"));
    }
    copy(&from, &to).map_err(|error| format!("the build has not produced the artifact '{artifact}': {error}"))
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?.file_type();
    if kind.is_symlink() {
        let text = format!("{} is a symbolic link; name its target", from.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    if !kind.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

/// Writes the checksums of all files; returns their number.
pub(crate) fn seal(folder: &Path) -> io::Result<usize> {
    let mut files = Vec::new();
    list(folder, Path::new(""), &mut files)?;
    files.sort();
    let mut sums = String::new();
    for file in &files {
        let name = file.to_str().filter(|name| !name.contains(['\n', '\\']));
        let name =
            name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("invalid file name: {file:?}")))?;
        let mut hash = Sha256::new();
        io::copy(&mut fs::File::open(folder.join(file))?, &mut Hashing(&mut hash))?;
        let digest: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        sums += &format!("{digest}  {name}\n");
    }
    fs::write(folder.join(SUMS), sums)?;
    Ok(files.len())
}

/// A file goes through the hash in pieces.
struct Hashing<'h>(&'h mut Sha256);

impl io::Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn list(folder: &Path, below: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(folder, &path, files)?;
        } else if path != Path::new(SUMS) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_has_checksums_for_sha256sum() {
        let place = tempfile::tempdir().expect("a folder");
        let (clone, folder) = (place.path().join("clone"), place.path().join("release"));
        fs::create_dir_all(clone.join("assets/deep")).expect("a folder");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(clone.join("assets/deep/map"), "abc").expect("written");
        add(&folder, &clone, "assets").expect("it is there");
        assert!(add(&folder, &clone, "assets").expect_err("twice").contains("two artifacts"));
        assert!(add(&folder, &clone, "missing").expect_err("nothing").contains("the artifact 'missing'"));
        assert_eq!(seal(&folder).expect("readable"), 1);
        let sums = fs::read_to_string(folder.join(SUMS)).expect("written");
        // The example of FIPS 180-2.
        assert_eq!(sums, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  assets/deep/map\n");
    }
}
