//! `cargo xtask image`: the tool as an OCI image in an archive, made without a daemon. The image has the program, the
//! libraries that it is linked with, the authorities of the system's TLS, and a user who is not root.

mod container;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::arguments::Arguments;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

/// Makes the image; with `--try` a container of it passes a stress run.
pub(crate) fn image(mut arguments: Arguments, tree: &Tree) -> Result<bool, String> {
    let tool = arguments.take_value("--tool")?.map(PathBuf::from);
    let is_tried = arguments.take_flag("--try");
    arguments.expect_end()?;
    if !cfg!(target_os = "linux") {
        return Err("an image has a Linux program: run this on Linux".into());
    }
    let tool = tool.map_or_else(|| released(tree), Ok)?;
    let folder = process::target_dir(tree).join("image");
    let archive = folder.join("skipstone.oci.tar");
    make(&tool, std::env::consts::ARCH, &folder, &archive, tree)?;
    let megabytes = std::fs::metadata(&archive).map_or(0, |file| file.len() / 1_000_000);
    println!("{} ({megabytes} MB)", archive.display());
    let image = Image { layout: folder.join(LAYOUT) };
    if is_tried { container::try_out(&image.reference(), &tool, &folder, tree).map(|()| true) } else { Ok(true) }
}

/// Makes an image of a program for that processor or target, as Rust calls it. Everything in between is in `folder`, which is
/// emptied first. One commit and one program make the same bytes.
pub(crate) fn make(tool: &Path, processor: &str, folder: &Path, archive: &Path, tree: &Tree) -> Result<(), String> {
    if let Some(why) = system::program("umoci", "umoci", "no image can be made", tree) {
        return Err(why);
    }
    // Of an earlier run, if there was one.
    let _ = std::fs::remove_dir_all(folder);
    let root = folder.join("root");
    lay_out(tool, &root, tree)?;
    let image = Image { layout: folder.join(LAYOUT) };
    image.make(&root, &folder.join("layer.tar"), processor, tree)?;
    let mut pack = tar("--create", ROOT, &image.layout, archive, tree);
    pack.arg(".");
    process::run(pack)
}

/// Unpacks the archive of an image into `folder`, and runs a container of it; `tool` is the load.
pub(crate) fn try_archive(archive: &Path, tool: &Path, folder: &Path, tree: &Tree) -> Result<(), String> {
    if let Some(why) = system::program("umoci", "umoci", "no image can be tried", tree) {
        return Err(why);
    }
    let image = Image { layout: folder.join(LAYOUT) };
    std::fs::create_dir_all(&image.layout).map_err(|error| format!("{}: {error}", image.layout.display()))?;
    let mut unpack = process::command("tar", tree);
    unpack.args(["--extract", "--file"]).arg(archive).arg("--directory").arg(&image.layout);
    process::run(unpack)?;
    container::try_out(&image.reference(), tool, folder, tree)
}

/// The tool as it is released.
fn released(tree: &Tree) -> Result<PathBuf, String> {
    let mut cargo = process::cargo(tree);
    cargo.args(["build", "--release", "--package", "skipstone-cli"]);
    process::run(cargo)?;
    Ok(process::target_dir(tree).join("release/skipstone"))
}

/// Puts the image's files below `root`.
fn lay_out(tool: &Path, root: &Path, tree: &Tree) -> Result<(), String> {
    let put = |from: &Path, at: &str| {
        let to = root.join(at.trim_start_matches('/'));
        let folder = to.parent().unwrap_or(root);
        let copied = std::fs::create_dir_all(folder).and_then(|()| std::fs::copy(from, &to));
        copied.map(drop).map_err(|error| format!("{} cannot be copied to {}: {error}", from.display(), to.display()))
    };
    put(tool, PROGRAM)?;
    if is_loaded(&std::fs::read(tool).map_err(|error| format!("{}: {error}", tool.display()))?) {
        let mut ldd = process::command("ldd", tree);
        ldd.arg(tool);
        let libraries = process::output(ldd).ok_or("ldd does not list the libraries of the program")?;
        linked(&libraries).try_for_each(|library| put(Path::new(library), library))?;
    }
    let authorities = Path::new("/etc/ssl/certs/ca-certificates.crt");
    if authorities.is_file() {
        put(authorities, &authorities.to_string_lossy())?;
    }
    let write = || {
        std::fs::write(root.join("etc/passwd"), format!("skipstone:x:{USER}:{USER}::{HOME}:/sbin/nologin\n"))?;
        std::fs::write(root.join("etc/group"), format!("skipstone:x:{USER}:\n"))?;
        OWN_FOLDERS.iter().try_for_each(|own| std::fs::create_dir_all(root.join(own.trim_start_matches('/'))))
    };
    std::fs::create_dir_all(root.join("etc"))
        .and_then(|()| write())
        .map_err(|error| format!("{}: {error}", root.display()))
}

/// Whether a program of ELF with 64 bits asks for a loader, which finds its libraries: a static one does not.
fn is_loaded(program: &[u8]) -> bool {
    let number = |at: usize, bytes: usize| {
        let field = program.get(at..at + bytes).unwrap_or_default();
        field.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    // The table of the program's headers: its place, the size of an entry, how many there are.
    let (place, size, count) = (number(0x20, 8), number(0x36, 2), number(0x38, 2));
    (0..count).any(|entry| number(place + entry * size, 4) == PT_INTERP)
}

/// The paths in the output of ldd: `libm.so.6 => /lib/libm.so.6 (0x7f)`, `/lib64/ld-linux-x86-64.so.2 (0x7f)`.
fn linked(ldd: &str) -> impl Iterator<Item = &str> {
    ldd.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('/')))
}

