//! What all players of a fleet hear, such as a chat of all: one log at each node, and players that move between nodes
//! neither miss a message of it nor get one twice.
//!
//! A [`Feed`] is a state machine without clock, thread and network, above one reliable
//! [group](crate::groups) that all nodes join. Each node numbers what it publishes, and keeps what it has heard for a
//! while. A player that leaves takes the [`Positions`] of its node along, which say what it has heard; the next node
//! gives it what came since, and leaves out what it has ([`Followers`]).
//!
//! ```text
//!  publish   +------+  group's message          group's message  +------+  poll: to all players of this node
//! ---------> | Feed | ------------------ bus -----------------> | Feed | ------------------------------------>
//!            +------+                                            +------+  since: to one that has moved here
//! ```
//!
//! # Order
//! Messages of one node are heard in its order; those of different nodes have no common order. But what a player says
//! at its new node must follow what it said at the former one: such a message names its predecessor ([`Position`]), and
//! every node holds it back until that was heard, for 2 s at most.

mod compass;
mod entry;
mod followers;
mod machine;
mod position;
mod settings;

pub use entry::FeedEntry;
pub use followers::Followers;
pub use machine::{Feed, FeedStats};
pub use position::{Position, Positions};
pub use settings::FeedSettings;
