//! SHA256SUMS of all artifacts, and the signature by a key that the releaser brings.

use std::path::{Path, PathBuf};

use crate::machine::process;
use crate::machine::tree::Tree;

use super::plan::{Release, write};

/// Writes the sums of every file in `dist`.
pub(super) fn write_sums(release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let mut sum = release.command("sha256sum", tree);
    sum.current_dir(&release.dist).arg("--").args(names(&release.dist)?);
    let sums = process::output(sum).ok_or("sha256sum fails")?;
    let to = release.artifact(SUMS);
    write(&to, sums).map(|()| to)
}

/// Compares the files in `dist` with their sums.
pub(super) fn check_sums(release: &Release, tree: &Tree) -> Result<(), String> {
    if !release.artifact(SUMS).is_file() {
        return Err(format!("{} has no {SUMS}: make the release first, without --check", release.dist.display()));
    }
    let mut sum = release.command("sha256sum", tree);
    sum.current_dir(&release.dist).args(["--check", "--quiet", "--strict", SUMS]);
    process::run(sum).map_err(|why| format!("{why}: a file differs from its sum in {SUMS}; make the release again"))
}

/// Signs the sums by a private key of OpenSSH (`ssh-keygen -t ed25519`).
pub(super) fn sign(key: &Path, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    if !key.is_file() {
        return Err(format!("{}: no such key; `ssh-keygen -t ed25519 -f FILE` makes one", key.display()));
    }
    if process::find("ssh-keygen").is_none() {
        return Err("ssh-keygen is missing. Debian and Ubuntu: apt-get install openssh-client".into());
    }
    let (sums, signature) = (release.artifact(SUMS), release.artifact(&format!("{SUMS}.sig")));
    // ssh-keygen would ask before it replaces an earlier one.
    let _ = std::fs::remove_file(&signature);
    let mut sign = process::command("ssh-keygen", tree);
    sign.args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(key).arg(&sums);
    process::run(sign).map(|()| signature)
}

/// The names of the artifacts, in order.
fn names(dist: &Path) -> Result<Vec<String>, String> {
    let entries = std::fs::read_dir(dist).map_err(|error| format!("{}: {error}", dist.display()))?;
    let files = entries.flatten().filter(|entry| entry.path().is_file());
    let mut names: Vec<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with(SUMS));
    names.sort();
    Ok(names)
}

pub(super) const SUMS: &str = "SHA256SUMS";
/// What the signature is for: `ssh-keygen -Y verify` is told the same.
const NAMESPACE: &str = "skipstone-release";
