//! Encrypted connections.

use crate::common::{PATIENCE, server};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use skipstone_fleet::bus::{Bus, BusSettings};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::path::PathBuf;
use tempfile::TempDir;

#[test]
fn a_server_whose_certificate_is_signed_by_the_given_authority_is_trusted() {
    let authority = Authority::new();
    let server = authority.server("localhost");
    let bus = Bus::connect(authority.settings(&server.url().replace("127.0.0.1", "localhost"))).unwrap();
    bus.publish("secret", "content").unwrap();
    bus.flush(PATIENCE).unwrap();
    let tls = server.url().replace("nats://127.0.0.1", "tls://localhost");
    Bus::connect(authority.settings(&tls)).unwrap();
}

#[test]
fn a_certificate_that_nobody_trusted_signed_is_refused_with_the_remedy() {
    let server = Authority::new().server("localhost");
    let at = server.url().replace("127.0.0.1", "localhost");
    for settings in [BusSettings::new(at.parse().unwrap()), Authority::new().settings(&at)] {
        let error = Bus::connect(settings).unwrap_err().to_string();
        assert!(error.contains("no certificate that is trusted signs the server's; name the one that does"), "{error}");
    }
}

#[test]
fn a_certificate_for_another_host_is_refused_with_the_name_that_was_expected() {
    let authority = Authority::new();
    let server = authority.server("another.example");
    let error = Bus::connect(authority.settings(&server.url())).unwrap_err().to_string();
    assert!(error.contains("the server's certificate is not for this host") && error.contains("127.0.0.1"), "{error}");
}

#[test]
fn tls_that_the_server_does_not_have_is_refused_with_the_remedy() {
    let server = server();
    let tls = server.url().replace("nats://", "tls://");
    let error = Bus::connect(BusSettings::new(tls.parse().unwrap())).unwrap_err().to_string();
    assert!(error.contains("the server has no TLS; write nats:// in place of tls://"), "{error}");
}

#[test]
fn a_file_that_contains_no_certificate_is_named() {
    let authority = Authority::new();
    let server = authority.server("localhost");
    std::fs::write(authority.file("ca.pem"), "nothing of the kind").unwrap();
    let error = Bus::connect(authority.settings(&server.url())).unwrap_err().to_string();
    assert!(error.contains("ca.pem: contains no certificate"), "{error}");
}

/// Who signs certificates, with a folder for them.
struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let folder = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        std::fs::write(folder.path().join("ca.pem"), params.self_signed(&key).unwrap().pem()).unwrap();
        Authority { folder, issuer: Issuer::new(params, key) }
    }

    fn server(&self, name: &str) -> LocalNats {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.file("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(self.file("key.pem"), key.serialize_pem()).unwrap();
        let path = |name: &str| self.file(name).display().to_string();
        let extra = format!("tls {{ cert_file: \"{}\", key_file: \"{}\" }}", path("cert.pem"), path("key.pem"));
        LocalNats::start(LocalSettings { extra, ..LocalSettings::default() }).unwrap()
    }

    fn settings(&self, url: &str) -> BusSettings {
        BusSettings { tls_ca: Some(self.file("ca.pem")), ..BusSettings::new(url.parse().unwrap()) }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
