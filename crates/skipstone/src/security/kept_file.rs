//! Files with a private key that are created at their first use, by the first process that needs them. This needs
//! neither hard links nor locks, which exFAT, some FUSE file systems, and Android lack: an empty file claims the name,
//! and the content replaces it.
//!
//! ```text
//! identity.pem            empty: claimed; else the content
//! identity.pem.heir-0     a process takes over the claim of a dead one; heir-1 if that process died as well
//! identity.pem.draft-417  the content on its way, of the process 417
//! ```

use super::identity_error::IdentityError;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A process that has claimed a name has this time to write the content before it counts as dead.
const CLAIM_MAX: Duration = Duration::from_secs(2);
/// The time between two checks of another process's claim.
const SPAN: Duration = Duration::from_millis(10);

/// The content of a file. If there is none, `make` generates it, and it is written to the file, readable by its owner
/// only. If several processes do this at once, all of them get the same content.
pub(super) fn read_or_make(
    path: &Path,
    make: impl FnOnce() -> Result<String, IdentityError>,
) -> Result<Vec<u8>, IdentityError> {
    read_or_make_within(CLAIM_MAX, path, make)
}

fn read_or_make_within(
    claim_max: Duration,
    path: &Path,
    make: impl FnOnce() -> Result<String, IdentityError>,
) -> Result<Vec<u8>, IdentityError> {
    let refused = |error| IdentityError::file(path, error);
    let (mut end, mut heirs) = (Instant::now() + claim_max, 0);
    loop {
        let is_late = Instant::now() >= end;
        match fs::read(path) {
            // An empty device or pipe claims nothing, and is never replaced.
            Ok(content) if !content.is_empty() || !path.is_file() => return Ok(content),
            Ok(_) if is_late => match create(&beside(path, HEIR, heirs)) {
                Ok(_) => {
                    heirs += 1;
                    break;
                }
                // Another process was first. It may die as well.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && heirs < HEIRS_MAX => {
                    heirs += 1;
                    end = Instant::now() + claim_max;
                }
                Err(error) => return Err(refused(error)),
            },
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => match claim(path) {
                Ok(()) => break,
                // Another process was first, or a symbolic link leads nowhere.
                Err(error) if error.kind() == ErrorKind::AlreadyExists && !is_late => {}
                Err(error) => return Err(refused(error)),
            },
            Err(error) => return Err(refused(error)),
        }
        std::thread::sleep(SPAN);
    }
    // A process that waited for this one and takes over after its end finds the content.
    let filled = match is_missing(path) {
        true => make().and_then(|content| fill(path, content.as_bytes()).map_err(refused)),
        false => Ok(()),
    };
    for heir in 0..heirs {
        let _ = fs::remove_file(beside(path, HEIR, heir));
    }
    // The content that another process has written there meanwhile is as good.
    if filled.is_err() && is_missing(path) {
        // A second error would hide the first.
        let _ = fs::remove_file(path);
        filled?;
    }
    fs::read(path).map_err(refused)
}

/// Whether there is no file with content.
fn is_missing(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |file| file.len() == 0)
}

const HEIR: &str = "heir";
const DRAFT: &str = "draft";
/// More than the number of processes that die one after the other while holding a claim.
const HEIRS_MAX: u32 = 16;

/// `identity.pem.draft-417`.
fn beside(path: &Path, what: &str, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{what}-{number}"));
    name.into()
}

/// Creates the file, empty, if no other process has.
fn claim(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    create(path).map(drop)
}

/// Replaces a claim by the content, which is on the disk before the name refers to it.
fn fill(path: &Path, content: &[u8]) -> io::Result<()> {
    remove_drafts(path);
    let draft = beside(path, DRAFT, std::process::id());
    let written = create(&draft).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&draft, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&draft);
    }
    renamed
}

/// Removes drafts of processes that died. A slow process that still runs loses its draft too, and then uses the content
/// that another process wrote.
fn remove_drafts(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let prefix = format!("{}.{DRAFT}-", name.to_string_lossy());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.strip_prefix(&prefix)?.parse::<u32>().ok());
        if number.is_some() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A new file that only its owner can read.
