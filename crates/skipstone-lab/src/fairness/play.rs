//! Flows on one link in virtual time, and the bytes that each gets through it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skipstone::netsim::Duplex;
use skipstone_proto::Time;

use super::bottleneck::Bottleneck;
use super::flow::GreedyFlow;
use super::line_up::LineUp;
use crate::compare::simulation::Stopped;
use crate::framing::HEADER_BYTES;

/// What each flow got through the link, in IP bytes of each second; the first is that in which the first flow begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CarriedBytes(pub(super) Vec<Vec<u64>>);

const BEGIN: Time = Time::from_micros(1_000_000);

/// Runs a line-up until all flows have shared the link for `together`.
pub(super) fn play(
    line_up: &LineUp,
    bottleneck: &Bottleneck,
    together: Duration,
    seed: u64,
    stop: &AtomicBool,
) -> Result<CarriedBytes, Stopped> {
    let link = bottleneck.link();
    let mut links = Duplex::new(link.clone(), link, seed).expect("a good link");
    let end = BEGIN + line_up.all_begun() + together;
    let seconds = end.since(BEGIN).as_secs() as usize;
    let mut carried = vec![vec![0; seconds]; line_up.flows.len()];
    let (mut flows, mut now, mut datagram) = (Vec::<GreedyFlow>::new(), BEGIN, Vec::new());
    let mut turns = 0_u64;
    while now < end {
        turns += 1;
        if turns.is_multiple_of(1_024) && stop.load(Ordering::Relaxed) {
            return Err(Stopped);
        }
        while let Some(kind) = line_up.flows.get(flows.len())
            && now >= BEGIN + line_up.begins(flows.len())
        {
            let number = flows.len() as u16;
            flows.push(GreedyFlow::begin(*kind, number, now, bottleneck, seed.wrapping_add(number.into())));
        }
        let at = Duration::from_micros(now.as_micros());
        while let Some(arrival) = links.up.receive(at, &mut datagram) {
            let flow = arrival.tag as usize;
            carried[flow][now.since(BEGIN).as_secs() as usize] += (datagram.len() + HEADER_BYTES) as u64;
            flows[flow].take(now, &mut datagram);
        }
        while let Some(arrival) = links.down.receive(at, &mut datagram) {
            flows[arrival.tag as usize].take_answer(now, &mut datagram);
        }
        flows.iter_mut().for_each(|flow| flow.act(now, &mut links));
        let arrival = links.next_arrival().map(|at| Time::from_micros(at.as_nanos().div_ceil(1_000) as u64));
        let next = flows.iter_mut().map(GreedyFlow::poll_timeout).chain(arrival).min().unwrap_or(end);
        let begins = if flows.len() < line_up.flows.len() { BEGIN + line_up.begins(flows.len()) } else { end };
        // A timer may name a moment that turns out to be early; time moves on all the same.
        now = next.min(begins).max(now + Duration::from_micros(1));
    }
    Ok(CarriedBytes(carried))
}

#[cfg(test)]
mod tests {
    use super::super::line_up::FlowKind;
    use super::*;

    fn shared(flows: &'static [FlowKind], seed: u64) -> CarriedBytes {
        let line_up = LineUp { name: "", flows, apart: Duration::from_secs(1), is_judged: true };
        let [rtt, queue] = [20, 100].map(Duration::from_millis);
        let bottleneck = Bottleneck { bits_per_second: 2_000_000, rtt, queue };
        play(&line_up, &bottleneck, Duration::from_secs(20), seed, &AtomicBool::new(false)).expect("not stopped")
    }

    #[test]
    fn greedy_flows_fill_the_link_and_no_more() {
        for flows in [&[FlowKind::Ours, FlowKind::Cubic][..], &[FlowKind::Ours, FlowKind::Ours]] {
            let CarriedBytes(carried) = shared(flows, 1);
            for second in 5..21 {
                let bytes: u64 = carried.iter().map(|seconds| seconds[second]).sum();
                assert!((200_000..=252_000).contains(&bytes), "{flows:?}, second {second}: {bytes}");
            }
            assert!(carried.iter().all(|seconds| seconds[2..].iter().sum::<u64>() > 100_000), "{flows:?}: {carried:?}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes() {
        let flows = &[FlowKind::Ours, FlowKind::Cubic];
        assert_eq!(shared(flows, 3), shared(flows, 3));
    }

    #[cfg(feature = "peers")]
    #[test]
    fn quinn_with_bbr_fills_the_link() {
        let CarriedBytes(carried) = shared(&[FlowKind::Bbr], 1);
        assert!(carried[0][5..].iter().all(|bytes| *bytes > 150_000), "{carried:?}");
    }
}
