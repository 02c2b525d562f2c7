//! DTLS handshakes of other implementations, which begin with a ClientHello outside of this protocol's packets. They
//! are few and short, and are dropped first.
//!
//! DTLS validates their addresses by its own cookie (HelloVerifyRequest), which costs a session each. Their table is
//! therefore separate from the endpoint's clients, so that a flood can fill this table and nothing else. After the
//! handshake no data is exchanged: the protocol over it is not specified yet, and the session ends with a close_notify.

use super::carrier::udp_carrier;
use crate::driver_stats::HalfOpenStats;
use crate::security::{Identity, instant, records};
use dimpl::{Config, Dtls, Output};
use skipstone_proto::{Duration, Time};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

/// The sessions of a server's shared sockets, oldest first.
#[derive(Debug)]
pub(super) struct HalfOpen {
    identity: Arc<Identity>,
    config: Arc<Config>,
    sessions: VecDeque<Half>,
    /// Start of the current second, and the number of sessions that began in it.
    begun: (Time, u32),
    outgoing: VecDeque<(u32, SocketAddr, Vec<u8>)>,
    stats: HalfOpenStats,
}

#[derive(Debug)]
struct Half {
    socket: u32,
    remote: SocketAddr,
    dtls: Dtls,
    until: Time,
    due: Time,
    /// Bytes that may be sent before the address is validated, IP and UDP headers included: as many as were received.
    credit: usize,
    is_proven: bool,
    is_established: bool,
}

const SESSIONS_MAX: usize = 256;
const LIFE: Duration = Duration::from_secs(2);
/// A session costs some 20 us to begin: a flood gets no more than a fiftieth of a core.
const BEGUN_PER_SECOND_MAX: u32 = 1_000;
/// Larger datagrams are dropped.
const DATAGRAM_BYTES_MAX: usize = 1_500;
/// Limits on the records of a datagram, and on the datagrams, that dimpl keeps: other implementations may send a
/// client's flight in several datagrams.
const RECORDS_MAX: usize = 4;
const QUEUE_MAX: usize = 4;
/// dimpl panics if the data that it has gathered does not fit into the buffer.
const SCRATCH_BYTES: usize = 1 << 16;
const HEADER: usize = records::HEADER_BYTES;

impl HalfOpen {
    pub(super) fn new(identity: Arc<Identity>) -> Self {
        let config =
            Config::builder().max_queue_rx(QUEUE_MAX).require_client_certificate(false).handshake_timeout(LIFE).build();
        HalfOpen {
            identity,
            config: Arc::new(config.expect("the configuration is good, and the ciphers pass their test")),
            sessions: VecDeque::new(),
            begun: (Time::ZERO, 0),
            outgoing: VecDeque::new(),
            stats: HalfOpenStats::default(),
        }
    }

    /// Whether a datagram is DTLS (RFC 9443).
    pub(super) fn is_dtls(datagram: &[u8]) -> bool {
        matches!(datagram.first(), Some(20..=63))
    }

    /// Handles a DTLS datagram.
    pub(super) fn handle(&mut self, now: Time, socket: u32, remote: SocketAddr, datagram: &[u8]) {
        let is_known = |half: &Half| half.socket == socket && half.remote == remote;
        let place = self.sessions.iter().position(is_known);
        let is_hello = records::is_client_hello(datagram);
        let is_proven = place.is_some_and(|place| self.sessions[place].is_proven);
        // dimpl keeps each datagram that is no ClientHello, and nothing may be kept before the address is validated.
        let is_welcome = datagram.len() <= DATAGRAM_BYTES_MAX
            && (is_hello || is_proven && records::are_handshake(datagram, RECORDS_MAX));
        let place = place.or_else(|| if is_welcome { self.begin(now, socket, remote) } else { None });
        let Some(place) = place.filter(|_| is_welcome) else {
            self.stats.dropped += 1;
            return;
        };
        let half = &mut self.sessions[place];
        half.credit += bytes_on_the_wire(&remote, datagram.len());
        let at = instant(now);
        let is_well = half.dtls.handle_timeout(at).is_ok() && half.dtls.handle_packet(datagram).is_ok();
        self.drain(now, place, is_well);
    }

