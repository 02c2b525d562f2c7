//! A client reads the tokens of its own challenges. The client must not be able to derive from them the token for an
//! address at which it receives nothing, or it could send a server's stream to any host.

use crate::simulation::{World, link, ms};
use skipstone_proto::Path;
use skipstone_proto::rng::Rng;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;

/// The state of xoshiro256** from four consecutive outputs, as it is at the second; then the output after the fourth.
fn fifth(outputs: [u64; 4]) -> u64 {
    let inverse = |odd: u64| (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))));
    let s1 = outputs.map(|out| out.wrapping_mul(inverse(9)).rotate_right(7).wrapping_mul(inverse(5)));
    let [a, b, c, d] = s1;
    let s2 = a ^ b ^ (a << 17);
    let s0 = b ^ c ^ s2;
    let s2_next = s2 ^ s0 ^ (b << 17);
    let s3 = (c ^ d ^ s2_next) ^ s0 ^ b;
    let mut rng = Rng::with_state([s0, b, s2, s3]);
    (0..4).map(|_| rng.next_u64()).last().expect("four steps")
}

#[test]
fn four_tokens_do_not_predict_the_fifth() {
    let mut world = World::pair(5, link(20));
    world.connect();
    let captured = Rc::new(RefCell::new(Vec::new()));
    let inside = captured.clone();
    world.tap = Some(Box::new(move |_, _, is_up, bytes| {
        let caught = core::mem::take(bytes);
        if is_up && caught.first() == Some(&0x80) {
            inside.borrow_mut().push(caught);
        }
    }));
    let mut tokens = Vec::new();
    for number in 0..5_u16 {
        let now = world.now;
        captured.take();
        world.clients[0].send(now, 0, vec![7; 100]);
        world.run_for(ms(1));
        let mut packet = captured.take().remove(0);
        let remote = SocketAddr::from(([203, 0, 113, 9], 1_000 + number));
        let path = Path { remote, ..world.path_to_client(0) };
        world.strays.clear();
        world.server.endpoint.handle_datagram(world.now, path, &mut packet);
        // Until the address is given up.
        world.run_for(ms(3_500));
        let (to, bytes) = world.strays.first().expect("it is challenged").clone();
        assert_eq!(to, remote);
        // In cleartext: type, token, tag.
        let token = &bytes[bytes.len() - 16..bytes.len() - 8];
        assert_eq!(bytes[bytes.len() - 17], 0x0B);
        tokens.push(u64::from_be_bytes(token.try_into().expect("8 bytes")));
    }
    let [a, b, c, d, next] = tokens[..] else { unreachable!("there are five") };
    assert_ne!(fifth([a, b, c, d]), next);
}

#[test]
fn the_prediction_works_against_an_insecure_rng() {
    let mut rng = Rng::new(9);
    for _ in 0..100 {
        let outputs = core::array::from_fn(|_| rng.next_u64());
        assert_eq!(fifth(outputs), rng.clone().next_u64());
    }
}
