//! The release that a program was deployed as.

use std::path::Path;

/// The name of this program's release, if `skipstone deploy` has put it where it is. With it in
/// [`DirectorySettings::version`](super::DirectorySettings::version), a deployment sees in the directory that the node runs
/// the new release.
pub fn deployed_release() -> Option<String> {
    release_of(&std::env::current_exe().ok()?)
}

/// The folder below `releases` that the file is in.
fn release_of(program: &Path) -> Option<String> {
    let release = program.ancestors().skip(1).find(|folder| folder.join(MARK).is_file())?;
    let name = release.file_name()?.to_str()?;
    (release.parent()?.file_name()? == "releases" && name.len() <= NAME_BYTES_MAX).then(|| name.to_owned())
}

/// The file by which a deployment knows its releases.
const MARK: &str = ".skipstone-release";
/// What fits into a version, behind the program's own.
const NAME_BYTES_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_is_the_marked_folder_below_releases() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("releases/20261123T060000Z-1a2b3c4d/bin");
        std::fs::create_dir_all(&folder).unwrap();
        let program = folder.join("game");
        assert_eq!(release_of(&program), None);
        std::fs::write(folder.parent().unwrap().join(MARK), "a commit").unwrap();
        assert_eq!(release_of(&program).as_deref(), Some("20261123T060000Z-1a2b3c4d"));
        std::fs::write(place.path().join(MARK), "").unwrap();
        assert_eq!(release_of(&place.path().join("game")), None);
    }
}
