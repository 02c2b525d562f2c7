//! Channels that refuse messages when they are full. The driver reports how full such a channel is until the channel
//! holds nothing.

use crate::gate::Gate;
use skipstone_proto::{Duration, Time};
use skipstone_proto::{Endpoint, PeerId};
use std::sync::Arc;

/// Channels that hold messages, with the gates that report how full they are.
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

/// Interval between checks of the queues.
const SPAN: Duration = Duration::from_millis(1);

impl Default for Gates {
    fn default() -> Self {
        Gates { watched: Vec::new(), due: Time::ZERO }
    }
}

impl Gates {
    /// Called when the endpoint has taken or discarded a message that the application had counted.
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

    /// Publishes how full the channels are, and removes those that hold nothing.
    pub(super) fn publish(&mut self, now: Time, endpoint: &mut Endpoint) {
        if now >= self.due && !self.watched.is_empty() {
            self.due = now + SPAN;
            self.watched.retain(|watched| watched.gate.publish(endpoint.queued(watched.peer, watched.channel)));
        }
    }
}
