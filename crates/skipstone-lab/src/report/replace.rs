//! Files that a run writes: a file has either the whole new content or the whole old one, whatever happens. A full disk
//! or an interrupt leaves the result of the run before.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes this content to a file, which need not exist: first to a temporary file in the same folder, which is then
/// renamed. A pipe or a device such as `/dev/null` is written to directly. A link stays a link.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = &place(path);
    if is_special(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(content);
    }
    let draft = draft_of(path);
    let renamed = write(&draft, path, content).and_then(|()| fs::rename(&draft, path));
    renamed.inspect_err(|_| drop(fs::remove_file(&draft)))
}

/// Whether [`replace`] could write there; checked before a run, which may be long.
pub fn check(path: &Path) -> io::Result<()> {
    let path = &place(path);
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if is_special(path) {
        return Ok(());
    }
    let draft = draft_of(path);
    OpenOptions::new().write(true).create_new(true).open(&draft)?;
    fs::remove_file(draft)
}

fn write(draft: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(draft)?;
    if let Ok(before) = fs::metadata(path) {
        file.set_permissions(before.permissions())?;
    }
    file.write_all(content)?;
    file.sync_all()
}

/// The target of a link.
fn place(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// A unique name in the same folder.
fn draft_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{}.part", std::process::id()));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("skipstone-replace-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).expect("it is there").count()
    }

    #[test]
    fn a_file_is_replaced_atomically_without_leftovers() {
        let folder = folder("whole");
        let file = folder.join("result.json");
        for content in ["first", "2nd", ""] {
            check(&file).expect("it can be written");
            replace(&file, content.as_bytes()).expect("it is written");
            assert_eq!(fs::read_to_string(&file).expect("it is there"), content);
            assert_eq!(names(&folder), 1);
        }
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn checking_a_path_leaves_the_old_file_unchanged() {
        let folder = folder("asked");
        let file = folder.join("result.json");
        fs::write(&file, "old").expect("it is written");
        check(&file).expect("it can be written");
        assert_eq!((fs::read_to_string(&file).expect("it is there"), names(&folder)), ("old".into(), 1));
        assert!(check(&folder).is_err() && check(&folder.join("no/such/folder.json")).is_err());
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_leaves_the_old_file_and_a_device_is_written_to() {
        let folder = folder("full");
        let file = folder.join("result.json");
        fs::write(&file, "old").expect("it is written");
        // A limit of this process would be one of all its tests: the draft's place is taken instead.
        fs::create_dir(draft_of(&file)).expect("a folder in its place");
        replace(&file, b"new").expect_err("the draft cannot be written");
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "old");
        assert_eq!(replace(Path::new("/dev/full"), b"x").expect_err("it is full").kind(), io::ErrorKind::StorageFull);
        replace(Path::new("/dev/null"), b"x").expect("it takes everything");
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_and_its_permissions_are_preserved() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("link");
        let (file, link) = (folder.join("real.json"), folder.join("link.json"));
        fs::write(&file, "old").expect("it is written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        replace(&link, b"new").expect("it is written");
        assert!(fs::symlink_metadata(&link).expect("it is there").is_symlink());
        assert_eq!(fs::read_to_string(&file).expect("it is there"), "new");
        assert_eq!(fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o600);
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
