//! Opportunities in place of a rate: what leaves, leaves at a recorded moment.

use core::time::Duration;

use skipstone_netsim::{ConfigError, Fate, Link, LinkConfig, LossCause, Opportunities, QueueLimit};

fn recorded(text: &str) -> LinkConfig {
    let opportunities: Opportunities = text.parse().expect("a good recording");
    LinkConfig { opportunities: Some(opportunities), delay: ms(10), ..LinkConfig::default() }
}

#[test]
fn every_datagram_leaves_at_an_opportunity_and_never_early() {
    let mut link = Link::new(recorded("4\n8\n8\n100\n"), 1).unwrap();
    for number in 0..5 {
        link.send(ms(0), &[0; 1_472], number);
    }
    let mut out = Vec::new();
    let mut arrivals = Vec::new();
    while let Some(next) = link.next_arrival() {
        let arrival = link.receive(next, &mut out).unwrap();
        arrivals.push((arrival.tag, (arrival.arrived - ms(10)).as_millis()));
    }
    assert_eq!(arrivals, [(0, 4), (1, 8), (2, 8), (3, 100), (4, 104)]);
}

#[test]
fn a_recording_states_its_mean_rate() {
    let config = recorded("1\n2\n3\n4\n5\n");
    assert_eq!(config.opportunities.as_ref().unwrap().mean_bits_per_second(), 12_032_000);
    let config = LinkConfig { queue: QueueLimit::Time(ms(50)), delay: Duration::ZERO, ..config };
    let mut link = Link::new(config, 1).unwrap();
    let (mut out, mut bytes) = (Vec::new(), 0);
    // Twice as much as it carries.
    for tick in 0..20_000_u64 {
        let now = Duration::from_micros(tick * 500);
        link.send(now, &[0; 1_472], tick);
        while link.receive(now, &mut out).is_some() {
            bytes += out.len() + 28;
        }
    }
    let rate = bytes as f64 * 8.0 / 10.0;
    assert!((rate / 12_032_000.0 - 1.0).abs() < 0.01, "{rate} bit/s");
    assert!(link.stats().lost_queue > 9_000);
}

#[test]
fn the_queue_of_a_recorded_link_is_bounded() {
    let mut link = Link::new(LinkConfig { queue: QueueLimit::Bytes(3_000), ..recorded("1000\n") }, 1).unwrap();
    let fates: Vec<Fate> = (0..4).map(|number| link.send(ms(0), &[0; 1_472], number)).collect();
    let full = Fate::Lost(LossCause::Queue);
    assert_eq!(fates, [Fate::Queued, Fate::Queued, Fate::Queued, full]);
    assert_eq!((link.in_flight_bytes(), link.queue_delay(ms(0))), (3 * 1_472, ms(3_000)));
}

#[test]
fn a_rate_and_a_recording_exclude_each_other() {
    let both = LinkConfig { rate_bits_per_second: Some(1), ..recorded("1\n") };
    assert_eq!(both.validate(), Err(ConfigError::RateAndOpportunities));
}

fn ms(number: u64) -> Duration {
    Duration::from_millis(number)
}
