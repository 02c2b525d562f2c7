//! A build without a carrier that has sessions: servers have none. Values of this type cannot exist.

use super::outgoing::Send;
use super::peer_shards::Deliver;
use super::session_table::SessionTable;
use crate::net::udp::AddressPair;
use skipstone_proto::{Cost, Endpoint, Time};

/// The sessions of a carrier that is left out.
#[derive(Debug)]
pub(super) enum AbsentSessions {}

impl AbsentSessions {
    pub(super) fn stats<Stats>(&self) -> Stats {
        match *self {}
    }
}

impl SessionTable for AbsentSessions {
    fn is_its_datagram(&self, _: &[u8]) -> bool {
        match *self {}
    }

    fn is_its_socket(&self, _: u32) -> bool {
        match *self {}
    }

    fn handle(&mut self, _: Time, _: (u32, AddressPair), _: &[u8], _: &mut Endpoint, _: Deliver<'_>) {
        match *self {}
    }

    fn send(&mut self, _: Time, _: u32, _: &[u8], _: usize, _: &mut Endpoint) {
        match *self {}
    }

    fn close(&mut self, _: Time, _: u32, _: &mut Endpoint) {
        match *self {}
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Endpoint) -> bool {
        match *self {}
    }

    fn poll_timeout(&self) -> Time {
        match *self {}
    }

    fn transmit(&mut self, _: Time, _: Send<'_>) {
        match *self {}
    }

    fn is_crowded(&self) -> bool {
        match *self {}
    }

    fn has_waiting(&self) -> bool {
        match *self {}
    }

    fn take_cost(&mut self) -> Cost {
        match *self {}
    }

    fn stop_inviting(&mut self) {
        match *self {}
    }

    fn handshake_count(&self) -> usize {
        match *self {}
    }
}
