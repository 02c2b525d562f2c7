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
    tar.arg(format!("--mtime=@{}", release.time.epoch)).arg("--mode=u=rwX,go=rX").arg("--file").arg(&plain);
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

/// Unpacks an archive into a folder, by its end.
pub(crate) fn unpack(archive: &Path, folder: &Path, tree: &Tree) -> Result<(), String> {
    if !archive.is_file() {
        return Err(format!("{} is missing: make it first, without --check", archive.display()));
    }
    let is_zip = archive.extension().is_some_and(|end| end == "zip" || end == "nupkg" || end == "whl");
    let unpack = if is_zip {
        let mut zip = process::command(system::python(tree).ok_or("no Python 3: install python3")?, tree);
        zip.args(["-m", "zipfile", "-e"]).arg(archive).arg(folder);
        zip
    } else {
        let mut tar = process::command("tar", tree);
        tar.args(["--extract", "--gzip", "--file"]).arg(archive).arg("--directory").arg(folder);
        tar
    };
    process::run(unpack)
}
