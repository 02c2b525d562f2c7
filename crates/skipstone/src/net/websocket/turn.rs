//! The work of one connection before others have their turn.

use super::heads::{Framing, Heads};
use super::transport::Transport;
use skipstone_proto::Cost;
use std::io;

/// A connection's budget before other connections have their turn, and its cost so far.
#[derive(Debug)]
pub(super) struct Turn {
    /// Negative if the last turn exceeded its budget: the next ones pay for that.
    left: Cost,
    /// Cost of all turns.
    spent: Cost,
    frames: Heads,
    pub(super) bytes_in: u64,
}

/// A WebSocket frame, whatever its content.
const FRAME: Cost = Cost::nanos(200);

impl Turn {
    pub(super) fn new() -> Turn {
        Turn { left: Cost::ZERO, spent: Cost::ZERO, frames: Heads::of(Framing::WebSocket), bytes_in: 0 }
    }

    /// Starts a new turn with this budget.
    pub(super) fn begin(&mut self, cost_max: Cost) {
        self.left = self.left.min(Cost::ZERO) + cost_max;
    }

    /// Whether the budget is spent, so that more may wait.
    pub(super) fn is_used_up(&self) -> bool {
        !self.left.is_left()
    }

    /// The cost of all turns.
    pub(super) fn spent(&self) -> Cost {
        self.spent
    }

    pub(super) fn charge(&mut self, cost: Cost) {
        self.left -= cost;
        self.spent += cost;
    }

    /// Charges the frames that begin in these bytes, which were read with other data.
    pub(super) fn charge_frames(&mut self, bytes: &[u8]) {
        let frames = self.frames.pass(bytes);
        self.charge(FRAME * frames);
    }

    /// Reads while the turn has budget left; else the read "would block".
    pub(super) fn read(&mut self, transport: &mut Transport, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_used_up() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let mut left = self.left;
        let read = transport.read(&mut left, buffer);
        self.charge(self.left - left);
        self.bytes_in += *read.as_ref().unwrap_or(&0) as u64;
        read
    }

    /// Reads frames, each of which is charged, whatever its content.
    pub(super) fn read_frames(&mut self, transport: &mut Transport, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.read(transport, buffer)?;
        self.charge_frames(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(all(test, feature = "__tls"))]
mod tests {
    use super::super::tls::TlsServer;
    use super::*;
    use mio::net::TcpStream;
    use rustls::pki_types::{PrivateKeyDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig};
    use std::io::Write;
    use std::sync::Arc;

    /// Bytes of plaintext, each in its own record, which takes 23 bytes.
    const RECORDS: usize = 12_000;

    fn configs() -> (ServerConfig, ClientConfig) {
        let key = rcgen::KeyPair::generate().expect("entropy");
        let params = rcgen::CertificateParams::new(vec!["a.example".to_owned()]).expect("a good name");
        let certificate = params.self_signed(&key).expect("it is made").der().clone();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let server = server.expect("they fit").with_no_client_auth().with_single_cert(vec![certificate.clone()], key);
        let mut roots = RootCertStore::empty();
        roots.add(certificate).expect("it is a certificate");
        let client = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        (server.expect("they fit"), client.expect("they fit").with_root_certificates(roots).with_no_client_auth())
    }

    /// A record has a cost of reading and opening, whatever its content.
    #[test]
    fn nearly_empty_records_use_up_the_turn() {
        let (server_config, client_config) = configs();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        // The kernel holds more than a turn may take.
        socket2::SockRef::from(&listener).set_recv_buffer_size(1 << 20).expect("it is a socket");
        let address = listener.local_addr().expect("it has one");
        let client = std::thread::spawn(move || {
            let name = ServerName::try_from("a.example").expect("a good name");
            let mut client = ClientConnection::new(client_config.into(), name).expect("it is good");
            let mut tcp = std::net::TcpStream::connect(address).expect("it listens");
            while client.is_handshaking() {
                client.complete_io(&mut tcp).expect("it is TLS");
            }
            let mut records = Vec::new();
            for _ in 0..RECORDS {
                client.writer().write_all(&[7]).expect("there is room");
                client.write_tls(&mut records).expect("memory takes it");
            }
            tcp.write_all(&records).expect("it is read");
            // A stream that ends with bytes of the other side unread may lose its own: it stays open.
            (records.len(), tcp)
        });
        let (tcp, _) = listener.accept().expect("it comes");
        tcp.set_nonblocking(true).expect("it is a socket");
        let (mut transport, mut turn) = (Transport::new(TcpStream::from_std(tcp)), Turn::new());
        transport.serve_tls(&TlsServer(Arc::new(server_config)), &[]).expect("it is good");
        let (mut came, mut turns) = (0, 0);
        while came < RECORDS {
            turn.begin(Cost::micros(50));
            transport.begin_turn(true);
            while let Ok(count) = turn.read(&mut transport, &mut [0; 512]) {
                assert!(count > 0, "the client is there");
                came += count;
            }
            turns += u64::from(turn.is_used_up());
        }
        drop(client.join().expect("the client is well"));
        let cost = Cost::nanos(400) * RECORDS as u64;
        assert!(turn.spent() >= cost, "{} for {RECORDS} records", turn.spent());
        assert!(Cost::micros(50) * turns + Cost::micros(500) >= cost, "they took {turns} turns alone");
    }
}

#[cfg(test)]
mod tests_of_frames {
    use super::*;
    use mio::net::TcpStream;
    use std::io::Write;

    #[test]
    fn empty_frames_use_up_the_turn() {
        const FRAMES: u64 = 10_000;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut client = std::net::TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        let (tcp, _) = listener.accept().expect("it comes");
        tcp.set_nonblocking(true).expect("it is a socket");
        let pings = std::thread::spawn(move || {
            client.write_all(&[0x89, 0x80, 1, 2, 3, 4].repeat(FRAMES as usize)).expect("it is read");
            client
        });
        let (mut transport, mut turn) = (Transport::new(TcpStream::from_std(tcp)), Turn::new());
        while turn.bytes_in < 6 * FRAMES {
            turn.begin(Cost::micros(15));
            transport.begin_turn(true);
            let before = turn.bytes_in;
            while turn.read_frames(&mut transport, &mut [0; 4_096]).is_ok() {}
            assert!(turn.bytes_in - before <= 4_096, "a read is more than the turn had");
        }
        drop(pings.join().expect("the client is well"));
        assert!(turn.spent() >= FRAME * FRAMES, "{} for {FRAMES} frames", turn.spent());
    }
}
