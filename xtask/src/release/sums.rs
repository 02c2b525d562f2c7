//! SHA256SUMS of all artifacts, and the signature by a key that the releaser brings.

use std::path::{Path, PathBuf};

use crate::machine::process;
use crate::machine::tree::Tree;

use super::plan::{Release, write};

/// Writes the sums of every file in `dist`. A signature of earlier ones is removed.
pub(super) fn write_sums(release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    // There may be none.
    let _ = std::fs::remove_file(release.artifact(SIGNATURE));
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

/// Whether that is a key of OpenSSH (`ssh-keygen -t ed25519`), before hours of building. Prints its fingerprint; asks
/// for no passphrase.
pub(super) fn check_key(key: &Path, tree: &Tree) -> Result<(), String> {
    if process::find("ssh-keygen").is_none() {
        return Err("ssh-keygen is missing. Debian and Ubuntu: apt-get install openssh-client".into());
    }
    let remedy = "`ssh-keygen -t ed25519 -f FILE` makes one";
    if !key.is_file() {
        return Err(format!("{}: there is no such key; {remedy}", key.display()));
    }
    let mut fingerprint = process::command("ssh-keygen", tree);
    fingerprint.arg("-l").arg("-f").arg(key);
    let fingerprint = process::output(fingerprint);
    let fingerprint = fingerprint.ok_or_else(|| format!("{}: this is no key of OpenSSH; {remedy}", key.display()))?;
    println!("will be signed by {}", fingerprint.trim());
    Ok(())
}

/// Signs the sums by a private key, or by the one in ssh-agent whose public key this is.
pub(super) fn sign(key: &Path, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let mut sign = process::command("ssh-keygen", tree);
    sign.args(["-Y", "sign", "-n", NAMESPACE, "-f"]).arg(key).arg(release.artifact(SUMS));
    let again = "nothing is signed. A key with a passphrase needs a terminal, or ssh-agent: `ssh-add KEY`, then \
                 `--sign-with KEY.pub`. To sign what is there without building it again: ssh-keygen -Y sign -n";
    let sums = release.artifact(SUMS);
    process::run(sign).map_err(|why| format!("{why}: {again} {NAMESPACE} -f KEY {}", sums.display()))?;
    Ok(release.artifact(SIGNATURE))
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
/// Where ssh-keygen puts it.
const SIGNATURE: &str = "SHA256SUMS.sig";
/// What the signature is for: `ssh-keygen -Y verify` is told the same.
const NAMESPACE: &str = "skipstone-release";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused_with_the_remedy() {
        let tree = Tree::at(env!("CARGO_MANIFEST_DIR").into());
        let missing = check_key(Path::new("no-such-key"), &tree).expect_err("there is none");
        assert!(missing.contains("ssh-keygen"), "{missing}");
        // Where ssh-keygen is missing, that is what it says.
        let other = check_key(&tree.root().join("Cargo.toml"), &tree).expect_err("a manifest is no key");
        assert!(other.contains("no key of OpenSSH") || other.contains("is missing"), "{other}");
    }
}
