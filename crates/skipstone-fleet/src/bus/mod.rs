//! A message bus over NATS: subjects, requests and their answers, without async in a signature.
//!
//! A [`Bus`] has a thread of its own, which talks to the server. Calls queue and return at once; all that happens comes
//! as a [`BusEvent`], polled or waited for. Messages travel at most once: what must arrive needs sequences of its own.
//! But no message disappears silently: whatever the bus accepted and cannot vouch for is counted and reported.
//!
//! ```no_run
//! use skipstone_fleet::bus::{Bus, BusEvent, BusSettings};
//! use std::time::Duration;
//!
//! let bus = Bus::connect(BusSettings::new("nats://localhost".parse()?))?;
//! let greetings = bus.subscribe("greetings.*")?;
//! bus.publish("greetings.all", "hello")?;
//! while let Some(event) = bus.wait(Duration::from_secs(1)) {
//!     match event {
//!         BusEvent::Message(message) if message.subscription == greetings => println!("{:?}", message.payload),
//!         other => println!("{other:?}"),
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod connection;
mod deadline;
mod error;
mod event;
mod event_queue;
mod handle;
mod ids;
mod kv;
mod outbox;
mod pump;
mod receipts;
mod settings;
mod shared;
mod stats;
mod store;
mod subject;
mod url;

pub use error::{BusError, BusFull, ConnectError, FlushError, PublishError, SubjectError};
pub use event::{BusEvent, BusMessage, NoAnswer};
pub use handle::Bus;
pub use ids::{KvBucket, KvWatchId, RequestId, SubscriptionId};
pub use kv::answer::{KvAnswer, KvChange, KvOutcome, KvWatchState};
pub use kv::error::KvError;
pub use kv::settings::KvSettings;
pub use settings::{BusLogin, BusSettings};
pub use stats::{BusServer, BusState, BusStats};
pub use url::{NatsUrl, NatsUrlError};
