//! A flow that always has more to send than the link carries.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use skipstone::netsim::Duplex;
use skipstone_proto::Time;

use super::bottleneck::Bottleneck;
use super::line_up::FlowKind;
use crate::compare::beside::CubicTransfer;
use crate::compare::condition::Condition;
use crate::compare::contender::Contender;
use crate::compare::packet_logs::NO_LOGS;
use crate::compare::peers::ends;
use crate::compare::peers::ends::{Ends, EndsSetup};
use crate::compare::peers::peer::Update;
use crate::compare::transport::Transport;
use crate::framing::HEADER_BYTES;

/// A running flow, both of its ends.
pub(super) struct GreedyFlow {
    sides: Sides,
    /// The number of the flow, in the tags of its datagrams and in its ports.
    number: u16,
    /// The next channel that gets a message.
    entity: u16,
    datagram: Vec<u8>,
}

enum Sides {
    Cubic(Box<CubicTransfer>),
    Peers(Ends),
}

/// Channels of a flow: quinn limits what is on its way on one stream.
const ENTITIES: u16 = 8;
static MESSAGE: [u8; 1_100] = [7; 1_100];

impl GreedyFlow {
    pub(super) fn begin(kind: FlowKind, number: u16, now: Time, bottleneck: &Bottleneck, seed: u64) -> Self {
        let transport = match kind {
            FlowKind::Cubic => None,
            FlowKind::Ours => Some(Transport::Skipstone),
            #[cfg(feature = "peers")]
            FlowKind::Bbr => Some(Transport::QuinnBbr),
        };
        let sides = match transport {
            None => Sides::Cubic(Box::new(CubicTransfer::new(1_500 - HEADER_BYTES))),
            Some(transport) => {
                // What the path holds with a full queue has to fit into windows.
                let patient = if kind == FlowKind::Ours { bottleneck.rtt + bottleneck.queue } else { bottleneck.rtt };
                let condition = condition(bottleneck, patient);
                let contender = Contender { transport, mode: None, external: None };
                let setup = EndsSetup { now, server: server(number), seed, condition: &condition, logs: &NO_LOGS };
                Sides::Peers(ends(contender, setup))
            }
        };
        GreedyFlow { sides, number, entity: 0, datagram: Vec::new() }
    }

    /// A datagram arrived at the server.
    pub(super) fn take(&mut self, now: Time, datagram: &mut Vec<u8>) {
        match &mut self.sides {
            Sides::Cubic(transfer) => transfer.handle_datagram(datagram),
            Sides::Peers(ends) => ends.server.handle_datagram(now, client(self.number), datagram),
        }
    }

    /// A datagram arrived at the client.
    pub(super) fn take_answer(&mut self, now: Time, datagram: &mut Vec<u8>) {
        match &mut self.sides {
            Sides::Cubic(transfer) => transfer.handle_answer(now, datagram),
            Sides::Peers(ends) => ends.client.handle_datagram(now, server(self.number), datagram),
        }
    }

    /// When the flow has to act.
    pub(super) fn poll_timeout(&mut self) -> Time {
        match &mut self.sides {
            Sides::Cubic(transfer) => transfer.poll_timeout(),
            Sides::Peers(ends) => ends.client.poll_timeout().min(ends.server.poll_timeout()),
        }
    }

    /// Timers expire, messages fill the queue, datagrams leave.
    pub(super) fn act(&mut self, now: Time, links: &mut Duplex) {
        let (at, tag) = (Duration::from_micros(now.as_micros()), u64::from(self.number));
        match &mut self.sides {
            Sides::Cubic(transfer) => {
                transfer.handle_timeout(now);
                while let Some(datagram) = transfer.poll_transmit(now) {
                    links.up.send(at, &datagram, tag);
                }
                while let Some(answer) = transfer.poll_answer() {
                    links.down.send(at, &answer, tag);
                }
            }
            Sides::Peers(Ends { client, server }) => {
                client.handle_timeout(now);
                server.handle_timeout(now);
                while server.poll_message(now).is_some() {}
                let mut refusals = 0;
                while client.is_connected() && refusals < ENTITIES {
                    let payload = Bytes::from_static(&MESSAGE);
                    let is_accepted = client.send(now, Update { entity: self.entity, payload, age: Duration::ZERO });
                    refusals = if is_accepted { 0 } else { refusals + 1 };
                    self.entity = (self.entity + 1) % ENTITIES;
                }
                while client.poll_transmit(now, &mut self.datagram).is_some() {
                    links.up.send(at, &self.datagram, tag);
                }
                while server.poll_transmit(now, &mut self.datagram).is_some() {
                    links.down.send(at, &self.datagram, tag);
                }
            }
        }
    }
}

fn client(number: u16) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 1], 20_000 + number))
}

fn server(number: u16) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, 1], 7_777 + number))
}

/// A workload of several times the rate, so that windows are no limit.
fn condition(bottleneck: &Bottleneck, round_trip: Duration) -> Condition {
    let message = MESSAGE.len();
    let per_second = 4.0 * bottleneck.bytes_per_second() / message as f64;
    let held = bottleneck.bytes_per_second() * (bottleneck.rtt + bottleneck.queue).as_secs_f64() / message as f64;
    let mut link = bottleneck.link();
    link.delay = round_trip / 2;
    Condition {
        plan: "fairness".into(),
        name: None,
        lasting: Duration::from_secs(60),
        entities: ENTITIES,
        ticks_per_second: (per_second / f64::from(ENTITIES)).ceil() as u32,
        payload_bytes: message,
        schedule: None,
        delivery: None,
        bulk: None,
        back: link.clone(),
        link,
        roam_every: None,
        waiting_max: Some((2.0 * held / f64::from(ENTITIES)) as u32 + 16),
        patience: Duration::ZERO,
        beside: Vec::new(),
        words: BTreeMap::new(),
    }
}
