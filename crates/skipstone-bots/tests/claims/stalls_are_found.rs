//! Where a server stood still is told with its time.

use crate::runs::{number, result_of, script};
use crate::servers::udp;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const SCRIPT: &str = "
    local bot = skipstone.bot{ api = 1, tick = 50 }
    local echoes = metrics.requests('echo_ms', 3)
    local sequence = 0
    function bot:tick(now)
        sequence += 1
        local packet = buffer.create(4)
        buffer.writeu32(packet, 0, sequence)
        echoes:sent(sequence, now)
        self:send(0, packet, { due = now })
    end
    function bot:message(_, data) echoes:got(buffer.readu32(data, 0)) end
";

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
    let (_folder, path) = script(SCRIPT);
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
