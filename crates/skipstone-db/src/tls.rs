//! The encryption of a connection to a database server, in the notation of providers' URLs: PostgreSQL's
//! `sslmode`, and `ssl-mode` as MySQL and MariaDB write it.

use crate::percent::encoded_path;
use sqlx::mysql::MySqlSslMode;
use sqlx::postgres::PgSslMode;
use std::fmt;
use std::path::PathBuf;

/// The encryption that a URL asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsWish {
    /// The minimum requirement; the driver's default if the URL names none.
    mode: Option<TlsMode>,
    /// Authorities that may have signed the server's certificate, in addition to the system's.
    authorities: Option<PathBuf>,
}

/// The TLS requirement of a connection, from none to a server that has proven its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TlsMode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

const MODES: &str = "disable, prefer, require, verify-ca or verify-full";

impl TlsWish {
    /// Takes a parameter of a URL, if it is one about encryption. The error is a sentence.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match spelled(key).as_str() {
            "ssl-mode" | "sslmode" | "ssl" | "use-ssl" | "usessl" | "sslaccept" => {
                let mode = TlsMode::parse(value);
                let mode = mode.ok_or_else(|| format!("?{key} of a database's URL is {MODES}, not '{value}'"))?;
                self.mode = self.mode.max(Some(mode));
            }
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" | "sslca" if value == "system" => {
                self.at_least(TlsMode::VerifyFull)
            }
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" | "sslca" => {
                self.authorities = Some(value.into());
                // WHY: the driver trusts these authorities in addition to the system's. libpq asks for verify-ca here,
                // which would take the certificate of any public authority for any name.
                self.at_least(TlsMode::VerifyFull);
            }
            // The drivers do not bind channels. A server that has proven its name is equivalent: no third party is in
            // between.
            "channel-binding" if value == "require" => self.at_least(TlsMode::VerifyFull),
            "channel-binding" if ["prefer", "disable"].contains(&value) => {}
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn at_least(&mut self, mode: TlsMode) {
        self.mode = self.mode.max(Some(mode));
    }

    pub(crate) fn authorities(&self) -> Option<&PathBuf> {
        self.authorities.as_ref()
    }

    pub(crate) fn for_postgres(&self) -> Option<PgSslMode> {
        Some(match self.mode? {
            TlsMode::Disable => PgSslMode::Disable,
            TlsMode::Prefer => PgSslMode::Prefer,
            TlsMode::Require => PgSslMode::Require,
            TlsMode::VerifyCa => PgSslMode::VerifyCa,
            TlsMode::VerifyFull => PgSslMode::VerifyFull,
        })
    }

    pub(crate) fn for_mysql(&self) -> Option<MySqlSslMode> {
        Some(match self.mode? {
            TlsMode::Disable => MySqlSslMode::Disabled,
            TlsMode::Prefer => MySqlSslMode::Preferred,
            TlsMode::Require => MySqlSslMode::Required,
            TlsMode::VerifyCa => MySqlSslMode::VerifyCa,
            TlsMode::VerifyFull => MySqlSslMode::VerifyIdentity,
        })
    }
}

impl TlsMode {
    fn parse(word: &str) -> Option<TlsMode> {
        Some(match spelled(word).as_str() {
            "disable" | "disabled" | "false" | "0" => TlsMode::Disable,
            // `allow` of PostgreSQL begins in clear, which is never better.
            "allow" | "prefer" | "preferred" => TlsMode::Prefer,
            "require" | "required" | "true" | "1" | "trust" | "accept-invalid-certs" => TlsMode::Require,
            "verify-ca" => TlsMode::VerifyCa,
            "verify-full" | "verify-identity" | "strict" => TlsMode::VerifyFull,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            TlsMode::Disable => "disable",
            TlsMode::Prefer => "prefer",
            TlsMode::Require => "require",
            TlsMode::VerifyCa => "verify-ca",
            TlsMode::VerifyFull => "verify-full",
        }
    }
}

/// `VERIFY_IDENTITY`, `verify-identity` and `sslMode` are written in many ways.
fn spelled(word: &str) -> String {
    word.to_ascii_lowercase().replace('_', "-")
}

/// As parameters of a URL, a `&` before each.
impl fmt::Display for TlsWish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.mode.map_or(Ok(()), |mode| write!(f, "&sslmode={}", mode.name()))?;
        self.authorities.as_ref().map_or(Ok(()), |file| write!(f, "&sslrootcert={}", encoded_path(file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(parameters: &[(&str, &str)]) -> TlsWish {
        let mut wish = TlsWish::default();
        for (key, value) in parameters {
            assert_eq!(wish.take(key, value), Ok(true), "{key}={value}");
        }
        wish
    }

    #[test]
    fn tls_options_of_common_providers_are_understood() {
        for (key, value, mode) in [
            ("sslmode", "require", TlsMode::Require),
            ("sslmode", "verify-ca", TlsMode::VerifyCa),
            ("sslmode", "verify-full", TlsMode::VerifyFull),
            ("ssl-mode", "REQUIRED", TlsMode::Require),
            ("ssl_mode", "VERIFY_IDENTITY", TlsMode::VerifyFull),
            ("sslMode", "trust", TlsMode::Require),
            ("ssl", "true", TlsMode::Require),
            ("sslaccept", "strict", TlsMode::VerifyFull),
            ("sslmode", "disable", TlsMode::Disable),
        ] {
            assert_eq!(wish(&[(key, value)]).mode, Some(mode), "{key}={value}");
        }
    }

    #[test]
    fn a_tls_requirement_is_never_weakened() {
        let verified = Some(TlsMode::VerifyFull);
        assert_eq!(wish(&[("sslmode", "verify-full"), ("sslrootcert", "ca.pem")]).mode, verified);
        assert_eq!(wish(&[("sslmode", "require"), ("channel_binding", "require")]).mode, verified);
        assert_eq!(wish(&[("sslmode", "require"), ("channel_binding", "prefer")]).mode, Some(TlsMode::Require));
        assert_eq!(wish(&[("sslrootcert", "system")]).mode, verified);
        assert_eq!(wish(&[("ssl-mode", "REQUIRED"), ("ssl-ca", "ca.pem")]).mode, Some(TlsMode::VerifyFull));
    }

    #[test]
    fn unknown_options_are_refused() {
        let error = TlsWish::default().take("sslmode", "verify").expect_err("there is none such");
        assert!(error.contains("verify-full"), "{error}");
        assert_eq!(TlsWish::default().take("charset", "utf8mb4"), Ok(false));
        assert_eq!(TlsWish::default().take("channel_binding", "maybe"), Ok(false));
    }
}
