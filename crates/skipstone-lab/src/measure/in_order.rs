//! Work on all seeds of a range, on several threads; the results come in the order of the seeds, whichever ends first.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Works on all seeds; `on_found` is called for each, in their order. A thread whose work gives an error takes no
/// further seed.
pub(crate) fn work_in_order<T: Send, E>(
    seeds: Range<u64>,
    threads: usize,
    work: impl Fn(u64) -> Result<T, E> + Sync,
    on_found: impl FnMut(T) + Send,
) {
    let next = AtomicU64::new(seeds.start);
    let ordered = Mutex::new(Ordered { next: seeds.start, waiting: BTreeMap::new(), on_found });
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return;
            }
            let Ok(finding) = work(seed) else { return };
            ordered.lock().expect("the lock is not poisoned").add(seed, finding);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
}

/// Findings that arrived before the findings of smaller seeds.
struct Ordered<T, F> {
    next: u64,
    waiting: BTreeMap<u64, T>,
    on_found: F,
}

impl<T, F: FnMut(T)> Ordered<T, F> {
    fn add(&mut self, seed: u64, finding: T) {
        self.waiting.insert(seed, finding);
        while let Some(finding) = self.waiting.remove(&self.next) {
            self.next += 1;
            (self.on_found)(finding);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_their_seeds() {
        let mut found = Vec::new();
        work_in_order(
            5..25,
            3,
            |seed| {
                thread::sleep(std::time::Duration::from_micros(seed % 4 * 500));
                Ok::<u64, ()>(seed)
            },
            |seed| found.push(seed),
        );
        assert_eq!(found, (5..25).collect::<Vec<_>>());
    }
}
