//! Moves of a client from one server to another while it plays (WIRE.md section 8.2): make before break, and nothing
//! reliable is lost, doubled or reordered.
//!
//! ```text
//! server A                client                        server B
//!    │───────── MOVE ───────>│                              │
//!    │                       │──────── OPEN, token ────────>│   the client plays on at A meanwhile
//!    │                       │<────────── ACCEPT ───────────│
//!    │<──────── READY ───────│   A has acknowledged everything reliable; more is held back
//!    │───────────────────────┼─────── the player ──────────>│   not Skipstone's: A's application tells B's
//!    │                       │<───────── WELCOME ───────────│
//!    │<──────── LEFT ────────│───────── ARRIVED ───────────>│   the client has chosen
//!    │──── the rest, CLOSE ─>│                              │   what B sends waits behind it
//! ```
//! Until the client has chosen, any failure leaves it at A. It chooses once, so that it is never a player of both.

mod client;
mod message;

pub use client::{ClientMoves, MoveAction};
pub use message::{DESTINATION_BYTES_MAX, MoveId, MoveMessage, MoveStage, Stayed};
