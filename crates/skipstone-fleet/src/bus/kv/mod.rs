//! Key-value stores: JetStream's, in memory, with compare-and-set and watches. Nothing here needs more than NATS 2.9.
//!
//! A store survives the loss of a minority of its replicas, and nothing else: with one replica, a restart of its server
//! empties it. Hence it holds what can be made again.

pub(super) mod answer;
pub(super) mod bucket;
pub(super) mod call;
pub(super) mod error;
pub(super) mod run;
pub(super) mod settings;
pub(super) mod tasks;
pub(super) mod trouble;
pub(super) mod watch;
