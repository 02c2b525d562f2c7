//! A build without the feature `simulate`: sockets have no simulated network. Values of these types cannot exist.

use super::impairment_error::ImpairmentError;
use crate::url::Scheme;
use skipstone_proto::Time;
use std::convert::Infallible;

/// Impairment of a client's datagrams: not available in this build, which lacks the feature `simulate`.
#[derive(Clone, Debug)]
pub struct Impairment(Infallible);

#[derive(Debug)]
pub(super) struct Links(Infallible);

/// Counters of links, which do not exist in this build.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkStats {}

impl Impairment {
    pub(crate) fn check(&self) -> Result<(), Infallible> {
        match self.0 {}
    }

    pub(crate) fn check_for(&self, _: Scheme) -> Result<(), ImpairmentError> {
        match self.0 {}
    }
}

impl Links {
    pub(super) fn new(impairment: &Impairment, _: u64) -> Result<Self, Infallible> {
        match impairment.0 {}
    }

    pub(super) fn send_up(&mut self, _: Time, _: &[u8]) {
        match self.0 {}
    }

    pub(super) fn send_down(&mut self, _: Time, _: &[u8]) {
        match self.0 {}
    }

    pub(super) fn receive_up(&mut self, _: Time, _: &mut Vec<u8>) -> bool {
        match self.0 {}
    }

    pub(super) fn receive_down(&mut self, _: Time, _: &mut Vec<u8>) -> bool {
        match self.0 {}
    }

    pub(super) fn in_flight(&self) -> usize {
        match self.0 {}
    }

    pub(super) fn next_arrival(&self) -> Time {
        match self.0 {}
    }

    pub(super) fn stats(&self) -> (LinkStats, LinkStats) {
        match self.0 {}
    }
}

pub(crate) fn add_stats(sum: (LinkStats, LinkStats), _: (LinkStats, LinkStats)) -> (LinkStats, LinkStats) {
    sum
}
