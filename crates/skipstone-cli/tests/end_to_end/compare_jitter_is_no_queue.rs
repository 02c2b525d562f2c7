//! Round trips that jump are not taken for a queue, nor losses on such a path for its overflow.

use crate::common::comparison::{compare, figure, rows};

#[test]
fn a_path_with_jitter_and_burst_loss_delivers_all_messages() {
    let path = ["--rtt", "40ms", "--jitter", "10ms", "--burst", "5%:2"];
    let load = ["--entities", "100", "--payload", "150", "--minutes", "0.5", "--seeds", "2"];
    let ours = ["--transports", "skipstone", "--modes", "lean,adaptive"];
    let (ended, result) = compare("spatialos-25", &[&path[..], &load, &ours].concat());
    ended.expect(&[0]);
    for row in rows(&result) {
        // A round trip with all of its jitter is 60 ms, a second one after a loss 120.
        assert!(figure(row, "p50") <= 60.0 && figure(row, "p99") <= 130.0 && figure(row, "lost") == 0.0, "{row:#}");
    }
}
