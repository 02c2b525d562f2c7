//! Properties of the I/O shell, one file for each; over loopback, with ports that the system chooses.

mod udp_answers_leave_from_the_requested_address;
mod udp_backends_behave_alike;
mod udp_batch_survives_partial_sends;
mod udp_one_bad_destination_never_stops_the_rest;
mod udp_segments_arrive_as_separate_datagrams;
mod udp_serves_both_families_on_one_socket;
mod wait_is_precise_below_a_millisecond;
#[cfg(feature = "websocket")]
mod websocket;
#[cfg(feature = "websocket")]
mod websocket_answers_http_and_hangs_up;
#[cfg(feature = "websocket")]
mod websocket_bounds_a_stopped_reader;
#[cfg(feature = "websocket")]
mod websocket_closes_with_a_reason;
#[cfg(feature = "websocket")]
mod websocket_conforms;
#[cfg(feature = "websocket")]
mod websocket_echoes_both_ways;
#[cfg(feature = "websocket")]
mod websocket_survives_garbage;

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};

use super::udp::{AddressPair, Backend, ReceiveBatch, SendBatch, UdpOptions, UdpSocket};
use super::wait::wait;

fn loopback_v4() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

fn loopback_v6() -> SocketAddr {
    (Ipv6Addr::LOCALHOST, 0).into()
}

fn udp(address: SocketAddr, backend: Backend) -> UdpSocket {
    UdpSocket::bind(address, &UdpOptions { backend, ..UdpOptions::client() }).expect("loopback can be bound")
}

/// Receives until `count` datagrams have arrived, or none for a second. Returns the datagrams with their senders.
fn receive_datagrams(socket: &mut UdpSocket, count: usize) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut poll = Poll::new().unwrap();
    let mut events = Events::with_capacity(8);
    socket.register(poll.registry(), Token(0)).unwrap();
    let mut batch = ReceiveBatch::new();
    let mut received = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(1);
    while received.len() < count && Instant::now() < deadline {
        wait(&mut poll, &mut events, Some(Duration::from_millis(20))).unwrap();
        while socket.receive_batch(&mut batch).unwrap() > 0 {
            received.extend(batch.datagrams().map(|datagram| (datagram.from, datagram.bytes.to_vec())));
        }
    }
    socket.deregister(poll.registry()).unwrap();
    received
}

fn bytes_of(received: &[(SocketAddr, Vec<u8>)]) -> Vec<Vec<u8>> {
    received.iter().map(|(_, bytes)| bytes.clone()).collect()
}

/// splitmix64: every test's randomness comes from a seed in its text.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

fn send_all(socket: &mut UdpSocket, batch: &mut SendBatch) -> super::udp::SendOutcome {
    let outcome = socket.send_batch(batch);
    assert!(!outcome.would_block, "loopback takes a few datagrams");
    assert!(batch.is_empty());
    outcome
}
