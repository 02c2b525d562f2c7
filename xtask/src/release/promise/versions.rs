//! The version of a release, as far as it says that an interface may have changed.

use std::path::Path;

use super::lines::read;

/// The numbers of the version that rise with a breaking change: 0 and the minor one, from 1.0 on the major one.
pub(super) fn breaking(folder: &Path) -> Result<Vec<u32>, String> {
    let manifest = read(folder, "Cargo.toml")?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = ")).map(|text| text.trim_matches('"'));
    let version = version.ok_or_else(|| format!("{} names no version", folder.join("Cargo.toml").display()))?;
    numbers(version).ok_or_else(|| format!("`{version}` is no version such as 0.1.0"))
}

fn numbers(version: &str) -> Option<Vec<u32>> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    let (major, minor) = (parts.next()??, parts.next()??);
    Some(if major == 0 { vec![0, minor] } else { vec![major] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_1_0_a_minor_version_may_break_and_a_patch_may_not() {
        assert!(numbers("0.2.0") > numbers("0.1.9") && numbers("1.0.0") > numbers("0.9.0"));
        assert_eq!(numbers("0.1.1"), numbers("0.1.0"));
        assert_eq!(numbers("1.2.0"), numbers("1.1.0"));
        assert_eq!(numbers("one"), None);
    }
}
