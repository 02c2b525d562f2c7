//! A configuration that makes no sense is refused; a changed one holds from the next datagram on.

use core::time::Duration;

use skipstone_netsim::{ConfigError, Duplex, Fate, Link, LinkConfig, Loss, LossCause};

fn refused(config: LinkConfig) -> ConfigError {
    let error = config.validate().expect_err("this makes no sense");
    // Compared as text, because NaN does not equal itself.
    let said = error.to_string();
    assert_eq!(Link::new(config.clone(), 1).unwrap_err().to_string(), said);
    assert_eq!(Duplex::new(LinkConfig::default(), config, 1).unwrap_err().to_string(), said);
    error
}

#[test]
fn the_default_is_an_ideal_link() {
    assert_eq!(LinkConfig::default().validate(), Ok(()));
}

#[test]
fn an_invalid_probability_is_refused() {
    for value in [-0.1, 1.1, f64::INFINITY, f64::NAN] {
        for (field, config) in [
            ("loss", LinkConfig { loss: Loss::Random(value), ..LinkConfig::default() }),
            ("loss", LinkConfig { loss: Loss::Burst { rate: value, mean_length: 2.0 }, ..LinkConfig::default() }),
            ("reorder", LinkConfig { reorder: value, ..LinkConfig::default() }),
            ("duplicate", LinkConfig { duplicate: value, ..LinkConfig::default() }),
            ("corrupt", LinkConfig { corrupt: value, ..LinkConfig::default() }),
        ] {
            let error = refused(config);
            assert!(matches!(error, ConfigError::Probability { field: named, .. } if named == field), "{error}");
        }
    }
}

#[test]
fn a_rate_of_zero_is_refused() {
    let config = LinkConfig { rate_bits_per_second: Some(0), ..LinkConfig::default() };
    assert_eq!(refused(config), ConfigError::RateZero);
}

#[test]
fn impossible_bursts_are_refused() {
    let with = |rate, mean_length| LinkConfig { loss: Loss::Burst { rate, mean_length }, ..LinkConfig::default() };
    assert_eq!(refused(with(0.1, 0.9)), ConfigError::BurstLength(0.9));
    assert_eq!(refused(with(0.1, f64::INFINITY)), ConfigError::BurstLength(f64::INFINITY));
    assert!(matches!(refused(with(0.1, f64::NAN)), ConfigError::BurstLength(_)));
    assert_eq!(refused(with(0.8, 3.0)), ConfigError::BurstTooDense { rate: 0.8, mean_length: 3.0 });
    assert_eq!(refused(with(1.0, 3.0)), ConfigError::BurstTooDense { rate: 1.0, mean_length: 3.0 });
    assert_eq!(with(0.5, 1.0).validate(), Ok(()));
    assert_eq!(with(0.75, 3.0).validate(), Ok(()));
}

#[test]
fn a_refused_change_leaves_the_link_unchanged() {
    let config = LinkConfig { delay: Duration::from_millis(3), ..LinkConfig::default() };
    let mut link = Link::new(config.clone(), 1).unwrap();
    assert!(link.set_config(LinkConfig { corrupt: 2.0, ..LinkConfig::default() }).is_err());
    assert_eq!(*link.config(), config);
}

#[test]
fn a_change_applies_from_the_next_datagram_on() {
    let mut link = Link::new(LinkConfig::default(), 1).unwrap();
    assert_eq!(link.send(Duration::ZERO, b"", 0), Fate::Queued);
    link.set_config(LinkConfig { loss: Loss::Random(1.0), ..LinkConfig::default() }).unwrap();
    assert_eq!(link.send(Duration::ZERO, b"", 1), Fate::Lost(LossCause::Random));
    assert_eq!(link.in_flight(), 1);
}

#[test]
fn a_shorter_delay_does_not_overtake() {
    let with = |milliseconds, jitter_reorders| LinkConfig {
        delay: Duration::from_millis(milliseconds),
        jitter_reorders,
        ..LinkConfig::default()
    };
    for (jitter_reorders, expected) in [(false, [0, 1]), (true, [1, 0])] {
        let mut link = Link::new(with(100, jitter_reorders), 1).unwrap();
        link.send(Duration::ZERO, b"", 0);
        link.set_config(with(10, jitter_reorders)).unwrap();
        link.send(Duration::from_millis(1), b"", 1);
        let mut out = Vec::new();
        let order = [(); 2].map(|()| link.receive(Duration::MAX, &mut out).unwrap().tag);
        assert_eq!(order, expected);
    }
}

#[test]
fn absurd_times_do_not_overflow() {
    let config = LinkConfig {
        delay: Duration::MAX,
        jitter: Duration::MAX,
        reorder: 1.0,
        reorder_extra: Duration::MAX,
        duplicate: 1.0,
        rate_bits_per_second: Some(1),
        header_bytes: usize::MAX,
        ..LinkConfig::default()
    };
    let mut link = Link::new(config, 1).unwrap();
    for now in [Duration::MAX, Duration::ZERO, Duration::MAX] {
        assert_eq!(link.send(now, &[0; 100], 0), Fate::Queued);
    }
    assert_eq!(link.next_arrival(), Some(Duration::MAX));
}
