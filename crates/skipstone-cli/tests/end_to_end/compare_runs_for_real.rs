//! A comparison over real sockets: as root through a link between namespaces, without through a relay. Either way every
//! update arrives once, and nothing is left behind.

use crate::common::comparison::{compare_by, figure, rows};

#[test]
fn every_transport_delivers_every_update() {
    let transports = "skipstone,skipstone-plain,skipstone-wt,kcp,quinn-tuned,renet-tuned,enet";
    let flags = ["--seconds", "2", "--transports", transports, "--modes", "adaptive", "--loss", "2%"];
    let (ended, result) = compare_by("spatialos-25", &flags);
    ended.expect(&[0]);
    assert_eq!((rows(&result).len(), &result["clock"]), (7, &"real".into()));
    let updates = 2.0 * 60.0 * 25.0;
    for row in rows(&result) {
        let counts =
            ["sent", "delivered", "lost", "duplicated", "reordered", "corrupted"].map(|name| figure(row, name));
        assert_eq!(counts, [updates, updates, 0.0, 0.0, 0.0, 0.0], "{row:#}");
        // No latency is below the path's, and the link lost datagrams.
        assert!(figure(row, "p50") >= 20.0 && figure(row, "datagrams_lost") > 0.0, "{row:#}");
        assert!((1.0..8.0).contains(&figure(row, "bytes_per_payload")), "{row:#}");
        assert!(figure(row, "stalled") <= updates, "{row:#}");
    }
}

#[test]
fn a_transport_that_fails_is_named_and_the_others_stay() {
    // A relay cannot impair TCP; over a link every transport takes part.
    let flags = ["--seconds", "1", "--transports", "kcp,tcp,skipstone-ws,skipstone-wss"];
    let (ended, result) = compare_by("spatialos-25", &flags);
    let is_root = result["over"].as_str().is_some_and(|over| over.contains("namespaces"));
    if is_root {
        ended.expect(&[0]);
        assert_eq!(rows(&result).len(), 4);
        for row in rows(&result) {
            assert_eq!((figure(row, "sent"), figure(row, "delivered")), (1_500.0, 1_500.0), "{row:#}");
        }
    } else {
        ended.expect(&[99]);
        assert_eq!(rows(&result).len(), 1);
        for stream in ["tcp", "skipstone-ws", "skipstone-wss"] {
            assert!(ended.err.contains(&format!("{stream}: a relay cannot take packets")), "{}", ended.err);
        }
    }
}
