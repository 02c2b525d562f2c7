//! Renewals, and which certificate each client is shown, without a server and without waiting: each look is a call.

use super::news::CertificateEvent;
use super::store::Certificates;
use crate::security::fingerprint::{Fingerprint, fingerprint_of};
use crate::security::tls::stream_client_config;
use crate::security::verify::Verifier;
use crate::security::{Identity, IdentityError, Trust};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ServerConfig, ServerConnection};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A folder for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("skipstone-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("there is room");
        Folder(path)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("there is room");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A certificate and its key as PEM texts.
fn made(names: &[&str], adjust: impl FnOnce(&mut rcgen::CertificateParams)) -> (String, String) {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy");
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = rcgen::CertificateParams::new(names).expect("good names");
    adjust(&mut params);
    (params.self_signed(&key).expect("it is made").pem(), key.serialize_pem())
}

fn identity((certificate, key): &(String, String)) -> Identity {
    Identity::from_pem(certificate.as_bytes(), key.as_bytes()).expect("it is good")
}

/// The fingerprint of the certificate that a client is shown which names this server.
fn shown(config: Arc<ServerConfig>, name: &str) -> Fingerprint {
    let verifier = Arc::new(Verifier::new(&Trust::DangerouslyAnything, name).expect("nothing can be wrong"));
    let name = ServerName::try_from(name.to_owned()).expect("a good name");
    let mut client = ClientConnection::new(stream_client_config(verifier), name).expect("it is good");
    let mut server = ServerConnection::new(config).expect("it is good");
    for _ in 0..4 {
        let mut wire = Vec::new();
        client.write_tls(&mut wire).expect("memory takes it");
        server.read_tls(&mut &wire[..]).expect("memory gives it");
        server.process_new_packets().expect("it is TLS");
        let mut wire = Vec::new();
        server.write_tls(&mut wire).expect("memory takes it");
        if !wire.is_empty() {
            client.read_tls(&mut &wire[..]).expect("memory gives it");
        }
        client.process_new_packets().expect("it is TLS");
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    fingerprint_of(&client.peer_certificates().expect("it has shown one")[0])
}

fn look_twice(certificates: &Certificates) -> Option<CertificateEvent> {
    certificates.look(SystemTime::now());
    assert_eq!(certificates.poll_event(), None, "the file may not be complete yet");
    certificates.look(SystemTime::now());
    certificates.poll_event()
}

#[test]
fn a_renewed_file_is_used_on_all_carriers_and_a_bad_one_is_not() {
    let folder = Folder::new("renewed");
    let (first, second) = (made(&["a.example"], |_| ()), made(&["a.example"], |_| ()));
    let file = folder.write("both.pem", &(first.1.clone() + &first.0));
    let certificates = Certificates::new(vec![Identity::from_files(&file, None).expect("it is good").into()]);
    let configs = [certificates.stream_config(&[b"http/1.1"]), certificates.quic_config(&[b"http/1.1"])];
    let all_show = |wanted: Fingerprint| {
        assert!(configs.iter().all(|config| shown(config.clone(), "a.example") == wanted));
        assert_eq!(certificates.first().fingerprint(), wanted);
    };
    all_show(identity(&first).fingerprint());
    assert_eq!(look_twice(&certificates), None, "nothing has changed");

    folder.write("both.pem", &(second.0.clone() + &second.1));
    let event = look_twice(&certificates);
    let renewed = identity(&second).fingerprint();
    assert!(
        matches!(event, Some(CertificateEvent::Renewed { fingerprint, .. }) if fingerprint == renewed),
        "{event:?}"
    );
    all_show(renewed);

    for (bad, word) in [
        ("nonsense".to_owned(), "no certificate"),
        (first.0.clone() + &second.1, "does not belong"),
        (first.0.clone(), "no private key"),
        (
            [made(&["a.example"], |params| params.not_after = rcgen::date_time_ymd(2020, 1, 1))]
                .map(|it| it.0 + &it.1)
                .concat(),
            "expired",
        ),
    ] {
        folder.write("both.pem", &bad);
        let Some(CertificateEvent::Refused { error, .. }) = look_twice(&certificates) else { panic!("{word}") };
        assert!(error.contains(word) && error.contains("both.pem"), "{error}");
        all_show(renewed);
        assert_eq!(look_twice(&certificates), None, "it is said once");
    }
    std::fs::remove_file(&file).expect("it is ours");
    assert!(matches!(look_twice(&certificates), Some(CertificateEvent::Refused { .. })), "the file is gone");
    all_show(renewed);
    folder.write("both.pem", &(first.0.clone() + &first.1));
    assert!(matches!(look_twice(&certificates), Some(CertificateEvent::Renewed { .. })));
    all_show(identity(&first).fingerprint());
    let stats = certificates.stats();
    assert_eq!((stats.renewed, stats.refused, stats.events_dropped), (2, 5, 0));
}

#[test]
fn a_partly_written_file_is_not_judged() {
    let folder = Folder::new("slow");
    let (first, second) = (made(&["a.example"], |_| ()), made(&["a.example"], |_| ()));
    let (certificate, key) = (folder.write("cert.pem", &first.0), folder.write("key.pem", &first.1));
    let identity_of = Identity::from_files(&certificate, Some(&key)).expect("it is good");
    let certificates = Certificates::new(vec![identity_of.into()]);
    for part in [10, 100, second.0.len()] {
        folder.write("cert.pem", &second.0[..part]);
        certificates.look(SystemTime::now());
    }
    folder.write("key.pem", &second.1);
    certificates.look(SystemTime::now());
    assert_eq!(certificates.poll_event(), None);
    certificates.look(SystemTime::now());
    assert!(matches!(certificates.poll_event(), Some(CertificateEvent::Renewed { .. })));
    assert_eq!(certificates.first().fingerprint(), identity(&second).fingerprint());
}

#[test]
fn each_name_gets_its_certificate_and_others_the_first() {
    let pems =
        [made(&["a.example"], |_| ()), made(&["b.example", "*.b.example"], |_| ()), made(&["a.example"], |_| ())];
    let prints = pems.each_ref().map(|pem| identity(pem).fingerprint());
    let config = Certificates::new(pems.iter().map(|pem| identity(pem).into()).collect()).stream_config(&[]);
    for (name, place) in [("a.example", 0), ("b.example", 1), ("x.b.example", 1), ("c.example", 0), ("127.0.0.1", 0)] {
        assert_eq!(shown(config.clone(), name), prints[place], "{name}");
    }
}

/// A disk may be slow: reading a named pipe without a writer takes forever.
#[cfg(unix)]
#[test]
fn polling_events_does_not_wait_for_the_disk() {
    let folder = Folder::new("disk");
    let pem = made(&["a.example"], |_| ());
    let file = folder.write("both.pem", &(pem.0.clone() + &pem.1));
    let certificates = Certificates::new(vec![Identity::from_files(&file, None).expect("it is good").into()]);
    std::fs::remove_file(&file).expect("it is ours");
    let is_made = std::process::Command::new("mkfifo").arg(&file).status().is_ok_and(|status| status.success());
    assert!(is_made, "the system has mkfifo");
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| certificates.look(SystemTime::now()));
        // Opens as soon as the other thread has opened it, and writes nothing yet.
        let pipe = std::fs::OpenOptions::new().write(true).open(&file).expect("it is ours");
        let (sender, polled) = std::sync::mpsc::channel();
        scope.spawn(|| {
            let told = (certificates.poll_event(), certificates.stats());
            let _ = sender.send(told);
            drop(sender);
        });
        let told = polled.recv_timeout(Duration::from_secs(5));
        let is_reading = !watcher.is_finished();
        // The certificate and the key are in one file, which is opened twice.
        std::fs::remove_file(&file).expect("it is ours");
        drop(pipe);
        assert!(told.is_ok_and(|(event, _)| event.is_none()) && is_reading);
    });
}

