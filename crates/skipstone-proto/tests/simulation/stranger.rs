//! A client made by hand: it is accepted like any other, and then sends whatever a test wants.

use skipstone_proto::wire::cursor::{Reader, Writer};
use skipstone_proto::wire::datagram::{self, Datagram, HEADER_BYTES, Offer, Open, SUITE_PLAIN};
use skipstone_proto::wire::frame::{self, Frame, Frames};
use skipstone_proto::wire::message::{FragmentHeader, MessageEncoder};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::wire::repair::encode_repair_header;
use skipstone_proto::{Endpoint, Event, Path, PeerId, Plain, Time};

/// A client that a server has accepted, in clear.
pub(crate) struct Stranger {
    pub(crate) path: Path,
    /// Its id at the server.
    pub(crate) peer: PeerId,
    to: u32,
    plain: Plain,
    /// Number of the next packet.
    pub(crate) number: u64,
}

impl Stranger {
    /// Connects, and is accepted. Other datagrams of the server's are lost meanwhile.
    pub(crate) fn join(server: &mut Endpoint, now: Time, path: Path) -> Self {
        let mut buffer = vec![0; 1 << 16];
        let offer = datagram::encode_offer(SUITE_PLAIN, &[1]);
        let mut hello = vec![0; datagram::hello_len(&offer)];
        datagram::encode_hello(&mut Writer::new(&mut hello), 7, 8, &offer);
        server.handle_datagram(now, path, &mut hello);
        let length = answer(server, now, path, &mut buffer);
        let Ok(Datagram::Challenge(challenge)) = datagram::decode(&buffer[..length]) else { panic!("a challenge") };
        let plain = Plain::new(challenge.cookie);
        let mut open = vec![0; 200];
        let mut writer = Writer::new(&mut open);
        let offer = Offer::decode(&offer).expect("it is one");
        let header = Open { source: 7, nonce: 8, version: 1, suite: SUITE_PLAIN, cookie: challenge.cookie, offer };
        datagram::encode_open_header(&mut writer, &header);
        writer.truncated(Truncated::new(0, 1));
        frame::encode_connect(&mut writer, b"", b"");
        let end = writer.len();
        let end = plain.seal(&mut open, header.header_bytes()..end, 0);
        let end = datagram::append_check(&mut open, end);
        server.handle_datagram(now, path, &mut open[..end]);
        let asked = core::iter::from_fn(|| server.poll_event(now)).find(|it| matches!(it, Event::Requested { .. }));
        let peer = asked.expect("it asks").peer();
        assert!(server.accept(now, peer));
        let length = answer(server, now, path, &mut buffer);
        let plaintext = plain.open(&buffer[..length], HEADER_BYTES, 0).expect("it is for us");
        let mut reader = Reader::new(&buffer[plaintext]);
        reader.truncated().expect("a number");
        let to = Frames::new(reader.rest()).flatten().find_map(|frame| match frame {
            Frame::Accept { source, .. } => Some(source),
            _ => None,
        });
        Stranger { path, peer, to: to.expect("an id"), plain, number: 1 }
    }

    /// Sends the next packet.
    pub(crate) fn packet(&mut self, server: &mut Endpoint, now: Time, write: impl FnOnce(&mut Writer<'_>)) {
        let mut packet = vec![0; 16_000];
        let mut writer = Writer::new(&mut packet);
        datagram::encode_packet_header(&mut writer, self.to);
        writer.truncated(Truncated::new(self.number, 1 << 27));
        write(&mut writer);
        let end = writer.len();
        let end = self.plain.seal(&mut packet, HEADER_BYTES..end, self.number);
        self.number += 1;
        server.handle_datagram(now, self.path, &mut packet[..end]);
    }

    /// Skips a packet's number: the server assumes that the packet was lost.
    pub(crate) fn skip(&mut self) {
        self.number += 1;
    }

    /// Sends the repair of a packet that never existed, three numbers before this one; the other side recovers a PING.
    pub(crate) fn recovery(&mut self, server: &mut Endpoint, now: Time) {
        let number = self.number;
        self.packet(server, now, |writer| write_recovery(writer, number, number - 3));
    }

    /// Sends a packet of one message, or a fragment of one.
    pub(crate) fn message(
        &mut self,
        server: &mut Endpoint,
        now: Time,
        (channel, sequence): (u16, u32),
        fragment: Option<FragmentHeader>,
        payload: &[u8],
    ) {
        self.packet(server, now, |writer| {
            let sequence = Some((sequence, Truncated { value: sequence, bits: 32 }));
            MessageEncoder::default().encode_header(writer, channel, sequence, fragment, payload.len());
            writer.bytes(payload);
        });
    }
}

/// Writes a REPAIR into packet `number` that covers only the packet `covered`, whose content is a PING (WIRE.md
/// section 4.4).
pub(crate) fn write_recovery(writer: &mut Writer<'_>, number: u64, covered: u64) {
    const PING: u8 = 0x01;
    const INDEX: u8 = 5;
    encode_repair_header(writer, number, INDEX, [covered..=covered].into_iter());
    let mut checked = crc32fast::Hasher::new();
    checked.update(&covered.to_be_bytes());
    checked.update(&[PING]);
    let mut symbol = vec![0, 1];
    symbol.extend(checked.finalize().to_be_bytes());
    symbol.push(PING);
    skipstone_gf256::scale(&mut symbol, skipstone_gf256::coefficient(INDEX, covered));
    writer.bytes(&symbol);
}

/// The next datagram of the server's to this path; those to others are lost.
fn answer(server: &mut Endpoint, now: Time, path: Path, buffer: &mut [u8]) -> usize {
    loop {
        let transmit = server.poll_transmit(now, buffer).expect("an answer");
        if transmit.path == path {
            return transmit.bytes;
        }
    }
}
