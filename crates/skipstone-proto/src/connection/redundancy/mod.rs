//! What a connection does so that losses need not be waited for. The code itself lives in `fec`; here it meets packets.
//!
//! Channels whose rules name the same mode are a `class`: `bursts` plans how its messages leave, `repairs` follow them,
//! `repeats` go in front of the next ones, and `write` has both on their way into packets; `copies` follow retransmissions.
//! `recovered` is the receiving side. What is spent is the connection's.

mod bursts;
mod class;
mod copies;
mod recovered;
mod repairs;
mod repeats;
mod retransmission;
mod state;
mod write;

use crate::wire::datagram::HEADER_BYTES;
use crate::wire::frame::LATE_BYTES_MAX;
pub(super) use retransmission::CopyCount;
pub(super) use state::Redundant;
pub(super) use write::{note_repeatable, write_repair, write_repeats};

/// Room beside the messages of a packet for the frame that says their age (LATE, WIRE.md section 4.5).
pub(super) const AGE_ROOM: usize = LATE_BYTES_MAX;
/// What each packet adds to its frames: header and number. The seal comes on top.
pub(super) const PACKET_BYTES: usize = HEADER_BYTES + 2;
