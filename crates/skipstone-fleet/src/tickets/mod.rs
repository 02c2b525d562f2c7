//! Tickets: a player's right to join one room at one node, once, within 30 s.
//!
//! A ticket is a token of [PASETO](https://paseto.io) version 4, purpose public: JSON that Ed25519 signs. Its standard claims
//! are `sub` (the player), `aud` (the node), `jti` (its number), `iat`, `nbf` and `exp`; the fleet's own are `room` and
//! `epoch`. It fits into the 1,024 bytes of a connection token.
//!
//! A [`TicketSigner`] issues, a [`TicketDesk`] at each node admits. Neither has a clock: the time is given.
//!
//! ```
//! use skipstone_fleet::directory::{Epoch, NodeName, RoomName};
//! use skipstone_fleet::tickets::{FleetKeys, Ticket, TicketDesk, UnixTime};
//!
//! let keys = FleetKeys::parse(&FleetKeys::generate()?)?;
//! let (node, room) = (NodeName::new("n1")?, RoomName::new("lobby")?);
//! let ticket = Ticket { player: "zoe".into(), room, node: node.clone(), epoch: Epoch(7) };
//! let now = UnixTime::now();
//! let token = keys.signer()?.issue(&ticket, now)?;
//!
//! let mut desk = TicketDesk::new(keys, node);
//! let epoch_of = |_: &RoomName| Some(Epoch(7));
//! assert_eq!(desk.admit(token.as_bytes(), now, epoch_of)?, ticket);
//! assert!(desk.admit(token.as_bytes(), now, epoch_of).is_err(), "it was used");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod claims;
mod desk;
mod error;
mod key_file;
mod keys;
mod ticket;
mod time;
mod used;

pub use desk::{TicketDesk, TicketStats};
pub use error::{IssueError, KeyError, TicketError};
pub use keys::{FleetKeys, TicketSigner};
pub use ticket::Ticket;
pub use time::UnixTime;
