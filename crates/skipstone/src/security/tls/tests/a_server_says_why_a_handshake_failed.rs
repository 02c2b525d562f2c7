//! A server whose TLS fails answers with REFUSE, which is shorter than the datagram that it answers; the client ends
//! soon, with that reason.

use super::model::{BEGINNING, Fate, Model, Sessions};
use super::{Verifier, client_config, server_config};
use crate::security::{Identity, Trust};
use skipstone_proto::{Duration, code};
use std::sync::Arc;

/// A server that uses another protocol over TLS.
fn sessions() -> Arc<Sessions> {
    let identity = Identity::self_signed().expect("it is made");
    let pin = Verifier::new(&Trust::Pinned(identity.fingerprint()), "localhost").expect("it is a pin");
    let mut server = rustls::ServerConfig::clone(&server_config(&identity).expect("it is good"));
    server.alpn_protocols = vec![b"another/1".to_vec()];
    Arc::new(Sessions { client: client_config(Arc::new(pin)), server: Arc::new(server) })
}

#[test]
fn the_client_ends_soon_with_the_reason() {
    let sessions = sessions();
    for lost in 0..8 {
        let mut model = Model::new(1, &sessions);
        model.run(&mut |number| if number == lost { Fate::IsLost } else { Fate::Arrives });
        assert_eq!(model.codes, [code::SECURITY], "{lost} lost");
        assert!(model.closes[0].contains("encrypted handshake failed"), "{}", model.closes[0]);
        let took = model.now.since(BEGINNING);
        // A HELLO that is lost makes the round trip look longer than it was.
        let bound = if lost < 2 { 2_000 } else { 1_200 };
        assert!(took <= Duration::from_millis(bound), "{lost} lost: {took:?}");
        let answers: Vec<_> = model.sent.iter().filter(|(is_up, kind, _)| !is_up && *kind == 0x86).collect();
        assert!(!answers.is_empty() && answers.iter().all(|(.., bytes)| *bytes <= 160), "{answers:?}");
        assert_eq!(model.server.connection_count(), 0);
    }
}
