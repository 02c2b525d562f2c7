//! `--find-limit` finds a limit that was put into a server on purpose.

use crate::runs::{number, result_of, script};
use crate::servers::udp;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const SCRIPT: &str = "
    local bot = skipstone.bot{ api = 1, tick = 20 }
    local echoes = metrics.requests('echo_ms', 0.3)
    skipstone.options{ duration = '700ms', ramp = '100ms', thresholds = { 'echo_ms_answered.share>90%' } }
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
    // Twelve are answered at the next tick; with one more, nobody is.
    let tick = |clients: &mut BTreeMap<SocketAddr, Heard>| {
        clients.retain(|_, heard| heard.1.is_some_and(|at| at.elapsed() < Duration::from_millis(500)));
        if clients.len() > 12 {
            return Vec::new();
        }
        let answers = clients.iter_mut().flat_map(|(to, heard)| {
            let datagrams = std::mem::take(&mut heard.0);
            datagrams.into_iter().map(|datagram| (*to, datagram))
        });
        answers.collect()
    };
    let server = udp(answer, tick);
    let (_folder, path) = script(SCRIPT);
    let limit = result_of(&[&path, &server.url("udp"), "--find-limit", "--limit-bounds", "4..32", "--settle", "600ms"]);
    if limit["verdict"] == "pass" {
        assert_eq!((number(&limit, "/holds"), number(&limit, "/breaks")), (12.0, 13.0), "{limit:#}");
        assert!(limit["broken_by"].to_string().contains("echo_ms_answered"), "{limit:#}");
    } else {
        // A busy machine: the search ends where the generator was late, and says so.
        assert_eq!(limit["verdict"], "invalid", "{limit:#}");
    }
    server.stop();
}
