//! The controller's window and pace stay in range whatever its samples say: acknowledgements of what was never sent,
//! round trips of hours, time that stands still or jumps.

use skipstone_proto::congestion::{AckSample, Congestion, CongestionControl, DeliveryStamp, LossSample};
use skipstone_proto::rng::Rng;
use skipstone_proto::{Duration, Time};

const DATAGRAM: u16 = 1_200;
/// Longer round trips count as this.
const RTT_MAX: Duration = Duration::from_secs(20);

/// A number of any size.
fn any(rng: &mut Rng) -> u64 {
    rng.next_u64() >> rng.below(64)
}

/// Bytes that were sent, which this side counts itself: a window at most.
fn any_bytes(rng: &mut Rng) -> u32 {
    (any(rng) as u32).min(1 << 30)
}

fn lie(control: &mut CongestionControl, now: Time, stamp: &mut DeliveryStamp, rng: &mut Rng) {
    let (bytes, when) = (any_bytes(rng), Time::from_micros(any(rng)));
    let span = Duration::from_micros(any(rng) >> 8);
    match rng.below(9) {
        0 => *stamp = control.on_sent(now, bytes, any_bytes(rng)),
        1 => control.on_sent_untracked(now, bytes),
        2 => control.on_handshake(span),
        3 => control.on_loss(now, LossSample { bytes, sent_at: when }),
        4 => control.on_silence(now),
        5 => control.on_flight_settled(now, bytes),
        6 => control.begin_burst(now),
        _ => {
            let stamp = match rng.below(3) {
                0 => DeliveryStamp { delivered: bytes, delivered_at: any(rng) as u32, first_sent_at: any(rng) as u32 },
                _ => *stamp,
            };
            let rtt = rng.chance(0.8).then_some(span);
            let smoothed = Duration::from_micros(any(rng) >> 8);
            let bytes_in_flight = any_bytes(rng);
            control.on_ack(&AckSample { now, bytes, sent_at: when, stamp, rtt, smoothed, bytes_in_flight });
        }
    }
}

#[test]
fn whatever_samples_say_the_window_is_between_two_datagrams_and_a_gibibyte() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let algorithm = if rng.chance(0.5) { Congestion::DelayAware } else { Congestion::Aggressive };
        let mut control = CongestionControl::new(algorithm, DATAGRAM);
        let (mut now, mut stamp) = (Time::from_micros(1_000_000), DeliveryStamp::default());
        for _ in 0..1_000 {
            now += match rng.below(4) {
                0 => Duration::ZERO,
                1 => Duration::from_micros(any(&mut rng) >> 20),
                _ => Duration::from_micros(rng.below(50_000).into()),
            };
            lie(&mut control, now, &mut stamp, &mut rng);
            let window = control.window();
            assert!((2_400..=1 << 30).contains(&window), "seed {seed}: {window}");
            assert!((0.0..=1.0).contains(&control.repair_share()), "seed {seed}: {}", control.repair_share());
            assert!(control.send_rate() > 0, "seed {seed}");
            let _ = (control.is_congested(now), control.has_room_beside(now, 1_200, 1_200, Duration::from_millis(5)));
        }
        assert_eq!(control.corrections(), 0, "seed {seed}");
    }
}

#[test]
fn after_any_lies_a_datagram_may_leave_within_three_of_the_longest_round_trips() {
    for seed in 0..300 {
        let mut rng = Rng::new(1_000 + seed);
        let mut control = CongestionControl::new(Congestion::DelayAware, DATAGRAM);
        let (mut now, mut stamp) = (Time::from_micros(1_000_000), DeliveryStamp::default());
        for _ in 0..200 {
            now += Duration::from_micros(rng.below(50_000).into());
            // What is sent is counted truly: this side knows.
            if now < control.next_send(now, DATAGRAM.into()) || rng.chance(0.5) {
                lie_of_acks(&mut control, now, stamp, &mut rng);
            } else {
                stamp = control.on_sent(now, DATAGRAM.into(), any_bytes(&mut rng));
            }
            let wait = control.next_send(now, DATAGRAM.into()).since(now);
            assert!(wait <= 3 * RTT_MAX, "seed {seed}: {wait:?}");
        }
    }
}

fn lie_of_acks(control: &mut CongestionControl, now: Time, stamp: DeliveryStamp, rng: &mut Rng) {
    let rtt = Some(Duration::from_micros(any(rng) >> 8));
    let smoothed = Duration::from_micros(any(rng) >> 8);
    let sent_at = Time::from_micros(any(rng));
    let (bytes, bytes_in_flight) = (any_bytes(rng), any_bytes(rng));
    control.on_ack(&AckSample { now, bytes, sent_at, stamp, rtt, smoothed, bytes_in_flight });
}