#[test]
fn a_page_naming_a_host_gets_its_certificate_despite_a_self_signed_one() {
    let named = made(&["play.example"], |_| ());
    let own = Identity::self_signed().expect("it is made");
    let certificates = Certificates::new(vec![own.into(), identity(&named).into()]);
    let quic = certificates.quic_config(&[]);
    assert_eq!(shown(quic.clone(), "play.example"), identity(&named).fingerprint());
    let short_lived = certificates.web_fingerprints()[0];
    for other in ["localhost", "other.example", "127.0.0.1"] {
        assert_eq!(shown(quic.clone(), other), short_lived, "{other}");
    }
}

#[test]
fn hashes_announced_to_pages_survive_the_renewal_of_another_certificate() {
    let folder = Folder::new("carried");
    let pem = |name: &str| made(&[name], |_| ());
    let both = |(certificate, key): (String, String)| certificate + &key;
    let file = folder.write("both.pem", &both(pem("play.example")));
    let (own, named) = (Identity::self_signed().expect("it is made"), Identity::from_files(&file, None));
    let certificates = Certificates::new(vec![own.into(), named.expect("it is good").into()]);
    let quic = certificates.quic_config(&[]);
    let announced = certificates.web_fingerprints();
    let renewed = pem("play.example");
    folder.write("both.pem", &both(renewed.clone()));
    assert!(matches!(look_twice(&certificates), Some(CertificateEvent::Renewed { .. })));
    assert_eq!(certificates.web_fingerprints(), announced);
    assert_eq!(announced.len(), 2);
    assert_eq!(shown(quic.clone(), "localhost"), announced[0]);
    assert_eq!(shown(quic, "play.example"), identity(&renewed).fingerprint());
}

