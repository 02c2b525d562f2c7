//! The names of the artifacts, which pip reads: version, Python and system.

use crate::release::plan::Release;
use crate::release::systems::{Kind, System};

/// The name of a system's wheel: one for all versions of Python from 3.11 on.
pub(super) fn name(system: &System, release: &Release) -> String {
    let cpu = system.target.split('-').next().unwrap_or_default();
    let platform = match (system.kind, cpu) {
        (Kind::Linux, _) => format!("manylinux2014_{cpu}.manylinux_2_17_{cpu}"),
        (Kind::Windows, _) => "win_amd64".into(),
        (Kind::MacOs, "aarch64") => "macosx_11_0_arm64".into(),
        (Kind::MacOs, _) => format!("macosx_11_0_{cpu}"),
    };
    format!("skipstone-{}-cp311-abi3-{platform}.whl", release.version)
}

/// The archive of the sources without its end, and the folder in it.
pub(super) fn sources_name(release: &Release) -> String {
    format!("skipstone-{}", release.version)
}
