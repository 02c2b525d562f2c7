//! Many native clients over UDP that never become players; one thread drives them.

use crate::attack::{NativeWay, Origin};
use crate::bucket::Bucket;
use crate::sent::Sent;
use skipstone::Trust;
use skipstone_proto::{Carrier, Config, Endpoint, Path, Suites, Time};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// All of them.
pub(crate) struct Natives {
    way: NativeWay,
    to: SocketAddr,
    began: Instant,
    places: Vec<Place>,
    comings: u64,
}

/// A socket, and the client that uses it for now.
struct Place {
    socket: UdpSocket,
    client: Option<Endpoint>,
    due: Instant,
}

impl Natives {
    pub(crate) fn new(way: NativeWay, to: SocketAddr, origin: Origin, crowd: usize, now: Instant) -> Natives {
        let stay = way.stay();
        let place = |number: usize| {
            let socket = UdpSocket::bind(SocketAddr::new(origin.address(number), 0)).ok()?;
            socket.set_nonblocking(true).ok()?;
            Some(Place { socket, client: None, due: now + stay * number as u32 / crowd as u32 })
        };
        Natives { way, to, began: now, places: (0..crowd).filter_map(place).collect(), comings: 0 }
    }

    /// Each client gets a turn. False if none could act.
    pub(crate) fn step(&mut self, now: Instant, bucket: &mut Bucket, sent: &mut Sent) -> bool {
        let before = sent.bytes;
        let time = Time::from_micros(1 + (now - self.began).as_micros() as u64);
        for place in &mut self.places {
            match self.way {
                NativeWay::FirstFlights(stay) => {
                    if place.due <= now {
                        place.client = client(self.to, self.comings, time, encrypted());
                        place.due = now + stay;
                        self.comings += 1;
                        sent.openings += 1;
                    }
                    if let Some(client) = &mut place.client {
                        converse(client, &place.socket, self.to, time, sent);
                    }
                }
                NativeWay::Opens => {
                    if bucket.room(now) < OPEN_BYTES {
                        break;
                    }
                    let client = client(self.to, self.comings, time, None);
                    self.comings += 1;
                    sent.openings += 1;
                    let before = sent.bytes;
                    client.into_iter().for_each(|mut client| say(&mut client, &place.socket, self.to, time, sent));
                    bucket.take((sent.bytes - before) as usize);
                }
                NativeWay::Noise => {
                    for _ in 0..NOISE_AT_ONCE {
                        if bucket.room(now) < OPEN_BYTES {
                            break;
                        }
                        self.comings += 1;
                        let noise = noise(self.comings);
                        sent.openings += 1;
                        sent.bytes += place.socket.send_to(&noise, self.to).unwrap_or(0) as u64;
                        bucket.take(noise.len());
                    }
                }
            }
        }
        sent.bytes > before
    }
}

/// A client whose first datagram waits to be sent.
fn client(to: SocketAddr, number: u64, time: Time, suites: Option<Arc<dyn Suites>>) -> Option<Endpoint> {
    let mut seed = [9; 32];
    seed[..8].copy_from_slice(&number.to_be_bytes());
    let mut endpoint = Endpoint::new(Config { suites, ..Config::client() }, seed).ok()?;
    endpoint.connect(time, path(to), b"").ok()?;
    Some(endpoint)
}

fn encrypted() -> Option<Arc<dyn Suites>> {
    Some(Trust::DangerouslyAnything.suites("localhost").expect("this crate is built with TLS"))
}

fn path(to: SocketAddr) -> Path {
    Path { socket: 0, local: None, remote: to, carrier: Carrier::UDP }
}

/// Handles the server's answers, and sends the next datagrams.
fn converse(client: &mut Endpoint, socket: &UdpSocket, to: SocketAddr, time: Time, sent: &mut Sent) {
    let mut buffer = [0; 2_048];
    while let Ok(count) = socket.recv(&mut buffer) {
        client.handle_datagram(time, path(to), &mut buffer[..count]);
    }
    say(client, socket, to, time, sent);
}

fn say(client: &mut Endpoint, socket: &UdpSocket, to: SocketAddr, time: Time, sent: &mut Sent) {
    let mut buffer = [0; 32 << 10];
    while let Some(transmit) = client.poll_transmit(time, &mut buffer) {
        for datagram in buffer[..transmit.bytes].chunks(transmit.segment_bytes) {
            sent.bytes += socket.send_to(datagram, to).unwrap_or(0) as u64;
        }
    }
}

/// Random bytes: the first byte takes every value, and the length every value up to an OPEN's length.
fn noise(number: u64) -> Vec<u8> {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let length = 1 + (number / 256) as usize % OPEN_BYTES;
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| {
        // Xorshift (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    })
    .take(length)
    .collect();
    bytes[0] = number as u8;
    bytes
}

impl NativeWay {
    fn stay(self) -> Duration {
        match self {
            NativeWay::FirstFlights(stay) => stay,
            NativeWay::Opens | NativeWay::Noise => Duration::ZERO,
        }
    }
}

/// A client's padded first datagram.
const OPEN_BYTES: usize = 1_200;
const NOISE_AT_ONCE: usize = 16;
