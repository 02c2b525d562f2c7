//! The channels that refuse what does not fit, and with which the driver is not done: it keeps telling the application how
//! full they are.

use crate::gate::Gate;
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Endpoint, PeerId};
use std::sync::Arc;

/// Channels that hold messages, with the gates that tell so.
#[derive(Debug)]
pub(super) struct Gates {
    watched: Vec<Watched>,
    due: Time,
}

#[derive(Debug)]
struct Watched {
    peer: PeerId,
    channel: u16,
    gate: Arc<Gate>,
}

/// How often the queues are looked at.
const SPAN: Duration = Duration::from_millis(1);

impl Default for Gates {
    fn default() -> Self {
        Gates { watched: Vec::new(), due: Time::ZERO }
    }
}

impl Gates {
    /// The endpoint took, or gave up, a message that the application had counted.
    pub(super) fn on_taken(
        &mut self,
        endpoint: &mut Endpoint,
        peer: PeerId,
        channel: u16,
        gate: Arc<Gate>,
        bytes: usize,
    ) {
        if gate.on_taken(bytes, endpoint.queued(peer, channel)) {
            self.watched.push(Watched { peer, channel, gate });
        }
    }

    /// Tells how full the channels are, and forgets those that hold nothing.
    pub(super) fn publish(&mut self, now: Time, endpoint: &mut Endpoint) {
        if now >= self.due && !self.watched.is_empty() {
            self.due = now + SPAN;
            self.watched.retain(|watched| watched.gate.publish(endpoint.queued(watched.peer, watched.channel)));
        }
    }
}
