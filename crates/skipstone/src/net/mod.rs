//! The I/O shell under the driver: UDP sockets with batched system calls, a WebSocket carrier over TCP, in-memory
//! streams, and a wait that is precise below a millisecond. Everything is non-blocking and belongs to one thread with
//! one [`mio::Poll`]; only `local`, which joins two drivers, has locks. This folder has no threads or timers, and knows
//! nothing of the protocol.
//!
//! ```text
//!   udp ──> send_batch, receive_batch ──> linux (sendmmsg, recvmmsg, GSO, GRO, local addresses)
//!                                         or portable (quinn-udp, one call per datagram)
//!   websocket ──> TCP                     local ──> memory
//!   wait ──> linux (ppoll) or mio
//! ```

mod address;
pub(crate) mod lengths;
#[cfg(target_os = "linux")]
mod linux;
pub(crate) mod local;
pub mod memory;
pub mod network_list;
mod portable;
mod receive_batch;
mod send_batch;
pub mod udp;
pub mod wait;
pub mod websocket;

#[cfg(test)]
mod tests;
