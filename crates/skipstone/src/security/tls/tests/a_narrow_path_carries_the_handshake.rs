//! On a path of 576 bytes, and on any that carries less than a full datagram of the handshake, clients are still
//! accepted: after two timeouts datagrams are short.

use super::any_losses_of_a_handshake_cost_little::long_sessions;
use super::model::{Model, Sessions};
use super::{Verifier, client_config, server_config};
use crate::security::{Identity, Trust};
use skipstone_proto::Duration;
use std::sync::Arc;

/// A path of 576 bytes, less the headers of IPv4 and UDP; and the shortest that is supported.
const NARROW: [usize; 2] = [548, 508];

fn sessions() -> Arc<Sessions> {
    let identity = Identity::self_signed().expect("it is made");
    let pin = Verifier::new(&Trust::Pinned(identity.fingerprint()), "localhost").expect("it is a pin");
    Arc::new(Sessions { client: client_config(Arc::new(pin)), server: server_config(&identity).expect("it is good") })
}

#[test]
fn a_narrow_path_carries_the_handshake() {
    for sessions in [sessions(), long_sessions()] {
        for carries in NARROW.into_iter().chain((600..1_200).step_by(50)) {
            let mut model = Model::new(1, &sessions);
            model.carries = carries;
            model.run(&mut |_| super::model::Fate::Arrives);
            let took = model.took().unwrap_or_else(|| panic!("{carries}: {:?}, of {:?}", model.closes, model.sent));
            assert!(took <= Duration::from_millis(1_700), "{carries}: {took:?}");
        }
    }
}
