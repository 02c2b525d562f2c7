//! One way to run a link, for all tests.

use core::time::Duration;

use skipstone_netsim::{Arrival, Fate, Link, LinkConfig};

/// The result of a run.
pub(crate) type Run = (Vec<Fate>, Vec<(Arrival, Vec<u8>)>, Link);

/// Sends `count` datagrams `spacing` apart, tagged with their number, eight bytes that hold the number, and receives
/// all that arrive.
pub(crate) fn run(config: LinkConfig, seed: u64, count: u64, spacing: Duration) -> Run {
    let mut link = Link::new(config, seed).expect("the configurations of tests make sense");
    let mut fates = Vec::new();
    let mut arrivals = Vec::new();
    let mut datagram = Vec::new();
    for number in 0..count {
        let now = spacing * u32::try_from(number).expect("tests are short");
        fates.push(link.send(now, &number.to_be_bytes(), number));
        while let Some(arrival) = link.receive(now, &mut datagram) {
            arrivals.push((arrival, datagram.clone()));
        }
    }
    while let Some(now) = link.next_arrival() {
        let arrival = link.receive(now, &mut datagram).expect("it arrives when it is said to");
        assert_eq!(arrival.arrived, now);
        arrivals.push((arrival, datagram.clone()));
    }
    (fates, arrivals, link)
}
