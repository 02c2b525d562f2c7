//! A player in a page, as tests over real sockets have it: a WebTransport client with the protocol's own client within.

#[path = "../../src/driver/quic/tests/page.rs"]
#[expect(dead_code, reason = "the tests without sockets use the rest")]
mod page;

use page::Page;
use skipstone::{Carrier, Event, Path, PeerId};
use skipstone_proto::{Config, Endpoint, MessageId, Time};
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

/// A player in a page.
pub(crate) struct WebPlayer {
    pub(crate) socket: UdpSocket,
    server: SocketAddr,
    pub(crate) page: Page,
    endpoint: Endpoint,
    peer: PeerId,
    began: Instant,
    pub(crate) heard: Vec<Vec<u8>>,
    pub(crate) is_connected: bool,
    pub(crate) closed: Option<String>,
}

pub(crate) fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    socket.set_nonblocking(true).expect("it may");
    socket
}

impl WebPlayer {
    pub(crate) fn new(server: SocketAddr) -> WebPlayer {
        WebPlayer::with_token(server, b"a page")
    }

    pub(crate) fn with_token(server: SocketAddr, token: &[u8]) -> WebPlayer {
        let mut endpoint = Endpoint::new(Config::client(), [7; 32]).expect("it is good");
        let path = Path { socket: 0, local: None, remote: server, carrier: Carrier::WEBTRANSPORT };
        let peer = endpoint.connect(Time::from_micros(1), path, token).expect("it may");
        endpoint.set_writable(0, false);
        let page = Page::new(Instant::now(), server, Some("https://game.example"));
        let (heard, is_connected, closed) = (Vec::new(), false, None);
        WebPlayer { socket: socket(), server, page, endpoint, peer, began: Instant::now(), heard, is_connected, closed }
    }

    pub(crate) fn step(&mut self) {
        let (instant, mut buffer) = (Instant::now(), vec![0; 1 << 16]);
        let now = Time::from_micros(1 + self.began.elapsed().as_micros() as u64);
        let path = Path { socket: 0, local: None, remote: self.server, carrier: Carrier::WEBTRANSPORT };
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            self.page.handle(instant, from, &buffer[..length]);
        }
        self.page.handle_timeout(instant);
        for content in self.page.got.split_off(0) {
            self.endpoint.handle_datagram(now, path, &mut content.to_vec());
        }
        if self.page.granted == Some(true) {
            self.endpoint.set_writable(0, true);
        }
        self.endpoint.handle_timeout(now);
        while let Some(event) = self.endpoint.poll_event(now) {
            match event {
                Event::Connected { .. } => self.is_connected = true,
                Event::Message { payload, .. } => self.heard.push(payload.to_vec()),
                Event::Closed { close, .. } => self.closed = Some(close.reason_text().into_owned()),
                _ => {}
            }
        }
        while let Some(transmit) = self.endpoint.poll_transmit(now, &mut buffer) {
            buffer[..transmit.bytes].chunks(transmit.segment_bytes).for_each(|datagram| self.page.send(datagram));
        }
        for datagram in self.page.datagrams(instant) {
            self.socket.send_to(&datagram, self.server).expect("it sends");
        }
    }

    pub(crate) fn say(&mut self, text: &str) {
        let now = Time::from_micros(1 + self.began.elapsed().as_micros() as u64);
        self.endpoint.send(now, self.peer, 0, text.to_owned().into(), MessageId(0)).expect("room");
    }

    /// The certificate that the server has shown, in DER.
    pub(crate) fn shown(&self) -> Option<Vec<u8>> {
        let identity = self.page.quic.crypto_session().peer_identity()?;
        let chain = identity.downcast::<Vec<rustls::pki_types::CertificateDer<'static>>>().ok()?;
        chain.first().map(|der| der.to_vec())
    }
}
