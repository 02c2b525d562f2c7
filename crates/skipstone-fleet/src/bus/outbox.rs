//! Calls that wait for the thread of the bus, in their order. Their bytes count until the server confirms them.

use super::error::BusFull;
use super::ids::{KvBucket, KvWatchId, RequestId, SubscriptionId};
use super::kv::call::KvCall;
use super::kv::settings::KvSettings;
use bytes::Bytes;
use std::collections::VecDeque;

/// A call.
#[derive(Debug)]
pub(super) enum BusCall {
    Publish { subject: String, reply: Option<String>, payload: Bytes },
    Request { request: RequestId, subject: String, payload: Bytes },
    Subscribe { subscription: SubscriptionId, subject: String },
    Unsubscribe { subscription: SubscriptionId },
    KvOpen { bucket: KvBucket, name: String, settings: KvSettings },
    Kv(KvCall),
    KvWatch { watch: KvWatchId, bucket: KvBucket, pattern: String },
    KvUnwatch { watch: KvWatchId },
}

/// The queue of calls.
#[derive(Debug)]
pub(super) struct Outbox {
    calls: VecDeque<BusCall>,
    /// Bytes of these calls, and of those that were sent and are not confirmed.
    waiting_bytes: usize,
    bytes_max: usize,
}

impl Outbox {
    pub(super) fn new(bytes_max: usize) -> Outbox {
        Outbox { calls: VecDeque::new(), waiting_bytes: 0, bytes_max }
    }

    /// Adds a call.
    pub(super) fn push(&mut self, call: BusCall) -> Result<(), BusFull> {
        let weight = call.weight();
        if self.waiting_bytes + weight > self.bytes_max {
            return Err(BusFull { waiting_bytes: self.waiting_bytes, bytes_max: self.bytes_max });
        }
        self.waiting_bytes += weight;
        self.calls.push_back(call);
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<BusCall> {
        self.calls.pop_front()
    }

    /// Frees the bytes of calls that are done, or cannot be done.
    pub(super) fn release(&mut self, bytes: usize) {
        self.waiting_bytes -= bytes;
    }

    pub(super) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }
}

impl BusCall {
    /// Whether it sends a message of the application.
    pub(super) fn is_message(&self) -> bool {
        matches!(self, BusCall::Publish { .. } | BusCall::Request { .. })
    }

    pub(super) fn payload_bytes(&self) -> usize {
        match self {
            BusCall::Publish { payload, .. } | BusCall::Request { payload, .. } => payload.len(),
            _ => 0,
        }
    }

    /// Bytes of memory, about.
    pub(super) fn weight(&self) -> usize {
        let content = match self {
            BusCall::Publish { subject, reply, payload } => {
                subject.len() + reply.as_ref().map_or(0, String::len) + payload.len()
            }
            BusCall::Request { subject, payload, .. } => subject.len() + payload.len(),
            BusCall::Subscribe { subject, .. } => subject.len(),
            BusCall::KvOpen { name, .. } => name.len(),
            BusCall::Kv(call) => call.weight(),
            BusCall::KvWatch { pattern, .. } => pattern.len(),
            BusCall::Unsubscribe { .. } | BusCall::KvUnwatch { .. } => 0,
        };
        size_of::<BusCall>() + content
    }
}
