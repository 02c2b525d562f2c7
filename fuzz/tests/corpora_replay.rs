//! Runs every input in `corpus/`, and seeded random ones, through the body of each fuzz target.

use skipstone_proto::rng::Rng;
use std::path::Path;

type Body = fn(&[u8]);

const TARGETS: [(&str, Body); 10] = [
    ("decode", skipstone_fuzz::decode),
    ("round_trip", skipstone_fuzz::round_trip),
    ("operations", skipstone_fuzz::operations),
    ("pair", skipstone_fuzz::pair),
    ("http3", skipstone_fuzz::http3),
    ("proxy_header", skipstone_fuzz::proxy_header),
    ("stream_messages", skipstone_fuzz::stream_messages),
    ("stream_heads", skipstone_fuzz::stream_heads),
    ("first_datagrams", skipstone_fuzz::first_datagrams),
    ("quic_streams", skipstone_fuzz::quic_streams),
];

#[test]
fn kept_inputs() {
    for (name, body) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|file| file.expect("a file").path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{name} has a corpus");
        for file in files {
            println!("{}", file.display());
            body(&std::fs::read(&file).expect("it can be read"));
        }
    }
}

#[test]
fn random_inputs() {
    for (name, body) in TARGETS {
        for seed in 0..SEEDS {
            let mut rng = Rng::new(seed);
            let bits = rng.below(11);
            let length = rng.below(1 + (1 << bits));
            let bytes: Vec<u8> = (0..length).map(|_| rng.next_u64() as u8).collect();
            println!("{name} with seed {seed}");
            body(&bytes);
        }
    }
}

const SEEDS: u64 = 300;

/// A corpus whose inputs are all refused would find nothing after the first check.
#[test]
fn corpora_reach_complete_inputs() {
    use skipstone::http3_fuzzed::{http3_capsules, http3_datagrams, http3_request};
    use skipstone::net::websocket::fuzzed::{Understood, proxy_header, stream_messages};
    let kept = |path: &str| {
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(path)).expect("it is kept")
    };
    let request = kept("http3/connect");
    assert_eq!(http3_request(&request), Some(Ok(request.len())));
    assert_eq!(http3_request(&kept("http3/other_origin")), Some(Err("refused")));
    assert_eq!(http3_capsules(&kept("http3/close_in_two"), 1), Some(Ok("gone".into())));
    let (datagrams, is_broken) = http3_datagrams(&kept("http3/datagrams"), 5);
    assert_eq!((datagrams.iter().map(Vec::len).collect::<Vec<_>>(), is_broken), (vec![9, 300, 17], true));
    for header in ["v1_tcp4", "v1_tcp6", "v1_unknown", "v2_tcp4", "v2_tcp6", "v2_local", "v2_tlv"] {
        let verdict = proxy_header(&kept(&format!("proxy_header/{header}")));
        assert!(matches!(verdict, Understood::Whole(_)), "{header}: {verdict:?}");
    }
    assert_eq!(stream_messages(&kept("stream_messages/several")).0.len(), 3);
    for (stream, messages) in
        [("websocket", 2), ("websocket_fragments", 1), ("raw", 3), ("proxy_v1", 1), ("proxy_v2_raw", 1)]
    {
        let opened = skipstone_fuzz::opened_by(&kept(&format!("stream_heads/{stream}")));
        assert_eq!(opened.messages.len(), messages, "{stream}: {opened:?}");
    }
    for (datagrams, dtls, quic) in [("dtls", 1, 0), ("quic", 0, 1), ("native", 0, 0)] {
        let (of_dtls, of_quic) = skipstone_fuzz::heard(&kept(&format!("first_datagrams/{datagrams}"))).stats();
        assert_eq!((of_dtls.begun, of_quic.begun), (dtls, quic), "{datagrams}");
    }
    for (streams, sessions, refused) in [("session", 1, 0), ("reordered", 1, 0), ("early_datagrams", 1, 1)] {
        let (_, stats) = skipstone_fuzz::used(&kept(&format!("quic_streams/{streams}"))).stats();
        assert_eq!((stats.established, stats.sessions, stats.refused), (1, sessions, refused), "{streams}: {stats:?}");
    }
}
