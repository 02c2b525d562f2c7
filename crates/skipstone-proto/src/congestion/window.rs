//! What windows have in common, whichever controller sets them.

use super::units::in_range;
use crate::time::Duration;

/// The initial congestion window, before the path is measured; paced except for the first burst.
const WINDOW_DATAGRAMS_INITIAL: u32 = 32;
/// On a path whose round trip is longer than the first value, the initial window is larger in proportion, up to the
/// second.
const WINDOW_INITIAL_RTT_US: u32 = 50_000;
const WINDOW_INITIAL_RTT_MAX_US: u32 = 2_000_000;
/// The minimum congestion window: with fewer datagrams the path could not be measured.
const WINDOW_DATAGRAMS_MIN: u32 = 2;
pub(super) const WINDOW_MAX: u32 = 1 << 30;

/// The window of a path whose round trip takes this long. A rate determines the bytes that may be sent in it:
/// otherwise a path of a second would need five round trips until an application's data fits.
pub(super) fn initial_window(rtt: Duration, datagram: u16) -> u32 {
    let span = in_range(rtt).clamp(WINDOW_INITIAL_RTT_US, WINDOW_INITIAL_RTT_MAX_US);
    WINDOW_DATAGRAMS_INITIAL * u32::from(datagram) * (span / 1_000) / (WINDOW_INITIAL_RTT_US / 1_000)
}

pub(super) fn window_min(datagram: u16) -> u32 {
    WINDOW_DATAGRAMS_MIN * u32::from(datagram)
}
