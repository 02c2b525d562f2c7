//! How much a connection reads before others have their turn.

use super::transport::Transport;
use std::io::{self, Read};

/// Bytes that a connection may still read before other connections have their turn.
#[derive(Debug)]
pub(super) struct Turn {
    budget_bytes: usize,
    pub(super) bytes_in: u64,
}

/// Bytes that one connection may read before other connections have their turn.
const TURN_BYTES: usize = 64 << 10;

impl Turn {
    pub(super) fn new() -> Turn {
        Turn { budget_bytes: TURN_BYTES, bytes_in: 0 }
    }

    /// Starts a new turn.
    pub(super) fn begin(&mut self) {
        self.budget_bytes = TURN_BYTES;
    }

    /// Whether the budget is used up, so that more bytes may wait.
    pub(super) fn is_used_up(&self) -> bool {
        self.budget_bytes == 0
    }

    /// Reads within the budget; without a budget the read "would block".
    pub(super) fn read(&mut self, transport: &mut Transport, buffer: &mut [u8]) -> io::Result<usize> {
        let limit = buffer.len().min(self.budget_bytes);
        if limit == 0 {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let count = transport.read(&mut buffer[..limit])?;
        // A record may hold padding and hardly anything else: what is read and opened counts.
        self.budget_bytes = (self.budget_bytes - count).min(TURN_BYTES.saturating_sub(transport.taken_bytes()));
        self.bytes_in += count as u64;
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

    /// Bytes of plaintext, each in a record of its own, which takes 23 bytes.
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

    /// A record costs to read and to open, whatever is in it.
    #[test]
    fn records_that_hold_next_to_nothing_use_the_budget_up() {
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
            turn.begin();
            transport.begin_turn(true);
            let before = came;
            while let Ok(count) = turn.read(&mut transport, &mut [0; 512]) {
                assert!(count > 0, "the client is there");
                came += count;
            }
            turns += usize::from(came > before);
            assert!(transport.taken_bytes() <= TURN_BYTES + (20 << 10), "{} in one turn", transport.taken_bytes());
        }
        let (bytes, _tcp) = client.join().expect("the client is well");
        assert!(turns >= bytes / (TURN_BYTES + (20 << 10)), "{bytes} bytes in {turns} turns");
    }
}
