//! Where the program is.

use super::error::LocalError;
use std::path::PathBuf;

/// The program that `SKIPSTONE_NATS_SERVER` names, or `nats-server` of `PATH`, or of the folder into which Go installs.
pub(super) fn find() -> Result<PathBuf, LocalError> {
    let named = std::env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_go = std::env::home_dir().map(|home| home.join("go/bin"));
    // Debian installs it where only root's PATH leads.
    find_in(named, std::env::split_paths(&path).chain(of_go).chain(["/usr/sbin".into()]))
}

fn find_in(named: Option<PathBuf>, folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf, LocalError> {
    if let Some(named) = named {
        return match named.is_file() {
            true => Ok(named),
            false => Err(LocalError::NoSuchProgram(named.display().to_string())),
        };
    }
    let name = format!("nats-server{}", std::env::consts::EXE_SUFFIX);
    folders.map(|folder| folder.join(&name)).find(|program| program.is_file()).ok_or(LocalError::NotInstalled)
}

const VARIABLE: &str = "SKIPSTONE_NATS_SERVER";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_that_is_named_comes_before_those_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let installed = folder.path().join(format!("nats-server{}", std::env::consts::EXE_SUFFIX));
        let named = folder.path().join("another");
        for program in [&installed, &named] {
            std::fs::write(program, "").unwrap();
        }
        let folders = || ["/no/such/folder".into(), folder.path().to_owned()].into_iter();
        assert_eq!(find_in(None, folders()).unwrap(), installed);
        assert_eq!(find_in(Some(named.clone()), folders()).unwrap(), named);
        let error = find_in(Some("/no/such/program".into()), folders()).unwrap_err().to_string();
        assert!(error.contains("SKIPSTONE_NATS_SERVER names /no/such/program"), "{error}");
    }

    #[test]
    fn a_missing_program_is_refused_with_the_ways_to_get_it() {
        let error = find_in(None, std::iter::empty()).unwrap_err().to_string();
        assert!(error.contains("`apt install nats-server`"), "{error}");
        assert!(error.contains("`go install github.com/nats-io/nats-server/v2@v2.15.2`"), "{error}");
    }
}