    /// Starts a session for an unknown address that sent a ClientHello, if the limits allow.
    fn begin(&mut self, now: Time, socket: u32, remote: SocketAddr) -> Option<usize> {
        if now.since(self.begun.0) >= Duration::from_secs(1) {
            self.begun = (now, 0);
        }
        if self.begun.1 >= BEGUN_PER_SECOND_MAX {
            return None;
        }
        if self.sessions.len() >= SESSIONS_MAX {
            let oldest = self.sessions.iter().position(|half| !half.is_proven)?;
            self.sessions.remove(oldest);
            self.stats.displaced += 1;
        }
        self.begun.1 += 1;
        self.stats.begun += 1;
        self.sessions.push_back(Half {
            socket,
            remote,
            dtls: Dtls::new_12(self.config.clone(), self.identity.certificate(), instant(now)),
            until: now + LIFE,
            due: Time::NEVER,
            credit: 0,
            is_proven: false,
            is_established: false,
        });
        Some(self.sessions.len() - 1)
    }

    /// Handles the output of a session, and ends the session if it is not `is_well`.
    fn drain(&mut self, now: Time, place: usize, is_well: bool) {
        let half = &mut self.sessions[place];
        let (mut scratch, mut is_over) = (vec![0; SCRATCH_BYTES], !is_well);
        while !is_over {
            match half.dtls.poll_output(&mut scratch) {
                Output::Packet(bytes) => {
                    // The server sends a ServerHello only after a valid cookie.
                    half.is_proven |= bytes.first() == Some(&22) && bytes.get(HEADER) == Some(&2);
                    let cost = bytes_on_the_wire(&half.remote, bytes.len());
                    if half.is_proven || cost <= half.credit {
                        half.credit = half.credit.saturating_sub(cost);
                        self.outgoing.push_back((half.socket, half.remote, bytes.to_vec()));
                    } else {
                        self.stats.dropped += 1;
                    }
                }
                Output::Connected => {
                    half.is_established = true;
                    self.stats.established += 1;
                }
                // The peer sends application data, which nothing here handles.
                Output::ApplicationData(_) => is_over = half.dtls.close().is_err(),
                Output::CloseNotify | Output::BufferTooSmall { .. } => is_over = true,
                Output::Timeout(at) => {
                    let left = at.saturating_duration_since(instant(now)).min(LIFE);
                    // An address that is not validated gets answers only, and no retransmissions.
                    half.due = if half.is_proven { now + left } else { Time::NEVER };
                    is_over = half.dtls.is_closed();
                    break;
                }
                _ => {}
            }
        }
        if is_over {
            self.sessions.remove(place);
        }
    }

    /// Handles timeouts: retransmits flights, and ends expired sessions.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        while let Some(half) = self.sessions.front_mut().filter(|half| half.until <= now) {
            if half.is_established && half.dtls.close().is_ok() {
                self.drain(now, 0, true);
            }
            if self.sessions.front().is_some_and(|half| half.until <= now) {
                self.sessions.pop_front();
            }
        }
        for place in (0..self.sessions.len()).rev() {
            if self.sessions[place].due <= now {
                let is_well = self.sessions[place].dtls.handle_timeout(instant(now)).is_ok();
                self.drain(now, place, is_well);
            }
        }
    }

    /// Time at which [`HalfOpen::handle_timeout`] must be called next.
    pub(super) fn poll_timeout(&self) -> Time {
        self.sessions.iter().map(|half| half.due.min(half.until)).min().unwrap_or(Time::NEVER)
    }

    /// The next datagram to send, with its socket and its destination.
    pub(super) fn poll_transmit(&mut self) -> Option<(u32, SocketAddr, Vec<u8>)> {
        self.outgoing.pop_front()
    }

    pub(super) fn stats(&self) -> HalfOpenStats {
        self.stats
    }
}

