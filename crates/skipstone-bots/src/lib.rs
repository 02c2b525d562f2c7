//! Load from bots that people script themselves, over the protocol that their game already has.
//!
//! ```text
//! socket > protocols > { protocol target }
//! ```

pub mod protocol;
pub mod protocols;
pub mod socket;
pub mod target;
