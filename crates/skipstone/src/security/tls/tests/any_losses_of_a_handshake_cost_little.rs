//! A server's answer of several datagrams: whichever datagrams of the handshake are lost, at any point, the client is
//! accepted soon.

use super::model::{BEGINNING, DELAY, Fate, Model, Sessions};
use super::{Verifier, client_config, server_config};
use crate::security::{Identity, Trust};
use skipstone_proto::{Duration, Time};
use std::sync::Arc;

/// Positions at which something is lost: a handshake without loss takes some twenty datagrams.
const POSITIONS: usize = 36;

/// A server whose certificate is 3.7 KB long.
pub(super) fn long_sessions() -> Arc<Sessions> {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("entropy");
    let names: Vec<String> = (0..105).map(|number| format!("a-rather-long-name-{number}.example")).collect();
    let params = rcgen::CertificateParams::new(names).expect("good names");
    let pem = params.self_signed(&key).expect("it is made").pem() + &key.serialize_pem();
    let identity = Identity::from_pem(pem.as_bytes(), pem.as_bytes()).expect("it is good");
    let pin = Verifier::new(&Trust::Pinned(identity.fingerprint()), "localhost").expect("it is a pin");
    Arc::new(Sessions { client: client_config(Arc::new(pin)), server: server_config(&identity).expect("it is good") })
}

/// How long the client took, with these datagrams lost.
fn took(sessions: &Arc<Sessions>, lost: &[usize]) -> Duration {
    let mut model = Model::new(1, sessions);
    model.run(&mut |number| if lost.contains(&number) { Fate::IsLost } else { Fate::Arrives });
    model.took().unwrap_or_else(|| panic!("{lost:?} lost: {:?}, of {:?}", model.closes, model.sent))
}

/// The server's ACCEPT has the longest first interval, 300 ms; each loss may double it.
fn bound(losses: u32) -> Duration {
    DELAY * 6 + Duration::from_millis(302) * ((1 << losses) - 1)
}

#[test]
fn without_loss() {
    let sessions = long_sessions();
    assert_eq!(took(&sessions, &[]), DELAY * 6, "three round trips");
}

#[test]
fn with_any_one_datagram_lost() {
    let sessions = long_sessions();
    for lost in 0..POSITIONS {
        let took = took(&sessions, &[lost]);
        assert!(took <= bound(1), "{lost}: {took:?}");
    }
}

#[test]
fn with_any_two_datagrams_lost() {
    let sessions = long_sessions();
    let mut worst = (Duration::ZERO, [0; 2]);
    for first in 0..POSITIONS {
        for second in first + 1..POSITIONS {
            worst = worst.max((took(&sessions, &[first, second]), [first, second]));
        }
    }
    assert!(worst.0 <= bound(2), "{worst:?}");
}

#[test]
fn with_any_three_datagrams_lost() {
    let sessions = long_sessions();
    let mut worst = (Duration::ZERO, [0; 3]);
    for first in 0..POSITIONS {
        for second in first + 1..POSITIONS {
            for third in second + 1..POSITIONS {
                worst = worst.max((took(&sessions, &[first, second, third]), [first, second, third]));
            }
        }
    }
    assert!(worst.0 <= bound(3), "{worst:?}");
}

/// How long the client took on a path that is silent for `span` from `begin` on, in these directions (down, up).
fn took_silence(sessions: &Arc<Sessions>, begin: Time, span: Duration, ways: [bool; 2]) -> Duration {
    let mut model = Model::new(1, sessions);
    model.run_by(&mut |now, is_up, _| {
        let is_silent = now >= begin && now < begin + span && ways[usize::from(is_up)];
        if is_silent { Fate::IsLost } else { Fate::Arrives }
    });
    model.took().unwrap_or_else(|| panic!("{begin:?}, {ways:?}: {:?}, of {:?}", model.closes, model.sent))
}

#[test]
fn with_an_outage_of_two_seconds_at_any_time() {
    let (sessions, mut worst) = (long_sessions(), Duration::ZERO);
    for begin in 0..40 {
        for ways in [[true, true], [true, false], [false, true]] {
            worst = worst.max(took_silence(&sessions, BEGINNING + DELAY * begin / 4, SILENCE, ways));
        }
    }
    // The first attempt after the silence succeeds; by then the repeats are a second apart (HELLO: two).
    assert!(worst <= SILENCE + Duration::from_secs(2), "{worst:?}");
}

#[test]
fn a_forgotten_client_restarts_by_its_open() {
    let begin = BEGINNING + DELAY * 2 + DELAY / 2;
    let took = took_silence(&long_sessions(), begin, Duration::from_millis(4_500), [true, true]);
    assert!(took <= Duration::from_millis(5_600), "{took:?}");
}

/// Its datagrams name a handshake that no longer exists, and get no answer: the client begins again with HELLO.
#[test]
fn a_client_with_part_of_the_answer_restarts_by_its_hello() {
    let sessions = long_sessions();
    for begin in [10, 12, 14, 16] {
        for ways in [[true, true], [false, true]] {
            let took = took_silence(&sessions, BEGINNING + DELAY * begin / 4, Duration::from_millis(4_500), ways);
            assert!(took <= Duration::from_millis(7_000), "{begin}, {ways:?}: {took:?}");
        }
    }
}

const SILENCE: Duration = Duration::from_secs(2);
