//! A Debian package of the tool: its files are in `deploy/debian`. It is packed by dpkg-deb alone, because everything
//! that debhelper would find out is known.

use std::path::{Path, PathBuf};

use super::manual::{manual, pages};
use super::program::{crates, program};
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::bill::write_bill;
use crate::release::plan::{Release, copy, write};
use crate::release::systems::System;
use crate::release::third_party::write_licences;

/// Makes it.
pub(super) fn make(system: &System, release: &Release, tree: &Tree) -> Result<Vec<PathBuf>, String> {
    if let Some(why) = system::program("dpkg-deb", "dpkg", "no Debian package can be made", tree) {
        return Err(why);
    }
    let built = program(system, release, tree)?;
    let name = name(system, release);
    let root = release.stage(&name)?;
    copy(&built, &root.join("usr/bin/skipstone"))?;
    let crates = crates(system, tree)?;
    for (file, place) in FILES {
        copy(&tree.root().join(file), &root.join(place))?;
    }
    manuals(&root, release, tree)?;
    let documents = root.join("usr/share/doc/skipstone");
    write_licences(&documents.join("THIRD-PARTY-LICENSES.txt"), &crates)?;
    write(&documents.join("copyright"), copyright(release, tree)?)?;
    write(&documents.join("changelog.Debian"), change_log(release))?;
    copy(&tree.root().join("CHANGELOG.md"), &documents.join("changelog"))?;
    compress(
        &["THIRD-PARTY-LICENSES.txt", "changelog.Debian", "changelog"].map(|name| documents.join(name)),
        release,
        tree,
    )?;
    control(&root, system, release, tree)?;
    let artifact = release.artifact(&name);
    let mut deb = release.command("dpkg-deb", tree);
    // Several threads would compress in blocks, to other bytes than one.
    deb.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]).arg(&root).arg(&artifact);
    process::run(deb)?;
    let bill = write_bill(&artifact, &crates, release)?;
    Ok(vec![artifact, bill])
}

/// The name of the artifact.
pub(super) fn name(system: &System, release: &Release) -> String {
    format!("skipstone_{}_{}.deb", version(release), architecture(system))
}

/// Ours, and that of the packaging, which has never changed without the program.
fn version(release: &Release) -> String {
    format!("{}-1", release.version)
}

/// Debian's name of the processor.
pub(super) fn architecture(system: &System) -> &'static str {
    if system.target.starts_with("aarch64") { "arm64" } else { "amd64" }
}

/// Files of the tree, and their places in the package.
const FILES: &[(&str, &str)] = &[
    ("deploy/debian/server.toml", "etc/skipstone/server.toml"),
    ("deploy/debian/skipstone.service", "usr/lib/systemd/system/skipstone.service"),
    ("deploy/debian/sysusers.conf", "usr/lib/sysusers.d/skipstone.conf"),
    ("deploy/debian/lintian-overrides", "usr/share/lintian/overrides/skipstone"),
];
/// Completions as they are generated, and their places.
const COMPLETIONS: [(&str, &str); 3] = [
    ("skipstone.bash", "usr/share/bash-completion/completions/skipstone"),
    ("skipstone.fish", "usr/share/fish/vendor_completions.d/skipstone.fish"),
    ("_skipstone", "usr/share/zsh/vendor-completions/_skipstone"),
];
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

fn manuals(root: &Path, release: &Release, tree: &Tree) -> Result<(), String> {
    let manual = manual(release, tree)?;
    for (file, place) in COMPLETIONS {
        copy(&manual.join("completions").join(file), &root.join(place))?;
    }
    let to = root.join("usr/share/man/man1");
    let mut packed = Vec::new();
    for page in pages(&manual)? {
        let place = to.join(page.file_name().unwrap_or_default());
        copy(&page, &place)?;
        packed.push(place);
    }
    compress(&packed, release, tree)?;
    for plan in std::fs::read_dir(tree.root().join("plans")).into_iter().flatten().flatten() {
        copy(&plan.path(), &root.join("usr/share/skipstone/plans").join(plan.file_name()))?;
    }
    Ok(())
}

