//! A peer that stops reading costs a bounded number of bytes, is detected at once, and loses no message if it reads
//! again.

use super::websocket::*;
use super::*;
use crate::net::websocket::WsSendError;

#[test]
fn unsent_bytes_rise_to_the_high_water_mark_and_fall_again() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    let options = WsOptions::default();
    let connection = server.connection();
    let mut accepted = 0_u32;
    loop {
        let mut message = [0; 1_000];
        message[..4].copy_from_slice(&accepted.to_be_bytes());
        match connection.send(&message) {
            Ok(()) => accepted += 1,
            Err(error) => break assert_eq!(error, WsSendError::Full),
        }
        connection.flush();
        assert!(accepted < 50_000, "the kernel's buffers are not that large");
        assert_eq!(connection.is_writable(), connection.unsent_bytes() < options.low_water_bytes);
    }
    let stuck = connection.unsent_bytes();
    assert!(stuck <= options.high_water_bytes && stuck > options.high_water_bytes - 1_018, "{stuck}");
    for _ in 0..1_000 {
        assert_eq!(connection.send(&[0; 1_000]), Err(WsSendError::Full));
    }
    assert_eq!(connection.unsent_bytes(), stuck);
    assert_eq!(connection.statistics().messages_out, u64::from(accepted));

    // The reader reads again: everything that was accepted arrives, in order.
    let expected_bytes = accepted as usize * (1_000 + 4);
    server.run_until("everything arrives", |_| {
        client.read();
        client.received.len() == expected_bytes
    });
    for (index, frame) in client.received.chunks(1_004).enumerate() {
        assert_eq!(frame[..4], [0x82, 126, 3, 232]);
        assert_eq!(frame[4..8], (index as u32).to_be_bytes());
    }
    assert_eq!(server.connection().unsent_bytes(), 0);
    assert!(server.connection().is_writable());
}

#[test]
fn pings_to_a_stopped_reader_are_bounded_too() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    while server.connection().send(&[0; 1_000]).is_ok() {
        server.connection().flush();
    }
    let pings = client_frame(0x89, &[7; 125]).repeat(100);
    for _ in 0..300 {
        client.send(&pings);
        server.step();
        let limit = WsOptions::default().high_water_bytes + (4 << 10);
        assert!(server.connection().unsent_bytes() <= limit);
    }
    assert!(server.connection().is_open(), "{:?}", server.connection().close_reason());
    assert!(server.connection().statistics().control_in > 1_000);
}

#[test]
fn a_close_to_a_stopped_reader_times_out() {
    let mut server = Server::new(loopback_v4());
    let _client = RawClient::upgraded(&mut server);
    while server.connection().send(&[0; 1_000]).is_ok() {
        server.connection().flush();
    }
    server.connection().close(1001, "going away");
    server.step();
    let connection = server.connection();
    assert!(!connection.is_closed());
    assert!(!connection.is_stale(Instant::now()));
    assert!(connection.is_stale(Instant::now() + WsOptions::default().close_timeout));
}
