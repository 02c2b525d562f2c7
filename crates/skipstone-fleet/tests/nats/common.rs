//! Servers and buses of the tests.

use skipstone_fleet::bus::{Bus, BusEvent, BusMessage, BusSettings};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::time::{Duration, Instant};

pub(crate) fn server() -> LocalNats {
    server_with("")
}

/// A server with further lines of configuration.
pub(crate) fn server_with(extra: &str) -> LocalNats {
    let settings = LocalSettings { extra: extra.into(), ..LocalSettings::default() };
    LocalNats::start(settings).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn settings(server: &LocalNats) -> BusSettings {
    BusSettings::new(server.url().parse().unwrap())
}

pub(crate) fn bus(server: &LocalNats) -> Bus {
    Bus::connect(settings(server)).unwrap_or_else(|error| panic!("{error}"))
}

/// The first event that this returns something for; the others are forgotten.
pub(crate) fn find<T>(bus: &Bus, mut pick: impl FnMut(BusEvent) -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    while let Some(event) = bus.wait(deadline.saturating_duration_since(Instant::now())) {
        if let Some(found) = pick(event) {
            return found;
        }
        if Instant::now() > deadline {
            break;
        }
    }
    panic!("no such event within {PATIENCE:?}: {:?}", bus.stats());
}

pub(crate) fn message(bus: &Bus) -> BusMessage {
    find(bus, |event| match event {
        BusEvent::Message(message) => Some(message),
        _ => None,
    })
}

pub(crate) const PATIENCE: Duration = Duration::from_secs(15);
