//! A queue keeps its bounds, and no thread sleeps while there is work: by example, and with every interleaving under
//! `--cfg loom`.

use super::*;

#[derive(Debug, PartialEq, Eq)]
struct Entry(u64);

fn weigh(entry: &Entry) -> u64 {
    entry.0
}

const BOUND: Bound = Bound { entries: 4, bytes: 100 };

#[cfg(not(loom))]
mod by_example {
    use super::*;

    #[test]
    fn a_queue_is_bounded_by_number_and_by_bytes() {
        let (queue, mut produced, mut consumed) = (Queue::new(BOUND, weigh), Produced::default(), Consumed::default());
        for _ in 0..4 {
            assert!(queue.has_room(&produced, 1));
            queue.push(&mut produced, Entry(1));
        }
        assert!(!queue.has_room(&produced, 1), "four entries are the bound");
        for _ in 0..4 {
            assert_eq!(queue.pop(&mut consumed), Some(Entry(1)));
        }
        queue.push(&mut produced, Entry(60));
        assert!(queue.has_room(&produced, 40));
        assert!(!queue.has_room(&produced, 41), "a hundred bytes are the bound");
        assert!(queue.is_filling(&produced));
    }

    #[test]
    fn a_queue_is_full_from_half_of_either_bound_on() {
        for (weight, half) in [(1, 2), (25, 2), (50, 1)] {
            let (queue, mut produced) = (Queue::new(BOUND, weigh), Produced::default());
            for count in 1..=4 {
                queue.push(&mut produced, Entry(weight));
                assert_eq!(queue.is_filling(&produced), count > half, "{count} of {weight} bytes");
            }
        }
    }

    #[test]
    fn a_nearly_empty_queue_takes_an_entry_above_its_bound() {
        let (queue, mut produced, mut consumed) = (Queue::new(BOUND, weigh), Produced::default(), Consumed::default());
        assert!(queue.has_room(&produced, 1_000));
        queue.push(&mut produced, Entry(1_000));
        assert!(!queue.has_room(&produced, 1), "it is more than full");
        assert_eq!(queue.pop(&mut consumed), Some(Entry(1_000)));
        assert!(queue.has_room(&produced, 1_000));
    }
}

#[cfg(loom)]
mod in_every_order {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// The driver sleeps only if it must be woken for the next command: either it sees the command before it sleeps, or
    /// the application sees that it is asleep.
    #[test]
    fn loom_no_command_waits_for_a_sleeping_driver() {
        loom::model(|| {
            let shared = Arc::new((Queue::new(BOUND, weigh), Sleep::default()));
            let theirs = Arc::clone(&shared);
            let application = thread::spawn(move || {
                theirs.0.push(&mut Produced::default(), Entry(1));
                theirs.1.must_wake()
            });
            let sleeps = shared.1.begin(|| !shared.0.is_empty());
            let wakes = application.join().expect("it does not panic");
            assert!(!sleeps || wakes, "the driver sleeps beside a command");
        });
    }

    /// The load that the producer sees is never less than the queue's content.
    #[test]
    fn loom_the_bound_holds_while_the_consumer_removes_entries() {
        loom::model(|| {
            let queue = Arc::new(Queue::new(Bound { entries: 2, bytes: 100 }, weigh));
            let (theirs, mut produced) = (Arc::clone(&queue), Produced::default());
            queue.push(&mut produced, Entry(1));
            queue.push(&mut produced, Entry(1));
            let consumer = thread::spawn(move || theirs.pop(&mut Consumed::default()));
            if queue.has_room(&produced, 1) {
                queue.push(&mut produced, Entry(1));
            }
            consumer.join().expect("it does not panic");
            let mut left = Consumed::default();
            let mut count = 0;
            while queue.pop(&mut left).is_some() {
                count += 1;
            }
            assert!(count <= 2, "{count} entries in a queue of two");
        });
    }

    /// An application that waits for events is woken by an event that arrives while it falls asleep.
    #[test]
    fn loom_no_application_sleeps_while_an_event_waits() {
        loom::model(|| {
            let shared = Arc::new((Queue::new(BOUND, weigh), Wakeup::default()));
            let theirs = Arc::clone(&shared);
            let driver = thread::spawn(move || {
                theirs.0.push(&mut Produced::default(), Entry(1));
                theirs.1.wake();
            });
            // The model has no clock: a wait that no thread ends is a deadlock, which the model reports.
            shared.1.wait(Duration::MAX, || !shared.0.is_empty());
            driver.join().expect("it does not panic");
        });
    }
}
