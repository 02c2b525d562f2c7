//! An invalid call of a page returns an error that says what is wrong.

use bytes::Bytes;
use skipstone_proto::{Duration, MessageId, Submission};
use skipstone_web::{Core, Options, Refusal};

fn core() -> Core {
    Core::new(Options::default(), [3; 32]).expect("good options")
}

fn message() -> Submission {
    Submission { payload: Bytes::from_static(b"hello"), id: MessageId(1), age: Duration::ZERO }
}

#[test]
fn invalid_carriers_sockets_channels_and_tokens_are_refused() {
    let mut core = core();
    assert_eq!(core.connect(9, 0, b""), Err(Refusal::BadArgument));
    assert_eq!(core.connect(0, 0, &[0; 1_025]), Err(Refusal::TokenTooLong));
    let socket = core.connect(1, 1_200, b"token").expect("it may");
    assert_eq!(core.send(socket, 0, message()), Err(Refusal::NotConnected));
    assert_eq!(core.send(socket, 65_536, message()), Err(Refusal::BadArgument));
    assert_eq!(core.send(socket + 1, 0, message()), Err(Refusal::UnknownConnection));
    assert_eq!(core.send_accepted(socket + 1, 0, message()), Err(Refusal::UnknownConnection));
    assert_eq!(core.close(socket + 1, 0, "", Duration::ZERO), Err(Refusal::UnknownConnection));
    assert!(core.settings(socket + 1).is_none() && core.overview(socket + 1).is_none());
    core.handle_carrier_lost(socket + 1, "there is none");
    core.set_writable(socket + 1, false);
    core.set_packet_bytes_max(socket + 1, u32::MAX);
}

#[test]
fn an_option_is_a_number_in_its_range_or_refused() {
    for option in 0..9 {
        assert!(!Options::default().set(option, f64::NAN), "{option}");
    }
    for (option, value) in [(0, -1.0), (0, f64::INFINITY), (2, -5.0), (9, 0.0), (u32::MAX, 1.0)] {
        assert!(!Options::default().set(option, value), "{option} {value}");
    }
    // An invalid time is detected by the protocol.
    let mut options = Options::default();
    assert!(options.set(0, 1.0));
    assert!(Core::new(options, [0; 32]).is_err());
    let mut options = Options::default();
    assert!(
        [(6, -1.0), (6, 0.0), (6, 2_000.0), (6, f64::INFINITY), (7, 0.0)].iter().all(|(it, to)| options.set(*it, *to))
    );
    assert!(Core::new(options, [0; 32]).is_ok());
}

#[test]
fn time_never_goes_back_whatever_the_page_passes() {
    let mut core = core();
    core.connect(0, 0, b"").expect("it may");
    for micros in [5_000_000.0, 0.0, f64::NAN, -1e9, f64::NEG_INFINITY, 5_000_001.0] {
        core.advance(micros);
        core.handle_timeout();
        while core.poll_transmit().is_some() {}
        while core.poll_event().is_some() {}
    }
    assert!(core.poll_timeout() > 5_000_000.0);
}
