//! Certificates of servers, and which servers a client trusts.

use crate::errors::start_error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;

/// How a server protects its clients.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Security(pub(crate) skipstone::Security);

#[pymethods]
impl Security {
    /// Encrypted, with a self-signed certificate: generated for this run, or stored in a file from the first start on.
    #[staticmethod]
    #[pyo3(signature = (path = None))]
    fn self_signed(path: Option<PathBuf>) -> PyResult<Self> {
        let made = match path {
            None => skipstone::Security::self_signed(),
            Some(path) => skipstone::Security::self_signed_kept_in(path),
        };
        made.map(Security).map_err(start_error)
    }

    /// Encrypted, with certificate and key from PEM files, or from one with both; they are read again when they change.
    #[staticmethod]
    #[pyo3(signature = (certificate, key = None))]
    fn from_files(certificate: PathBuf, key: Option<PathBuf>) -> PyResult<Self> {
        skipstone::Security::from_files(certificate, key.as_deref()).map(Security).map_err(start_error)
    }

    /// Encrypted, with certificate and key from PEM texts, which may be the same.
    #[staticmethod]
    fn from_pem(certificate: &str, key: &str) -> PyResult<Self> {
        skipstone::Security::from_pem(certificate.as_bytes(), key.as_bytes()).map(Security).map_err(start_error)
    }

    /// Unencrypted only: for a trusted network, or for a tunnel that encrypts.
    #[staticmethod]
    fn plain() -> Self {
        Security(skipstone::Security::plain())
    }

    /// The same, and clients that request no encryption are admitted too.
    fn allowing_plain(&self) -> Self {
        Security(self.0.clone().allowing_plain())
    }

    /// The fingerprint that clients pin, in 64 hexadecimal digits; `None` without encryption.
    #[getter]
    fn fingerprint(&self) -> Option<String> {
        self.0.fingerprint().map(|fingerprint| fingerprint.to_string())
    }
}

/// Which servers a client trusts, unless the URL has a fingerprint.
#[pyclass(frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Trust(pub(crate) skipstone::Trust);

#[pymethods]
impl Trust {
    /// Servers with a certificate that is signed by an authority of the system: the default.
    #[staticmethod]
    fn system() -> Self {
        Trust(skipstone::Trust::System)
    }

    /// Servers with a certificate that is signed by one of these authorities, given as PEM text.
    #[staticmethod]
    fn authority(pem: String) -> Self {
        Trust(skipstone::Trust::Ca(pem))
    }

    /// The one server whose certificate has this fingerprint: 64 hexadecimal digits.
    #[staticmethod]
    fn pinned(fingerprint: &str) -> PyResult<Self> {
        let fingerprint = fingerprint.parse().map_err(|error: skipstone::FingerprintError| {
            PyValueError::new_err(format!("{error}: the server's `fingerprint` gives one"))
        })?;
        Ok(Trust(skipstone::Trust::Pinned(fingerprint)))
    }

    /// Any server, including any attacker between: for tests on one's own machine.
    #[staticmethod]
    fn dangerously_anything() -> Self {
        Trust(skipstone::Trust::DangerouslyAnything)
    }
}
