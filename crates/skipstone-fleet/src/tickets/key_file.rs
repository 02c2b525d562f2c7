//! The file of keys.

use super::error::KeyError;
use super::keys::FleetKeys;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

impl FleetKeys {
    /// Makes a key in a new file that its owner alone reads.
    ///
    /// # Errors
    /// The file exists or cannot be written.
    pub fn create(path: &Path) -> Result<FleetKeys, KeyError> {
        let text = FleetKeys::generate()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => KeyError::Exists(shown(path)),
            _ => KeyError::File(shown(path), error),
        })?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|error| KeyError::File(shown(path), error))?;
        FleetKeys::parse(&text)
    }

    /// Reads a file of keys.
    ///
    /// # Errors
    /// It cannot be read, contains something else, or contains a secret key that others can read.
    pub fn read(path: &Path) -> Result<FleetKeys, KeyError> {
        let unreadable = |error| KeyError::File(shown(path), error);
        let file = File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut std::io::Read::take(&file, FILE_BYTES_MAX), &mut text)
            .map_err(unreadable)?;
        let keys = FleetKeys::parse(&text).map_err(|error| KeyError::In(shown(path), Box::new(error)))?;
        match keys.has_secret() && is_open_to_others(&file).map_err(unreadable)? {
            true => Err(KeyError::OpenToOthers(shown(path))),
            false => Ok(keys),
        }
    }
}

#[cfg(unix)]
fn is_open_to_others(file: &File) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(file.metadata()?.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn is_open_to_others(_file: &File) -> std::io::Result<bool> {
    Ok(false)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Four keys and their comments.
const FILE_BYTES_MAX: u64 = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_key_is_its_owners_alone_and_no_file_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fleet.key");
        let made = FleetKeys::create(&path).unwrap();
        assert_eq!(FleetKeys::read(&path).unwrap().public_lines(), made.public_lines());
        let error = FleetKeys::create(&path).unwrap_err().to_string();
        assert!(error.contains("fleet.key exists already; choose another name"), "{error}");
        let error = FleetKeys::read(&folder.path().join("none")).unwrap_err().to_string();
        assert!(error.contains("none: No such file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_key_that_others_read_is_refused_and_a_public_one_is_not() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (secret, public) = (folder.path().join("secret"), folder.path().join("public"));
        let keys = FleetKeys::create(&secret).unwrap();
        std::fs::write(&public, keys.public_lines()).unwrap();
        for path in [&secret, &public] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        let error = FleetKeys::read(&secret).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        assert!(FleetKeys::read(&public).unwrap().signer().is_err());
    }
}
