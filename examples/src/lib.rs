//! Three short programs that use the library. Read them in this order:
//!
//! * [`echo`]: a server and a client, over UDP and over WebSocket.
//! * [`chat`]: who may come in, what everybody hears, and goodbye.
//! * [`typed`]: packet types from a `.proto` file, each on a channel with its own delivery rule.
//!
//! Run one by `cargo run -p skipstone-examples --example echo`.

pub mod chat;
pub mod echo;
pub mod typed;
