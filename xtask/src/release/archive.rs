//! Archives that two machines make equal: names in order, one time, one owner, two kinds of permissions.

use std::path::{Path, PathBuf};

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

use super::plan::Release;

/// Packs `folder/NAME` as the artifact `NAME.END`, with `NAME` as its only top folder. `end` is `tar.gz` or `zip`.
pub(crate) fn pack(folder: &Path, name: &str, end: &str, release: &Release, tree: &Tree) -> Result<PathBuf, String> {
    let archive = release.artifact(&format!("{name}.{end}"));
    match end {
        "zip" => zip(folder, &[name], &archive, release, tree)?,
        _ => tar_gz(folder, &[name], &archive, release, tree)?,
    }
    Ok(archive)
}

/// A tar archive of these names in `folder`, compressed by gzip.
pub(crate) fn tar_gz(
    folder: &Path,
    names: &[&str],
    archive: &Path,
    release: &Release,
    tree: &Tree,
) -> Result<(), String> {
    let plain = archive.with_extension("");
    let mut tar = release.command("tar", tree);
    tar.args(["--create", "--format=gnu", "--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.arg(format!("--mtime=@{}", release.epoch)).arg("--mode=u=rwX,go=rX").arg("--file").arg(&plain);
    tar.arg("--directory").arg(folder).args(names);
    process::run(tar)?;
    let mut gzip = release.command("gzip", tree);
    gzip.args(["--best", "--no-name", "--force"]).arg(&plain);
    process::run(gzip)?;
    let made = PathBuf::from(format!("{}.gz", plain.display()));
    if made == archive {
        return Ok(());
    }
    std::fs::rename(&made, archive).map_err(|error| format!("{}: {error}", archive.display()))
}

/// A ZIP archive of these names in `folder`; `.` is everything in it.
pub(crate) fn zip(folder: &Path, names: &[&str], archive: &Path, release: &Release, tree: &Tree) -> Result<(), String> {
    let python = system::python(tree).ok_or("no Python 3, which makes ZIP archives: install python3")?;
    let mut zip = release.command(python, tree);
    zip.args(["-B", "xtask/python/zip_folder.py"]).arg(archive).arg(folder).args(names);
    process::run(zip)
}
