//! Certificates and fingerprints: a client connects only to a server that it trusts, and otherwise gets the reason and
//! the remedy.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256};
use skipstone::{
    Client, ClientConfig, Close, Event, Identity, IdentityError, Security, Server, ServerConfig, Threading, Trust, code,
};
use std::time::{Duration, Instant};

/// An authority of our own, and certificates that it signs.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Authority {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("entropy");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).expect("it signs itself").pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// Another authority, which this one has signed.
    fn below(&self) -> Authority {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("entropy");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "between");
        let pem = params.signed_by(&key, &self.issuer).expect("it signs").pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    /// Certificate and key in one text.
    fn sign(&self, change: impl FnOnce(&mut CertificateParams)) -> String {
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).expect("entropy");
        let mut params = CertificateParams::new(vec!["127.0.0.1".into(), "localhost".into()]).expect("good names");
        change(&mut params);
        params.signed_by(&key, &self.issuer).expect("it signs").pem() + &key.serialize_pem()
    }
}

fn server(security: Security) -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let config = ServerConfig { security: Some(security), ..ServerConfig::new(listen) };
    Server::start(ServerConfig { threading: Threading::Stepped, websocket: false, ..config }).expect("a port is free")
}

fn of(pem: &str) -> Server {
    server(Security::from_pem(pem.as_bytes(), pem.as_bytes()).expect("it is good"))
}

/// Tries to connect: `Ok`, or how the attempt ended. The server's application hears only of clients that get in.
fn enter(server: &mut Server, url: &str, trust: Trust) -> Result<(), Close> {
    let config = ClientConfig { trust, threading: Threading::Stepped, ..ClientConfig::default() };
    let mut client = Client::connect(url, b"a token", config).expect("a good URL");
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        assert!(Instant::now() < end, "it takes too long");
        server.drive(Duration::from_millis(1)).expect("it drives");
        client.drive(Duration::from_millis(1)).expect("it drives");
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it waits");
            }
        }
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { .. } => return Ok(()),
                Event::Closed { close, .. } => {
                    assert!(server.poll_event().is_none(), "nobody was there");
                    return Err(close);
                }
                _ => {}
            }
        }
    }
}

#[track_caller]
fn refused(server: &mut Server, url: &str, trust: Trust, said: &[&str]) {
    let began = Instant::now();
    let close = enter(server, url, trust).expect_err("it is not trusted");
    // Its own timeout would end it after ten.
    assert!(began.elapsed() < Duration::from_secs(6), "at once");
    assert_eq!(close.code, code::SECURITY);
    let reason = close.reason_text();
    assert!(said.iter().all(|words| reason.contains(words)), "{reason}");
}

fn url(server: &Server, host: &str) -> String {
    format!("skip://{host}:{}", server.local_addr().port())
}

#[test]
fn by_a_fingerprint() {
    let mut server = server(Security::self_signed().expect("it is made"));
    let pinned = server.url();
    assert_eq!(enter(&mut server, &pinned, Trust::System), Ok(()));
    let bare = url(&server, "127.0.0.1");
    let pin = server.fingerprint().expect("it encrypts");
    assert_eq!(enter(&mut server, &bare, Trust::Pinned(pin)), Ok(()));
    assert_eq!(enter(&mut server, &bare, Trust::DangerouslyAnything), Ok(()));
    let wrong = format!("{bare}#sha256={}", "5a".repeat(32));
    refused(&mut server, &wrong, Trust::DangerouslyAnything, &["fingerprint", &"5a".repeat(32), "somebody between"]);
    refused(&mut server, &bare, Trust::System, &["nobody trusted", "#sha256=", "trust the signer"]);
}

#[test]
#[cfg(feature = "dtls")]
fn by_dtls_with_one_or_several_addresses() {
    let mut server = server(Security::self_signed().expect("it is made"));
    let (port, pin) = (server.local_addr().port(), server.fingerprint().expect("it encrypts"));
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("skip+dtls://{host}:{port}");
        assert_eq!(enter(&mut server, &url, Trust::Pinned(pin)), Ok(()), "{host}");
        let wrong = format!("{url}#sha256={}", "5a".repeat(32));
        refused(&mut server, &wrong, Trust::System, &["fingerprint"]);
    }
}

#[test]
fn by_a_certificate_authority_name_and_validity() {
    let (authority, other) = (Authority::new(), Authority::new());
    let trust = || Trust::Ca(authority.pem.clone());
    let mut good = of(&authority.sign(|_| ()));
    for host in ["127.0.0.1", "localhost"] {
        let url = url(&good, host);
        assert_eq!(enter(&mut good, &url, trust()), Ok(()), "{host}");
    }
    let there = url(&good, "127.0.0.1");
    refused(&mut good, &there, Trust::Ca(other.pem.clone()), &["nobody trusted"]);
    let both = Trust::Ca(other.pem.clone() + &authority.pem);
    assert_eq!(enter(&mut good, &there, both), Ok(()));

    let elsewhere = |params: &mut CertificateParams| {
        *params = CertificateParams::new(vec!["game.example".into()]).expect("a good name");
    };
    let mut elsewhere = of(&authority.sign(elsewhere));
    let there = url(&elsewhere, "127.0.0.1");
    refused(&mut elsewhere, &there, trust(), &["not for '127.0.0.1'"]);
}

