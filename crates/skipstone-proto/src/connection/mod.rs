//! One connection: its handshake, its packets in both directions, its timers, its end.
//!
//! ```text
//! client   Hello ──CHALLENGE──> Opening ──ACCEPT──> Established ──close──> Lingering ──all acked──> Closing
//! server                        Requested ─accept─> Established                                        │
//!          any state ──CLOSE received, idle, carrier lost──> Drained ──a few probe timeouts──> Dead <──┘
//! ```
//! `state` holds the parts of a connection. Each part has its own file, which does not depend on the whole; in a folder
//! it is named `state`, and the other files have the behaviour. Packets come in by `receive` and leave by `transmit`
//! (`control_packet`: those that hold one frame), messages wait in `queueing`, and `losses` returns what was lost to be
//! retransmitted. `handshake`, `encryption`, `identity`, `close` and `timers` cover a connection's life; `redundancy`
//! serves both directions, `roaming` follows the peer's address, `sizing` the path's MTU, `logging` feeds the
//! embedder's log, `server_time` estimates the server's clock. The mechanisms do not depend on each other; these files
//! connect them.

pub(crate) mod client_handshake;
mod close;
mod context;
mod control_packet;
mod encryption;
pub(crate) mod event;
mod handshake;
mod identity;
mod inbound;
mod logging;
mod losses;
mod memory;
mod overview;
pub(crate) mod packet_log;
mod path_state;
mod queueing;
mod receive;
mod redundancy;
mod roaming;
mod send_error;
mod server_time;
mod sizing;
mod state;
pub(crate) mod stats;
mod terms;
mod timers;
mod transmit;

pub(crate) use context::{Context, Scratch};
pub(crate) use identity::ConnectionIds;
pub use identity::Side;
pub use overview::Overview;
pub(crate) use queueing::Leaves;
pub use send_error::SendError;
pub use server_time::ServerTime;
use state::ConnectionState;
pub(crate) use state::{Connection, Standing};
