//! Whichever datagrams of a handshake are lost, the player is let in, while the server talks to it as to everybody.

use super::*;

/// The network between a server and a player that joins: which datagrams of each way it loses, by number.
struct Joining {
    now: Time,
    host: Host,
    player: Player,
    /// One way.
    delay: Duration,
    /// When they arrive, and whether at the host.
    flying: Vec<(Time, bool, Vec<u8>)>,
    /// Datagrams so far, to the host and to the player.
    sent: [usize; 2],
    talks: Time,
}

/// The number of a datagram, and whether it is one to the host.
type Lost = (bool, usize);

impl Joining {
    fn new(version: DtlsVersion, delay: Duration) -> Joining {
        Joining {
            now: START,
            host: Host::new(Config::server(Settings::default())),
            player: Player::new(version, 0xC000_0201, START),
            delay,
            flying: Vec::new(),
            sent: [0; 2],
            talks: START,
        }
    }

    fn step(&mut self, is_lost: &mut dyn FnMut(Lost) -> bool) {
        let now = self.now;
        let (arrived, flying) = core::mem::take(&mut self.flying).into_iter().partition(|(at, ..)| *at <= now);
        self.flying = flying;
        let arrived: Vec<_> = arrived;
        for (_, is_to_host, mut bytes) in arrived {
            if is_to_host {
                self.host.take(now, self.player.address, &mut bytes);
            } else {
                self.player.take(now, &bytes);
            }
        }
        if let Some(peer) = self.host.peer.filter(|_| now >= self.talks) {
            self.talks = now + Duration::from_millis(50);
            self.host.endpoint.send(now, peer, 0, Bytes::from_static(b"a line"), MessageId(0)).expect("room");
        }
        let up = self.player.step(now).into_iter().map(|bytes| (true, bytes));
        let down = self.host.step(now).into_iter().map(|(_, bytes)| (false, bytes));
        for (is_to_host, bytes) in up.chain(down).collect::<Vec<_>>() {
            let number = self.sent[usize::from(is_to_host)];
            self.sent[usize::from(is_to_host)] += 1;
            if !is_lost((is_to_host, number)) {
                self.flying.push((now + self.delay, is_to_host, bytes));
            }
        }
    }

    /// How long it takes until the player is connected, if it is within 10 s.
    fn connect(&mut self, is_lost: &mut dyn FnMut(Lost) -> bool) -> Option<Duration> {
        let step = self.delay.min(5 * MILLISECOND).max(MILLISECOND);
        while self.now < START + Duration::from_secs(10) && !self.player.is_connected {
            self.step(is_lost);
            self.now += step;
        }
        self.player.is_connected.then(|| self.now.since(START))
    }
}

/// A handshake at a round trip of 20 ms takes 80 ms (1.3) or 100 ms (1.2).
#[test]
fn a_player_joins_without_any_two_of_its_handshakes_first_datagrams() {
    let all: Vec<Lost> = [true, false].into_iter().flat_map(|way| (0..12).map(move |number| (way, number))).collect();
    for version in VERSIONS {
        for (one, other) in all.iter().flat_map(|one| all.iter().map(move |other| (one, other))).filter(|(a, b)| a <= b)
        {
            let mut joining = Joining::new(version, 10 * MILLISECOND);
            let took = joining.connect(&mut |which| which == *one || which == *other);
            let bound = Duration::from_millis(60 + 1_500);
            assert!(took.is_some_and(|took| took <= bound), "{version:?} without {one:?}, {other:?}: {took:?}");
        }
    }
}

/// Until the client gives up, by its own clock: a server that had forgotten its cookie would never let it in.
#[test]
fn a_player_whose_answer_to_the_cookie_is_lost_for_seconds_joins_at_last() {
    for version in VERSIONS {
        for lost in 2..5 {
            let mut joining = Joining::new(version, 10 * MILLISECOND);
            let took = joining.connect(&mut |(is_to_host, number)| is_to_host && (1..=lost).contains(&number));
            assert!(took.is_some(), "{version:?}, {lost} datagrams: {:?}", joining.host.guests.stats());
        }
    }
}
