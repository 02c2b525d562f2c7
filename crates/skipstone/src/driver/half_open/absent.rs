//! A build without the feature `dtls`: servers accept no DTLS handshakes of other implementations. Values of this type
//! cannot exist.

use crate::driver_stats::HalfOpenStats;
use skipstone_proto::Time;
use std::net::SocketAddr;

#[derive(Debug)]
pub(super) enum HalfOpen {}

impl HalfOpen {
    pub(super) fn is_dtls(_: &[u8]) -> bool {
        false
    }

    pub(super) fn handle(&mut self, _: Time, _: u32, _: SocketAddr, _: &[u8]) {
        match *self {}
    }

    pub(super) fn handle_timeout(&mut self, _: Time) {
        match *self {}
    }

    pub(super) fn poll_timeout(&self) -> Time {
        match *self {}
    }

    pub(super) fn poll_transmit(&mut self) -> Option<(u32, SocketAddr, Vec<u8>)> {
        match *self {}
    }

    pub(super) fn stats(&self) -> HalfOpenStats {
        match *self {}
    }
}