#[test]
fn a_self_signed_certificate_is_permanent_for_players_and_rotates_for_browsers() {
    const DAY: Duration = Duration::from_secs(86_400);
    let own = Identity::self_signed().expect("it is made");
    let pin = own.fingerprint();
    let certificates = Certificates::new(vec![own.into()]);
    assert!(certificates.web_fingerprints().is_empty(), "no server needs them yet");
    let (streams, quic) = (certificates.stream_config(&[]), certificates.quic_config(&[]));
    let start = SystemTime::now();
    let mut announced = certificates.web_fingerprints();
    assert_eq!(announced.len(), 2);
    for day in 0..40 {
        certificates.look(start + DAY * day);
        assert_eq!(shown(streams.clone(), "localhost"), pin, "day {day}");
        let now = shown(quic.clone(), "localhost");
        assert!(announced.contains(&now), "day {day}: whoever was told both hashes yesterday knows it");
        announced = certificates.web_fingerprints();
        assert_eq!(announced[0], now);
        while let Some(event) = certificates.poll_event() {
            assert!(matches!(event, CertificateEvent::ShortLivedRenewed { .. }), "{event:?}");
        }
    }
    certificates.look(start + DAY * 400);
    assert!(!announced.contains(&certificates.web_fingerprints()[0]), "those of a year ago have ended");
    assert!(pin == certificates.first().fingerprint() && certificates.first().expires().is_none());
}

/// The certificates of a server for pages whose identity is kept in this file.
fn kept(file: &Path) -> Arc<Certificates> {
    let own = Identity::self_signed_kept_in(file).expect("it is kept");
    let certificates = Certificates::new(vec![own.into()]);
    certificates.quic_config(&[]);
    certificates
}

#[test]
fn pages_recognise_a_server_with_a_persistent_identity() {
    let folder = Folder::new("kept");
    let file = folder.0.join("identity.pem");
    let first = kept(&file);
    let announced = first.web_fingerprints();
    assert_eq!(announced.len(), 2);
    let second = kept(&file);
    assert_eq!(second.web_fingerprints(), announced);
    let start = SystemTime::now();
    for day in [4, 8, 11, 30] {
        let now = start + Duration::from_secs(day * 86_400);
        for server in [&first, &second] {
            server.look(now);
            while let Some(event) = server.poll_event() {
                assert!(matches!(event, CertificateEvent::ShortLivedRenewed { .. }), "day {day}: {event:?}");
            }
        }
        assert_eq!(first.web_fingerprints(), second.web_fingerprints(), "day {day}");
    }
    let files = std::fs::read_dir(&folder.0).expect("it is there").count();
    assert!(files <= 7, "the identity, two turns, and four that are over: {files} files");
}

#[test]
fn a_temporarily_wrong_clock_does_not_change_the_certificates_of_pages() {
    const YEAR: Duration = Duration::from_secs(365 * 86_400);
    let folder = Folder::new("clocks");
    let file = folder.0.join("identity.pem");
    let now = SystemTime::now();
    let right = kept(&file);
    let announced = right.web_fingerprints();
    let unkept = Certificates::new(vec![Identity::self_signed().expect("it is made").into()]);
    unkept.quic_config(&[]);
    let announced_by_unkept = unkept.web_fingerprints();
    for wrong in [SystemTime::UNIX_EPOCH, now - YEAR, now + YEAR / 36, now + YEAR] {
        for (server, announced) in [(&right, &announced), (&unkept, &announced_by_unkept)] {
            server.look(wrong);
            assert_ne!(server.web_fingerprints()[0], announced[0], "that of today is not valid then");
            server.look(now);
            assert_eq!(server.web_fingerprints(), *announced);
        }
        // A process that starts while the clock is wrong, and one that starts afterwards.
        let restarted = kept(&file);
        restarted.look(wrong);
        assert_eq!(kept(&file).web_fingerprints(), announced, "its file is there still");
    }
    assert_eq!(shown(right.quic_config(&[]), "localhost"), announced[0]);
    right.look(now - Duration::from_secs(3_600));
    right.look(now + Duration::from_secs(3_600));
    assert!(announced.contains(&right.web_fingerprints()[0]), "an hour changes nothing that pages do not know");
}

