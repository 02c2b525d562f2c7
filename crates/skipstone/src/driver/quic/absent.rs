//! A build without WebTransport: servers have no QUIC connections. Values of this type cannot exist.

use super::outgoing::Send;
use crate::driver_stats::WebTransportStats;
use crate::net::udp::AddressPair;
use skipstone_proto::{Cost, Endpoint, Path, Time};

#[derive(Debug)]
pub(super) enum QuicGuests {}

impl QuicGuests {
    pub(super) fn is_quic(_: &[u8]) -> bool {
        false
    }

    pub(super) fn is_session(_: u32) -> bool {
        false
    }

    pub(super) fn shard_of(_: &[u8], _: u32) -> Option<u32> {
        None
    }

    pub(super) fn handle(
        &mut self,
        _: Time,
        _: (u32, AddressPair),
        _: &[u8],
        _: &mut Endpoint,
        _: &mut dyn FnMut(&mut Endpoint, Path, &mut [u8]),
    ) {
        match *self {}
    }

    pub(super) fn take_cost(&mut self) -> Cost {
        match *self {}
    }

    pub(super) fn send(&mut self, _: Time, _: u32, _: &[u8], _: usize) {
        match *self {}
    }

    pub(super) fn close(&mut self, _: Time, _: u32, _: &mut Endpoint) {
        match *self {}
    }

    pub(super) fn handle_timeout(&mut self, _: Time, _: &mut Endpoint) {
        match *self {}
    }

    pub(super) fn has_waiting(&self) -> bool {
        match *self {}
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match *self {}
    }

    pub(super) fn advance_all(&mut self, _: Time, _: &mut Endpoint) {
        match *self {}
    }

    pub(super) fn handshake_count(&self) -> usize {
        match *self {}
    }

    pub(super) fn stop_inviting(&mut self) {
        match *self {}
    }

    pub(super) fn is_crowded(&self) -> bool {
        match *self {}
    }

    pub(super) fn transmit(&mut self, _: Time, _: Send<'_>) {
        match *self {}
    }

    pub(super) fn stats(&self) -> WebTransportStats {
        match *self {}
    }
}