/// The folder of the package's own records, and the permissions of all files.
fn control(root: &Path, system: &System, release: &Release, tree: &Tree) -> Result<(), String> {
    let folder = root.join("DEBIAN");
    let mut shell = release.command("sh", tree);
    shell.current_dir(root).args(["-c", "find usr -type f -print0 | sort -z | xargs -0 md5sum"]);
    let sums = process::output(shell).ok_or("md5sum fails")?;
    let mut sizes = release.command("sh", tree);
    sizes.current_dir(root).args(["-c", "find usr etc -type f -printf '%s\\n'"]);
    let sizes = process::output(sizes).ok_or("find fails")?;
    // Rounded up for each file, as dpkg-gencontrol counts.
    let kilobytes: u64 =
        sizes.lines().filter_map(|size| size.parse::<u64>().ok()).map(|size| size.div_ceil(1024)).sum();
    let text = template("control", tree)?;
    let text = text.replace("@VERSION@", &version(release)).replace("@ARCHITECTURE@", architecture(system));
    let text = text.replace("@SIZE@", &kilobytes.to_string()).replace("@HOMEPAGE@", env!("CARGO_PKG_REPOSITORY"));
    write(&folder.join("control"), text)?;
    write(&folder.join("md5sums"), sums)?;
    write(&folder.join("conffiles"), "/etc/skipstone/server.toml\n")?;
    for script in SCRIPTS {
        copy(&tree.root().join("deploy/debian").join(script), &folder.join(script))?;
    }
    let mut modes = release.command("sh", tree);
    modes.current_dir(root).args(["-c", MODES]);
    process::run_quietly(modes, "the permissions of the package's files")
}

/// Whatever the file mode mask of this machine is.
const MODES: &str = "chmod -R u=rwX,go=rX . && find usr etc -type f -exec chmod 0644 {} + && chmod 0755 usr/bin/skipstone \
                     && chmod 0644 DEBIAN/* && chmod 0755 DEBIAN/postinst DEBIAN/prerm DEBIAN/postrm";

fn compress(files: &[PathBuf], release: &Release, tree: &Tree) -> Result<(), String> {
    let mut gzip = release.command("gzip", tree);
    gzip.args(["--best", "--no-name", "--force"]).args(files);
    process::run_quietly(gzip, "documents are compressed")
}

fn copyright(release: &Release, tree: &Tree) -> Result<String, String> {
    let path = tree.root().join("LICENSE-MIT");
    let licence = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let holder = licence.lines().find_map(|line| line.strip_prefix("Copyright (c) "));
    let year = release.time.iso_8601.split('-').next().unwrap_or_default();
    let holder = format!("{year} {}", holder.unwrap_or("the Skipstone authors"));
    let indented: Vec<String> =
        licence.trim().lines().map(|line| if line.is_empty() { " .".into() } else { format!(" {line}") }).collect();
    let text = template("copyright", tree)?.replace("@HOMEPAGE@", env!("CARGO_PKG_REPOSITORY"));
    Ok(text.replace("@COPYRIGHT@", &holder).replace("@EXPAT@", &indented.join("\n")))
}

fn template(name: &str, tree: &Tree) -> Result<String, String> {
    let path = tree.root().join("deploy/debian").join(name);
    std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Debian's change log names the version; what has changed is in the project's own.
fn change_log(release: &Release) -> String {
    let date = &release.time.rfc_2822;
    format!(
        "skipstone ({}) unstable; urgency=medium\n\n  * Release; its changes are in changelog.gz.\n\n -- {MAINTAINER}  {date}\n",
        version(release)
    )
}

const MAINTAINER: &str = "Skipstone maintainers <maintainers@skipstone.example>";
