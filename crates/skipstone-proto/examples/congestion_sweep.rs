//! A table of the default controller's results over rates, round-trip times and queues, alone and with CUBIC. Takes
//! minutes: `cargo run --release -p skipstone-proto --example congestion_sweep`. With `short` (`-- short`), only links
//! whose queue is shorter than the windows of two flows, with CUBIC, in some seconds.

#[path = "../tests/bottleneck/mod.rs"]
mod bottleneck;

use bottleneck::{Kind, Load, Network, link, millis, seconds};
use skipstone_proto::Congestion;
use std::time::Duration;

const GREEDY: Kind = Kind::Ours(Congestion::DelayAware, Load::Greedy);

/// Links on which a few datagrams are all that fits.
const SHORT: [(u64, u64, u64); 8] = [
    (300, 20, 30),
    (500, 20, 30),
    (500, 100, 30),
    (1_000, 20, 20),
    (1_000, 20, 30),
    (1_000, 100, 30),
    (2_000, 20, 20),
    (2_000, 20, 30),
];

fn main() {
    if std::env::args().any(|argument| argument == "short") {
        println!(
            "kbit/s  RTT queue | two CUBIC flows | ours   CUBIC  | CUBIC was first | the same with echoes on the way \
             back"
        );
        SHORT.into_iter().for_each(|(kbit, rtt, queue)| short_row(kbit, rtt, queue));
        return;
    }
    println!("kbit/s  RTT queue | alone: share   p95  lost | beside CUBIC: ours  CUBIC");
    for kbit in [500, 2_000, 10_000, 100_000] {
        for rtt in [5, 20, 100, 600] {
            for queue in [20, 100, 500] {
                row(kbit, rtt, queue);
            }
        }
    }
}

/// The shares of a link whose queue is shorter than the windows of two flows.
fn short_row(kbit: u64, rtt: u64, queue: u64) {
    let config = link(kbit, rtt, queue);
    let pair = |flows: [(Kind, u64); 2], has_echoes: bool| {
        let mut network = Network::new(config.clone(), 7);
        if has_echoes {
            network = network.with_echoes(config.clone(), 8);
        }
        for (kind, start) in flows {
            network.add(kind, seconds(start), Duration::MAX);
        }
        network.run_until(seconds(120));
        let share = |flow| 100.0 * network.share(flow, seconds(20), seconds(120));
        format!("{:5.1}% {:5.1}%", share(0), share(1))
    };
    println!(
        "{kbit:6} {rtt:4} {queue:5} | {} | {} | {} | {} | {}",
        pair([(Kind::Cubic, 0), (Kind::Cubic, 5)], false),
        pair([(GREEDY, 0), (Kind::Cubic, 5)], false),
        pair([(GREEDY, 10), (Kind::Cubic, 0)], false),
        pair([(GREEDY, 0), (Kind::Cubic, 5)], true),
        pair([(GREEDY, 10), (Kind::Cubic, 0)], true),
    );
}

fn row(kbit: u64, rtt: u64, queue: u64) {
    let mut alone = Network::new(link(kbit, rtt, queue), 7);
    alone.add(GREEDY, Duration::ZERO, Duration::MAX);
    alone.run_until(seconds(45));
    let wait = alone.wait(0, 95.0, seconds(15), seconds(45));
    let model = alone.flows[0].model();
    let lost = 100.0 * model.packets_lost as f64 / model.packets_sent as f64;
    let mut shared = Network::new(link(kbit, rtt, queue), 7);
    shared.add(GREEDY, Duration::ZERO, Duration::MAX);
    shared.add(Kind::Cubic, millis(5_000), Duration::MAX);
    shared.run_until(seconds(if kbit > 50_000 { 40 } else { 120 }));
    let end = shared.now.min(seconds(120));
    let share = |network: &Network, flow, from, end| 100.0 * network.share(flow, from, end);
    println!(
        "{kbit:6} {rtt:4} {queue:5} |       {:5.1}% {:5.1} {lost:4.1}% |              {:4.1}%  {:4.1}%",
        share(&alone, 0, seconds(15), seconds(45)),
        wait.as_secs_f64() * 1e3,
        share(&shared, 0, seconds(15), end),
        share(&shared, 1, seconds(15), end),
    );
}
