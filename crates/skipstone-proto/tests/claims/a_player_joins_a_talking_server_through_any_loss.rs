//! Any one or two of the first datagrams of a handshake may be lost, late or duplicated while the server already sends
//! to the client: the client is still accepted soon, and the server's reliable messages arrive.

use crate::simulation::{BEGINNING, World, encrypted, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::{Config, DeliveryMode, Duration, Event, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// Datagrams of each direction that may be lost.
const DATAGRAMS: usize = 12;

/// The server's message rates, per second, from the moment it accepts the client.
const RATES: [f64; 4] = [0.2, 4.0, 20.0, 60.0];

/// One datagram: whether it goes to the server, and its index within its direction.
type Place = (bool, usize);

/// The fate of some datagrams on their way.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lost,
    /// They arrive, and again after this time.
    Doubled(Duration),
    /// They arrive this much later than others.
    Late(Duration),
}

/// Lets a client join while the server sends it `rate` messages a second, and returns how long that took.
fn join(config: Config, link: LinkConfig, seed: u64, rate: f64, chosen: &[Place], fate: Fate) -> Duration {
    let mut world = World::new(seed, config, &[link]);
    let held = hold(&mut world, chosen.to_vec(), fate);
    let interval = Duration::from_secs_f64(1.0 / rate);
    let mut next = BEGINNING;
    let mut sent = 0_u32;
    while !has_joined(&world) {
        assert!(world.now < BEGINNING + ms(30_000), "it is still outside after 30 s");
        assert!(world.clients[0].closes().is_empty(), "{:?}", world.clients[0].closes());
        world.run_for(ms(1));
        release(&mut world, &held);
        if let Some((peer, _)) = world.asked.first().copied()
            && world.now >= next
        {
            next = world.now + interval;
            let now = world.now;
            world.server.send_to(now, peer, 1, sent.to_be_bytes().to_vec()).expect("it has room");
            world.server.endpoint.flush(now);
            sent += 1;
        }
    }
    let joined = world.now.since(BEGINNING);
    for _ in 0..400 {
        world.run_for(ms(10));
        release(&mut world, &held);
    }
    let arrived: Vec<u32> = world.clients[0].events.iter().filter_map(|(_, event)| number_in(event)).collect();
    assert_eq!(arrived, (0..sent).collect::<Vec<_>>(), "what was sent to a newcomer arrives");
    assert!(world.server.closes().is_empty());
    joined
}

/// Datagrams that are held back: until which time, whether for the server, their bytes.
type Held = Rc<RefCell<Vec<(Time, bool, Vec<u8>)>>>;

/// From now on, the chosen datagrams meet this fate.
fn hold(world: &mut World, chosen: Vec<Place>, fate: Fate) -> Held {
    let held = Held::default();
    let (holds, mut counts) = (held.clone(), [0; 2]);
    world.tap = Some(Box::new(move |now, _, is_up, bytes| {
        let count = &mut counts[usize::from(is_up)];
        *count += 1;
        if !chosen.contains(&(is_up, *count - 1)) {
            return;
        }
        match fate {
            Fate::Lost => bytes.clear(),
            Fate::Doubled(after) => holds.borrow_mut().push((now + after, is_up, bytes.clone())),
            Fate::Late(by) => holds.borrow_mut().push((now + by, is_up, core::mem::take(bytes))),
        }
    }));
    held
}

/// Passes on datagrams that were held back long enough.
fn release(world: &mut World, held: &Held) {
    let now = Duration::from_micros(world.now.as_micros());
    held.borrow_mut().retain(|(until, is_up, bytes)| {
        let is_due = *until <= world.now;
        if is_due {
            let link = &mut world.links[0];
            if *is_up { &mut link.up } else { &mut link.down }.send(now, bytes, 0);
        }
        !is_due
    });
}

fn has_joined(world: &World) -> bool {
    world.clients[0].events.iter().any(|(_, event)| matches!(event, Event::Connected { .. }))
}

fn number_in(event: &Event) -> Option<u32> {
    let Event::Message { payload, .. } = event else { return None };
    Some(u32::from_be_bytes(payload[..].try_into().expect("four bytes")))
}

fn kinds() -> [(&'static str, Config); 2] {
    let config = server_of(DeliveryMode::ReliableOrdered);
    [("plain", config.clone()), ("encrypted", encrypted(config, 3))]
}

fn places() -> impl Iterator<Item = Place> {
    [false, true].into_iter().flat_map(|is_up| (0..DATAGRAMS).map(move |at| (is_up, at)))
}

/// Every single datagram (as a pair with itself) and every pair among the first in each direction.
fn pairs() -> impl Iterator<Item = [Place; 2]> {
    places().enumerate().flat_map(|(at, one)| places().skip(at).map(move |other| [one, other]))
}

/// Every kind of handshake, on short and long paths, with much traffic and with little: three round trips and a second
/// and a half are enough.
fn assert_soon(chosen: &[Place], fate: Fate) {
    for (name, config) in kinds() {
        for delay in [1, 10, 50, 150] {
            for rate in RATES {
                let took = join(config.clone(), link(delay), 1, rate, chosen, fate);
                let bound = ms(3 * 2 * delay + 1_500);
                assert!(took <= bound, "{name}, {delay} ms each way, {rate}/s, {chosen:?} {fate:?}: {took:?}");
            }
        }
    }
}

#[test]
fn with_any_one_or_two_of_its_first_datagrams_lost() {
    pairs().for_each(|pair| assert_soon(&pair, Fate::Lost));
}

#[test]
fn with_any_of_its_first_datagrams_late_or_duplicated() {
    let fates = [5, 60, 400, 1_200].map(ms).map(|span| [Fate::Late(span), Fate::Doubled(span)]);
    for place in places() {
        fates.iter().flatten().for_each(|fate| assert_soon(&[place], *fate));
    }
}

#[test]
fn with_ten_percent_loss_and_reordering() {
    for (name, config) in kinds() {
        for rate in RATES {
            for seed in 0..100 {
                let bad = LinkConfig { loss: Loss::Random(0.1), duplicate: 0.1, reorder: 0.2, ..link(10) };
                let took = join(config.clone(), bad, seed, rate, &[], Fate::Lost);
                assert!(took <= ms(5_000), "{name}, {rate}/s, seed {seed}: {took:?}");
            }
        }
    }
}
