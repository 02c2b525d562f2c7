//! A host that has not proven its address, or has no connection, gets few resources and not for long.

use super::*;

const NETWORK_MAX: u32 = LIMITS.network;
const STRANGERS_MAX: usize = LIMITS.strangers;

const RECORD_HEADER: usize = 13;

fn host() -> Host {
    Host::new(Config::server(Default::default()))
}

/// Unencrypted handshake messages with a sequence that is far ahead, each in its own record.
fn ahead(sequence: u16, records: usize) -> Vec<u8> {
    let [high, low] = sequence.to_be_bytes();
    let header = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12];
    [header.as_slice(), &[16, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0]].concat().repeat(records)
}

#[test]
fn unproven_clients_fill_256_places_without_amplification() {
    for version in VERSIONS {
        let (mut host, hello) = (host(), spoken(&mut session(version, START)).remove(0));
        for number in 0..3_000 {
            let now = START + Duration::from_millis(u64::from(number) * 2);
            host.guests.handle_timeout(now, &mut host.endpoint);
            host.take(now, address(number), &mut hello.clone());
            let bytes: usize = host.said().iter().map(|(_, answer)| answer.len()).sum();
            assert!((1..=hello.len()).contains(&bytes), "{bytes}");
            assert!(host.guests.stats().open <= STRANGERS_MAX as u64);
        }
        assert_eq!(host.guests.stats().displaced, 3_000 - STRANGERS_MAX as u64);
        host.guests.handle_timeout(START + Duration::from_secs(20), &mut host.endpoint);
        assert_eq!((host.guests.stats().open, host.guests.poll_timeout()), (0, Time::NEVER));
        assert!(host.said().is_empty() && host.guests.by_addresses.is_empty(), "they go without a word");
    }
}

#[test]
fn a_flood_begins_one_session_per_place_and_then_one_per_millisecond() {
    let (mut host, hello) = (host(), hello());
    let places = STRANGERS_MAX as u64;
    (0..3_000).for_each(|number| host.take(START, address(number), &mut hello.clone()));
    assert_eq!((host.guests.stats().begun, host.guests.stats().dropped), (places, 3_000 - places));
    for millisecond in 1..=1_000 {
        let now = START + Duration::from_millis(millisecond);
        (0..3).for_each(|number| host.take(now, address(3_000 + 3 * millisecond as u32 + number), &mut hello.clone()));
    }
    assert_eq!(host.guests.stats().begun, places + 1_000);
}

#[test]
fn a_proven_address_is_not_displaced_by_unproven_ones() {
    for version in VERSIONS {
        let (mut host, hello, mut client) = (host(), hello(), session(version, START));
        shake_hands(&mut host, START, address(9_999), &mut client, 1);
        for mut again in spoken(&mut client) {
            host.take(START, address(9_999), &mut again);
        }
        host.said();
        (0..600).for_each(|number| host.take(START, address(number), &mut hello.clone()));
        assert!(host.guests.guests.values().any(|guest| guest.addresses.remote == address(9_999)), "{version:?}");
    }
}

#[test]
fn one_network_may_have_64_sessions_without_a_connection() {
    let mut host = host();
    let mut clients = Vec::new();
    for number in 0..100 {
        // Few per second, so that the budget of handshakes does not limit them.
        let now = START + Duration::from_millis(40) * number;
        let (from, mut client) = (address(0xC000_0200 + number), session(DtlsVersion::V1_2, now));
        shake_hands(&mut host, now, from, &mut client, 4);
        clients.push(client);
    }
    let established = clients.iter().filter(|client| client.is_established()).count();
    assert_eq!(established, NETWORK_MAX as usize);
    assert_eq!(host.guests.stats().displaced, 100 - u64::from(NETWORK_MAX));
    // Another network is not affected.
    let now = START + Duration::from_secs(4);
    let mut other = session(DtlsVersion::V1_2, now);
    shake_hands(&mut host, now, address(0x0A00_0001), &mut other, 4);
    assert!(other.is_established());
}