#[test]
fn the_current_and_the_next_page_certificate_outlast_their_use() {
    let certificates = Certificates::new(vec![Identity::self_signed().expect("it is made").into()]);
    certificates.quic_config(&[]);
    let now = SystemTime::now();
    for (page, days) in certificates.shown_to_pages().into_iter().zip([4, 8]) {
        let left = page.expires().expect("it ends").duration_since(now).expect("later");
        assert!(left > Duration::from_secs(days * 86_400), "{left:?}");
    }
}

#[test]
fn a_handed_over_certificate_is_used_by_the_next_process() {
    let certificates = Certificates::new(vec![Identity::self_signed().expect("it is made").into()]);
    certificates.quic_config(&[]);
    let text = certificates.handover().expect("no file keeps it");
    let next = Certificates::new(vec![Identity::from_handover(&text).expect("it is whole").into()]);
    next.quic_config(&[]);
    assert_eq!(next.first().fingerprint(), certificates.first().fingerprint());
    assert_eq!(next.web_fingerprints(), certificates.web_fingerprints());
    assert_eq!(next.handover(), Some(text), "it may be handed on");
    let folder = Folder::new("handover");
    assert_eq!(kept(&folder.0.join("identity.pem")).handover(), None);
    assert!(matches!(Identity::from_handover("nothing"), Err(IdentityError::NoCertificate)));
}

#[test]
fn an_unsaved_page_certificate_is_reported_and_replaced() {
    let folder = Folder::new("not-kept");
    let file = folder.0.join("identity.pem");
    let announced = kept(&file).web_fingerprints();
    for entry in std::fs::read_dir(&folder.0).expect("it is there").flatten() {
        if entry.file_name().to_string_lossy().contains(".pages.") {
            std::fs::write(entry.path(), "nonsense").expect("it is written");
        }
    }
    let certificates = kept(&file);
    for _ in 0..2 {
        let event = certificates.poll_event();
        let Some(CertificateEvent::NotKept { error, .. }) = event else { panic!("{event:?}") };
        assert!(error.contains(".pages."), "{error}");
    }
    assert!(!announced.contains(&shown(certificates.quic_config(&[]), "localhost")));
}

#[test]
fn expiry_is_reported_a_week_before_and_at_the_time() {
    let pem = made(&["a.example"], |params| params.not_after = rcgen::date_time_ymd(2100, 1, 8));
    let certificates = Certificates::new(vec![identity(&pem).into()]);
    let ends = identity(&pem).expires().expect("it ends");
    let told = |before: i64| {
        let at = if before < 0 {
            ends + Duration::from_secs(before.unsigned_abs())
        } else {
            ends - Duration::from_secs(before as u64)
        };
        certificates.look(at);
        core::iter::from_fn(|| certificates.poll_event()).count()
    };
    assert_eq!([8 * 86_400, 6 * 86_400, 5 * 86_400, 10, -10, -20].map(told), [0, 1, 0, 0, 1, 0]);
}

#[test]
fn a_combined_file_is_read_in_any_order() {
    let made = |name: &str, is_ca: bool| {
        let mut params = rcgen::CertificateParams::new(vec![format!("{name}.example")]).expect("a good name");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        if is_ca {
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        }
        (params, rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy"))
    };
    let [(root, root_key), (middle, middle_key), (leaf, leaf_key)] =
        [made("root", true), made("middle", true), made("leaf", false)];
    let root_pem = root.self_signed(&root_key).expect("it is made").pem();
    let root = rcgen::Issuer::new(root, root_key);
    let middle_pem = middle.signed_by(&middle_key, &root).expect("it is made").pem();
    let leaf_pem = leaf.signed_by(&leaf_key, &rcgen::Issuer::new(middle, middle_key)).expect("it is made").pem();
    let stray = self::made(&["stray.example"], |_| ()).0;
    let parts = [&leaf_pem, &middle_pem, &root_pem, &leaf_key.serialize_pem(), &stray];
    let in_order = identity(&(leaf_pem.clone() + &middle_pem + &root_pem, leaf_key.serialize_pem()));
    for rotation in 0..parts.len() {
        for is_reversed in [false, true] {
            let mut order: Vec<&String> = parts.iter().cycle().skip(rotation).take(parts.len()).copied().collect();
            if is_reversed {
                order.reverse();
            }
            let text: String = order.into_iter().map(String::as_str).collect();
            let read = identity(&(text.clone(), text));
            assert!(read.chain().eq(in_order.chain()), "{rotation} {is_reversed}");
            assert_eq!(read.unshown(), 2);
        }
    }
}
