//! QUIC keeps the pieces of a ClientHello whose beginning is missing, before anything is known of the client. Packets
//! with such pieces are made by hand (RFC 9000, section 17.2.2; RFC 9001, section 5.2), because no client sends them.

use super::*;
use rustls::Side;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::quic::{Keys, Version};

/// A client that has a handshake of one-byte pieces, none of which is next to another.
struct Scattered {
    keys: Keys,
    packet_number: u32,
    /// Pieces so far.
    pieces: u16,
}

/// Its connection id, and the one that it gives to the server.
const SERVER_ID: [u8; 8] = *b"a server";
const CLIENT_ID: [u8; 8] = *b"a client";
/// Bytes of a packet number, and of the tag.
const NUMBER_BYTES: usize = 4;
const TAG_BYTES: usize = 16;
/// A client's first datagrams have at least this size.
const DATAGRAM_BYTES: usize = 1_200;

impl Scattered {
    fn new() -> Scattered {
        let suite = TLS13_AES_128_GCM_SHA256.tls13().and_then(|suite| suite.quic_suite()).expect("QUIC begins with it");
        Scattered { keys: suite.keys(&SERVER_ID, Side::Client, Version::V1), packet_number: 0, pieces: 0 }
    }

    /// An Initial packet with further pieces.
    fn next(&mut self, pieces: u16) -> Vec<u8> {
        let header_bytes = 1 + 4 + 2 * (1 + SERVER_ID.len()) + 1 + 2 + NUMBER_BYTES;
        let mut payload = Vec::new();
        for _ in 0..pieces {
            let offset = 1 + 2 * self.pieces;
            payload.extend([&[0x06][..], &(0x4000 | offset).to_be_bytes(), &[1, 0]].concat());
            self.pieces += 1;
        }
        payload.resize(DATAGRAM_BYTES - header_bytes - TAG_BYTES, 0);
        let length = 0x4000 | (NUMBER_BYTES + payload.len() + TAG_BYTES) as u16;
        let number = self.packet_number.to_be_bytes();
        let ids = [&[8][..], &SERVER_ID, &[8], &CLIENT_ID].concat();
        let mut packet = [&[0xC3, 0, 0, 0, 1][..], &ids, &[0], &length.to_be_bytes(), &number].concat();
        let key = &self.keys.local.packet;
        let tag = key.encrypt_in_place(self.packet_number.into(), &packet, &mut payload).expect("it can be sealed");
        packet.extend([&payload[..], tag.as_ref()].concat());
        let (header, sealed) = packet.split_at_mut(header_bytes);
        let (first, rest) = header.split_first_mut().expect("it has a header");
        let number_at = rest.len() - NUMBER_BYTES;
        let sample = &sealed[..self.keys.local.header.sample_len()];
        self.keys.local.header.encrypt_in_place(sample, first, &mut rest[number_at..]).expect("it is long enough");
        self.packet_number += 1;
        packet
    }
}

#[test]
fn a_handshake_of_256_pieces_is_heard_and_one_of_more_is_over() {
    let (mut host, mut client) = (Host::new(Config::server(Default::default())), Scattered::new());
    for _ in 0..16 {
        host.take(START, address(1), &mut client.next(16));
        host.step(START);
        assert_eq!((host.guests.stats().open, host.guests.stats().breaches), (1, 0), "{} pieces", client.pieces);
    }
    host.take(START, address(1), &mut client.next(1));
    host.step(START);
    assert_eq!((host.guests.stats().open, host.guests.stats().breaches), (0, 1));
}

#[test]
fn a_packet_full_of_pieces_ends_its_handshake_soon() {
    let (mut host, mut client) = (Host::new(Config::server(Default::default())), Scattered::new());
    for _ in 0..2 {
        host.take(START, address(1), &mut client.next(200));
    }
    host.step(START);
    assert_eq!((host.guests.stats().open, host.guests.stats().breaches), (0, 1));
}
