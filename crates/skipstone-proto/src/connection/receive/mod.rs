//! Packets that come in. WIRE.md sections 3 and 4.
//!
//! A packet is opened (`open`), checked as a whole (`check`), and then applied frame by frame (`apply`), its
//! acknowledgements in `acks`. `state` records the received packets, `window` the room for more.

mod acks;
mod apply;
mod check;
mod open;
mod state;
mod window;

pub(super) use state::Receiving;
