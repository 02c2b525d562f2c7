//! Whatever a link does, its counts add up, and they are what the caller has seen.

use core::time::Duration;

use skipstone_netsim::{Fate, Link, LinkConfig, Loss, Outage, QueueLimit};

/// A configuration that depends on the bits of `variant`.
fn config(variant: u32) -> LinkConfig {
    let on = |bit: u32| variant >> bit & 1 == 1;
    let chance = |bit: u32| if on(bit) { 0.2 } else { 0.0 };
    LinkConfig {
        delay: Duration::from_millis(5),
        jitter: Duration::from_millis(if on(0) { 5 } else { 0 }),
        jitter_reorders: on(1),
        rate_bits_per_second: on(2).then_some(2_000_000),
        queue: if on(3) { QueueLimit::Bytes(1_500) } else { QueueLimit::Time(Duration::from_millis(3)) },
        loss: if on(4) { Loss::Burst { rate: 0.2, mean_length: 2.0 } } else { Loss::Random(0.1) },
        reorder: chance(5),
        duplicate: chance(6),
        corrupt: chance(7),
        outages: vec![Outage { start: Duration::from_millis(20), length: Duration::from_millis(10) }],
        datagram_bytes_max: on(8).then_some(100),
        ..LinkConfig::default()
    }
}

#[test]
fn counts_add_up_at_any_time() {
    let mut out = Vec::new();
    for variant in 0..512 {
        let mut link = Link::new(config(variant), u64::from(variant)).unwrap();
        let (mut lost, mut delivered, mut bytes_delivered) = (0, 0, 0);
        for number in 0..400 {
            let now = Duration::from_micros(250 * number);
            let datagram = vec![0; usize::try_from(number * 7 % 128).unwrap()];
            if link.send(now, &datagram, number) != Fate::Queued {
                lost += 1;
            }
            while link.receive(now, &mut out).is_some() {
                delivered += 1;
                bytes_delivered += out.len() as u64;
            }
            let stats = link.stats();
            assert_eq!(stats.sent, number + 1, "variant {variant}");
            assert_eq!(
                (stats.lost(), stats.delivered, stats.bytes_delivered),
                (lost, delivered, bytes_delivered),
                "variant {variant}"
            );
            assert_eq!(
                stats.sent + stats.duplicated,
                stats.delivered + stats.lost() + link.in_flight() as u64,
                "variant {variant}"
            );
            assert!(link.next_arrival().is_none_or(|next| next > now), "variant {variant}");
        }
    }
}
