//! What is kept of an ended handle, and for how long. There is one test, because the kept events belong to the whole
//! process.

use super::*;
use library::{Event, PeerId, Server, ServerConfig};
use std::sync::mpsc;

/// Another thread polls an event of this slot, and lives until the sender is dropped.
fn polled_elsewhere(slot: &Arc<Slot>) -> (mpsc::Sender<()>, std::thread::JoinHandle<()>) {
    let (go_on, gone_on) = mpsc::channel::<()>();
    let (polled, has_polled) = mpsc::channel();
    let slot = Arc::clone(slot);
    let thread = std::thread::spawn(move || {
        let mut state = slot.lock_even_if_failed();
        assert!(state.held.begin(reader()).is_ok());
        let peer = PeerId { index: 0, generation: 0 };
        state.held.events.push(Event::Connected { peer, settings: Arc::default() });
        drop(state);
        polled.send(()).expect("the test waits for it");
        let _ = gone_on.recv();
    });
    has_polled.recv().expect("it polls");
    (go_on, thread)
}

fn slot() -> Arc<Slot> {
    let server = Server::start(ServerConfig::offline()).expect("it starts");
    Arc::new(Slot::new(Engine::Server(Box::new(server))))
}

fn is_kept(handle: u64) -> bool {
    kept().iter().any(|(of, _)| *of == handle)
}

#[test]
fn events_of_an_ended_handle_live_as_long_as_the_polling_thread() {
    // A slot in which a call failed behaves the same.
    let failed = slot();
    let poisoned = Arc::clone(&failed);
    let panics = std::thread::spawn(move || {
        let _state = poisoned.lock_even_if_failed();
        panic!("a test fails in a call");
    });
    assert!(panics.join().is_err() && failed.lock().is_err());
    for (handle, slot) in [(1, slot()), (2, failed)] {
        let (reads, thread) = polled_elsewhere(&slot);
        assert!(end(handle, &slot).is_some(), "what it stood for is taken");
        assert!(end(handle, &slot).is_none() && slot.lock_even_if_failed().held.events.is_empty());
        assert!(is_kept(handle));
        drop(reads);
        thread.join().expect("it ends");
        assert!(!is_kept(handle), "nobody is left to read");
    }
    // The thread has ended before the handle.
    let slot = slot();
    let (reads, thread) = polled_elsewhere(&slot);
    drop(reads);
    thread.join().expect("it ends");
    assert!(end(3, &slot).is_some() && !is_kept(3));
}
