//! A client that knows of its move uses another id of the server's, and is answered under another id of its own: an
//! observer of two of its addresses cannot link them by the ids.

use crate::simulation::{World, encrypted, link, ms, server_of};
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::wire::datagram::KIND_PACKET;
use skipstone_proto::{Config, DeliveryMode, DropReason, Time};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Ids of packets: the time at which each left, the stay of the client, whether towards the server, and the id.
type Log = Rc<RefCell<Vec<(Time, usize, bool, [u8; 3])>>>;

struct Watched {
    world: World,
    log: Log,
    stay: Rc<Cell<usize>>,
    sent: u32,
}

impl Watched {
    fn new(seed: u64, config: Config, link: LinkConfig) -> Self {
        let mut world = World::new(seed, config, &[link]);
        let (log, stay) = (Log::default(), Rc::new(Cell::new(0)));
        let (noted, at) = (log.clone(), stay.clone());
        world.tap = Some(Box::new(move |now, _, is_up, bytes| {
            if let [KIND_PACKET, a, b, c, ..] = **bytes {
                noted.borrow_mut().push((now, at.get(), is_up, [a, b, c]));
            }
        }));
        world.connect();
        Watched { world, log, stay, sent: 0 }
    }

    /// Both send for a while.
    fn talk(&mut self, rounds: u32) {
        for _ in 0..rounds {
            for is_client in [true, false] {
                let now = self.world.now;
                let node = if is_client { &mut self.world.clients[0] } else { &mut self.world.server };
                node.send(now, 0, self.sent.to_be_bytes().to_vec());
            }
            self.sent += 1;
            self.world.run_for(ms(20));
        }
    }

    fn roam(&mut self) {
        self.stay.set(self.stay.get() + 1);
        assert!(self.world.roam(0));
    }

    /// The ids of one stay, from `settled` after its begin on.
    fn ids(&self, stay: usize, is_up: bool, settled: u64) -> BTreeSet<[u8; 3]> {
        let log = self.log.borrow();
        let begin = log.iter().find(|entry| entry.1 == stay).map_or(Time::ZERO, |entry| entry.0);
        let of = log.iter().filter(|entry| (entry.1, entry.2) == (stay, is_up) && entry.0 >= begin + ms(settled));
        of.map(|entry| entry.3).collect()
    }

    fn arrived(&self) {
        let expected: Vec<_> = (0..self.sent).map(|number| number.to_be_bytes().to_vec()).collect();
        for node in [&self.world.server, &self.world.clients[0]] {
            assert!(node.messages(0).iter().map(|it| it.to_vec()).eq(expected.iter().cloned()), "each once, in order");
            assert!(node.closes().is_empty());
        }
    }
}

fn plain() -> Config {
    server_of(DeliveryMode::ReliableOrdered)
}

#[test]
fn no_id_is_used_at_two_addresses() {
    for config in [plain(), encrypted(plain(), 3)] {
        let mut watched = Watched::new(1, config, link(10));
        for _ in 0..8 {
            watched.talk(250);
            watched.roam();
        }
        watched.talk(250);
        for (is_up, settled) in [(true, 0), (false, 3_200)] {
            // Challenges that the server sends to the old address for three seconds are left out here: they go to the
            // old address.
            let stays: Vec<_> = (0..9).map(|stay| watched.ids(stay, is_up, settled)).collect();
            assert!(stays.iter().all(|ids| ids.len() == 1), "{is_up}: {stays:?}");
            let all: BTreeSet<_> = stays.iter().flatten().collect();
            assert_eq!(all.len(), 9, "{is_up}: {stays:?}");
        }
        assert_eq!(watched.world.server.overview().stats.paths_changed, 8);
        watched.arrived();
    }
}

#[test]
fn the_server_never_uses_the_old_id_at_a_new_address() {
    let mut watched = Watched::new(1, plain(), link(10));
    watched.talk(50);
    watched.world.strays.clear();
    let old = watched.ids(0, false, 0);
    watched.roam();
    // Packets from the new address are on their way; the answer goes to an address without a host.
    watched.world.run_for(ms(5));
    watched.world.killed = vec![0];
    watched.world.run_for(ms(200));
    let home = World::client_address(0);
    let log = watched.log.borrow();
    let to_new: Vec<_> = log.iter().filter(|entry| !entry.2 && entry.1 == 1 && !old.contains(&entry.3)).collect();
    assert!(!to_new.is_empty(), "the challenge bears another id");
    assert_ne!(watched.world.address(0), home);
}

#[test]
fn a_client_moving_again_at_once_or_through_loss_stays_connected() {
    for seed in 0..30 {
        let lossy = LinkConfig { loss: Loss::Random(0.05), reorder: 0.1, duplicate: 0.1, ..link(15) };
        let mut watched = Watched::new(seed, plain(), lossy);
        for round in 0..12 {
            watched.talk(1 + (seed as u32 * 7 + round * 13) % 60);
            watched.roam();
        }
        watched.talk(100);
        watched.world.run_for(ms(3_000));
        watched.arrived();
    }
}

#[test]
fn an_id_is_released_after_its_successor_has_been_in_use() {
    let mut watched = Watched::new(1, plain(), link(10));
    watched.talk(20);
    let [a, b, c] = *watched.ids(0, true, 0).first().expect("it sent packets");
    let knows_it = |watched: &mut Watched| {
        let (now, path) = (watched.world.now, watched.world.path_to_client(0));
        let before = watched.world.server.drops(DropReason::UnknownConnection);
        watched.world.server.endpoint.handle_datagram(now, path, &mut [0x80, a, b, c, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        watched.world.server.drops(DropReason::UnknownConnection) == before
    };
    watched.roam();
    watched.talk(100);
    assert!(knows_it(&mut watched), "late packets may bear it");
    watched.talk(100);
    assert!(!knows_it(&mut watched));
    watched.arrived();
}

#[test]
fn a_client_that_returns_is_answered_with_an_id_that_it_knows() {
    for config in [plain(), encrypted(plain(), 3)] {
        for stay_ms in [200, 1_500, 2_900, 3_100, 4_000, 6_000, 20_000] {
            let mut watched = Watched::new(1, config.clone(), link(10));
            watched.talk(20);
            // Home, elsewhere, home, elsewhere, home.
            for back in [None, Some(0), Some(1), Some(0)] {
                watched.stay.set(watched.stay.get() + 1);
                let is_told = match back {
                    None => watched.world.roam(0),
                    Some(stay) => watched.world.roam_back(0, stay),
                };
                assert!(is_told, "{stay_ms} ms");
                watched.talk(stay_ms / 20);
            }
            watched.talk(100);
            assert_eq!(watched.world.server.overview().path.remote, World::client_address(0), "{stay_ms} ms");
            watched.arrived();
        }
    }
}
