//! The close of a connection: exactly one `Closed` event on each side, with the same code and reason if any CLOSE
//! arrives. WIRE.md section 8.
//!
//! `state` holds the close that is in progress, `exchange` its frames. Hints in the server's name, which any host could
//! have sent, are followed only if the server does not show otherwise: `reset` for an established connection, `refused`
//! for a handshake.

mod exchange;
mod refused;
mod reset;
mod state;

pub(super) use state::{Answer, Ending};