fn create(path: &Path) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU32, Ordering};

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            static COUNT: AtomicU32 = AtomicU32::new(0);
            let name = format!("skipstone-kept-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            fs::create_dir_all(&path).expect("a folder");
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let all = fs::read_dir(&self.0).expect("it is there").map(|entry| entry.expect("it is read").file_name());
            all.map(|name| name.to_string_lossy().into_owned()).collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn of(text: &str) -> impl FnOnce() -> Result<String, IdentityError> {
        let text = text.to_owned();
        move || Ok(text)
    }

    #[test]
    fn processes_starting_together_agree_on_one_content() {
        let folder = Folder::new();
        let path = folder.0.join("deep/kept.pem");
        let contents: Vec<_> = std::thread::scope(|scope| {
            let one = |number: usize| {
                let path = &path;
                scope.spawn(move || read_or_make(path, of(&format!("content {number}"))).expect("it is made"))
            };
            let threads: Vec<_> = (0..8).map(one).collect();
            threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
        });
        assert!(contents.iter().all(|content| *content == contents[0] && !content.is_empty()), "{contents:?}");
        assert_eq!(folder.names(), ["deep"]);
        assert_eq!(fs::read_dir(folder.0.join("deep")).expect("it is there").count(), 1, "no draft stays");
    }

    #[test]
    fn claims_and_drafts_of_dead_processes_are_taken_over() {
        let folder = Folder::new();
        let path = folder.0.join("kept.pem");
        fs::write(&path, "").expect("it is claimed");
        for dead in [std::process::id(), 1, 4_000_000] {
            fs::write(beside(&path, DRAFT, dead), "half").expect("it is there");
        }
        fs::write(beside(&path, HEIR, 0), "").expect("an heir that died as well");
        let backup = folder.0.join("kept.pem.1");
        fs::write(&backup, "of the operator").expect("it is there");
        let content = read_or_make_within(Duration::ZERO, &path, of("whole")).expect("it is made");
        assert_eq!(content, b"whole");
        fs::remove_file(backup).expect("it stays");
        assert_eq!(folder.names(), ["kept.pem"]);
    }

    #[test]
    fn only_one_process_takes_over_a_dead_claim() {
        for _ in 0..3 {
            let folder = Folder::new();
            let path = folder.0.join("kept.pem");
            fs::write(&path, "").expect("it is claimed");
            let made = AtomicU32::new(0);
            let contents: Vec<_> = std::thread::scope(|scope| {
                let one = |number: usize| {
                    let (path, made) = (&path, &made);
                    let make = move || {
                        made.fetch_add(1, Ordering::Relaxed);
                        Ok(format!("content {number}"))
                    };
                    scope
                        .spawn(move || read_or_make_within(Duration::from_millis(300), path, make).expect("it is made"))
                };
                let threads: Vec<_> = (0..8).map(one).collect();
                threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
            });
            assert!(contents.iter().all(|content| *content == contents[0] && !content.is_empty()), "{contents:?}");
            assert_eq!(made.load(Ordering::Relaxed), 1);
            assert_eq!(folder.names(), ["kept.pem"]);
        }
    }

    #[test]
    fn a_file_that_cannot_be_created_leaves_no_claim() {
        let folder = Folder::new();
        let path = folder.0.join("kept.pem");
        read_or_make(&path, || Err(IdentityError::CannotMake)).expect_err("nothing is made");
        assert_eq!(folder.names(), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_or_a_dangling_link_is_not_replaced() {
        let folder = Folder::new();
        let link = folder.0.join("link.pem");
        std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
        assert_eq!(read_or_make_within(Duration::ZERO, &link, of("x")).expect("it is read"), b"");
        let lost = folder.0.join("lost.pem");
        std::os::unix::fs::symlink(folder.0.join("nowhere"), &lost).expect("a link");
        read_or_make_within(Duration::ZERO, &lost, of("x")).expect_err("it leads nowhere");
        assert!(link.is_symlink() && lost.is_symlink());
    }
}
