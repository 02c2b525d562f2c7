//! Claims about the bus, against real servers. `SKIPSTONE_NATS_SERVER` names another one than `nats-server` of `PATH`.

mod common;
mod connecting;
mod kv;
mod messages;
#[cfg(unix)]
mod outages;
