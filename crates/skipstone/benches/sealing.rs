//! The cost of sealing, opening and handshakes, with the plain suite and TLS, with the build's provider: `cargo bench
//! -p skipstone --bench sealing`, and with `--no-default-features --features aws-lc,self-signed`.

use skipstone::{Security, Trust};
use skipstone_proto::Plain;
use skipstone_proto::SUITE_TLS_1_3;
use skipstone_proto::Time;
use skipstone_proto::security::Security as Seal;
use std::time::Instant;

const NOW: Time = Time::from_micros(1_000_000);
const PACKETS: u32 = 100_000;
const HANDSHAKES: u32 = 200;

type Pair = (Seal, Seal);

/// Bytes of a packet's content.
const LENGTHS: [usize; 3] = [64, 400, 1_400];

fn main() {
    let plain = || -> Pair { (Seal::Plain(Plain::with_key(&[1; 16])), Seal::Plain(Plain::with_key(&[1; 16]))) };
    let columns = LENGTHS.map(|length| format!("{:>23}", format!("seal + open {length} B")));
    println!("ns, medians{}{:>12}{:>26}", columns.concat(), "overhead B", "handshake us, both sides");
    report("plain", plain);
    report("TLS 1.3", shake_hands);
}

fn report(name: &str, mut pair: impl FnMut() -> Pair) {
    let (mut client, mut server) = pair();
    let measured = LENGTHS.map(|length| {
        let (seal, open) = measure(&mut client, &mut server, length);
        format!("{:>23}", format!("{seal} + {open}"))
    });
    let handshakes: Vec<_> = (0..HANDSHAKES)
        .map(|_| {
            let began = Instant::now();
            drop(pair());
            began.elapsed().as_micros() as u64
        })
        .collect();
    let handshake = median(handshakes);
    println!("{name:10} {}{:>12}{:>26}", measured.concat(), client.overhead(), handshake);
}

/// Median nanoseconds to seal and to open a packet of this length. One after another, because late packets are dropped.
fn measure(client: &mut Seal, server: &mut Seal, bytes: usize) -> (u64, u64) {
    let (mut sealing, mut opening) = (Vec::new(), Vec::new());
    let mut datagram = vec![7; 4 + bytes + client.overhead()];
    for number in 0..u64::from(PACKETS) {
        // A truncated number of 28 bits.
        datagram[4..8].copy_from_slice(&(0xE000_0000 | number as u32).to_be_bytes());
        let began = Instant::now();
        client.seal(&mut datagram, 4..4 + bytes, number);
        let sealed = Instant::now();
        server.open(&mut datagram, 4, number).expect("it is genuine");
        opening.push(sealed.elapsed().as_nanos() as u64);
        sealing.push((sealed - began).as_nanos() as u64);
    }
    (median(sealing), median(opening))
}

fn median(mut times: Vec<u64>) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

fn shake_hands() -> Pair {
    thread_local! {
        static SECURITY: Security = Security::self_signed().expect("it is made");
    }
    let security = SECURITY.with(Clone::clone);
    let pin = Trust::Pinned(security.fingerprint().expect("it has a certificate"));
    let client = pin.suites("localhost").expect("it is a pin").client(NOW, SUITE_TLS_1_3, b"transcript");
    let server = security.suites().expect("it encrypts").server(NOW, SUITE_TLS_1_3, b"transcript");
    let (mut client, mut server) = (client.expect("it is offered"), server.expect("it is offered"));
    let mut buffer = [0; 2_000];
    while !(client.is_established() && server.is_established()) {
        while let Some(length) = client.poll_handshake(&mut buffer) {
            server.handle_handshake(NOW, &buffer[..length]);
        }
        while let Some(length) = server.poll_handshake(&mut buffer) {
            client.handle_handshake(NOW, &buffer[..length]);
        }
    }
    (Seal::Session(client), Seal::Session(server))
}
