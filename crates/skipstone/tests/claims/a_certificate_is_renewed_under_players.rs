//! A certificate is renewed under players who do not notice, over TLS on TCP and over WebTransport; and new clients are
//! shown the new certificate, by every carrier.

use crate::enter::{PATIENCE, enter};
use crate::eventually;
#[cfg(feature = "webtransport")]
use crate::web_player::WebPlayer;
use skipstone::{Client, Event, Fingerprint, Identity, Security, Server, ServerConfig};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A folder with a certificate that is renewed.
struct Renewals {
    file: std::path::PathBuf,
    print: Fingerprint,
    /// The certificate.
    der: Vec<u8>,
}

impl Renewals {
    fn new(name: &str) -> Self {
        let file = std::env::temp_dir().join(format!("skipstone-{name}-{}.pem", std::process::id()));
        let mut renewals = Renewals { file, print: Fingerprint([0; 32]), der: Vec::new() };
        renewals.renew();
        renewals
    }

    fn renew(&mut self) {
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy");
        let params = rcgen::CertificateParams::new(vec!["localhost".into()]).expect("a good name");
        let certificate = params.self_signed(&key).expect("it is made");
        let pem = key.serialize_pem() + &certificate.pem();
        self.der = certificate.der().to_vec();
        std::fs::write(&self.file, &pem).expect("there is room");
        self.print = Identity::from_pem(pem.as_bytes(), pem.as_bytes()).expect("it is good").fingerprint();
    }
}

impl Drop for Renewals {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Players in pages, which need to be stepped all the time; none without WebTransport.
#[derive(Default)]
struct Pages {
    #[cfg(feature = "webtransport")]
    all: Vec<WebPlayer>,
}

#[cfg(feature = "webtransport")]
impl Pages {
    fn step(&mut self) {
        self.all.iter_mut().for_each(WebPlayer::step);
    }

    /// Accepts one client, and returns the certificate that it was shown.
    fn enter(&mut self, server: &mut Server) -> Vec<u8> {
        let mut page = WebPlayer::new(server.local_addr());
        let is_in = eventually(|| {
            while let Some(event) = server.poll_event() {
                if let Event::Requested { peer, .. } = event {
                    server.accept(peer).expect("it asked");
                }
            }
            self.step();
            page.step();
            page.is_connected
        });
        assert!(is_in, "{:?}", page.page.lost);
        let shown = page.shown().expect("QUIC has certificates");
        self.all.push(page);
        shown
    }

    fn say(&mut self, text: &str) {
        self.all.iter_mut().for_each(|page| page.say(text));
    }

    fn count(&self) -> usize {
        self.all.len()
    }

    fn dropped(&self) -> usize {
        self.all.iter().filter(|page| page.closed.is_some() || page.page.lost.is_some()).count()
    }
}

#[cfg(not(feature = "webtransport"))]
impl Pages {
    fn step(&mut self) {}

    fn say(&mut self, _: &str) {}

    fn count(&self) -> usize {
        0
    }

    fn dropped(&self) -> usize {
        0
    }
}

/// Clients over wss, and in pages, while the certificate is renewed three times: no client is dropped, and new clients
/// are shown the new certificate, by every carrier.
fn renew_three_times_under(clients: usize, pages: usize) {
    let mut renewals = Renewals::new(&format!("renewed-{clients}"));
    let security = Security::from_files(&renewals.file, None).expect("it is good");
    let address = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut server =
        Server::start(ServerConfig { security: Some(security), ..ServerConfig::new(address) }).expect("it starts");
    let port = server.local_addr().port();
    let url = |scheme: &str, print: Fingerprint| format!("{scheme}://127.0.0.1:{port}#sha256={print}");
    let urls = [
        "wss",
        "skip",
        #[cfg(feature = "dtls")]
        "skip+dtls",
    ];
    let first = url("wss", renewals.print);
    let mut all: Vec<Client> = (0..clients).map(|_| enter(&mut server, &first).expect("it is let in").0).collect();
    let mut in_pages = Pages::default();
    #[cfg(feature = "webtransport")]
    (0..pages).for_each(|_| assert_eq!(in_pages.enter(&mut server), renewals.der));
    #[cfg(not(feature = "webtransport"))]
    let _ = pages;
    let before = in_pages.count();
    for round in 1..=3 {
        let old = renewals.print;
        renewals.renew();
        let began = Instant::now();
        let is_read = eventually(|| {
            in_pages.step();
            server.fingerprint() == Some(renewals.print)
        });
        println!("renewal {round}: used after {:?}", began.elapsed());
        assert!(is_read && began.elapsed() < Duration::from_secs(5));
        for scheme in urls {
            enter(&mut server, &url(scheme, renewals.print)).expect(scheme);
            let error = enter(&mut server, &url(scheme, old)).map(drop).expect_err("the old one is not shown");
            assert!(error.contains("fingerprint"), "{error}");
            in_pages.step();
        }
        #[cfg(feature = "webtransport")]
        assert_eq!(in_pages.enter(&mut server), renewals.der, "a page, too, is shown the new one");
        assert!(matches!(server.poll_certificate_event(), Some(skipstone::CertificateEvent::Renewed { .. })));
    }
    assert_eq!((server.certificate_stats().renewed, server.certificate_stats().refused), (3, 0));
    for client in &mut all {
        client.send(7, "still here").expect("it stands");
    }
    in_pages.say("still here");
    let (mut heard, expected, end) = (0, clients + in_pages.count(), Instant::now() + PATIENCE);
    while heard < expected {
        assert!(Instant::now() < end, "{heard} of {expected} were heard");
        in_pages.step();
        server.wait(Duration::from_millis(5));
        while let Some(event) = server.poll_event() {
            heard += usize::from(matches!(event, Event::Message { .. }));
        }
    }
    let closed = |event: &Event| matches!(event, Event::Closed { .. });
    let dropped = all.iter_mut().filter_map(Client::poll_event).filter(closed).count() + in_pages.dropped();
    println!(
        "{clients} clients over wss and {before} in pages, 3 renewals, {dropped} dropped; {heard} of {expected} heard \
         after them"
    );
    assert_eq!(dropped, 0);
}

#[test]
fn players_do_not_notice_a_renewed_certificate() {
    renew_three_times_under(10, 4);
}

/// `cargo test -p skipstone --features dtls,simulate,webtransport
/// --test claims three_hundred -- --ignored --nocapture`.
#[test]
#[ignore = "three hundred clients, each with a thread, and a hundred pages"]
fn three_hundred_players_and_a_hundred_pages_survive_a_renewal() {
    renew_three_times_under(300, 100);
}
