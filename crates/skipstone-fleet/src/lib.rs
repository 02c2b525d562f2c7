//! Machines that work as one, over NATS. Nothing async is in a signature: calls queue, events are polled.
//!
//! ```text
//! { feed groups moves tickets } > directory > { bus local }
//! ```

pub mod bus;
pub mod directory;
pub mod feed;
pub mod groups;
pub mod local;
pub mod moves;
pub mod tickets;