/// Bytes of a datagram, IP and UDP headers included.
fn bytes_on_the_wire(remote: &SocketAddr, bytes: usize) -> usize {
    bytes + usize::from(udp_carrier(remote).overhead_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dimpl::DtlsCertificate;

    const START: Time = Time::from_micros(1_000_000);

    fn table() -> HalfOpen {
        HalfOpen::new(Arc::new(Identity::self_signed().expect("it is made")))
    }

    fn address(number: u32) -> SocketAddr {
        (number.to_be_bytes(), 4_000).into()
    }

    fn certificate() -> DtlsCertificate {
        Identity::self_signed().expect("it is made").certificate()
    }

    /// A client of another implementation, and its first datagram.
    fn stranger() -> (Dtls, Vec<u8>) {
        let config = Arc::new(Config::builder().build().expect("it is good"));
        let mut client = Dtls::new_12(config, certificate(), instant(START));
        client.set_active(true);
        client.handle_timeout(instant(START)).expect("it begins");
        let hello = said(&mut client).remove(0);
        (client, hello)
    }

    fn said(client: &mut Dtls) -> Vec<Vec<u8>> {
        let (mut all, mut scratch) = (Vec::new(), vec![0; SCRATCH_BYTES]);
        loop {
            match client.poll_output(&mut scratch) {
                Output::Packet(bytes) => all.push(bytes.to_vec()),
                Output::Timeout(_) => return all,
                _ => {}
            }
        }
    }

    #[test]
    fn a_stranger_completes_a_handshake_and_is_told_goodbye_two_seconds_later() {
        let (mut table, (mut client, hello)) = (table(), stranger());
        let mut datagrams = vec![hello];
        for _ in 0..10 {
            for datagram in core::mem::take(&mut datagrams) {
                table.handle(START, 3, address(1), &datagram);
            }
            while let Some((socket, to, bytes)) = table.poll_transmit() {
                assert_eq!((socket, to), (3, address(1)));
                client.handle_packet(&bytes).expect("it is well");
                datagrams.extend(said(&mut client));
            }
        }
        assert_eq!((table.stats().begun, table.stats().established), (1, 1));
        table.handle_timeout(START + LIFE);
        assert_eq!(table.poll_transmit().map(|(_, to, _)| to), Some(address(1)));
        assert!(table.sessions.is_empty() && table.poll_timeout() == Time::NEVER);
    }

    #[test]
    fn strangers_fill_256_places_and_get_no_more_than_they_brought() {
        let (mut table, (_, hello)) = (table(), stranger());
        for number in 0..3_000 {
            let now = START + Duration::from_millis(u64::from(number) * 2);
            table.handle_timeout(now);
            table.handle(now, 0, address(number), &hello);
            let mut bytes = 0;
            while let Some((_, _, answer)) = table.poll_transmit() {
                bytes += answer.len();
            }
            assert!(bytes <= hello.len(), "{bytes}");
            assert!(table.sessions.len() <= SESSIONS_MAX);
        }
        assert_eq!(table.stats().displaced, 3_000 - SESSIONS_MAX as u64);
        table.handle_timeout(START + Duration::from_secs(20));
        assert!(table.sessions.is_empty());
    }

    #[test]
    fn a_flood_begins_a_thousand_sessions_a_second() {
        let (mut table, (_, hello)) = (table(), stranger());
        (0..3_000).for_each(|number| table.handle(START, 0, address(number), &hello));
        assert_eq!(table.stats().begun, u64::from(BEGUN_PER_SECOND_MAX));
        assert_eq!(table.stats().dropped, 2_000);
    }

    #[test]
    fn whoever_has_proven_its_address_is_not_displaced() {
        let (mut table, (mut client, hello)) = (table(), stranger());
        table.handle(START, 0, address(9_999), &hello);
        let (_, _, verify) = table.poll_transmit().expect("a HelloVerifyRequest");
        client.handle_packet(&verify).expect("it is well");
        for again in said(&mut client) {
            table.handle(START, 0, address(9_999), &again);
        }
        (0..600).for_each(|number| table.handle(START, 0, address(number), &hello));
        assert!(table.sessions.iter().any(|half| half.remote == address(9_999)));
    }

    #[test]
    fn garbage_and_other_records_begin_nothing() {
        let (mut table, (_, hello)) = (table(), stranger());
        for kind in 20..=63 {
            let mut garbage = hello.clone();
            garbage[0] = kind;
            garbage[HEADER] = 2;
            table.handle(START, 0, address(1), &garbage);
            table.handle(START, 0, address(1), &garbage[..5]);
        }
        assert_eq!((table.stats().begun, table.stats().dropped), (0, 88));
    }

    /// Handshake messages in clear with a sequence that is far ahead, each in a record of its own.
    fn ahead(sequence: u16, records: usize) -> Vec<u8> {
        let [high, low] = sequence.to_be_bytes();
        let header = [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 12];
        [header.as_slice(), &[16, 0, 0, 0, high, low, 0, 0, 0, 0, 0, 0]].concat().repeat(records)
    }

    #[test]
    fn an_unproven_session_takes_hellos_only_and_a_proven_one_little_else() {
        let (mut table, (mut client, hello)) = (table(), stranger());
        table.handle(START, 0, address(1), &hello);
        let (_, _, verify) = table.poll_transmit().expect("a HelloVerifyRequest");
        for sequence in 2..30 {
            table.handle(START, 0, address(1), &ahead(sequence, 1));
        }
        assert_eq!(table.stats().dropped, 28);
        client.handle_packet(&verify).expect("it is well");
        for again in said(&mut client) {
            table.handle(START, 0, address(1), &again);
        }
        assert!(table.sessions[0].is_proven);
        table.handle(START, 0, address(1), &ahead(100, RECORDS_MAX + 1));
        assert_eq!(table.stats().dropped, 29);
        (100..105).for_each(|sequence| table.handle(START, 0, address(1), &ahead(sequence, 1)));
        assert!(table.sessions.is_empty(), "dimpl keeps no fifth datagram");
    }

    #[test]
    fn an_unproven_address_is_answered_and_never_told_twice() {
        let (mut table, (_, hello)) = (table(), stranger());
        table.handle(START, 0, address(1), &hello);
        assert!(table.poll_transmit().is_some());
        for number in 1..20 {
            table.handle_timeout(START + Duration::from_millis(100 * number));
            assert_eq!(table.poll_transmit(), None);
        }
    }

    #[test]
    fn answers_are_paid_for_with_their_headers() {
        let (mut table, (_, hello)) = (table(), stranger());
        let v6 = SocketAddr::from(([0x20, 1, 0xD, 0xB8, 0, 0, 0, 1], 4_000));
        table.handle(START, 0, v6, &hello);
        let (_, _, answer) = table.poll_transmit().expect("a HelloVerifyRequest");
        assert_eq!(table.sessions[0].credit, hello.len() - answer.len(), "48 bytes came and went besides");
        assert_eq!(bytes_on_the_wire(&v6, 100), 148);
        assert_eq!(bytes_on_the_wire(&address(1), 100), 128);
    }

    #[test]
    fn a_hello_that_is_too_long_begins_nothing() {
        let (mut table, (_, hello)) = (table(), stranger());
        let mut long = hello.clone();
        long.resize(DATAGRAM_BYTES_MAX + 1, 0);
        let content = (long.len() - HEADER) as u16;
        long[11..13].copy_from_slice(&content.to_be_bytes());
        table.handle(START, 0, address(1), &long);
        assert_eq!((table.stats().begun, table.stats().dropped), (0, 1));
    }
}
