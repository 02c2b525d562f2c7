//! A connection whose client changes its address: Wi-Fi to mobile, or a NAT rebinding. WIRE.md section 6.1.
//!
//! ```text
//! newest packet from elsewhere ──> Candidate ──PATH_CHALLENGE to it, answered from there──> the path
//!                                     │ later packet from the old address, or 3 s without an answer
//!                                     └──> forgotten
//! the path ──move──> left ──PATH_CHALLENGE to it too, answered from there ──────────────────> the path again
//! ```
//! Until validation, packets go to the old address; packets from elsewhere count if they are authentic. Another port of
//! the same host is used at once, within the credit of the bytes that came from there: a NAT has usually lost its
//! binding, and packets to the old port are lost. With each move the packets in flight are settled: content that is not
//! acknowledged is retransmitted, and their loss says nothing about the path.
//!
//! An attacker who replays a packet from another address cannot answer, because the challenge is sealed. An attacker
//! who forwards in both directions, faster than the path, can (RFC 9000, section 9.3.3); so the address that was left
//! is challenged as well, and gets the connection back as soon as the attacker loses one race.
//!
//! `candidate` is an address that is being validated, `state` holds all candidates and the path frames, and `migrate`
//! decides when the connection moves.

mod candidate;
mod migrate;
mod state;

pub(super) use candidate::CHALLENGE_BYTES;
pub(super) use state::{PathFrame, Roaming};
