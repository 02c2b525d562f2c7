//! Rules that a connection obeys: the server's settings, the limits of each side, and how long this side's messages
//! wait to be merged.

use super::identity::Side;
use crate::path::Carrier;
use crate::time::Duration;
use crate::wire::limits::Limits;
use crate::wire::settings::{Merging, Settings};
use std::sync::Arc;

/// The settings and the merging in force.
#[derive(Debug)]
pub(super) struct Terms {
    /// The server's settings; the defaults until a client has received them.
    pub(super) settings: Arc<Settings>,
    /// After a silence of this length, this side sends a PING.
    pub(super) keepalive: Duration,
    /// Limits on what this side accepts; `sends` holds the peer's limits. Both come from the settings; limits towards a
    /// client also come from the client.
    pub(super) receives: Limits,
    pub(super) sends: Limits,
    pub(super) merging: Merging,
    /// Merging is this side's choice; the settings do not state it.
    pub(super) is_merging_own: bool,
}

impl Terms {
    pub(super) fn new(settings: Arc<Settings>, side: Side) -> Self {
        let limits = Limits::of(&settings);
        Terms {
            keepalive: keepalive(&settings, side),
            receives: limits,
            sends: limits,
            merging: settings.merging,
            is_merging_own: false,
            settings,
        }
    }

    /// A client with these limits receives the server's settings.
    pub(super) fn on_settings(&mut self, settings: &Settings, limits: Limits) {
        let merging = if self.is_merging_own { self.merging } else { settings.merging };
        let is_merging_own = self.is_merging_own;
        *self = Terms { merging, is_merging_own, ..Terms::new(Arc::new(settings.clone()), Side::Client) };
        self.receives = self.receives.and(limits);
    }

    /// A server receives a client's limits.
    pub(super) fn on_limits(&mut self, limits: Limits) {
        self.sends = self.sends.and(limits);
    }

    /// How many packets of a reliable carrier may wait for their acknowledgement before the next has it leave at once:
    /// as many as fill half a window, if each is as long as the carrier allows, so that a small window is not worth one
    /// acknowledgement delay.
    pub(super) fn unacked_max(&self, carrier: &Carrier) -> u32 {
        let half = self.receives.window_bytes / 2 / u32::from(carrier.datagram_bytes_max);
        half.clamp(1, RELIABLE_PACKETS_MAX) - 1
    }

    /// The settings as they apply to this side's messages.
    pub(super) fn for_sending(&self) -> Arc<Settings> {
        let Limits { message_bytes_max, window_bytes, datagram_bytes_max } = self.sends;
        if self.sends == Limits::of(&self.settings) {
            return Arc::clone(&self.settings);
        }
        let settings = Settings::clone(&self.settings);
        Arc::new(Settings { message_bytes_max, window_bytes, datagram_bytes_max, ..settings })
    }
}

/// On a reliable carrier an acknowledgement leaves at once after this many packets, whatever the window.
const RELIABLE_PACKETS_MAX: u32 = 32;

/// The client asks first, so that one exchange serves both sides.
fn keepalive(settings: &Settings, side: Side) -> Duration {
    let idle_timeout = settings.idle_timeout;
    // Less than the peer's idle timeout, whatever the settings are.
    let asks_first = settings.keepalive.min(idle_timeout * 5 / 6);
    match side {
        Side::Client => asks_first,
        Side::Server => (asks_first * 3 / 2).min((asks_first + idle_timeout) / 2),
    }
}
