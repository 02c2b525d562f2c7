//! The I/O shell under the driver: UDP sockets with batched system calls, a WebSocket carrier over TCP, and a wait
//! that is precise below a millisecond. Everything is non-blocking and belongs to one thread with one [`mio::Poll`];
//! there is no thread, lock or timer in here, and nothing knows the protocol.
//!
//! ```text
//!   udp ──> send_batch, receive_batch ──> linux (sendmmsg, recvmmsg, GSO, GRO) or portable (one call per datagram)
//!   websocket ──> TCP                     wait ──> linux (ppoll) or mio
//! ```

mod address;
#[cfg(target_os = "linux")]
mod linux;
mod portable;
mod receive_batch;
mod send_batch;
pub mod udp;
pub mod wait;
pub mod websocket;

#[cfg(test)]
mod tests;
