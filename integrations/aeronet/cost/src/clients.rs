//! The clients: each sends a message in every tick, and takes what arrives.

use crate::load::{MESSAGE_BYTES, TICK};
use skipstone::{Bytes, Event, PeerId, Pool, PoolConfig, Target};
use std::collections::BTreeSet;
use std::error::Error;
use std::time::{Duration, Instant};

/// Runs until the process is ended.
pub(crate) fn run(url: &str, clients: usize) -> Result<(), Box<dyn Error>> {
    let target: Target = url.parse()?;
    let address = target.resolve()?;
    let mut pool = Pool::new(PoolConfig::default())?;
    let mut connected: BTreeSet<PeerId> = BTreeSet::new();
    let (mut begun, mut next) = (0, Instant::now());
    loop {
        // A few at a time, so that the server is not full of handshakes.
        let more = clients.min(begun + 20);
        for _ in begun..more {
            pool.add(&target, address, b"", None)?;
        }
        begun = more;
        while Instant::now() < next {
            pool.drive(Duration::from_millis(2))?;
            while let Some(event) = pool.poll_event() {
                match event {
                    Event::Connected { peer, .. } => _ = connected.insert(peer),
                    Event::Closed { peer, close } => {
                        connected.remove(&peer);
                        eprintln!("client {peer} was closed: {close:?}");
                    }
                    _ => {}
                }
            }
        }
        for peer in &connected {
            pool.send(*peer, 0, Bytes::from(vec![1; MESSAGE_BYTES]))?;
        }
        pool.flush();
        next += TICK;
    }
}