#[test]
fn a_pin_may_match_the_second_certificate_of_a_chain() {
    let root = Authority::new();
    let between = root.below();
    let leaf = between.sign(|_| ());
    let (certificate, key) = leaf.split_at(leaf.find("-----BEGIN PRIVATE").expect("it has a key"));
    let chain = [certificate, &between.pem, &root.pem, key].concat();
    let identity = Identity::from_pem(chain.as_bytes(), chain.as_bytes()).expect("it is good");
    assert_eq!(identity.unshown(), 2);
    assert_eq!(Identity::from_pem(leaf.as_bytes(), leaf.as_bytes()).expect("it is good").unshown(), 0);
    let mut server = server(Security::with(identity));
    let there = url(&server, "127.0.0.1");
    let by_root = || Trust::Ca(root.pem.clone());
    assert_eq!(enter(&mut server, &there, by_root()), Ok(()));
    assert_eq!(enter(&mut server, &there, Trust::Ca(between.pem.clone())), Ok(()));
    let other = Authority::new();
    refused(&mut server, &there, Trust::Ca(other.pem.clone()), &["nobody trusted", "trust the signer", "intermediate"]);
}

#[test]
fn unusable_identities_are_reported_at_start() {
    let authority = Authority::new();
    let load =
        |pem: &str, key: &str| Identity::from_pem(pem.as_bytes(), key.as_bytes()).expect_err("it is bad").to_string();
    let good = authority.sign(|_| ());
    let expired = authority.sign(|params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
    assert!(load(&expired, &expired).contains("expired: renew"));
    let early = authority.sign(|params| params.not_before = rcgen::date_time_ymd(4000, 1, 1));
    assert!(load(&early, &early).contains("not valid yet"));
    assert!(load(&good, &authority.sign(|_| ())).contains("does not belong"));
    assert!(load("", &good).contains("no certificate"));
    let certificate = good.split("-----BEGIN PRIVATE").next().expect("it comes first");
    assert!(load(certificate, certificate).contains("no private key"));
    let names =
        |count: usize| (0..count).map(|number| format!("a-rather-long-name-{number}.example")).collect::<Vec<_>>();
    let many = authority.sign(|params| *params = CertificateParams::new(names(500)).expect("good names"));
    assert!(load(&many, &many).contains("fewer names"));
    let other = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("entropy").serialize_pem();
    assert!(load(&good, &other).contains("ECDSA") && load(&good, &other).contains("prime256v1"));
    let sealed = good.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    assert!(load(&good, sealed.split_at(certificate.len()).1).contains("passphrase"));
    assert!(matches!(Identity::from_files("/nonexistent.pem", None), Err(IdentityError::File(..))));
}

#[test]
fn a_self_signed_certificate_is_kept_readable_by_its_owner_only() {
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kept-{}", std::process::id()));
    let file = folder.join("deep").join("identity.pem");
    let first = Security::self_signed_kept_in(&file).expect("it is written");
    let second = Security::self_signed_kept_in(&file).expect("it is read");
    assert_eq!(first.fingerprint(), second.fingerprint());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let left = std::fs::read_dir(file.parent().expect("a folder")).expect("it is there").count();
    assert_eq!(left, 1, "no draft stays behind");
    std::fs::write(&file, "garbage").expect("it can be written");
    let error = Security::self_signed_kept_in(&file).expect_err("it is garbage").to_string();
    assert!(error.contains("identity.pem") && error.contains("no certificate"), "{error}");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn a_plaintext_client_is_refused_unless_allowed() {
    let mut strict = server(Security::self_signed().expect("it is made"));
    let there = format!("skip+plain://{}", strict.local_addr());
    let close = enter(&mut strict, &there, Trust::System).expect_err("it is strict");
    assert_eq!((close.code, close.reason_text().as_ref()), (code::NO_COMMON_SUITE, "encrypted clients only"));
    let mut lax = server(Security::self_signed().expect("it is made").allowing_plain());
    let there = format!("skip+plain://{}", lax.local_addr());
    assert_eq!(enter(&mut lax, &there, Trust::System), Ok(()));
    let mut plain = server(Security::plain());
    let there = plain.url();
    assert!(there.starts_with("skip+plain://"));
    assert_eq!(enter(&mut plain, &there, Trust::System), Ok(()));
    let there = url(&plain, "127.0.0.1");
    let close = enter(&mut plain, &there, Trust::DangerouslyAnything).expect_err("it has no certificate");
    assert_eq!(close.code, code::NO_COMMON_SUITE);
}
