//! A handle whose driver is blocked or gone, and the calls that still work for the application.

use super::*;
use crate::waiter::Waiter;
use skipstone_proto::Config;
use std::sync::mpsc::Sender;

/// A handle with a driver that has no socket and no peer, and a peer that the application believes to be connected.
fn handle() -> (Handle, PeerId) {
    let driver = Driver::of_clients(Config::client(), 2).expect("a poll");
    let config = HandleConfig {
        threading: Threading::Background,
        queue_bytes_max: 1 << 20,
        settings: Arc::default(),
        inbound: Arc::default(),
    };
    let mut handle = Handle::waking(&Arc::default(), driver, &config).expect("a thread");
    let peer = PeerId { index: 0, generation: 0 };
    handle.connecting(peer);
    handle.roster.on_event(&Event::Connected { peer, settings: Arc::default() });
    (handle, peer)
}

/// Blocks the driver until the sender is dropped. Returns once the driver is blocked.
fn stop(handle: &mut Handle) -> Sender<()> {
    let (go_on, gone_on) = mpsc::channel::<()>();
    let (stopped, has_stopped) = mpsc::channel();
    let stand_still = move |_: &mut Driver| {
        stopped.send(()).expect("the test waits for it");
        let _ = gone_on.recv();
    };
    handle.push(Command::Ask(Box::new(stand_still)), Wake::Now);
    has_stopped.recv().expect("it stops");
    go_on
}

fn submission(bytes: usize) -> Submission {
    Submission { payload: vec![7; bytes].into(), id: MessageId(1), age: Duration::ZERO }
}

/// A call that waits for the driver here would wait forever: the test finishes only if no call does.
#[test]
fn no_call_waits_for_a_stalled_driver() {
    let (mut handle, peer) = handle();
    let driver = stop(&mut handle);
    let group = Group(3);
    for tick in 0..120 {
        let _ = (handle.board().shard(), handle.board().overview(peer), handle.board().overviews());
        handle.send((peer, 0), submission(10), Wake::Now).expect("there is room");
        handle.join(peer, group).expect("there is room");
        handle.leave(peer, group).expect("there is room");
        handle.flush().expect("it runs");
        assert_eq!(handle.poll_event(), None, "tick {tick}");
        assert_eq!(handle.failure(), None);
    }
    drop(driver);
}

#[test]
fn a_full_queue_returns_messages_and_accepts_them_later() {
    let (mut handle, peer) = handle();
    let driver = stop(&mut handle);
    let sent =
        (0..).find_map(|count| handle.send((peer, 0), submission(10_000), Wake::Now).err().map(|why| (count, why)));
    let (count, error) = sent.expect("the queue has a bound");
    assert_eq!((error.reason, error.payload.len()), (SendRefusal::DriverBusy, 10_000));
    assert!((100..=105).contains(&count), "{count} messages of 10,000 bytes in a queue of 1 MiB");
    assert_eq!(handle.join(peer, Group(3)), Ok(()), "a command is small");
    assert_eq!(handle.admit_broadcast(&Group::EVERYONE.into(), 0, 10_000), Err(SendRefusal::DriverBusy));
    drop(driver);
    while handle.send((peer, 0), submission(10_000), Wake::Now).is_err() {
        std::thread::yield_now();
    }
}

#[test]
fn every_call_reports_a_dead_driver() {
    let (mut handle, peer) = handle();
    handle.push(Command::Ask(Box::new(|_| panic!("a test kills the driver"))), Wake::Now);
    while handle.failure().is_none() {
        handle.wait(Duration::from_millis(1));
    }
    assert!(handle.failure().expect("it has one").contains("panicked"));
    let error = handle.send((peer, 0), submission(5), Wake::Now).expect_err("nobody takes it");
    assert_eq!((error.reason, error.payload.len()), (SendRefusal::DriverGone, 5));
    assert_eq!(handle.admit_broadcast(&Group::EVERYONE.into(), 0, 5), Err(SendRefusal::DriverGone));
    assert_eq!(handle.flush(), Err(PeerError::DriverGone));
    assert_eq!(handle.accept(peer), Err(PeerError::DriverGone));
    assert_eq!(handle.close(peer, 0, "", Duration::ZERO), Err(PeerError::DriverGone));
    assert_eq!(handle.join(peer, Group(1)), Err(PeerError::DriverGone));
    assert_eq!(handle.leave(peer, Group(1)), Err(PeerError::DriverGone));
    assert_eq!(handle.set_merging(peer, Merging::Immediate), Err(PeerError::DriverGone));
    assert_eq!(handle.ask(None, |_| ()), Err(NoAnswer::DriverGone));
    assert!(handle.drive(Duration::ZERO).expect_err("nothing drives").to_string().contains("panicked"));
    // Each connection still ends with its event, and with one only.
    assert!(handle.has_events());
    let Some(Event::Closed { peer: closed, close }) = handle.poll_event() else { panic!("the connection ends") };
    assert_eq!((closed, close.by), (peer, ClosedBy::Nobody));
    assert!(close.reason_text().contains("panicked"), "{close:?}");
    assert!(handle.poll_event().is_none() && !handle.has_events());
}

#[test]
fn a_waiter_stops_waiting_for_a_dead_driver_after_its_events() {
    let (mut handle, _) = handle();
    let waiter = Waiter::new(handle.shared());
    assert!(!waiter.has_news());
    handle.push(Command::Ask(Box::new(|_| panic!("a test kills the driver"))), Wake::Now);
    waiter.wait(Duration::from_millis(60_000));
    while handle.failure().is_none() {
        std::thread::yield_now();
    }
    assert!(waiter.has_news(), "its connection has not ended yet");
    assert!(matches!(handle.poll_event(), Some(Event::Closed { .. })));
    assert_eq!(handle.poll_event(), None);
    assert!(!waiter.has_news(), "nothing more comes");
    drop(handle);
    assert!(waiter.has_news(), "the handle has ended");
}

#[test]
fn a_dead_driver_does_not_make_a_loop_spin() {
    let (mut handle, _) = handle();
    handle.push(Command::Ask(Box::new(|_| panic!("a test kills the driver"))), Wake::Now);
    while handle.failure().is_none() {
        std::thread::yield_now();
    }
    let deadline = Instant::now() + Duration::from_millis(5);
    handle.wait_until(deadline);
    assert!(Instant::now() >= deadline);
}
