//! A server answers server browsers only if its application has set an answer, never with more bytes than the query
//! had, and without keeping state.

use crate::simulation::seed_bytes;
use bytes::Bytes;
use skipstone_proto::Time;
use skipstone_proto::rng::Rng;
use skipstone_proto::wire::cursor::Writer;
use skipstone_proto::wire::datagram;
use skipstone_proto::{Carrier, Path};
use skipstone_proto::{Config, DecodedAnswer, DropReason, Endpoint, QUERY_PAYLOAD_BYTES_MAX, QueryPayloadTooLong};
use std::net::SocketAddr;

const NOW: Time = Time::from_micros(5_000_000);

fn server() -> Endpoint {
    Endpoint::new(Config::server(Default::default()), seed_bytes(1)).expect("a good configuration")
}

fn path(host: u32) -> Path {
    Path { socket: 0, local: None, remote: SocketAddr::from((host.to_be_bytes(), 4_000)), carrier: Carrier::UDP }
}

fn query(nonce: u64, bytes: usize) -> Vec<u8> {
    let mut query = vec![0; bytes];
    datagram::encode_query(&mut Writer::new(&mut query), nonce, bytes);
    query
}

/// Passes a datagram to the server; returns the answers.
fn ask(server: &mut Endpoint, path: Path, datagram: &[u8]) -> Vec<Vec<u8>> {
    server.handle_datagram(NOW, path, &mut datagram.to_vec());
    let mut buffer = vec![0; 1 << 16];
    let mut answers = Vec::new();
    while let Some(transmit) = server.poll_transmit(NOW, &mut buffer) {
        assert_eq!(transmit.path, path, "it goes to whoever asked");
        answers.push(buffer[..transmit.bytes].to_vec());
    }
    answers
}

#[test]
fn an_answer_comes_from_the_application_and_is_never_longer_than_the_query() {
    let mut server = server();
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let payload = vec![rng.next_u64() as u8; rng.below(QUERY_PAYLOAD_BYTES_MAX as u32 + 1) as usize];
        server.set_query_answer(Some(payload.clone().into())).expect("it fits");
        let (nonce, length) = (rng.next_u64(), 64 + rng.below(1_437) as usize);
        let unanswered = server.past().drops.of(DropReason::UnansweredQuery);
        let answers = ask(&mut server, path(7), &query(nonce, length));
        let is_long_enough = payload.len() + datagram::ANSWER_OVERHEAD_BYTES <= length;
        assert_eq!(answers.len(), usize::from(is_long_enough), "seed {seed}");
        let Some(answer) = answers.first() else {
            assert_eq!(server.past().drops.of(DropReason::UnansweredQuery), unanswered + 1);
            continue;
        };
        assert!(answer.len() <= length, "seed {seed}: {} for {length}", answer.len());
        let told = DecodedAnswer { nonce, versions: vec![1], payload: &payload };
        assert_eq!(DecodedAnswer::decode(answer), Some(told), "seed {seed}");
        assert_eq!(DecodedAnswer::decode(&query(nonce, length)), None, "a question is no answer");
    }
    assert_eq!(server.connection_count(), 0);
    assert_eq!(server.work().timers, 0, "nothing is kept");
}

#[test]
fn clients_and_servers_without_an_answer_drop_and_count_queries() {
    let mut client = Endpoint::new(Config::client(), seed_bytes(2)).expect("a good configuration");
    client.set_query_answer(Some("a client".into())).expect("it fits");
    let mut stream = server();
    stream.set_query_answer(Some("on a stream".into())).expect("it fits");
    let mut taken_back = server();
    taken_back.set_query_answer(Some("was here".into())).expect("it fits");
    taken_back.set_query_answer(None).expect("nothing fits");
    let on_stream = Path { carrier: Carrier::WEBSOCKET, ..path(7) };
    for (endpoint, path) in
        [(&mut server(), path(7)), (&mut client, path(7)), (&mut stream, on_stream), (&mut taken_back, path(7))]
    {
        assert_eq!(ask(endpoint, path, &query(1, 1_200)), Vec::<Vec<u8>>::new());
        assert_eq!(endpoint.past().drops.of(DropReason::UnansweredQuery), 1);
    }
}

#[test]
fn an_answer_longer_than_any_query_is_refused() {
    let mut server = server();
    server.set_query_answer(Some("before".into())).expect("it fits");
    let bytes = QUERY_PAYLOAD_BYTES_MAX + 1;
    assert_eq!(server.set_query_answer(Some(vec![0; bytes].into())), Err(QueryPayloadTooLong { bytes }));
    assert_eq!(ask(&mut server, path(1), &query(1, 1_200)).len(), 1, "the one before stays");
}

#[test]
fn spoofed_addresses_get_no_amplification() {
    let mut server = server();
    server.set_query_answer(Some(Bytes::from(vec![7; QUERY_PAYLOAD_BYTES_MAX]))).expect("it fits");
    let (mut brought, mut buffer) = (0, vec![0; 1 << 16]);
    for host in 0..2_000 {
        let query = query(host.into(), 1_200);
        brought += query.len();
        server.handle_datagram(NOW, path(host), &mut query.clone());
    }
    // A handshake that arrives among them is answered, and first of all.
    let offer = datagram::encode_offer(datagram::SUITE_PLAIN, &[1]);
    let mut hello = vec![0; datagram::hello_len(&offer)];
    datagram::encode_hello(&mut Writer::new(&mut hello), 7, 9, &offer);
    server.handle_datagram(NOW, path(9_999), &mut hello);
    let (mut sent, mut first) = (0, None);
    while let Some(transmit) = server.poll_transmit(NOW, &mut buffer) {
        first = first.or(Some(buffer[0]));
        sent += transmit.bytes;
    }
    assert_eq!(first, Some(datagram::KIND_CHALLENGE));
    assert!(sent < brought / 6, "{sent} of {brought} bytes: few answers may wait");
    assert_eq!(server.past().drops.of(DropReason::TooManyReplies), 2_000 - 256);
}

#[test]
fn garbage_and_answers_are_not_queries() {
    let mut server = server();
    server.set_query_answer(Some("here".into())).expect("it fits");
    let mut answer = vec![0; 200];
    let mut writer = Writer::new(&mut answer);
    datagram::encode_answer(&mut writer, 1, &[1], b"yes");
    let length = writer.len();
    assert_eq!(ask(&mut server, path(1), &answer[..length]).len(), 0);
    let mut rng = Rng::new(3);
    let mut answered = 0;
    for _ in 0..20_000 {
        let mut garbage = query(rng.next_u64(), 64 + rng.below(64) as usize);
        for _ in 0..=rng.below(3) {
            let at = rng.below(garbage.len() as u32) as usize;
            garbage[at] ^= 1 << rng.below(8);
        }
        garbage.truncate(garbage.len() - rng.below(8) as usize);
        answered += ask(&mut server, path(1), &garbage).len();
    }
    // Two flips of one bit cancel each other; nothing else passes the check.
    assert!(answered < 50, "{answered}");
}
