//! Server browsers: one server or hundreds are asked without a connection; a server is silent until its application
//! sets an answer; and no host that guesses can answer in a server's place.

use skipstone::{
    ClientConfig, Event, QueryAnswerError, QueryBatch, QueryConfig, QueryError, Security, Server, ServerConfig,
    StartError, Threading, query,
};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

const SPAN: Duration = Duration::from_secs(5);

fn config(answer: Option<&'static str>) -> ServerConfig {
    let listen = "127.0.0.1:0".parse().expect("an address");
    ServerConfig {
        query_answer: answer.map(Into::into),
        security: Some(Security::plain()),
        ..ServerConfig::new(listen)
    }
}

fn serve(answer: Option<&'static str>) -> Server {
    Server::start(config(answer)).expect("a port is free")
}

fn batch(timeout: Duration) -> QueryBatch {
    QueryBatch::new(QueryConfig { timeout, ..QueryConfig::default() }).expect("a poll")
}

/// Waits for all results.
fn results(batch: &mut QueryBatch) -> Vec<(SocketAddr, Option<String>)> {
    let (mut found, end) = (Vec::new(), Instant::now() + Duration::from_secs(30));
    while !batch.is_done() && Instant::now() < end {
        batch.wait(Duration::from_millis(100));
        while let Some((address, outcome)) = batch.poll() {
            found.push((address, outcome.ok().map(|answer| String::from_utf8_lossy(&answer.payload).into_owned())));
        }
    }
    assert!(batch.is_done(), "each question has one result");
    found
}

#[test]
fn by_url_and_by_address_in_both_families() {
    for listen in ["127.0.0.1:0", "[::1]:0"] {
        let listen = listen.parse().expect("an address");
        let server = Server::start(ServerConfig { listen: Some(listen), ..config(Some("3 of 8")) }).expect("a port");
        for given in [server.url(), server.local_addr().to_string()] {
            let answer = query(&given, SPAN).expect(&given);
            assert_eq!((answer.remote, &answer.payload[..]), (server.local_addr(), &b"3 of 8"[..]));
            assert!(answer.versions.contains(&1) && answer.rtt < SPAN);
        }
        assert_eq!(server.overviews().len(), 0, "nobody connected");
    }
}

#[test]
fn a_server_is_silent_until_it_has_an_answer_and_sends_the_latest() {
    let mut server = serve(None);
    let address = server.local_addr().to_string();
    let short = Duration::from_millis(200);
    // The driver uses a new answer in its next turn; until then it may still give the previous one.
    let soon_answers = |bytes| (0..50).any(|_| query(&address, SPAN).expect("an answer").payload.len() == bytes);
    assert!(matches!(query(&address, short), Err(QueryError::Timeout)), "off by default");
    server.set_query_answer(Some("open".into())).expect("it fits");
    assert_eq!(query(&address, SPAN).expect("an answer").payload, "open");
    let too_long = vec![0; 1_182];
    let error = server.set_query_answer(Some(too_long.clone().into())).expect_err("no datagram has room for it");
    assert!(matches!(error, QueryAnswerError::TooLong(_)) && error.to_string().contains("1181"), "{error}");
    assert_eq!(query(&address, SPAN).expect("an answer").payload, "open", "the one before stays");
    server.set_query_answer(Some(vec![7; 1_181].into())).expect("it just fits");
    assert!(soon_answers(1_181));
    server.set_query_answer(None).expect("nothing fits");
    let falls_silent = (0..50).any(|_| matches!(query(&address, short), Err(QueryError::Timeout)));
    assert!(falls_silent, "from the driver's next turn on");
    let config = ServerConfig { query_answer: Some(too_long.into()), ..config(None) };
    assert!(matches!(Server::start(config), Err(StartError::QueryAnswer(_))));
}

#[test]
fn hundreds_of_servers_are_queried_through_one_socket() {
    let answering: Vec<_> = ["one", "two", "three"].map(|text| (serve(Some(text)), text)).into_iter().collect();
    let silent: Vec<_> = (0..5).map(|_| UdpSocket::bind("127.0.0.1:0").expect("a port is free")).collect();
    let mut batch = batch(SPAN);
    let mut expected = Vec::new();
    for at in 0..300 {
        let (server, text) = &answering[at % 3];
        batch.ask(server.local_addr());
        expected.push((server.local_addr(), Some(text.to_string())));
    }
    let mut found = results(&mut batch);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    let mut batch = batch_of_one(Duration::from_millis(100));
    silent.iter().for_each(|socket| batch.ask(socket.local_addr().expect("an address")));
    assert_eq!(results(&mut batch).iter().filter(|(_, text)| text.is_some()).count(), 0);
}

