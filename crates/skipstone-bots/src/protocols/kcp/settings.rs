//! The settings of one end of a conversation; KCP and kcp2k have the same options with defaults of their own.

use super::segment::HEADER;
use crate::target::{BotTarget, TargetError};
use core::time::Duration;

/// The settings of one end; windows and datagram size are those of the server's, too.
#[derive(Clone, Copy, Debug)]
pub(in crate::protocols) struct KcpSettings {
    /// The number that all segments carry.
    pub(in crate::protocols) conversation: u32,
    /// Bytes of a datagram.
    pub(in crate::protocols) datagram_bytes: usize,
    /// The time between two flushes.
    pub(in crate::protocols) interval: Duration,
    /// Segments in flight, and early segments that it takes.
    pub(in crate::protocols) window: u16,
    /// Acknowledgements of later segments after which a segment is sent again; 0: never early.
    pub(in crate::protocols) resend_skips: u32,
    /// Transmissions of one segment after which the peer counts as gone.
    pub(in crate::protocols) transmissions_max: u32,
}

impl KcpSettings {
    /// The options `mtu`, `interval`, `window` and `resend` of a target.
    pub(in crate::protocols) fn of(target: &BotTarget, defaults: KcpSettings) -> Result<Self, TargetError> {
        let interval = defaults.interval.as_millis() as u64;
        Ok(KcpSettings {
            datagram_bytes: target.number("mtu", defaults.datagram_bytes as u64, 64..=1500)? as usize,
            interval: Duration::from_millis(target.number("interval", interval, 1..=5000)?),
            window: target.number("window", defaults.window.into(), 2..=32_768)? as u16,
            resend_skips: target.number("resend", defaults.resend_skips.into(), 0..=100)? as u32,
            ..defaults
        })
    }

    /// Data of one segment.
    pub(super) fn segment_bytes(&self) -> usize {
        self.datagram_bytes - HEADER
    }

    /// The longest message: fewer fragments than the window, and than a byte counts.
    pub(in crate::protocols) fn message_bytes_max(&self) -> usize {
        (usize::from(self.window.min(u8::MAX.into())) - 1).max(1) * self.segment_bytes()
    }
}
