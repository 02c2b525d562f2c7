//! What a node receives of one publisher of a reliable group: order, repetitions, and what is missing.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Debug)]
pub(super) struct Stream {
    /// The sequence number to deliver next; unknown until the publisher has said where this node begins.
    next: Option<u64>,
    /// The last that is known to exist.
    last: u64,
    early: BTreeMap<u64, Bytes>,
    early_bytes: usize,
    /// When to ask next, while something is missing.
    ask_at: Duration,
    /// When there was progress, or nothing was missing.
    progress_at: Duration,
    pub(super) heard_at: Duration,
    /// Whether to ask once for batches that are not known of.
    probes: bool,
}

/// What a stream asks its publisher for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Start,
    Batches { first: u64, last: u64 },
}

impl Stream {
    pub(super) fn new(now: Duration) -> Stream {
        let early = BTreeMap::new();
        Stream {
            next: None,
            last: 0,
            early,
            early_bytes: 0,
            ask_at: now,
            progress_at: now,
            heard_at: now,
            probes: false,
        }
    }

    /// A batch arrived. One that finds no room is asked for again later.
    pub(super) fn on_batch(&mut self, sequence: u64, messages: Bytes, has_room: bool) {
        if sequence > SEQUENCE_MAX {
            return;
        }
        self.last = self.last.max(sequence);
        if sequence == 1 {
            self.next.get_or_insert(1);
        }
        let is_next = self.next == Some(sequence);
        if self.next.is_some_and(|next| sequence < next) || self.early.contains_key(&sequence) {
            return;
        }
        if is_next || has_room {
            self.early_bytes += messages.len();
            self.early.insert(sequence, messages);
        }
    }

    pub(super) fn on_last(&mut self, last: u64) {
        self.last = self.last.max(last.min(SEQUENCE_MAX));
    }

    pub(super) fn on_start(&mut self, first: u64, now: Duration) {
        if self.next.is_none() {
            // A batch that this node received was sent after it joined.
            let first = self.early.keys().next().map_or(first, |early| first.min(*early));
            self.next = Some(first);
            self.progress_at = now;
            self.ask_at = now;
        }
    }

    /// The next batch in order.
    pub(super) fn pop(&mut self, now: Duration) -> Option<Bytes> {
        let next = self.next.as_mut()?;
        let messages = self.early.remove(next)?;
        self.early_bytes -= messages.len();
        *next += 1;
        self.progress_at = now;
        Some(messages)
    }

    /// Batches before this one will not come. Gives how many are missing.
    pub(super) fn skip_to(&mut self, sequence: u64, now: Duration) -> u64 {
        let Some(next) = self.next else { return 0 };
        let known = self.early.keys().next().copied().unwrap_or(self.last + 1);
        let target = sequence.min(known);
        if target <= next {
            return 0;
        }
        self.next = Some(target);
        (self.progress_at, self.ask_at) = (now, now);
        target - next
    }

    /// Asks once more than is known to be missing.
    pub(super) fn probe(&mut self) {
        self.probes = true;
    }

    /// What to ask for now.
    pub(super) fn question(&mut self, now: Duration, every: Duration) -> Option<Question> {
        let question = self.missing();
        if question.is_none() {
            self.progress_at = now;
            let first = self.next.filter(|_| std::mem::take(&mut self.probes))?;
            return Some(Question::Batches { first, last: first });
        }
        if question.is_some() && now >= self.ask_at {
            self.ask_at = now + every;
            return question;
        }
        None
    }

    /// The batch to go on with if the publisher has not answered for this long.
    pub(super) fn gives_up(&mut self, now: Duration, after: Duration) -> Option<u64> {
        if self.missing().is_none() || now < self.progress_at + after {
            return None;
        }
        let target = self.early.keys().next().copied().unwrap_or(self.last + 1);
        // The beginning was never told: that there is a gap is all that is known.
        self.next.get_or_insert(target.saturating_sub(1));
        Some(target)
    }

    fn missing(&self) -> Option<Question> {
        let Some(next) = self.next else { return Some(Question::Start) };
        if next > self.last || self.early.contains_key(&next) {
            return None;
        }
        let last = self.early.keys().next().map_or(self.last, |first| first - 1);
        Some(Question::Batches { first: next, last })
    }

    pub(super) fn early_bytes(&self) -> usize {
        self.early_bytes
    }
}

/// No publisher counts so far: a greater number is forged, and must not overflow.
const SEQUENCE_MAX: u64 = u64::MAX / 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_number_overflows_nothing() {
        let now = Duration::from_secs(1);
        let mut stream = Stream::new(now);
        stream.on_batch(1, Bytes::from_static(b"a"), true);
        stream.on_last(u64::MAX);
        stream.on_batch(u64::MAX, Bytes::from_static(b"z"), true);
        assert_eq!(stream.pop(now), Some(Bytes::from_static(b"a")));
        let target = stream.gives_up(now * 1_000, now).expect("nothing came");
        assert!(stream.skip_to(target, now) > 0);
        assert_eq!(stream.pop(now), None);
    }
}
