//! A build without the feature `dtls`: servers have no DTLS sessions. Values of this type cannot exist.

use super::outgoing::Send;
use crate::driver_stats::DtlsStats;
use crate::net::udp::AddressPair;
use skipstone_proto::{Cost, Endpoint, Path, Time};

#[derive(Debug)]
pub(super) enum DtlsGuests {}

impl DtlsGuests {
    pub(super) fn is_dtls(_: &[u8]) -> bool {
        false
    }

    pub(super) fn is_session(_: u32) -> bool {
        false
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

    pub(super) fn send(&mut self, _: Time, _: u32, _: &[u8], _: usize, _: &mut Endpoint) {
        match *self {}
    }

    pub(super) fn close(&mut self, _: Time, _: u32, _: &mut Endpoint) {
        match *self {}
    }

    pub(super) fn handle_timeout(&mut self, _: Time, _: &mut Endpoint) {
        match *self {}
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match *self {}
    }

    pub(super) fn transmit(&mut self, _: Send<'_>) {
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

    pub(super) fn take_cost(&mut self) -> Cost {
        match *self {}
    }

    pub(super) fn has_waiting(&self) -> bool {
        match *self {}
    }

    pub(super) fn stats(&self) -> DtlsStats {
        match *self {}
    }
}
