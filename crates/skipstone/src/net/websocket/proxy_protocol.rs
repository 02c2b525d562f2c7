//! The PROXY protocol, versions 1 and 2 (haproxy.org, proxy-protocol.txt): how a TCP proxy names the client of a
//! connection. Only headers of trusted proxies are accepted.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The result of parsing a connection's first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProxyHeader {
    /// Not a header.
    Absent,
    /// Too few bytes to tell.
    Incomplete,
    /// It begins like a header and is invalid.
    Malformed,
    /// A header with this number of bytes, and the client that it names; `None` for a connection of the proxy's own.
    Complete(usize, Option<SocketAddr>),
}

const V1: &[u8] = b"PROXY ";
const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// The longest line of version 1, its end included.
const V1_BYTES_MAX: usize = 107;
const V2_HEAD_BYTES: usize = 16;
/// Addresses and extensions of version 2. Proxies add several hundred bytes, for example of a client's certificate.
const V2_BODY_BYTES_MAX: usize = 2_048;

impl ProxyHeader {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let begins = |with: &[u8]| with.starts_with(&bytes[..bytes.len().min(with.len())]);
        if begins(V2) && !bytes.is_empty() {
            return if bytes.len() < V2_HEAD_BYTES { ProxyHeader::Incomplete } else { v2(bytes) };
        }
        if begins(V1) && !bytes.is_empty() { v1(bytes) } else { ProxyHeader::Absent }
    }
}

fn v1(bytes: &[u8]) -> ProxyHeader {
    let Some(end) = bytes.iter().take(V1_BYTES_MAX).position(|byte| *byte == b'\n') else {
        return if bytes.len() < V1_BYTES_MAX { ProxyHeader::Incomplete } else { ProxyHeader::Malformed };
    };
    let line = str::from_utf8(&bytes[..end]).ok().and_then(|line| line.strip_suffix('\r'));
    let Some(line) = line else { return ProxyHeader::Malformed };
    let words: Vec<&str> = line.split(' ').collect();
    let client = match words[..] {
        ["PROXY", "UNKNOWN", ..] => Some(None),
        ["PROXY", "TCP4", from, _, port, _] => client(from.parse().ok().map(IpAddr::V4), port),
        ["PROXY", "TCP6", from, _, port, _] => client(from.parse().ok().map(IpAddr::V6), port),
        _ => None,
    };
    client.map_or(ProxyHeader::Malformed, |client| ProxyHeader::Complete(end + 1, client))
}

fn client(address: Option<IpAddr>, port: &str) -> Option<Option<SocketAddr>> {
    Some(Some(SocketAddr::new(address?, port.parse().ok()?)))
}

fn v2(bytes: &[u8]) -> ProxyHeader {
    const LOCAL: u8 = 0x20;
    const PROXY: u8 = 0x21;
    const TCP4: u8 = 0x11;
    const TCP6: u8 = 0x21;
    let (command, family) = (bytes[12], bytes[13]);
    let length = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
    if !matches!(command, LOCAL | PROXY) || length > V2_BODY_BYTES_MAX {
        return ProxyHeader::Malformed;
    }
    let end = V2_HEAD_BYTES + length;
    let Some(body) = bytes.get(V2_HEAD_BYTES..end) else { return ProxyHeader::Incomplete };
    let client = match (command, family) {
        (LOCAL, _) => None,
        (_, TCP4) => match body {
            [a, b, c, d, _, _, _, _, port @ ..] if port.len() >= 4 => {
                Some(SocketAddr::new(Ipv4Addr::new(*a, *b, *c, *d).into(), u16::from_be_bytes([port[0], port[1]])))
            }
            _ => return ProxyHeader::Malformed,
        },
        (_, TCP6) => match (body.first_chunk::<16>(), body.get(32..36)) {
            (Some(address), Some(ports)) => {
                Some(SocketAddr::new(Ipv6Addr::from(*address).into(), u16::from_be_bytes([ports[0], ports[1]])))
            }
            _ => return ProxyHeader::Malformed,
        },
        // Unix sockets, UDP and unknown families: the proxy's address stays.
        _ => None,
    };
    ProxyHeader::Complete(end, client)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header of version 2.
    fn header(command: u8, family: u8, body: &[u8]) -> Vec<u8> {
        [V2, &[command, family], &(body.len() as u16).to_be_bytes(), body].concat()
    }

    #[test]
    fn both_versions_name_the_client() {
        let four: SocketAddr = "203.0.113.7:40000".parse().expect("an address");
        let six: SocketAddr = "[2001:db8::7]:40000".parse().expect("an address");
        let v4 = [&[203, 0, 113, 7, 10, 0, 0, 1][..], &40_000_u16.to_be_bytes(), &443_u16.to_be_bytes()].concat();
        let tail = [&[0; 16][..], &40_000_u16.to_be_bytes(), &443_u16.to_be_bytes()].concat();
        let v6 = [&"2001:db8::7".parse::<Ipv6Addr>().expect("an address").octets()[..], &tail].concat();
        let extended = [&v4[..], &[0x20, 0, 3, 1, 2, 3]].concat();
        for (bytes, client) in [
            (b"PROXY TCP4 203.0.113.7 10.0.0.1 40000 443\r\n".to_vec(), Some(four)),
            (b"PROXY TCP6 2001:db8::7 ::1 40000 443\r\n".to_vec(), Some(six)),
            (b"PROXY UNKNOWN\r\n".to_vec(), None),
            (b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n".to_vec(), None),
            (header(0x21, 0x11, &v4), Some(four)),
            (header(0x21, 0x21, &v6), Some(six)),
            (header(0x21, 0x11, &extended), Some(four)),
            (header(0x20, 0, &[]), None),
            (header(0x21, 0x31, &[0; 216]), None),
        ] {
            assert_eq!(ProxyHeader::read(&bytes), ProxyHeader::Complete(bytes.len(), client));
            for end in 1..bytes.len() {
                assert_eq!(ProxyHeader::read(&bytes[..end]), ProxyHeader::Incomplete, "{end} bytes of {bytes:?}");
            }
            let more = [&bytes[..], b"GET / HTTP/1.1"].concat();
            assert_eq!(ProxyHeader::read(&more), ProxyHeader::Complete(bytes.len(), client));
        }
    }

    #[test]
    fn a_missing_header_is_distinguished_from_a_broken_one() {
        for absent in [&b""[..], b"GET / ", b"\x16\x03\x01", b"\r\n\r\nGET", b"POST /", b"PROXIES", b"\x80"] {
            assert_eq!(ProxyHeader::read(absent), ProxyHeader::Absent, "{absent:?}");
        }
        let long = [&b"PROXY TCP4 "[..], &[b'1'; 200]].concat();
        for broken in [
            &b"PROXY TCP4 203.0.113.7 10.0.0.1 40000\r\n"[..],
            b"PROXY TCP4 2001:db8::7 ::1 1 2\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 70000 2\r\n",
            b"PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n",
            b"PROXY \xff\r\n",
            &long,
            &header(0x31, 0x11, &[0; 12]),
            &header(0x22, 0x11, &[0; 12]),
            &header(0x21, 0x11, &[0; 11]),
            &header(0x21, 0x21, &[0; 35]),
            &header(0x21, 0x11, &[0; 2_049]),
        ] {
            assert_eq!(ProxyHeader::read(broken), ProxyHeader::Malformed, "{broken:?}");
        }
    }
}