/// An image in a layout of the OCI.
struct Image {
    layout: PathBuf,
}

impl Image {
    fn reference(&self) -> String {
        format!("{}:{TAG}", self.layout.display())
    }

    fn make(&self, root: &Path, layer: &Path, processor: &str, tree: &Tree) -> Result<(), String> {
        let created = committed(tree);
        let own = OWN_FOLDERS.iter().map(|folder| format!(".{folder}"));
        let files = own.clone().map(|folder| format!("--exclude={folder}"));
        let mut of_root = tar("--create", ROOT, root, layer, tree);
        of_root.args(files).arg(".");
        let mut of_user = tar("--append", USER, root, layer, tree);
        of_user.args(own);
        process::run(of_root).and_then(|()| process::run(of_user))?;
        let umoci = |words: &[&str]| {
            let mut umoci = process::command("umoci", tree);
            umoci.args(words);
            process::run(umoci)
        };
        let (layout, reference, layer) = (self.layout.to_string_lossy(), self.reference(), layer.to_string_lossy());
        umoci(&["init", "--layout", &layout])?;
        umoci(&["new", "--image", &reference])?;
        umoci(&["raw", "add-layer", "--no-history", "--image", &reference, &layer])?;
        let user = format!("{USER}:{USER}");
        let mut config = vec!["config", "--image", &reference, "--config.user", &user, "--config.workingdir", HOME];
        config.extend(["--config.entrypoint", PROGRAM, "--config.cmd", "--help"]);
        config.extend(PORTS.iter().flat_map(|port| ["--config.exposedports", port]));
        let labels: Vec<String> = labels(tree);
        config.extend(labels.iter().flat_map(|label| ["--config.label", label.as_str()]));
        let processor = if processor.starts_with("aarch64") { "arm64" } else { "amd64" };
        config.extend(["--no-history", "--created", &created, "--os", "linux", "--architecture", processor]);
        umoci(&config)?;
        // Earlier states of the image have the time of this run.
        umoci(&["gc", "--layout", &layout])
    }
}

/// The time of the commit, which every file and the image have.
fn committed(tree: &Tree) -> String {
    let mut git = process::command("git", tree);
    git.args(["log", "-1", "--date=iso-strict-local", "--format=%cd"]).env("TZ", "UTC");
    let time = process::output(git).map(|time| time.trim().to_owned());
    time.filter(|time| !time.is_empty()).unwrap_or_else(|| "1970-01-01T00:00:00Z".into())
}

fn labels(tree: &Tree) -> Vec<String> {
    let mut git = process::command("git", tree);
    git.args(["rev-parse", "HEAD"]);
    let revision = process::output(git).unwrap_or_default();
    let pairs = [
        ("title", "skipstone"),
        ("description", "A low-level transport for multiplayer games: its server, stress test and agent"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("licenses", env!("CARGO_PKG_LICENSE")),
        ("source", env!("CARGO_PKG_REPOSITORY")),
        ("revision", revision.trim()),
    ];
    pairs.iter().map(|(name, text)| format!("org.opencontainers.image.{name}={text}")).collect()
}

/// Files of a folder in a fixed order, as if they were this user's. The names of the files are still to be added.
fn tar(action: &str, user: u32, folder: &Path, archive: &Path, tree: &Tree) -> Command {
    let mut tar = process::command("tar", tree);
    tar.args([action, "--sort=name", "--numeric-owner", "--file"]).arg(archive).arg("--directory").arg(folder);
    tar.args([format!("--owner={user}"), format!("--group={user}"), format!("--mtime={}", committed(tree))]);
    tar.arg("--mode=u=rwX,go=rX");
    tar
}

/// The type of a header that names a loader.
const PT_INTERP: usize = 3;
const LAYOUT: &str = "layout";
const TAG: &str = "latest";
const PROGRAM: &str = "/usr/bin/skipstone";
/// A number, so that Kubernetes can see that it is not root.
const USER: u32 = 65_532;
const ROOT: u32 = 0;
const HOME: &str = "/var/lib/skipstone";
/// The folders into which the user may write.
const OWN_FOLDERS: &[&str] = &[HOME, "/tmp"];
/// The game's, and that of the dashboard and the metrics.
const PORTS: &[&str] = &["7777/udp", "7777/tcp", "7779/tcp"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_of_a_program_are_found() {
        let text =
            "\tlinux-vdso.so.1 (0x00007f)\n\tlibm.so.6 => /lib/libm.so.6 (0x00007f)\n\t/lib64/ld.so.2 (0x00007f)\n";
        assert_eq!(linked(text).collect::<Vec<_>>(), ["/lib/libm.so.6", "/lib64/ld.so.2"]);
    }

    #[test]
    fn a_static_program_has_no_loader() {
        let mut program = vec![0; 0x40 + 2 * 8];
        (program[0x20], program[0x36], program[0x38], program[0x40]) = (0x40, 8, 2, 1);
        assert!(!is_loaded(&program) && !is_loaded(b"\x7fELF"));
        program[0x48] = 3;
        assert!(is_loaded(&program));
    }
}
