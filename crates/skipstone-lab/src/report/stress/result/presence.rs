//! Whether the server was there during a run, and took part in it, as the clients saw it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The server as its clients saw it, apart from the lines that it delivered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Presence {
    /// Of the clients that were dropped: those whose server went away. It shut down or restarted, fell silent, or its
    /// port was closed.
    pub clients_deserted: u64,
    /// How long the server had sent no message at the end, in seconds, while it acknowledged nothing either; `None` if
    /// it answered.
    pub silent_s: Option<f64>,
    /// How the process of the run's own server ended, if it did so before the run.
    pub process_ended: Option<String>,
    /// Lines that reached a client other than their sender.
    pub lines_from_others: u64,
    /// Lines that the connection did not take, by the reason that it gave.
    pub refused_sends_by_reason: BTreeMap<String, u64>,
}
