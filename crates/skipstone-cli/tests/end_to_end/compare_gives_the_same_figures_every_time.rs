//! A comparison in virtual time depends on its plan and seeds, and on nothing else.

use crate::common::comparison::{compare, figure, rows};

const SHORT: [&str; 6] = ["--minutes", "0.05", "--seeds", "2", "--modes", "lean,adaptive"];

#[test]
fn two_runs_write_the_same_bytes() {
    for values in [&["--loss", "5%"][..], &["--burst", "2%:3", "--jitter", "5ms", "--reorder", "2%"]] {
        let arguments = [&SHORT[..], values].concat();
        let (first, _) = compare("spatialos-25", &arguments);
        let (second, _) = compare("spatialos-25", &arguments);
        assert!(first.out == second.out, "{}\n{}", first.out, second.out);
    }
}

#[test]
fn a_seed_determines_the_run_regardless_of_parallel_runs() {
    let (_, all) = compare("lossy-5", &SHORT);
    let (_, one) = compare("lossy-5", &["--minutes", "0.05", "--seeds", "1", "--seed", "2", "--transports", "quinn"]);
    let of_quinn: Vec<_> = rows(&all).iter().filter(|row| row["transport"] == "quinn").collect();
    assert_eq!(of_quinn.len(), 2);
    assert_ne!(of_quinn[0]["ip_bytes"], of_quinn[1]["ip_bytes"]);
    assert_eq!(*of_quinn[1], rows(&one)[0]);
}

#[test]
fn without_loss_and_load_every_transport_takes_one_round_trip() {
    let (_, result) = compare("spatialos-25", &["--loss", "0%", "--rtt", "60ms", "--minutes", "0.05", "--seeds", "1"]);
    assert_eq!(rows(&result).len(), 23, "15 transports, two of them in four modes, and one in three");
    for row in rows(&result) {
        assert_eq!(figure(row, "p50"), 60.0, "{row:#}");
        assert!(figure(row, "bytes_per_payload") > 1.0, "{row:#}");
    }
}
