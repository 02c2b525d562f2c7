//! Claims about the bus, against real servers. `SKIPSTONE_NATS_SERVER` names another one than `nats-server` of `PATH`.

#[cfg(unix)]
mod clusters;
mod common;
mod connecting;
mod credentials;
mod directory;
mod groups;
mod kv;
mod local;
mod messages;
mod moves;
#[cfg(unix)]
mod outages;
mod rooms;
mod tls;
