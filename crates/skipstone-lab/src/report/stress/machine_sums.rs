//! Figures of several machines as those of one: counts add up, the longest and the latest are the greatest.

use super::result::{Generator, Stalls};
use crate::report::added::added;

/// The cost of two machines' clients.
pub fn generators(one: &Generator, other: &Generator) -> Generator {
    // If one of them does not report a figure, the sum is unknown.
    let cpu_percent = one.cpu_percent.zip(other.cpu_percent).map(|(one, other)| one + other);
    let latest_send_ms = one.latest_send_ms.max(other.latest_send_ms);
    Generator { cpu_percent, latest_send_ms, ..added(one, other) }
}

/// The stalls of two machines.
pub fn stalls(one: Stalls, other: Stalls) -> Stalls {
    Stalls { longest_ms: one.longest_ms.max(other.longest_ms), ..added(&one, &other) }
}