#[test]
fn handshakes_are_charged_to_their_network() {
    let mut host = host();
    let mut established = 0;
    // One address begins handshakes that fail, as fast as it can.
    for number in 0..400_u32 {
        let from = SocketAddr::from(([192, 0, 2, 1], 1_000 + number as u16));
        let mut client = session(DtlsVersion::V1_2, START);
        shake_hands(&mut host, START, from, &mut client, 4);
        established += usize::from(client.is_established());
        client.close(START);
        for mut last in spoken(&mut client) {
            host.take(START, from, &mut last);
        }
        host.said();
    }
    assert!((8..=16).contains(&established), "{established}");
}

#[test]
fn simultaneous_handshakes_start_in_rounds_with_room_for_a_signature() {
    let (mut host, mut clients) = (host(), Vec::new());
    for number in 0..40 {
        let (from, mut client) = (address(0x0A00_0001 + 256 * number), session(DtlsVersion::V1_2, START));
        shake_hands(&mut host, START, from, &mut client, 1);
        clients.push((from, client));
    }
    for (from, client) in &mut clients {
        spoken(client).iter_mut().for_each(|hello| host.take(START, *from, hello));
    }
    let begun = |host: &Host| host.guests.guests.values().filter(|guest| guest.stage == Stage::Proven).count();
    let mut rounds = vec![begun(&host)];
    while host.guests.has_waiting() {
        assert_eq!(host.guests.poll_timeout(), Time::ZERO, "the next round begins at once");
        host.end_round(START);
        rounds.push(begun(&host));
    }
    // Each costs 0.3 ms, and a round has 2.
    assert_eq!(rounds, [7, 14, 20, 27, 34, 40]);
}

/// An unproven client that repeats its second hello takes eight of the places at which handshakes wait, and hellos
/// without a good cookie cost no signature.
#[test]
fn one_unproven_client_does_not_fill_the_handshake_queue() {
    let (mut host, from) = (host(), address(1));
    let mut client = session(DtlsVersion::V1_2, START);
    shake_hands(&mut host, START, from, &mut client, 1);
    let hello = spoken(&mut client).remove(0);
    (0..100).for_each(|_| host.endpoint.on_signature());
    (0..100).for_each(|_| host.take(START, from, &mut hello.clone()));
    assert_eq!(host.guests.waiting.len() as u32, HELLOS_MAX - 1);

    let (mut host, first) = (self::host(), self::hello());
    for number in 0..100 {
        (0..3).for_each(|_| host.take(START, address(number), &mut first.clone()));
    }
    assert!(host.endpoint.may_sign() && !host.guests.has_waiting() && host.guests.take_cost() == Cost::ZERO);
}

#[test]
fn garbage_and_other_records_begin_no_session() {
    let (mut host, hello) = (host(), hello());
    for kind in 20..=63 {
        let mut garbage = hello.clone();
        garbage[0] = kind;
        garbage[RECORD_HEADER] = 2;
        host.take(START, address(1), &mut garbage.clone());
        host.take(START, address(1), &mut garbage[..5]);
    }
    assert_eq!((host.guests.stats().begun, host.guests.stats().dropped), (0, 88));
}

#[test]
fn an_oversized_hello_is_not_counted() {
    let (mut host, mut long) = (host(), hello());
    long.resize(1_501, 0);
    let content = (long.len() - RECORD_HEADER) as u16;
    long[11..13].copy_from_slice(&content.to_be_bytes());
    host.take(START, address(1), &mut long);
    assert_eq!(host.guests.stats().dropped, 1);
    assert!(host.said().is_empty());
}

#[test]
fn an_unproven_client_may_send_only_hellos_and_a_proven_one_little_more() {
    let (mut host, mut client) = (host(), session(DtlsVersion::V1_2, START));
    shake_hands(&mut host, START, address(1), &mut client, 1);
    for sequence in 2..8 {
        host.take(START, address(1), &mut ahead(sequence, 1));
    }
    assert_eq!(host.guests.stats().dropped, 6);
    for mut again in spoken(&mut client) {
        host.take(START, address(1), &mut again);
    }
    assert!(host.guests.guests.values().all(|guest| guest.stage == Stage::Proven));
    host.take(START, address(1), &mut ahead(100, 5));
    assert_eq!(host.guests.stats().dropped, 7);
    (100..105).for_each(|sequence| host.take(START, address(1), &mut ahead(sequence, 1)));
    assert_eq!(host.guests.stats().open, 0, "dimpl keeps no fifth datagram");
}

