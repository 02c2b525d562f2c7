//! An endpoint of a model network, with the events of its application.

use super::seed_bytes;
use bytes::Bytes;
use skipstone_proto::Time;
use skipstone_proto::{Close, Config, DropReason, Endpoint, Event, Overview, PeerId, SendError};
use skipstone_proto::{GivenUp, MessageId};

/// One endpoint and the events of its application so far.
pub(crate) struct Node {
    pub(crate) endpoint: Endpoint,
    pub(crate) events: Vec<(Time, Event)>,
    /// Whether events are polled from the endpoint at once; false simulates an application that does not poll.
    pub(crate) polls: bool,
    next_id: u64,
}

impl Node {
    /// A single endpoint, outside of a world.
    pub(crate) fn made(config: Config, seed: u64) -> Self {
        Node::new(config, seed)
    }

    pub(super) fn new(config: Config, seed: u64) -> Self {
        let endpoint = Endpoint::new(config, seed_bytes(seed)).expect("a good configuration");
        Node { endpoint, events: Vec::new(), polls: true, next_id: 0 }
    }

    pub(super) fn poll(&mut self, now: Time) {
        while self.polls
            && let Some(event) = self.endpoint.poll_event(now)
        {
            self.events.push((now, event));
        }
    }

    /// Payloads of all messages so far on one channel, of one peer or of all.
    pub(crate) fn messages(&self, channel: u16) -> Vec<Bytes> {
        let payload = |event: &(Time, Event)| match &event.1 {
            Event::Message { channel: on, payload, .. } if *on == channel => Some(payload.clone()),
            _ => None,
        };
        self.events.iter().filter_map(payload).collect()
    }

    /// The first peer that connected.
    pub(crate) fn peer(&self) -> PeerId {
        let connected = |event: &(Time, Event)| match event.1 {
            Event::Connected { peer, .. } => Some(peer),
            _ => None,
        };
        self.events.iter().find_map(connected).expect("it is connected")
    }

    /// The fates of the messages with receipts: their ids, and why they were given up.
    pub(crate) fn fates(&self) -> Vec<(MessageId, Option<GivenUp>)> {
        let fate = |event: &(Time, Event)| match event.1 {
            Event::Acknowledged { id, .. } => Some((id, None)),
            Event::GivenUp { id, why, .. } => Some((id, Some(why))),
            _ => None,
        };
        self.events.iter().filter_map(fate).collect()
    }

    /// The state of its first connection.
    pub(crate) fn overview(&mut self) -> Overview {
        let peer = self.peer();
        self.endpoint.overview(peer).expect("it is there")
    }

    /// Drops of all its connections, for this reason.
    pub(crate) fn drops(&mut self, reason: DropReason) -> u64 {
        self.endpoint.totals().drops.of(reason)
    }

    /// How its connections ended.
    pub(crate) fn closes(&self) -> Vec<&Close> {
        let close = |event: &'_ (Time, Event)| matches!(event.1, Event::Closed { .. });
        let closes = self.events.iter().filter(|event| close(event));
        closes
            .map(|event| match &event.1 {
                Event::Closed { close, .. } => close,
                _ => unreachable!("only closes are left"),
            })
            .collect()
    }

    /// Sends on the first connection and returns the message's id.
    pub(crate) fn send(&mut self, now: Time, channel: u16, payload: impl Into<Bytes>) -> MessageId {
        let peer = self.peer();
        self.send_to(now, peer, channel, payload).expect("it is taken")
    }

    pub(crate) fn send_to(
        &mut self,
        now: Time,
        peer: PeerId,
        channel: u16,
        payload: impl Into<Bytes>,
    ) -> Result<MessageId, SendError> {
        self.next_id += 1;
        let id = MessageId(self.next_id);
        self.endpoint.send(now, peer, channel, payload.into(), id).map(|()| id)
    }
}
