//! Redundancy of a connection, so that lost content need not wait for a retransmission. The code itself lives in `fec`;
//! these modules connect it with packets.
//!
//! Channels whose rules name the same mode are a `class`: `bursts` plans its packets, `repairs` follow them, `repeats`
//! precede the next messages, and `write` writes both into packets; `copies` follow retransmissions. `recovered` is the
//! receiving side. The redundancy budget belongs to the connection.

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

/// Space in a packet for the frame with the age of its messages (LATE, WIRE.md section 4.5).
pub(super) const AGE_ROOM: usize = LATE_BYTES_MAX;
/// Bytes that each packet adds to its frames: header and packet number, without the seal.
pub(super) const PACKET_BYTES: usize = HEADER_BYTES + 2;
