//! What a connection keeps to: the server's settings, and how long its own messages wait for company.

use super::identity::Side;
use crate::time::Duration;
use crate::wire::settings::{Merging, Settings};
use std::sync::Arc;

/// The settings and the merging in force.
#[derive(Debug)]
pub(super) struct Terms {
    /// The server's settings; the defaults until a client has heard them.
    pub(super) settings: Arc<Settings>,
    /// After so long a silence this side asks the peer for a sign of life.
    pub(super) keepalive: Duration,
    pub(super) merging: Merging,
    /// The merging is this side's choice, not that of the settings.
    pub(super) is_merging_own: bool,
}

impl Terms {
    pub(super) fn new(settings: Arc<Settings>, side: Side) -> Self {
        Terms { keepalive: keepalive(&settings, side), merging: settings.merging, is_merging_own: false, settings }
    }

    /// A client hears the server's settings.
    pub(super) fn on_settings(&mut self, settings: &Settings) {
        let merging = if self.is_merging_own { self.merging } else { settings.merging };
        let is_merging_own = self.is_merging_own;
        *self = Terms { merging, is_merging_own, ..Terms::new(Arc::new(settings.clone()), Side::Client) };
    }
}

/// The client asks first, so that one exchange serves both sides.
fn keepalive(settings: &Settings, side: Side) -> Duration {
    let idle_timeout = settings.idle_timeout;
    // Before the peer is taken for dead, whatever the settings are.
    let asks_first = settings.keepalive.min(idle_timeout * 5 / 6);
    match side {
        Side::Client => asks_first,
        Side::Server => (asks_first * 3 / 2).min((asks_first + idle_timeout) / 2),
    }
}
