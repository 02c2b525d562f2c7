//! `vectors/tls.txt`: a handshake of each cipher suite, from HELLO to the next keys, opened by nothing but the secrets
//! of TLS. The same is checked of a handshake of today. `vectors/README.md` describes the file and how to renew it
//! (`SKIPSTONE_BLESS=1`).

use super::keys::GENERATION;
use super::provider::provider;
use super::verify::Rules;
use super::{TlsSession, pieces, server_config};
use crate::security::backend::{aead, hmac};
use crate::security::fingerprint::to_hex;
use crate::security::verify::Verifier;
use crate::security::{Identity, Trust};
use rustls::{CipherSuite, ClientConfig, KeyLog};
use skipstone_proto::coding::{Truncated, Writer};
use skipstone_proto::wire::{ack, datagram, frame};
use skipstone_proto::{SUITE_TLS_1_3, Session, Time};
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/tls.txt");
const START: Time = Time::from_micros(1_000_000);
const CIPHERS: [(&str, CipherSuite); 2] = [
    ("TLS_AES_128_GCM_SHA256", CipherSuite::TLS13_AES_128_GCM_SHA256),
    ("TLS_CHACHA20_POLY1305_SHA256", CipherSuite::TLS13_CHACHA20_POLY1305_SHA256),
];
const CLIENT_ID: u32 = 0x00C1_1E17;
const SERVER_ID: u32 = 0x005E_4E40;
const NONCE: u64 = 0x0102_0304_0506_0708;

/// The lines of one cipher suite: names and bytes.
struct Trace {
    cipher: String,
    lines: Vec<(String, Vec<u8>)>,
}

#[test]
fn the_golden_handshakes_open_with_their_secrets_alone() {
    let golden = golden();
    assert_eq!(golden.iter().map(|trace| &trace.cipher[..]).collect::<Vec<_>>(), CIPHERS.map(|(name, _)| name));
    golden.iter().for_each(check);
}

#[test]
fn a_current_handshake_has_the_form_of_the_golden_ones() {
    for (golden, (name, cipher)) in golden().iter().zip(CIPHERS) {
        let today = record(name, cipher);
        check(&today);
        let names = |trace: &Trace| trace.lines.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&today), names(golden), "{name}");
    }
}

/// The file, which is first written again if that is requested.
fn golden() -> &'static [Trace] {
    static TRACES: LazyLock<Vec<Trace>> = LazyLock::new(|| {
        if std::env::var_os("SKIPSTONE_BLESS").is_some() {
            let traces = CIPHERS.map(|(name, cipher)| record(name, cipher));
            std::fs::write(GOLDEN, render(&traces)).expect("vectors/tls.txt can be written");
        }
        read(&std::fs::read_to_string(GOLDEN).expect("vectors/tls.txt can be read"))
    });
    &TRACES
}

/// Derives every key from the secrets, and opens everything that is sealed.
fn check(trace: &Trace) {
    let cipher = trace.cipher();
    for side in ["client", "server"] {
        let handshake = Keys::of(cipher, trace.of(&format!("{side} handshake secret")));
        handshake.assert_are(trace, &format!("{side} handshake key"), &format!("{side} handshake iv"));
        let (secret, next) = (trace.of(&format!("{side} secret")), trace.of(&format!("{side} next secret")));
        Keys::of(cipher, secret).assert_are(trace, &format!("{side} key"), &format!("{side} iv"));
        assert_eq!(expand(secret, b"quic ku", 32), next, "{side}: the next secret");
        Keys::of(cipher, next).assert_are(trace, &format!("{side} next key"), &format!("{side} next iv"));
    }
    let mut sealed = 0;
    for (at, (name, bytes)) in trace.lines.iter().enumerate() {
        let Some((side, kind)) = name.split_once(" > ") else { continue };
        let opened = match kind {
            "CRYPTO" => open_piece(trace, side, bytes),
            "PACKET" => Some(open_packet(trace, side, bytes)),
            _ => None,
        };
        if let Some(opened) = opened {
            assert_eq!(trace.lines[at + 1], ("opened".into(), opened), "behind {name}");
            sealed += 1;
        }
    }
    assert_eq!(sealed, 7, "two flights, the last word, and four packets");
}

fn open_piece(trace: &Trace, side: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let Ok(datagram::Datagram::Crypto { bytes, .. }) = datagram::decode(bytes) else { panic!("no CRYPTO") };
    let piece = pieces::decode(bytes).expect("it is well-formed").sealed?;
    let keys = Keys::of(trace.cipher(), trace.of(&format!("{side} handshake secret")));
    Some(keys.open(piece.counter.into(), piece.header, piece.bytes))
}

fn open_packet(trace: &Trace, side: &str, bytes: &[u8]) -> Vec<u8> {
    let (header, rest) = bytes.split_at(datagram::HEADER_BYTES);
    let (sealed, counter) = rest.split_last_chunk().expect("it has a counter");
    let counter = u64::from(u32::from_be_bytes(*counter));
    let secret = if counter < GENERATION { "secret" } else { "next secret" };
    Keys::of(trace.cipher(), trace.of(&format!("{side} {secret}"))).open(counter, header, sealed)
}

