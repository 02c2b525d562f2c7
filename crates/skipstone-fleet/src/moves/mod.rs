//! Players that move from node to node while they play.
//!
//! ```text
//! node A            client            node B
//!   ──────────── a place? ───────────────>      Moves::begin      MoveNotice::Asked
//!   <─────────── address, token ──────────                        Moves::admit
//!   ─── MOVE ─────────>
//!                      ── connects ──────>
//!   <── READY ─────────                         MoveNotice::Ready
//!   ──────────── state ──────────────────>      Moves::hand_over
//!                      <── WELCOME ───────
//!   <── LEFT ─────────── ARRIVED ────────>      MoveNotice::Left  MoveNotice::Arrived
//! ```
//! Letters between nodes may be lost, doubled or late; what the client has decided counts (WIRE.md section 8.2). A
//! player is one node's at any moment: its node stops acting for it at [`MoveNotice::Ready`], and begins again at
//! [`MoveNotice::Stayed`]; the other one begins at [`MoveNotice::Arrived`].

mod arrival;
mod departure;
mod drain;
mod driver;
mod machine;
mod note;
mod output;
mod settings;

pub use drain::{Drain, DrainSettings, DrainState};
pub use driver::{MovesDriver, NodeEvent};
pub use machine::Moves;
pub use note::MoveOrigin;
pub use output::{MoveFailure, MoveNotice, MoveOrder, MoveRefusal};
pub use settings::MoveSettings;
