//! What a node receives of one publisher of a reliable group: order, repetitions, and what is missing.

use super::publisher::Begin;
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
    heard_at: Duration,
    /// Questions since anything was heard.
    asked: u32,
    /// Questions for the beginning.
    starts: u32,
    /// When to ask once for batches that are not known of.
    probe_at: Option<Duration>,
}

/// What a stream asks its publisher for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// The answer counts if it comes within this time.
    Start {
        within: Duration,
    },
    Batches {
        first: u64,
        last: u64,
    },
}

impl Stream {
    pub(super) fn new(now: Duration) -> Stream {
        Stream {
            next: None,
            last: 0,
            early: BTreeMap::new(),
            early_bytes: 0,
            ask_at: now,
            progress_at: now,
            asked: 0,
            starts: 0,
            heard_at: now,
            probe_at: None,
        }
    }

    /// Anything arrived of its publisher.
    pub(super) fn on_heard(&mut self, now: Duration) {
        (self.heard_at, self.asked) = (now, 0);
    }

    /// The bus is there again: the publisher could not be heard, and perhaps not be asked. It is asked at that moment also
    /// for what is not known of.
    pub(super) fn on_reconnected(&mut self, probe_at: Duration, now: Duration) {
        self.on_heard(now);
        (self.progress_at, self.probe_at) = (now, Some(probe_at));
    }

    pub(super) fn heard_at(&self) -> Duration {
        self.heard_at
    }

    /// A batch arrived. One that finds no room is asked for again later.
    pub(super) fn on_batch(&mut self, sequence: u64, messages: Bytes, has_room: bool, now: Duration) {
        if sequence > SEQUENCE_MAX {
            return;
        }
        self.on_last(sequence, now);
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

    pub(super) fn on_last(&mut self, last: u64, now: Duration) {
        if self.missing().is_none() {
            self.progress_at = now;
        }
        self.last = self.last.max(last.min(SEQUENCE_MAX));
    }

    pub(super) fn on_start(&mut self, begin: Begin, now: Duration) {
        if self.next.is_none() {
            // A batch that this node received was sent after it joined. Where the beginning is not known, at least one
            // before it is missing, of which a gap will tell.
            let received = self.early.keys().next().map_or(u64::MAX, |first| first - u64::from(!begin.is_known));
            self.next = Some(begin.first.min(received));
            (self.progress_at, self.ask_at) = (now, now);
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
        self.progress_at = now;
        self.ask_at = now;
        target - next
    }

    /// What to ask for now.
    pub(super) fn question(&mut self, now: Duration, every: Duration) -> Option<Question> {
        let Some(missing) = self.missing() else {
            let first = self.next.filter(|_| self.probe_at.is_some_and(|at| at <= now))?;
            self.probe_at = None;
            return Some(Question::Batches { first, last: first });
        };
        if now < self.ask_at {
            return None;
        }
        self.ask_at = now + every;
        self.asked += 1;
        self.starts += u32::from(self.next.is_none());
        // The answer ends with the last sequence number.
        self.probe_at = None;
        Some(missing)
    }

    /// The batch to go on with if the publisher has not answered for this long, though it was asked.
    pub(super) fn gives_up(&mut self, now: Duration, after: Duration) -> Option<u64> {
        if self.missing().is_none() || self.asked < ASKED_MIN || now < self.given_up_at(after) {
            return None;
        }
        let target = self.early.keys().next().copied().unwrap_or(self.last + 1);
        // The beginning was never told: that there is a gap is all that is known.
        self.next.get_or_insert(target.saturating_sub(1));
        Some(target)
    }

    /// When it has something to do, at the latest.
    pub(super) fn deadline(&self, give_up_after: Duration) -> Option<Duration> {
        if self.next.is_some_and(|next| self.early.contains_key(&next)) {
            return Some(self.progress_at);
        }
        match self.missing() {
            Some(_) if self.asked < ASKED_MIN => Some(self.ask_at),
            Some(_) => Some(self.ask_at.min(self.given_up_at(give_up_after))),
            None => self.probe_at.filter(|_| self.next.is_some()),
        }
    }

    /// When a publisher that does not answer, or is not heard at all, is given up.
    fn given_up_at(&self, after: Duration) -> Duration {
        self.progress_at.min(self.heard_at) + after
    }

    fn missing(&self) -> Option<Question> {
        let Some(next) = self.next else {
            return Some(Question::Start { within: START_WITHIN * (1 << self.starts.min(5)) });
        };
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

/// Nothing is given up before it was asked for so often: a node whose game loop stood still has asked for nothing.
const ASKED_MIN: u32 = 3;
/// It doubles with each question: up to 8 s.
const START_WITHIN: Duration = Duration::from_millis(250);
/// No publisher counts so far: a greater number is forged, and must not overflow.
const SEQUENCE_MAX: u64 = u64::MAX / 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_number_overflows_nothing() {
        let now = Duration::from_secs(1);
        let mut stream = Stream::new(now);
        stream.on_batch(1, Bytes::from_static(b"a"), true, now);
        stream.on_last(u64::MAX, now);
        stream.on_batch(u64::MAX, Bytes::from_static(b"z"), true, now);
        assert_eq!(stream.pop(now), Some(Bytes::from_static(b"a")));
        assert_eq!(stream.gives_up(now * 1_000, now), None, "it was not asked for yet");
        (1..=3).for_each(|second| assert!(stream.question(now * second, now).is_some()));
        let target = stream.gives_up(now * 1_000, now).expect("nothing came");
        assert!(stream.skip_to(target, now) > 0);
        assert_eq!(stream.pop(now), None);
    }
}
