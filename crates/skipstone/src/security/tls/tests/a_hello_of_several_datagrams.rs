//! A ClientHello with a post-quantum key share is longer than a datagram: it comes in several OPENs, in any order.

use super::model::{DELAY, Fate, Model, Sessions};
use super::{START, TRANSCRIPT, Verifier, said};
use crate::security::tls::config::{client_config_by, only, server_config_by};
use crate::security::tls::provider::provider;
use crate::security::tls::session::TlsSession;
use crate::security::{Identity, Trust};
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup};
use skipstone_proto::Session;
use std::sync::Arc;

/// X25519 with key shares of the lengths that X25519MLKEM768 has (draft-ietf-tls-ecdhe-mlkem), filled up with zeros.
#[derive(Debug)]
struct LongShares;

const CLIENTS_SHARE_BYTES: usize = 1_216;
const SERVERS_SHARE_BYTES: usize = 1_120;

struct LongExchange {
    inner: Box<dyn ActiveKeyExchange>,
    share: Vec<u8>,
}

impl LongShares {
    fn exchange(bytes: usize) -> Result<LongExchange, Error> {
        let inner = rustls::crypto::ring::kx_group::X25519.start()?;
        let mut share = inner.pub_key().to_vec();
        share.resize(bytes, 0);
        Ok(LongExchange { inner, share })
    }
}

impl SupportedKxGroup for LongShares {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(LongShares::exchange(CLIENTS_SHARE_BYTES)?))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<rustls::crypto::CompletedKeyExchange, Error> {
        let exchange = LongShares::exchange(SERVERS_SHARE_BYTES)?;
        let (group, pub_key) = (self.name(), exchange.share.clone());
        Ok(rustls::crypto::CompletedKeyExchange { group, pub_key, secret: Box::new(exchange).complete(peer)? })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

impl ActiveKeyExchange for LongExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        self.inner.complete(&peer[..32])
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

/// A server and its client, whose first group has long shares; the server may know only another.
fn sessions(is_known: bool) -> Arc<Sessions> {
    let identity = Identity::self_signed().expect("it is made");
    let pin = Verifier::new(&Trust::Pinned(identity.fingerprint()), "localhost").expect("it is a pin");
    let with_long = |is_known: bool| {
        let mut all = CryptoProvider::clone(provider());
        if is_known {
            all.kx_groups.insert(0, &LongShares);
        }
        Arc::new(all)
    };
    Arc::new(Sessions {
        client: client_config_by(with_long(true), Arc::new(pin)),
        server: server_config_by(with_long(is_known), only(&identity).expect("it is good")),
    })
}

#[test]
fn a_server_signs_with_its_last_datagram() {
    let sessions = sessions(true);
    let mut client = TlsSession::client(START, sessions.client.clone(), TRANSCRIPT).expect("it is made");
    let mut server = TlsSession::server(START, sessions.server.clone(), TRANSCRIPT).expect("it is made");
    let hello = said(&mut client);
    assert!(hello.len() > 1 && !client.will_sign());
    for datagram in hello {
        assert!(server.will_sign() && said(&mut server).len() <= 1, "nothing but acknowledgements");
        assert!(server.handle_handshake(START, &datagram));
    }
    assert!(!server.will_sign() && said(&mut server).len() > 1, "the certificate and what is signed");
}

#[test]
fn two_datagrams_begin_a_handshake_in_either_order() {
    let sessions = sessions(true);
    for order in [[0, 1], [1, 0]] {
        let mut client = TlsSession::client(START, sessions.client.clone(), TRANSCRIPT).expect("it is made");
        let mut server = TlsSession::server(START, sessions.server.clone(), TRANSCRIPT).expect("it is made");
        let hello = said(&mut client);
        assert!(hello.len() == 2 && hello.iter().all(|it| (800..=1_100).contains(&it.len())), "{}", hello.len());
        assert!(server.handle_handshake(START, &hello[order[0]]));
        assert!(!server.handle_handshake(START, &hello[order[0]]), "nothing is new in it");
        assert!(said(&mut server).is_empty(), "half a hello has no answer");
        assert!(server.handle_handshake(START, &hello[order[1]]));
        let mut answer = said(&mut server);
        answer.reverse();
        for datagram in answer.iter().chain(answer.iter().rev()) {
            client.handle_handshake(START, datagram);
        }
        assert!(client.is_established());
    }
}

#[test]
fn the_client_joins_whichever_datagrams_are_lost_or_late() {
    let sessions = sessions(true);
    let mut count = 0;
    for first in 0..20 {
        for second in first..20 {
            for is_late in [false, true] {
                let fate = if is_late { Fate::IsLate(DELAY / 2) } else { Fate::IsLost };
                let mut model = Model::new(1, &sessions);
                model.run(&mut |number| if number == first || number == second { fate } else { Fate::Arrives });
                assert!(model.closes.is_empty(), "{fate:?}, {first} and {second}: {:?}", model.closes);
                count += 1;
                let opens = model.sent.iter().filter(|(_, kind, _)| *kind == 0x83).count();
                assert!(opens >= 2 && model.sent.iter().all(|(.., bytes)| *bytes <= 1_200));
            }
        }
    }
    assert_eq!(count, 420);
}

#[test]
fn a_server_requesting_another_group_gets_two_hellos() {
    let sessions = sessions(false);
    for seed in 1..40_u64 {
        let (mut model, mut state) = (Model::new(seed as u8, &sessions), seed);
        model.run(&mut |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if state >> 33 & 7 == 0 { Fate::IsLost } else { Fate::Arrives }
        });
        assert!(model.joined.is_some(), "seed {seed}: {:?}", model.closes);
    }
}