/// Key and IV of a traffic secret (RFC 9001, section 5.1), without rustls.
struct Keys {
    algorithm: &'static aead::Algorithm,
    key: Vec<u8>,
    iv: Vec<u8>,
}

impl Keys {
    fn of(algorithm: &'static aead::Algorithm, secret: &[u8]) -> Self {
        Keys { algorithm, key: expand(secret, b"quic key", algorithm.key_len()), iv: expand(secret, b"quic iv", 12) }
    }

    fn assert_are(&self, trace: &Trace, key: &str, iv: &str) {
        assert_eq!((&self.key[..], &self.iv[..]), (trace.of(key), trace.of(iv)), "{key}");
    }

    fn open(&self, counter: u64, header: &[u8], sealed: &[u8]) -> Vec<u8> {
        let mut nonce: [u8; 12] = self.iv[..].try_into().expect("it has 12 bytes");
        nonce[4..].iter_mut().zip(counter.to_be_bytes()).for_each(|(byte, mask)| *byte ^= mask);
        let key = aead::UnboundKey::new(self.algorithm, &self.key).expect("it has the key's length");
        let (key, mut sealed) = (aead::LessSafeKey::new(key), sealed.to_vec());
        let nonce = aead::Nonce::assume_unique_for_key(nonce);
        key.open_in_place(nonce, aead::Aad::from(header), &mut sealed).expect("it opens").to_vec()
    }
}

/// HKDF-Expand-Label of RFC 8446, section 7.1, for one block at most.
fn expand(secret: &[u8], label: &[u8], length: usize) -> Vec<u8> {
    let label = [b"tls13 ", label].concat();
    let info = [&[0, length as u8, label.len() as u8], &label[..], &[0, 1]].concat();
    let block = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), &info);
    block.as_ref()[..length].to_vec()
}

/// The secrets that rustls reports.
#[derive(Debug, Default)]
struct Secrets(Mutex<Vec<(String, Vec<u8>)>>);

impl KeyLog for Secrets {
    fn log(&self, label: &str, _: &[u8], secret: &[u8]) {
        self.0.lock().expect("no test has panicked").push((label.into(), secret.into()));
    }
}

/// A handshake, a packet each way, and the first that the next key seals.
fn record(name: &str, cipher: CipherSuite) -> Trace {
    let secrets = Arc::new(Secrets::default());
    let mut trace = Trace { cipher: name.into(), lines: Vec::new() };
    let offer = datagram::encode_offer(SUITE_TLS_1_3, &[1]);
    let cookie = b"\0\0\0\x01cookie of bytes.";
    let offer = datagram::Offer::decode(&offer).expect("it is well-formed");
    let open = datagram::Open { source: CLIENT_ID, nonce: NONCE, version: 1, suite: SUITE_TLS_1_3, cookie, offer };
    let header = written(|writer| datagram::encode_open_header(writer, &open));
    let transcript = datagram::transcript(&header);
    let identity = Identity::self_signed().expect("it is made");
    let config = server_config(&identity).expect("it is good");
    let mut client =
        TlsSession::client(START, client_of(cipher, &identity, secrets.clone()), transcript).expect("made");
    let mut server = TlsSession::server(START, config, transcript).expect("made");

    let (source, nonce) = (CLIENT_ID, NONCE);
    trace.push("client > HELLO", written(|writer| datagram::encode_hello(writer, source, nonce, open.offer.bytes)));
    let challenge = datagram::Challenge { to: source, nonce, version: 1, suite: SUITE_TLS_1_3, cookie };
    trace.push("server > CHALLENGE", written(|writer| datagram::encode_challenge(writer, &challenge)));
    say(&mut trace, "client > OPEN", &header, &mut client, &mut server);
    let to_client = written(|writer| datagram::encode_crypto_header(writer, CLIENT_ID, SERVER_ID));
    let to_server = written(|writer| datagram::encode_crypto_header(writer, SERVER_ID, CLIENT_ID));
    say(&mut trace, "server > CRYPTO", &to_client, &mut server, &mut client);
    say(&mut trace, "client > CRYPTO", &to_server, &mut client, &mut server);
    trace.seal("client", &mut client, 0, |writer| frame::encode_connect(writer, b"a token", &[]));
    say(&mut trace, "server > CRYPTO", &to_client, &mut server, &mut client);
    trace.seal("server", &mut server, 0, |writer| {
        ack::encode_ack(writer, core::iter::once(0..=0), 1, 250, None);
        frame::encode_accept(writer, SERVER_ID, &[]);
    });
    client.packets.as_mut().expect("they stand").skip(GENERATION - 1, 1);
    trace.seal("client", &mut client, GENERATION - 1, frame::encode_ping);
    trace.seal("client", &mut client, GENERATION, frame::encode_ping);
    trace.name_secrets(&secrets.0.lock().expect("no test has panicked"));
    trace
}

