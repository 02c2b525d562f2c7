//! The load of one shard of the server.

use serde::{Deserialize, Serialize};

/// The load of one shard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Clients that are connected to it.
    pub clients: u64,
    /// Datagrams and WebSocket messages that it sent, since it began.
    pub datagrams_sent: u64,
    /// Those that it opened.
    pub datagrams_received: u64,
    /// Datagrams that came to it and were another shard's, because a client had moved: passed on.
    pub handed_on: u64,
    /// Those that found no room on their way.
    pub hand_over_drops: u64,
}

impl From<&skipstone::ShardOverview> for Shard {
    fn from(shard: &skipstone::ShardOverview) -> Shard {
        Shard {
            clients: shard.clients as u64,
            datagrams_sent: shard.stats.sent.datagrams,
            datagrams_received: shard.stats.received.datagrams,
            handed_on: shard.driver.misrouted.handed_on,
            hand_over_drops: shard.driver.misrouted.dropped,
        }
    }
}
