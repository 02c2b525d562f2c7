//! Groups whose members are on any node of a fleet: rooms' audiences, teams, and a chat of all.
//!
//! [`Groups`] is a state machine without clock, thread and network. A [`GroupsDriver`] runs it over a
//! [`Bus`](crate::bus::Bus), polled from the game loop. Messages of one tick leave as one batch for each group.
//!
//! ```text
//!  join, leave, send, flush  +--------+  calls: subscribe, unsubscribe, publish
//! -------------------------> | Groups | ---------------------------------------->
//!  time, packets             +--------+  events: message, gap
//! ```
//!
//! A node subscribes to a group's subject only while it has members, so that other nodes receive nothing. Its own members
//! receive without the bus.
//!
//! # Reliable groups
//! The bus delivers at most once. Each publisher numbers its batches and keeps the last 1,024; all of a node's have one bound in bytes. A
//! receiver delivers them in order, exactly once, and asks the publisher for those that it misses. Where a batch is no
//! longer kept, [`GroupEvent::Gap`] says so. A quiet publisher repeats its last sequence number, 500 ms to 30 s apart, so
//! that the loss of a last batch is noticed however long a partition lasted. A node that joins receives from then on: it asks each publisher that it
//! meets for the batches since its own join. Messages of different publishers have no common order.
//!
//! ```no_run
//! use skipstone_fleet::bus::{Bus, BusSettings};
//! use skipstone_fleet::groups::{Delivery, GroupEvent, GroupName, GroupSettings, GroupsDriver};
//! use skipstone_fleet::directory::NodeName;
//!
//! let bus = Bus::start(BusSettings::new("nats://localhost".parse()?))?;
//! let mut groups = GroupsDriver::start(&bus, GroupSettings::new(NodeName::new("node-1")?, 0x5eed));
//! let chat = GroupName::new("chat")?;
//! groups.join(&chat, Delivery::Reliable)?;
//! groups.send(&chat, "hello, all")?;
//! while let Some(event) = bus.poll() {
//!     groups.handle(event); // It gives back what is for others.
//! }
//! groups.flush(&bus); // Once in each tick.
//! while let Some(event) = groups.poll(&bus) {
//!     if let GroupEvent::Message { node, payload, .. } = event {
//!         println!("{node}: {payload:?}");
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod driver;
mod event;
mod event_queue;
#[cfg(test)]
mod limits;
mod machine;
mod name;
mod packet;
mod publisher;
mod publishers;
mod settings;
#[cfg(test)]
mod simulation;
mod stream;
mod streams;

pub use driver::GroupsDriver;
pub use event::{GroupCall, GroupEvent};
pub use machine::{Groups, GroupsStats, JoinError, SendError};
pub use name::{GroupName, GroupNameError};
pub use settings::{Delivery, GroupSettings};
