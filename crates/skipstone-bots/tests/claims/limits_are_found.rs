//! `--find-limit` finds a limit that was put into a server on purpose.

use crate::runs::{echo_script, number, result_of};
use crate::servers::udp;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// The latest datagram of a client, and when it came.
#[derive(Default)]
struct Heard(Vec<Vec<u8>>, Option<Instant>);

#[test]
fn a_server_that_stalls_above_a_number_of_players_holds_that_number() {
    let answer = |heard: &mut Heard, datagram: &[u8]| {
        heard.0.push(datagram.to_vec());
        heard.1 = Some(Instant::now());
        Vec::new()
    };
    // Up to six clients are answered at the next tick; a seventh makes it answer none.
    let tick = |clients: &mut BTreeMap<SocketAddr, Heard>| {
        clients.retain(|_, heard| heard.1.is_some_and(|at| at.elapsed() < Duration::from_millis(300)));
        if clients.len() > 6 {
            return Vec::new();
        }
        let answers = clients.iter_mut().flat_map(|(to, heard)| {
            let datagrams = std::mem::take(&mut heard.0);
            datagrams.into_iter().map(|datagram| (*to, datagram))
        });
        answers.collect()
    };
    let server = udp(answer, tick);
    let options = "duration = '700ms', ramp = '100ms', thresholds = { 'echo_ms_answered.share>90%' }";
    let (_folder, path) = echo_script(20, 0.3, options);
    let limit = result_of(&[&path, &server.url("udp"), "--find-limit", "--limit-bounds", "4..12", "--settle", "400ms"]);
    if limit["verdict"] == "pass" {
        assert_eq!((number(&limit, "/holds"), number(&limit, "/breaks")), (6.0, 7.0), "{limit:#}");
        assert!(limit["broken_by"].to_string().contains("echo_ms_answered"), "{limit:#}");
    } else {
        // A busy machine: the search ends where the generator was late, and says so.
        assert_eq!(limit["verdict"], "invalid", "{limit:#}");
    }
    server.stop();
}