fn batch_of_one(timeout: Duration) -> QueryBatch {
    QueryBatch::new(QueryConfig { timeout, servers_at_once: 1, ..QueryConfig::default() }).expect("a poll")
}

#[test]
fn only_the_queried_server_can_answer_and_only_with_the_nonce() {
    let (liar, stranger) =
        (UdpSocket::bind("127.0.0.1:0").expect("a port"), UdpSocket::bind("127.0.0.1:0").expect("a port"));
    let mut batch = batch(SPAN);
    batch.ask(liar.local_addr().expect("an address"));
    assert!(batch.poll().is_none());
    let mut question = [0; 2_000];
    liar.set_read_timeout(Some(SPAN)).expect("it can wait");
    let (length, browser) = liar.recv_from(&mut question).expect("it is asked");
    assert_eq!((length, question[0]), (1_200, 0x87));
    let nonce: [u8; 8] = question[8..16].try_into().expect("8 bytes");
    let answer = |nonce: [u8; 8], text: &[u8]| {
        let body = [&[0x88, 0, 0, 0][..], &nonce, &[1, 0, 1], text].concat();
        let check = crc32(&body).to_be_bytes();
        [&body[..], &check].concat()
    };
    let wrong_nonce = (u64::from_be_bytes(nonce) ^ 1 << 40).to_be_bytes();
    // A try that has not been made yet.
    let early = (u64::from_be_bytes(nonce) | 3).to_be_bytes();
    for (from, lie) in [
        (&liar, answer(wrong_nonce, b"lie")),
        (&liar, answer(early, b"lie")),
        (&stranger, answer(nonce, b"lie")),
        (&liar, vec![0x88; 40]),
        (&liar, answer(nonce, b"lie")[..20].to_vec()),
        (&liar, vec![]),
        (&liar, answer(nonce, b"the truth")),
    ] {
        from.send_to(&lie, browser).expect("it sends");
    }
    assert_eq!(results(&mut batch), [(liar.local_addr().expect("an address"), Some("the truth".to_owned()))]);
}

#[test]
fn an_unanswered_query_is_repeated() {
    let server = UdpSocket::bind("127.0.0.1:0").expect("a port");
    server.set_read_timeout(Some(Duration::from_millis(1))).expect("it can wait");
    // Room for stalls of the machine between the tries.
    let mut batch = batch(Duration::from_millis(1_500));
    batch.ask(server.local_addr().expect("an address"));
    let (mut nonces, mut question) = (Vec::new(), [0; 2_000]);
    while !batch.is_done() {
        batch.wait(Duration::from_millis(5));
        drop(batch.poll());
        while server.recv_from(&mut question).is_ok() {
            nonces.push(u64::from_be_bytes(question[8..16].try_into().expect("8 bytes")));
        }
    }
    assert_eq!(nonces.len(), 3);
    assert!(nonces.windows(2).all(|pair| pair[1] == pair[0] + 1), "each try is known by its nonce: {nonces:x?}");
}

#[test]
fn an_invalid_address_is_an_error_that_says_so() {
    for bad in ["nowhere", "http://a:1", "skip://"] {
        let error = query(bad, SPAN).expect_err(bad).to_string();
        assert!(error.contains(bad), "{error}");
    }
}

#[test]
fn a_stepped_server_with_clients_answers_queries() {
    let mut server =
        Server::start(ServerConfig { threading: Threading::Stepped, ..config(Some("busy")) }).expect("a port");
    let client = ClientConfig { threading: Threading::Stepped, ..ClientConfig::default() };
    let mut client = skipstone::Client::connect(&server.url(), b"", client).expect("a socket");
    let mut batch = batch(SPAN);
    batch.ask(server.local_addr());
    let (mut is_answered, mut is_connected, end) = (false, false, Instant::now() + SPAN);
    while !(is_answered && is_connected) {
        assert!(Instant::now() < end, "answered {is_answered}, connected {is_connected}");
        server.drive(Duration::from_millis(1)).expect("it drives");
        client.drive(Duration::from_millis(1)).expect("it drives");
        is_answered |= batch.poll().is_some_and(|(_, outcome)| outcome.is_ok());
        is_connected |= matches!(client.poll_event(), Some(Event::Connected { .. }));
        if let Some(Event::Requested { peer, .. }) = server.poll_event() {
            server.accept(peer).expect("it waits");
        }
    }
}

/// CRC-32 (IEEE 802.3), bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
