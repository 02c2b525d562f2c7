//! The same seed sends the same bytes of each bot, on any number of workers.

use crate::runs::{result_of, script};
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
    let keep = |own: &mut Vec<Vec<u8>>, datagram: &[u8]| {
        own.push(datagram.to_vec());
        vec![vec![0]]
    };
    let server = udp(keep, |_| Vec::new());
    let (_folder, path) = script(SCRIPT);
    let url = server.url("udp");
    result_of(&[&path, &url, "-c", "6", "-d", "1s", "--ramp", "200ms", "--seed", seed, "--workers", workers]);
    let by_address = server.stop();
    let number = |datagrams: &Vec<Vec<u8>>| u32::from_le_bytes(datagrams[0][..4].try_into().expect("four bytes"));
    by_address.into_values().map(|datagrams| (number(&datagrams), datagrams)).collect()
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
