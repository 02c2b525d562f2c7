//! A seeded **model network**: the path of datagrams between a sender and a receiver, in a few hundred lines and
//! without dependencies.
//!
//! A [`Link`] is one direction of a path. The link delays, jitters, serialises at a rate or as recorded behind a
//! drop-tail queue, loses (at random, in bursts or in fades), holds back, duplicates and corrupts datagrams, and goes
//! down for a while. The link knows no protocol: bytes go in with an opaque tag, bytes come out.
//!
//! A link has no clock, socket or thread. Time is a [`Duration`](core::time::Duration) since an epoch that the caller
//! chooses, so the same link serves
//!
//! - **tests and simulations in virtual time**: jump to [`Link::next_arrival`], however far away;
//! - **real sockets**: pass the time since the start of the run, and sleep until [`Link::next_arrival`].
//!
//! # Example
//!
//! ```
//! use core::time::Duration;
//! use skipstone_netsim::{Link, LinkConfig, Loss, QueueLimit};
//!
//! # fn main() -> Result<(), skipstone_netsim::ConfigError> {
//! let config = LinkConfig {
//!     delay: Duration::from_millis(10),
//!     jitter: Duration::from_millis(2),
//!     rate_bits_per_second: Some(10_000_000),
//!     queue: QueueLimit::Time(Duration::from_millis(50)),
//!     loss: Loss::Burst { rate: 0.02, mean_length: 3.0 },
//!     ..LinkConfig::default()
//! };
//! let mut link = Link::new(config, 42)?;
//!
//! // One tick of sixty datagrams, 1 ms apart, each with its number as the tag.
//! for number in 0..60 {
//!     link.send(Duration::from_millis(number), b"position", number);
//! }
//!
//! // Virtual time: jump from arrival to arrival.
//! let mut datagram = Vec::new();
//! while let Some(now) = link.next_arrival() {
//!     let arrival = link.receive(now, &mut datagram).expect("something arrives at its time of arrival");
//!     assert!(arrival.arrived >= arrival.sent + Duration::from_millis(10));
//!     assert_eq!(datagram, b"position");
//! }
//!
//! let stats = link.stats();
//! assert_eq!(stats.sent, stats.delivered + stats.lost());
//! # Ok(())
//! # }
//! ```
//!
//! # The model
//!
//! ```text
//!  send ─► size ─► outage ─► queue + rate ─► delay + jitter ─► loss ─► hold back, corrupt, duplicate ─► receive
//!            │        │           │                              │
//!         TooLarge  Outage      Queue                      Random, Burst, Fade
//! ```
//!
//! A datagram that could be lost in several ways is lost in the leftmost. Loss comes after the queue, as on a radio
//! link: a datagram that is lost there has used its share of the rate.
//!
//! # What a seed promises
//!
//! The same configuration, seed and calls give the same fates, times and bytes, on every machine. Beyond that:
//!
//! - Loss, jitter, reordering, duplication and corruption draw from **independent random streams**, a fixed number of
//!   draws per datagram sent. Switching one on or off changes neither which datagrams another one hits nor when the
//!   remaining datagrams arrive.
//! - A higher probability hits the same datagrams **and some more** (except [`Loss::Burst`] and [`Loss::Fade`], whose
//!   bursts move). A protocol can so be compared over 1% and 2% loss with the same 1%.
//!
//! # Memory
//!
//! Buffers are recycled: a link in a steady state does not allocate. The number of datagrams in flight is limited only
//! by the caller, who sends and receives them; set a [`QueueLimit`] with a rate that the sender may exceed.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]
#![forbid(unsafe_code)]

mod bottleneck;
mod config;
mod corrupt;
pub mod cubic;
mod duplex;
mod fades;
mod fate;
mod flight;
mod link;
mod loss;
mod opportunities;
mod rng;
mod stats;
mod streams;
mod trace;

pub use config::{ConfigError, LinkConfig, Loss, Outage, QueueLimit};
pub use duplex::Duplex;
pub use fate::{Fate, LossCause};
pub use link::{Arrival, Link};
pub use opportunities::{Opportunities, TraceError};
pub use stats::LinkStats;
pub use trace::{TraceEvent, TraceLine};