#[test]
fn an_unproven_client_may_send_eight_hellos() {
    for version in VERSIONS {
        let (mut host, hello) = (host(), spoken(&mut session(version, START)).remove(0));
        let answers: usize = (0..100)
            .map(|_| {
                host.take(START, address(1), &mut hello.clone());
                host.said().len()
            })
            .sum();
        assert_eq!(host.guests.stats().dropped, 100 - u64::from(HELLOS_MAX), "{version:?}");
        assert!((1..=HELLOS_MAX as usize).contains(&answers), "{version:?}: {answers}");
        assert_eq!(host.guests.stats().open, 1);
    }
}

/// A client repeats the hello with its cookie until the budget of its network has room again.
#[test]
fn a_hello_refused_by_the_budget_is_not_counted() {
    let from = address(0xC000_0201);
    let mut client = session(DtlsVersion::V1_3, START);
    let mut host = host();
    while host.endpoint.admits_handshake(START, &from) {
        host.endpoint.on_handshake_begun(&from);
        host.endpoint.on_handshake_failed(&from);
    }
    shake_hands(&mut host, START, from, &mut client, 1);
    let with_cookie = spoken(&mut client).remove(0);
    for _ in 0..3 * HELLOS_MAX {
        host.take(START, from, &mut with_cookie.clone());
    }
    assert!(host.said().is_empty(), "the budget refuses it");
    let later = START + Duration::from_secs(9);
    assert!(host.endpoint.admits_handshake(later, &from), "it has room again");
    host.take(later, from, &mut with_cookie.clone());
    assert!(!host.said().is_empty(), "it is heard");
}

#[test]
fn an_unproven_client_is_answered_without_retransmissions() {
    for version in VERSIONS {
        let mut host = host();
        host.take(START, address(1), &mut spoken(&mut session(version, START)).remove(0));
        assert_eq!(host.said().len(), 1);
        for number in 1..20 {
            host.guests.handle_timeout(START + Duration::from_millis(100 * number), &mut host.endpoint);
            assert!(host.said().is_empty());
        }
    }
}

#[test]
fn answers_are_charged_with_their_headers() {
    let (mut host, hello) = (host(), hello());
    let v6 = SocketAddr::from(([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1], 4_000));
    host.take(START, v6, &mut hello.clone());
    let (_, answer) = host.said().remove(0);
    let credit = host.guests.guests.values().next().expect("it is there").credit;
    assert_eq!(credit, hello.len() - answer.len(), "48 bytes came and went besides");
    assert_eq!(bytes_on_the_wire(&v6, 100), 148);
    assert_eq!(bytes_on_the_wire(&address(1), 100), 128);
}

#[test]
fn a_session_without_a_connection_ends_after_five_seconds_with_a_close_notify() {
    for version in VERSIONS {
        let (mut host, mut client) = (host(), session(version, START));
        shake_hands(&mut host, START, address(1), &mut client, 4);
        assert!(client.is_established());
        for number in 1..50 {
            // Content of any kind that is not an OPEN.
            let now = START + Duration::from_millis(100) * number;
            client.send(now, b"hello?");
            shake_hands(&mut host, now, address(1), &mut client, 1);
            host.guests.handle_timeout(now, &mut host.endpoint);
        }
        assert_eq!(host.guests.stats().open, 1);
        let end = START + SILENT_LIFE;
        host.guests.handle_timeout(end, &mut host.endpoint);
        for (_, datagram) in host.said() {
            client.handle_datagram(end, &datagram, &mut |_| ());
        }
        assert!(client.failure().is_some_and(|it| it.reason.contains("closed by the peer")), "{version:?}");
        assert_eq!((host.guests.stats().open, host.guests.poll_timeout()), (0, Time::NEVER));
    }
}

#[test]
fn a_stalled_handshake_is_forgotten_after_ten_seconds() {
    for version in VERSIONS {
        let (mut host, mut client) = (host(), session(version, START));
        shake_hands(&mut host, START, address(1), &mut client, 1);
        for mut again in spoken(&mut client) {
            host.take(START, address(1), &mut again);
        }
        let mut now = START;
        while host.guests.poll_timeout() < Time::NEVER {
            now = host.guests.poll_timeout();
            host.guests.handle_timeout(now, &mut host.endpoint);
        }
        assert_eq!((now, host.guests.stats().open), (START + HANDSHAKE_LIFE, 0), "{version:?}");
        assert!(host.said().len() < 32);
    }
}
