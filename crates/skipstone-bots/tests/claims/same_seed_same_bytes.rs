//! The same seed sends the same bytes of each bot, on any number of workers.

use crate::runs::{example, result_of, script};
use crate::servers::udp;
use std::collections::BTreeMap;

/// Each datagram begins with the bot's number; the rest is random.
const SCRIPT: &str = "
    local bot = skipstone.bot{ api = 1, tick = 50 }
    function bot:tick(now)
        local packet = buffer.create(4 + math.random(8, 40))
        buffer.writeu32(packet, 0, self.number)
        for at = 4, buffer.len(packet) - 1 do
            buffer.writeu8(packet, at, math.random(0, 255))
        end
        self:send(0, packet, { due = now })
    end
    function bot:message() end
";

fn sent(seed: &str, workers: &str) -> BTreeMap<u32, Vec<Vec<u8>>> {
    let (_folder, path) = script(SCRIPT);
    let by_address = heard(&[&path, "-c", "6", "-d", "1s", "--ramp", "200ms", "--seed", seed, "--workers", workers]);
    let number = |datagrams: &Vec<Vec<u8>>| u32::from_le_bytes(datagrams[0][..4].try_into().expect("four bytes"));
    by_address.into_iter().map(|datagrams| (number(&datagrams), datagrams)).collect()
}

/// What a server heard of each bot of a run with these words.
fn heard(words: &[&str]) -> Vec<Vec<Vec<u8>>> {
    let keep = |own: &mut Vec<Vec<u8>>, datagram: &[u8]| {
        own.push(datagram.to_vec());
        vec![vec![0]]
    };
    let server = udp(keep, |_| Vec::new());
    let url = server.url("udp");
    result_of(&[&[words[0], &url], &words[1..]].concat());
    server.stop().into_values().collect()
}

#[test]
fn the_same_seed_sends_the_same_bytes_of_each_bot() {
    let (first, again, other) = (sent("5", "1"), sent("5", "2"), sent("6", "1"));
    assert_eq!((first.len(), again.len(), other.len()), (6, 6, 6));
    for (bot, datagrams) in &first {
        // The end of a run may cut the last.
        let common = datagrams.len().min(again[bot].len());
        assert!(common > 10, "bot {bot}: {common}");
        assert_eq!(datagrams[..common], again[bot][..common], "bot {bot}");
        assert_ne!(datagrams[..10], other[bot][..10], "bot {bot}");
    }
}

#[test]
fn a_bot_that_runs_alone_sends_what_it_sends_among_others() {
    let (_folder, path) = script(SCRIPT);
    let all = sent("5", "1");
    let alone = heard(&[&path, "-c", "6", "-d", "1s", "--ramp", "200ms", "--seed", "5", "--only-bot", "4"]);
    assert_eq!(alone.len(), 1);
    let common = alone[0].len().min(all[&4].len());
    assert!(common > 10 && alone[0][..common] == all[&4][..common], "{common}");
}

#[test]
fn the_same_bot_in_typescript_sends_the_same_bytes() {
    let of = |path: &str| heard(&[path, "-c", "1", "-d", "800ms", "--ramp", "0s", "--seed", "5"]).remove(0);
    let (luau, typescript) = (of(&example("shooter.luau")), of(&example("../typescript/build/shooter.luau")));
    let common = luau.len().min(typescript.len());
    assert!(common > 10, "{common}");
    assert_eq!(luau[..common], typescript[..common]);
}
