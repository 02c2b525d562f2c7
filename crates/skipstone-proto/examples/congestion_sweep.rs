//! A table of how the default controller does over rates, round-trip times and queues, alone and beside CUBIC.
//! Takes minutes: `cargo run --release -p skipstone-proto --example congestion_sweep`.

#[path = "../tests/bottleneck/mod.rs"]
mod bottleneck;

use bottleneck::{Kind, Load, Network, link, millis, seconds};
use skipstone_proto::Congestion;
use std::time::Duration;

const GREEDY: Kind = Kind::Ours(Congestion::DelayAware, Load::Greedy);

fn main() {
    println!("kbit/s  RTT queue | alone: share   p95  lost | beside CUBIC: ours  CUBIC");
    for kbit in [500, 2_000, 10_000, 100_000] {
        for rtt in [5, 20, 100, 600] {
            for queue in [20, 100, 500] {
                row(kbit, rtt, queue);
            }
        }
    }
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
