//! Where the program is.

use super::error::LocalError;
use std::path::PathBuf;

/// The program that `SKIPSTONE_NATS_SERVER` names, or `nats-server` of `PATH`, or of the folder into which Go installs.
pub(super) fn find() -> Result<PathBuf, LocalError> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from) {
        return match named.is_file() {
            true => Ok(named),
            false => Err(LocalError::NoSuchProgram(named.display().to_string())),
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_go = std::env::home_dir().map(|home| home.join("go/bin"));
    // Debian installs it where only root's PATH leads.
    let folders = std::env::split_paths(&path).chain(of_go).chain(["/usr/sbin".into()]);
    let name = format!("nats-server{}", std::env::consts::EXE_SUFFIX);
    folders.map(|folder| folder.join(&name)).find(|program| program.is_file()).ok_or(LocalError::NotInstalled)
}

const VARIABLE: &str = "SKIPSTONE_NATS_SERVER";