/// The handshake datagrams of one side, of which the other handles the pieces.
fn say(trace: &mut Trace, name: &str, header: &[u8], from: &mut TlsSession, to: &mut TlsSession) {
    let mut buffer = [0; 1_200];
    while let Some(length) = from.poll_handshake(&mut buffer) {
        let mut whole = [header, &buffer[..length], &[0; datagram::CHECK_BYTES]].concat();
        datagram::append_check(&mut whole, header.len() + length);
        trace.push(name, whole.clone());
        if name.ends_with("CRYPTO") {
            // Its secrets are not reported yet.
            trace.push("opened", Vec::new());
        }
        assert!(to.handle_handshake(START, &buffer[..length]), "{name}");
    }
}

fn client_of(cipher: CipherSuite, server: &Identity, secrets: Arc<Secrets>) -> Arc<ClientConfig> {
    let pin = Verifier::new(&Trust::Pinned(server.fingerprint()), "localhost").expect("it is a pin");
    let rules = Rules::new(Arc::new(pin), provider().signature_verification_algorithms);
    let mut only = (**provider()).clone();
    only.cipher_suites.retain(|suite| suite.suite() == cipher);
    let builder = ClientConfig::builder_with_provider(Arc::new(only));
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).expect("it has a suite");
    let mut config = builder.dangerous().with_custom_certificate_verifier(Arc::new(rules)).with_no_client_auth();
    config.alpn_protocols = vec![b"skipstone/1".to_vec()];
    config.enable_sni = false;
    config.key_log = secrets;
    config.into()
}

fn written(encode: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut buffer = [0; 1_500];
    let mut writer = Writer::new(&mut buffer);
    encode(&mut writer);
    writer.written().to_vec()
}

impl Trace {
    fn push(&mut self, name: &str, bytes: Vec<u8>) {
        self.lines.push((name.into(), bytes));
    }

    fn of(&self, name: &str) -> &[u8] {
        let found = self.lines.iter().find(|line| line.0 == name);
        &found.unwrap_or_else(|| panic!("{}: there is no '{name}'", self.cipher)).1
    }

    fn cipher(&self) -> &'static aead::Algorithm {
        if self.cipher.contains("AES") { &aead::AES_128_GCM } else { &aead::CHACHA20_POLY1305 }
    }

    /// A packet with this number and these frames.
    fn seal(&mut self, side: &str, session: &mut TlsSession, number: u64, frames: impl FnOnce(&mut Writer<'_>)) {
        let to = if side == "client" { SERVER_ID } else { CLIENT_ID };
        let mut bytes = written(|writer| {
            datagram::encode_packet_header(writer, to);
            writer.truncated(Truncated::with_bits_at_least(number, 1, 14));
            frames(writer);
        });
        let plaintext = datagram::HEADER_BYTES..bytes.len();
        let opened = bytes[plaintext.clone()].to_vec();
        bytes.resize(bytes.len() + session.overhead(), 0);
        session.seal(&mut bytes, plaintext);
        self.push(&format!("{side} > PACKET"), bytes);
        self.push("opened", opened);
    }

    /// Puts the secrets and the keys derived from them in front, and the opened content after each sealed piece.
    fn name_secrets(&mut self, secrets: &[(String, Vec<u8>)]) {
        let cipher = self.cipher();
        let mut named = Vec::new();
        for (side, label) in [("client", "CLIENT"), ("server", "SERVER")] {
            let secret = |label: String| secrets.iter().find(|secret| secret.0 == label).expect("it is told").1.clone();
            let handshake = secret(format!("{label}_HANDSHAKE_TRAFFIC_SECRET"));
            let first = secret(format!("{label}_TRAFFIC_SECRET_0"));
            let next = expand(&first, b"quic ku", 32);
            for (which, secret) in [(" handshake", handshake), ("", first), (" next", next)] {
                let Keys { key, iv, .. } = Keys::of(cipher, &secret);
                named.extend(
                    [("secret", secret), ("key", key), ("iv", iv)]
                        .map(|(what, bytes)| (format!("{side}{which} {what}"), bytes)),
                );
            }
        }
        named.append(&mut self.lines);
        self.lines = named;
        for at in 0..self.lines.len() {
            if let (Some((side, "CRYPTO")), bytes) = (self.lines[at].0.split_once(" > "), &self.lines[at].1) {
                let opened = open_piece(self, side, bytes).expect("it holds a sealed piece");
                self.lines[at + 1].1 = opened;
            }
        }
    }
}

fn render(traces: &[Trace]) -> String {
    let mut text = String::from("# Handshakes of suite 8; README.md says what the lines are.\n");
    for trace in traces {
        let _ = writeln!(text, "\n== {}", trace.cipher);
        for (name, bytes) in &trace.lines {
            let _ = writeln!(text, "{name}: {}", to_hex(bytes));
        }
    }
    text
}

fn read(text: &str) -> Vec<Trace> {
    let mut traces: Vec<Trace> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(cipher) = line.strip_prefix("== ") {
            traces.push(Trace { cipher: cipher.into(), lines: Vec::new() });
            continue;
        }
        let (name, digits) = line.split_once(": ").expect("a name and bytes");
        let digit = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal digits");
        let bytes = (0..digits.len()).step_by(2).map(digit).collect();
        traces.last_mut().expect("a cipher suite comes first").push(name, bytes);
    }
    traces
}
