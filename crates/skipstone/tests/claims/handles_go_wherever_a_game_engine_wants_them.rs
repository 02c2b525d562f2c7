//! An engine moves resources between threads and shares references to them: all handles are `Send`, and those with statistics
//! that systems read at the same time are `Sync`.

use skipstone::{Client, Event, Pool, SendError, Server};

const fn is_send<T: Send + 'static>() {}
const fn is_sync<T: Sync>() {}

/// The compiler checks it; the test is that this file compiles.
#[test]
fn between_threads_and_at_once() {
    is_send::<Server>();
    is_sync::<Server>();
    is_send::<Client>();
    is_sync::<Client>();
    is_send::<Pool>();
    is_send::<Event>();
    is_sync::<Event>();
    is_send::<SendError>();
    is_sync::<SendError>();
}
