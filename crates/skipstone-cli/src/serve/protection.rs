//! Encryption of a server's native clients: the certificate, and whether plain clients are allowed.

use skipstone::{Identity, Security};
use skipstone_lab::report::output;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Flags of `serve` about certificates.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ProtectionFlags {
    /// The certificate as a PEM file, with the chain and optionally the key in any order; reloaded when it changes. May
    /// be given several times, for several names
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Vec<PathBuf>,
    /// Its private key as a PEM file, if that is another file; once for each --cert
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Vec<PathBuf>,
    /// File of the server's generated certificate, created on the first start; `new` generates one for this run only
    /// [default: skipstone/identity.pem in the user's state directory]
    #[arg(long, value_name = "FILE", conflicts_with = "cert")]
    pub(crate) identity: Option<PathBuf>,
    /// Also accept native clients without encryption (skip+plain://)
    #[arg(long)]
    pub(crate) allow_plain: bool,
}

impl ProtectionFlags {
    /// The error is one sentence with the remedy. The previous process may have handed its identity over.
    pub(crate) fn security(&self, handed: Option<&str>) -> Result<Security, String> {
        let identities = self.identities(handed)?;
        for identity in &identities {
            warn(identity);
        }
        if cfg!(feature = "carriers") && !identities.iter().any(Identity::serves_dtls) {
            output::complain(
                "note: none of the certificates has a key of ECDSA, so there is no DTLS, and handshakes cost more. \
                 Remedy: another --cert with a key of ECDSA (certbot: --key-type ecdsa)",
            );
        }
        let security = Security::with_all(identities);
        Ok(if self.allow_plain { security.allowing_plain() } else { security })
    }

    fn identities(&self, handed: Option<&str>) -> Result<Vec<Identity>, String> {
        if self.cert.is_empty() {
            return self.own(handed).map(|own| vec![own]).map_err(|error| error.to_string());
        }
        if !self.key.is_empty() && self.key.len() != self.cert.len() {
            return Err("--key is given once for each --cert, or not at all if the keys are in the same files".into());
        }
        let key_of = |place: usize| self.key.get(place).map(PathBuf::as_path);
        let read = |(place, file): (usize, &PathBuf)| Identity::from_files(file, key_of(place));
        (0..).zip(&self.cert).map(read).collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    fn own(&self, handed: Option<&str>) -> Result<Identity, skipstone::IdentityError> {
        match self.identity.clone().or_else(|| default_place(|name| std::env::var_os(name))) {
            Some(file) if file != Path::new("new") => return Identity::self_signed_kept_in(file),
            Some(_) => {}
            None => output::complain(
                "warning: this server's certificate is not saved, because neither HOME nor STATE_DIRECTORY is set: it \
                 outlives SIGUSR2, but not the server, and clients that pin it do not come back then. Remedy: \
                 --identity FILE",
            ),
        }
        handed.map_or_else(Identity::self_signed, Identity::from_handover)
    }
}

/// Prints warnings about a certificate.
fn warn(identity: &Identity) {
    if identity.unshown() > 0 {
        output::complain(include_str!("unshown-certificates.txt").trim_ascii_end());
    }
    if let Some(file) = identity.open_key_file() {
        output::complain(format_args!(
            "warning: users other than its owner can read the private key in {}, and impersonate this server. Remedy: \
             chmod 600 {0}",
            file.display()
        ));
    }
}

/// The file according to these variables; `None` if neither the user nor the service has a folder for such files.
fn default_place(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let from = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = from("XDG_STATE_HOME").or_else(|| from("LOCALAPPDATA"));
    let state = state.or_else(|| from("HOME").map(|home| home.join(".local/state")));
    // systemd's StateDirectory= of a service, whose root user has no HOME; several are separated by colons.
    let service = || variable("STATE_DIRECTORY").and_then(|all| std::env::split_paths(&all).next());
    let state = state.or_else(|| service().filter(|first| !first.as_os_str().is_empty()))?;
    Some(state.join("skipstone").join("identity.pem"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_stored_in_the_folder_of_the_user_or_the_service() {
        let place = |set: &[(&str, &str)]| {
            let of = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
            default_place(of).map(|file| file.to_string_lossy().replace('\\', "/"))
        };
        let home = ("HOME", "/users/me");
        let service = ("STATE_DIRECTORY", "/var/lib/game:/var/lib/other");
        assert_eq!(place(&[home, service]).as_deref(), Some("/users/me/.local/state/skipstone/identity.pem"));
        assert_eq!(place(&[("HOME", ""), service]).as_deref(), Some("/var/lib/game/skipstone/identity.pem"));
        assert_eq!(place(&[("STATE_DIRECTORY", "")]), None);
    }
}
