//! RFC 9000, section 9.3.3: an attacker that repeats packets faster than the path carries them, in both directions,
//! passes for the path. No question of the server's can tell the attacker from the path. The attacker reads and alters
//! nothing, and as soon as it loses a race the connection is where the client is.

use crate::simulation::{World, encrypted, link, ms, server_of};
use skipstone_proto::DeliveryMode;
use skipstone_proto::Path;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

/// The world, and the client's packets as they leave.
struct Race {
    world: World,
    captured: Rc<RefCell<Vec<Vec<u8>>>>,
    packets: u32,
    sent: u32,
}

impl Race {
    fn new() -> Self {
        let mut world = World::new(5, encrypted(server_of(DeliveryMode::ReliableOrdered), 5), &[link(20)]);
        world.connect();
        let captured = Rc::new(RefCell::new(Vec::new()));
        let inside = captured.clone();
        world.tap = Some(Box::new(move |_, _, is_up, bytes| {
            if is_up && bytes.first() == Some(&0x80) {
                inside.borrow_mut().push(bytes.clone());
            }
        }));
        Race { world, captured, packets: 0, sent: 0 }
    }

    fn attacker(&self) -> Path {
        Path { remote: SocketAddr::from(([203, 0, 113, 9], 1_000)), ..self.world.path_to_client(0) }
    }

    /// Both sides talk for `span_ms`; the attacker is first at the server with those packets for which `wins` says so,
    /// and always first at the client.
    fn run(&mut self, span_ms: u32, wins: impl Fn(u32) -> bool) {
        for at in 0..span_ms {
            let now = self.world.now;
            if at % 5 == 0 {
                let text = self.sent.to_string();
                self.world.server.send(now, 3, text.clone());
                self.world.clients[0].send(now, 3, text);
                self.sent += 1;
            }
            self.world.run_for(ms(1));
            let path = self.attacker();
            for mut packet in self.captured.take() {
                self.packets += 1;
                if wins(self.packets) {
                    self.world.server.endpoint.handle_datagram(self.world.now, path, &mut packet);
                }
            }
            let to_server = self.world.path_to_server(0);
            for (to, mut bytes) in core::mem::take(&mut self.world.strays) {
                if to == path.remote {
                    self.world.clients[0].endpoint.handle_datagram(self.world.now, to_server, &mut bytes);
                }
            }
        }
    }

    fn is_at_home(&mut self) -> bool {
        self.world.server.overview().path.remote == self.world.address(0)
    }

    fn check_messages(&mut self) {
        self.world.run_for(ms(5_000));
        let expected: Vec<String> = (0..self.sent).map(|number| number.to_string()).collect();
        assert_eq!(self.world.server.messages(3), expected);
        assert_eq!(self.world.clients[0].messages(3), expected);
    }
}

#[test]
fn a_relay_that_wins_every_race_becomes_the_path() {
    let mut race = Race::new();
    race.run(1_000, |_| true);
    assert!(!race.is_at_home(), "if this fails, SECURITY.md promises too little");
}

#[test]
fn a_relay_that_loses_every_other_race_loses_the_connection() {
    for held_ms in [200, 1_000, 8_000] {
        let mut race = Race::new();
        race.run(held_ms, |_| true);
        assert!(!race.is_at_home());
        race.run(500, |number| number % 2 == 0);
        let mut at_home = 0;
        for _ in 0..1_000 {
            race.run(10, |number| number % 2 == 0);
            at_home += u32::from(race.is_at_home());
        }
        assert!(at_home > 850, "after {held_ms} ms, at home for {at_home} of 1,000 looks");
        race.check_messages();
    }
}

#[test]
fn a_client_that_actually_moved_is_not_moved_back() {
    let mut world = World::pair(3, link(20));
    world.connect();
    assert!(world.roam(0));
    world.run_for(ms(200));
    let home = world.address(0);
    for _ in 0..500 {
        let now = world.now;
        world.clients[0].send(now, 0, "here");
        world.run_for(ms(10));
        assert_eq!(world.server.overview().path.remote, home);
    }
    assert_eq!(world.server.overview().stats.paths_changed, 1);
    assert!(world.strays.len() < 12, "{} to the old address", world.strays.len());
}
