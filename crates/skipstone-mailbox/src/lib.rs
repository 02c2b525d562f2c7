//! The two bounded queues between an application and the thread of its network driver, and how each side wakes the
//! other.

mod queue;

pub use queue::{Bound, Consumed, Produced, Queue, Sleep, Wakeup};
