//! Log lines on their way from any thread to one session's thread. Pushing never waits for a client.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::limits::LOG_BYTES_MAX;

/// The queue of one session, and the session's switch for it.
#[derive(Debug, Default)]
pub(super) struct LogQueue {
    on: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: VecDeque<String>,
    bytes: usize,
    skipped: u64,
}

impl LogQueue {
    /// Whether the session wants log lines.
    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Turns it on or off; turning it off discards waiting lines.
    pub(super) fn switch(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
        if !on {
            *self.waiting.lock() = Waiting::default();
        }
    }

    /// Adds `line`, if the session wants log lines and there is room.
    pub(super) fn push(&self, line: &str) {
        if !self.is_on() {
            return;
        }
        let mut waiting = self.waiting.lock();
        let bytes = waiting.bytes + cost(line);
        if waiting.skipped > 0 || bytes > LOG_BYTES_MAX {
            waiting.skipped += 1;
            return;
        }
        waiting.bytes = bytes;
        waiting.lines.push_back(line.to_owned());
    }

    /// The next line. If lines were skipped, one line reports how many.
    pub(super) fn pop(&self) -> Option<String> {
        let mut waiting = self.waiting.lock();
        if let Some(line) = waiting.lines.pop_front() {
            waiting.bytes -= cost(&line);
            return Some(line);
        }
        match std::mem::take(&mut waiting.skipped) {
            0 => None,
            skipped => Some(format!("({skipped} log lines skipped: this session reads too slowly)")),
        }
    }
}

/// An empty line takes memory too.
fn cost(line: &str) -> usize {
    line.len() + size_of::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_lines_are_sent_only_while_enabled() {
        let queue = LogQueue::default();
        queue.push("before");
        queue.switch(true);
        queue.push("a");
        queue.push("b");
        assert_eq!(queue.pop().as_deref(), Some("a"));
        queue.switch(false);
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_full_queue_skips_lines_and_says_how_many() {
        let queue = LogQueue::default();
        queue.switch(true);
        let line = "x".repeat(LOG_BYTES_MAX / 2);
        (0..5).for_each(|_| queue.push(&line));
        queue.push("short, but after a gap");
        assert_eq!(queue.pop(), Some(line));
        let notice = queue.pop().expect("a notice");
        assert!(notice.starts_with("(5 log lines skipped"), "{notice}");
        queue.push("y");
        assert_eq!(queue.pop().as_deref(), Some("y"));
    }
}
