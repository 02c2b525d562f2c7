//! How a server's native clients are protected: which certificate, and whether some may go without.

use skipstone::{Identity, Security};
use skipstone_lab::report::output;
use std::path::{Path, PathBuf};

/// Flags of `serve` about certificates.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ProtectionFlags {
    /// The certificate as a PEM file; ECDSA on P-256 or P-384
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<PathBuf>,
    /// Its private key as a PEM file, if that is not the same file
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub(crate) key: Option<PathBuf>,
    /// Where a certificate of the server's own is kept, made on the first start; `new` makes one for this run
    /// [default: skipstone/identity.pem where this user's programs keep their state]
    #[arg(long, value_name = "FILE", conflicts_with = "cert")]
    pub(crate) identity: Option<PathBuf>,
    /// Let in native clients without encryption too (skip+plain://)
    #[arg(long)]
    pub(crate) allow_plain: bool,
}

impl ProtectionFlags {
    /// The error is one sentence with the remedy.
    pub(crate) fn security(&self) -> Result<Security, String> {
        let identity = self.own().map_err(|error| error.to_string())?;
        if identity.unshown() > 0 {
            output::complain(include_str!("unshown-certificates.txt").trim_ascii_end());
        }
        if let Some(file) = identity.open_key_file() {
            output::complain(format_args!(
                "warning: others than its owner can read the private key in {}, and pose as this server. Remedy: chmod 600 {0}",
                file.display()
            ));
        }
        let security = Security::with(identity);
        Ok(if self.allow_plain { security.allowing_plain() } else { security })
    }

    fn own(&self) -> Result<Identity, skipstone::IdentityError> {
        if let Some(certificate) = &self.cert {
            return Identity::from_files(certificate, self.key.as_deref());
        }
        match self.identity.clone().or_else(default_place) {
            Some(file) if file != Path::new("new") => Identity::self_signed_kept_in(file),
            _ => Identity::self_signed(),
        }
    }
}

/// `None` where the user has no place for such files.
fn default_place() -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = from("XDG_STATE_HOME").or_else(|| from("LOCALAPPDATA"));
    let state = state.or_else(|| from("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("skipstone").join("identity.pem"))
}
