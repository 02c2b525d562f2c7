//! A game: a burst each tick, far below the path's rate, through random loss and jitter.

use crate::bottleneck::{Kind, Load, Network, Sender, link, millis, seconds};
use skipstone_netsim::{LinkConfig, Loss, Outage};
use skipstone_proto::Congestion;
use std::time::Duration;

const TICK: Duration = Duration::from_micros(16_667);

/// The longest that new data waited for the controller after the first five seconds.
fn held(config: LinkConfig, bytes: u32) -> Duration {
    let mut network = Network::new(config, 3);
    network.add(Kind::Ours(Congestion::DelayAware, Load::Ticks { bytes, interval: TICK }), millis(0), Duration::MAX);
    network.run_until(seconds(5));
    let Sender::Model(model) = &mut network.flows[0].sender else { unreachable!("it was added above") };
    model.held_max = Duration::ZERO;
    network.run_until(seconds(60));
    network.flows[0].model().held_max
}

#[test]
fn ticks_are_sent_at_once_despite_loss_and_jitter() {
    for (kbit, rtt) in [(10_000, 5), (10_000, 20), (100_000, 20), (10_000, 100)] {
        for (loss, jitter) in [(0.0, 0), (0.05, 0), (0.0, 10), (0.05, 10)] {
            let config = LinkConfig { loss: Loss::Random(loss), jitter: millis(jitter), ..link(kbit, rtt, 100) };
            let held = held(config, 3_000);
            assert_eq!(held, Duration::ZERO, "{kbit} kbit/s, {rtt} ms, loss {loss}, jitter {jitter} ms");
        }
    }
}

#[test]
fn ticks_of_ten_datagrams_wait_two_milliseconds_at_most() {
    for (kbit, rtt) in [(10_000, 20), (10_000, 100)] {
        let config = LinkConfig { loss: Loss::Random(0.05), ..link(kbit, rtt, 100) };
        assert!(held(config, 12_000) <= millis(2), "{kbit} kbit/s, {rtt} ms");
    }
}

#[test]
fn a_many_packet_flow_catches_up_after_an_outage() {
    // Where packets keep their order, all packets of a flow with many per round trip wait for the latest: a standing
    // delay without a queue.
    for (jitter, rtt, seed) in [(10, 20, 0), (10, 20, 1), (12, 24, 0)] {
        let outages = vec![Outage { start: seconds(3), length: millis(480) }];
        let path = LinkConfig { jitter: millis(jitter), outages, ..link(1_000_000, rtt, 100) };
        let mut network = Network::new(path, seed);
        let load = Load::Ticks { bytes: 120_000, interval: millis(10) };
        network.add(Kind::Ours(Congestion::DelayAware, load), millis(0), Duration::MAX);
        network.run_until(seconds(6));
        let Sender::Model(model) = &mut network.flows[0].sender else { unreachable!("it was added above") };
        model.held_max = Duration::ZERO;
        let before = model.packets_sent;
        network.run_until(millis(6_500));
        let model = network.flows[0].model();
        let (held, sent) = (model.held_max, model.packets_sent - before);
        assert!(sent > 4_500, "6 MB of updates in half a second: {sent}");
        assert!(held < millis(300), "jitter {jitter} ms, rtt {rtt} ms, seed {seed}: {held:?}");
    }
}
