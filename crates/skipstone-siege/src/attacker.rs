//! The attackers' process: it runs one attack for some seconds, and then reports what it sent.

use crate::attack::{Attack, Way};
use crate::bucket::Bucket;
use crate::decoy::Decoy;
use crate::natives::Natives;
use crate::players::Players;
use crate::quic::Quic;
use crate::sent::Sent;
use crate::streams::Streams;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The target of an attack.
#[derive(Clone, Copy, Debug)]
pub enum Victim {
    /// This port.
    At(SocketAddr),
    /// A sink in this process, which answers, and discards what it reads.
    Decoy,
}

/// Plays an attack.
///
/// # Errors
/// The victim is not a loopback address, or the decoy does not start.
pub fn attack(attack: &Attack, victim: Victim, lasting: Duration) -> Result<Sent, String> {
    let (to, _decoy) = match victim {
        Victim::At(address) if !address.ip().is_loopback() => {
            return Err(format!("{address} is another machine: attacks are played at loopback addresses alone"));
        }
        Victim::At(address) => (address, None),
        Victim::Decoy => {
            let decoy = Decoy::start(attack).map_err(|error| format!("no decoy: {error}"))?;
            (decoy.address(), Some(decoy))
        }
    };
    let began = Instant::now();
    let mut bucket = Bucket::new(attack.bytes_per_second_max, began);
    let mut sent = Sent::default();
    let mut crowd = Crowd::new(attack, to, began);
    loop {
        let now = Instant::now();
        if now - began >= lasting {
            break;
        }
        if !crowd.step(now, &mut bucket, &mut sent) {
            std::thread::sleep(PAUSE);
        }
    }
    sent.seconds = began.elapsed().as_secs_f64();
    Ok(sent)
}

/// The attackers of one way.
enum Crowd {
    Streams(Streams),
    Quic(Quic),
    Natives(Natives),
    Players(Players),
}

impl Crowd {
    fn new(attack: &Attack, to: SocketAddr, now: Instant) -> Crowd {
        match attack.way {
            Way::Streams(script) => Crowd::Streams(Streams::new(script, to, attack.origin, attack.crowd, now)),
            Way::Players(player) => Crowd::Players(Players::new(player, to, attack.origin, attack.crowd, now)),
            Way::Natives(way) => Crowd::Natives(Natives::new(way, to, attack.origin, attack.crowd, now)),
            Way::Quic(way) => Crowd::Quic(Quic::new(way, to, attack.origin, attack.crowd, now)),
        }
    }

    /// False if none could act.
    fn step(&mut self, now: Instant, bucket: &mut Bucket, sent: &mut Sent) -> bool {
        match self {
            Crowd::Streams(streams) => streams.step(now, bucket, sent),
            Crowd::Players(players) => players.step(now, bucket, sent),
            Crowd::Natives(natives) => natives.step(now, bucket, sent),
            Crowd::Quic(quic) => quic.step(now, bucket, sent),
        }
    }
}

/// While there is nothing to send.
const PAUSE: Duration = Duration::from_micros(500);
