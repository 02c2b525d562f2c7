//! A build without the feature `tracing`: nothing is logged.

use skipstone_proto::{Drops, Event};

pub(crate) fn on_event(_: &Event) {}

pub(crate) fn on_drops(_: &Drops, _: &Drops) {}
