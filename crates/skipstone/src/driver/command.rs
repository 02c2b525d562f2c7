//! Commands from the application to its driver, and their execution.

use super::Driver;
use super::peer_shards::accept;
use crate::gate::Gate;
use crate::net::network_list::NetworkList;
use skipstone_proto::Cost;
use skipstone_proto::Duration;
use skipstone_proto::Merging;
use skipstone_proto::Submission;
use skipstone_proto::{BroadcastMessage, Event, Group, PeerId, SendError};
use std::sync::Arc;

/// A command from the application to its driver.
pub(crate) enum Command {
    Send {
        peer: PeerId,
        channel: u16,
        message: Submission,
        /// Counts queued messages, if the channel refuses messages when it is full.
        gate: Option<Arc<Gate>>,
    },
    Broadcast {
        group: Group,
        message: BroadcastMessage,
    },
    Accept(PeerId),
    Close {
        peer: PeerId,
        code: u64,
        reason: String,
        linger: Duration,
    },
    CloseAll {
        code: u64,
        reason: String,
        linger: Duration,
    },
    /// No further handshake begins; those in progress continue.
    StopInviting,
    Join(PeerId, Group),
    Leave(PeerId, Group),
    Merging(PeerId, Merging),
    /// The answer to queries; its length was checked.
    QueryAnswer(Option<bytes::Bytes>),
    /// These addresses are denied from now on, and no others.
    Deny(Arc<NetworkList>),
    Flush,
    /// [`Event::Settled`] follows when no reliable message waits for its acknowledgement.
    Settle(PeerId),
    /// A closure for a request that needs a result.
    Ask(Box<dyn FnOnce(&mut Driver) + Send>),
    Stop,
}

/// Approximate bytes of a command without its payload.
const COMMAND_BYTES: u64 = 128;

/// The cost of a command without its payload, and the number of payload bytes that cost a nanosecond.
const COMMAND: Cost = Cost::nanos(300);
const BYTES_PER_NANO: u64 = 4;

impl Command {
    /// The cost of applying it: of a broadcast only its queueing, because the number of its members is the
    /// application's choice.
    pub(crate) fn cost(&self) -> Cost {
        COMMAND + Cost::nanos(1) * ((self.weight() - COMMAND_BYTES) / BYTES_PER_NANO)
    }

    /// The weight of a command with a payload of this length.
    pub(crate) fn weight_of(payload_bytes: usize) -> u64 {
        COMMAND_BYTES + payload_bytes as u64
    }

    /// Approximate bytes of memory.
    pub(super) fn weight(&self) -> u64 {
        match self {
            Command::Send { message, .. } => Command::weight_of(message.payload.len()),
            Command::Broadcast { message, .. } => Command::weight_of(message.payload.len()),
            Command::Close { reason, .. } | Command::CloseAll { reason, .. } => Command::weight_of(reason.len()),
            _ => COMMAND_BYTES,
        }
    }
}

/// Approximate bytes of an event without its payload.
const EVENT_BYTES: u64 = 128;

/// Approximate bytes of memory of an event.
pub(super) fn event_weight(event: &Event) -> u64 {
    match event {
        Event::Message { payload, .. } => EVENT_BYTES + payload.len() as u64,
        Event::Requested { token, .. } => EVENT_BYTES + token.len() as u64,
        _ => EVENT_BYTES,
    }
}

impl Driver {
    /// Executes a command of the application. An accepted message that does not fit into the endpoint is discarded with
    /// an event.
    pub(crate) fn apply(&mut self, command: Command) {
        if let Command::Broadcast { group, message } = command {
            return self.broadcast(group, message);
        }
        if matches!(command, Command::Flush) {
            return self.flush();
        }
        self.queue_broadcasts();
        let now = self.now();
        let endpoint = &mut self.endpoint;
        match command {
            Command::Send { peer, channel, message, gate } => {
                let bytes = message.payload.len();
                endpoint.submit_accepted(now, peer, channel, message);
                if let Some(gate) = gate {
                    self.gates.on_taken(&mut self.endpoint, peer, channel, gate, bytes);
                }
            }
            Command::Broadcast { .. } | Command::Flush | Command::Stop => {}
            Command::Accept(peer) => accept(endpoint, &mut self.peer_shards, now, peer),
            Command::Close { peer, code, reason, linger } => drop(endpoint.close(now, peer, code, &reason, linger)),
            Command::CloseAll { code, reason, linger } => {
                endpoint.stop_listening();
                endpoint.close_all(now, code, &reason, linger);
                self.stop_inviting();
            }
            Command::StopInviting => self.stop_inviting(),
            Command::Join(peer, group) => drop(endpoint.join(peer, group)),
            Command::Leave(peer, group) => endpoint.leave(peer, group),
            Command::Merging(peer, merging) => endpoint.set_merging(peer, merging),
            Command::QueryAnswer(answer) => drop(endpoint.set_query_answer(answer)),
            Command::Deny(networks) => self.denied = networks,
            Command::Settle(peer) => endpoint.settle(now, peer),
            Command::Ask(question) => question(self),
        }
    }

    /// Like the command to send, but returns the endpoint's result: for an application that calls the driver itself.
    pub(crate) fn send(&mut self, peer: PeerId, channel: u16, message: Submission) -> Result<(), SendError> {
        self.queue_broadcasts();
        let now = self.now();
        self.endpoint.submit(now, peer, channel, message)
    }
}
