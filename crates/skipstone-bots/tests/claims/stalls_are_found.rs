//! Where a server stood still is told with its time.

use crate::runs::{echo_script, number, result_of};
use crate::servers::udp;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

#[test]
fn a_stall_of_the_server_is_found_at_its_time() {
    let mut first = None::<Instant>;
    let mut has_stalled = false;
    let answer = |_: &mut (), datagram: &[u8]| vec![datagram.to_vec()];
    let tick = move |clients: &mut BTreeMap<SocketAddr, ()>| {
        if first.is_none() && !clients.is_empty() {
            first = Some(Instant::now());
        }
        if !has_stalled && first.is_some_and(|at| at.elapsed() >= Duration::from_millis(1000)) {
            has_stalled = true;
            std::thread::sleep(Duration::from_millis(600));
        }
        Vec::new()
    };
    let server = udp(answer, tick);
    let (_folder, path) = echo_script(50, 3.0, "");
    let result = result_of(&[&path, &server.url("udp"), "-c", "4", "-d", "3s", "--ramp", "0s"]);
    server.stop();
    if result["verdict"] == "invalid" {
        // A machine that is busy beyond use: what is slow then is told by no test.
        return;
    }
    let times = result["slow_times"].as_array().expect("a list");
    let worst = times.iter().max_by(|one, other| number(one, "/worst_ms").total_cmp(&number(other, "/worst_ms")));
    let worst = worst.expect("one was found");
    assert_eq!(worst["metric"], "echo_ms");
    let (from, until) = (number(worst, "/from_s"), number(worst, "/until_s"));
    assert!((0.9..1.3).contains(&from) && (1.5..2.0).contains(&until), "{result:#}");
}
