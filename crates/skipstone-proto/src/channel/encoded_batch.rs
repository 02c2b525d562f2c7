//! Messages for many peers, encoded once: the frames as they appear in any packet in which each follows the previous
//! one.
//!
//! The messages of a broadcast are the same for all peers, except for the header of the first message in a packet. They
//! are therefore encoded, summed up and allocated once; each peer gets a copy of the bytes, and one entry for all of
//! them.

use super::{MessageId, Submission, window_cost};
use crate::time::Duration;
use crate::wire::cursor::Writer;
use crate::wire::message::MessageEncoder;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Messages of one channel, in their order.
#[derive(Debug, Default)]
pub(crate) struct EncodedBatch {
    /// Their consecutive frames.
    frames: Vec<u8>,
    messages: Vec<BatchMessage>,
    payload_bytes_max: usize,
}

#[derive(Debug)]
struct BatchMessage {
    payload: Bytes,
    id: MessageId,
    /// The end of its frame.
    frames_to: u32,
    /// Payload bytes up to its end.
    payload_to: u32,
    /// Window cost up to the end of the message.
    cost_to: u32,
}

/// Consecutive messages in a batch.
#[derive(Clone, Debug)]
pub(crate) struct BatchSlice {
    batch: Arc<EncodedBatch>,
    from: u16,
    to: u16,
}

/// Limits that end a run of messages in a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunLimits {
    /// Bytes of frames after which no further message is begun.
    pub begun_within: usize,
    /// Bytes of frames that fit.
    pub room: usize,
    /// Window cost that the peer can hold.
    pub cost: u64,
    /// Messages that may be in flight.
    pub messages: usize,
}

/// Maximum number of messages of a batch.
pub(crate) const BATCH_MESSAGES_MAX: usize = 1_024;
/// A longer payload is shared, and not copied into a batch.
pub(crate) const BATCH_PAYLOAD_BYTES_MAX: usize = 1_200;
/// Maximum number of batches that wait for their release by all peers, to be reused.
const SPARE_MAX: usize = 16;

impl EncodedBatch {
    fn fill(&mut self, messages: impl Iterator<Item = (Bytes, MessageId)>) {
        self.messages.clear();
        let (mut run, mut frames_to, mut payload_to, mut cost_to) = (MessageEncoder::default(), 0, 0, 0);
        for (payload, id) in messages {
            frames_to += run.next_len(payload.len()) as u32;
            payload_to += payload.len() as u32;
            cost_to += window_cost(payload.len()) as u32;
            run.expect_length(payload.len());
            self.messages.push(BatchMessage { payload, id, frames_to, payload_to, cost_to });
        }
        self.payload_bytes_max = self.messages.iter().map(|message| message.payload.len()).max().unwrap_or(0);
        self.frames.resize(frames_to as usize, 0);
        let (mut run, mut writer) = (MessageEncoder::default(), Writer::new(&mut self.frames));
        self.messages.iter().for_each(|message| run.encode_next(&mut writer, &message.payload));
    }

    /// How many messages.
    pub(crate) fn count(&self) -> usize {
        self.messages.len()
    }

    /// Bytes of all payloads.
    pub(crate) fn payload_bytes(&self) -> usize {
        self.messages.last().map_or(0, |last| last.payload_to as usize)
    }

    /// Bytes of its longest payload.
    pub(crate) fn payload_bytes_max(&self) -> usize {
        self.payload_bytes_max
    }

    /// Its messages one by one.
    pub(crate) fn submissions(&self) -> impl Iterator<Item = Submission> + '_ {
        self.messages.iter().map(|message| Submission {
            payload: message.payload.clone(),
            id: message.id,
            age: Duration::ZERO,
        })
    }
}

impl BatchSlice {
    /// All of a batch.
    pub(crate) fn all(batch: &Arc<EncodedBatch>) -> Self {
        BatchSlice { batch: Arc::clone(batch), from: 0, to: batch.messages.len() as u16 }
    }

    /// How many messages.
    pub(crate) fn count(&self) -> usize {
        usize::from(self.to - self.from)
    }

    /// Bytes of their payloads.
    pub(crate) fn payload_bytes(&self) -> usize {
        self.sum(|message| message.payload_to) as usize
    }

    /// Bytes of the peer's receive window that these messages take.
    pub(crate) fn cost(&self) -> u64 {
        self.sum(|message| message.cost_to).into()
    }

    /// The payload of one of them.
    pub(crate) fn payload(&self, index: usize) -> &Bytes {
        &self.batch.messages[usize::from(self.from) + index].payload
    }

    /// Number of messages after the first that are within these limits.
    pub(crate) fn following(&self, limits: RunLimits) -> usize {
        let first = &self.messages()[0];
        let (frames_from, cost_from) = (first.frames_to, first.cost_to);
        let rest = &self.messages()[1..];
        let rest = &rest[..rest.len().min(limits.messages)];
        let fits = |message: &BatchMessage| {
            (message.frames_to - frames_from) as usize <= limits.room
                && u64::from(message.cost_to - cost_from) <= limits.cost
        };
        let fitting = rest.partition_point(fits);
        // The first message that begins when the limit is reached is excluded; the previous one ends where it begins.
        let is_within = |message: &BatchMessage| ((message.frames_to - frames_from) as usize) < limits.begun_within;
        let begun = if limits.begun_within == 0 { 0 } else { 1 + rest[..fitting].partition_point(is_within) };
        fitting.min(begun)
    }

    /// The frames of the `count` messages after the first.
    pub(crate) fn frames_following(&self, count: usize) -> &[u8] {
        let messages = self.messages();
        &self.batch.frames[messages[0].frames_to as usize..messages[count].frames_to as usize]
    }

    /// Splits off the first messages; `None` if nothing would be left: then use the whole slice.
    pub(crate) fn split_front(&mut self, count: usize) -> Option<BatchSlice> {
        let at = self.from + count as u16;
        (at < self.to).then(|| BatchSlice {
            batch: Arc::clone(&self.batch),
            from: core::mem::replace(&mut self.from, at),
            to: at,
        })
    }

    /// Splits off the first message, with its id.
    pub(crate) fn pop(&mut self) -> Option<(Bytes, MessageId)> {
        let first = self.messages().first()?;
        let taken = (first.payload.clone(), first.id);
        self.from += 1;
        Some(taken)
    }

    /// The payloads with their ids.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Bytes, MessageId)> {
        self.messages().iter().map(|message| (&message.payload, message.id))
    }

    fn messages(&self) -> &[BatchMessage] {
        &self.batch.messages[usize::from(self.from)..usize::from(self.to)]
    }

    fn sum(&self, up_to: impl Fn(&BatchMessage) -> u32) -> u32 {
        let to = |index: u16| index.checked_sub(1).map_or(0, |last| up_to(&self.batch.messages[usize::from(last)]));
        to(self.to) - to(self.from)
    }
}

/// An encoder of batches, whose memory is reused once no peer needs it.
#[derive(Debug, Default)]
pub(crate) struct BatchEncoder {
    spare: VecDeque<Arc<EncodedBatch>>,
}

impl BatchEncoder {
    /// Encodes messages of one channel: [`BATCH_MESSAGES_MAX`] at most, none longer than [`BATCH_PAYLOAD_BYTES_MAX`].
    pub(crate) fn batch(&mut self, messages: impl Iterator<Item = (Bytes, MessageId)>) -> Arc<EncodedBatch> {
        // The oldest is the most likely to be free; if it is not, another is tried next time.
        let mut oldest = self.spare.pop_front().unwrap_or_default();
        match Arc::get_mut(&mut oldest) {
            Some(batch) => batch.fill(messages),
            None => {
                self.keep(oldest);
                oldest = Arc::default();
                Arc::get_mut(&mut oldest).expect("it is new").fill(messages);
            }
        }
        self.keep(Arc::clone(&oldest));
        oldest
    }

    /// Releases the messages of batches that no peer needs any more.
    pub(crate) fn release(&mut self) {
        self.spare.iter_mut().filter_map(Arc::get_mut).for_each(|batch| batch.messages.clear());
    }

    fn keep(&mut self, batch: Arc<EncodedBatch>) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push_back(batch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(lengths: &[usize]) -> BatchSlice {
        let messages = lengths.iter().map(|length| (Bytes::from(vec![*length as u8; *length]), MessageId(7)));
        BatchSlice::all(&BatchEncoder::default().batch(messages))
    }

    const NO_LIMITS: RunLimits =
        RunLimits { begun_within: usize::MAX, room: usize::MAX, cost: u64::MAX, messages: usize::MAX };

    #[test]
    fn slices_of_a_batch_know_their_counts_bytes_and_costs() {
        let mut rest = batch(&[100, 100, 50, 0, 7]);
        let front = rest.split_front(2).expect("more is left");
        assert_eq!((front.count(), front.payload_bytes(), front.cost()), (2, 200, 2 * window_cost(100)));
        assert_eq!((rest.count(), rest.payload_bytes()), (3, 57));
        assert_eq!(rest.pop().expect("one is left").0.len(), 50);
        assert_eq!([rest.payload(0).len(), rest.payload(1).len()], [0, 7]);
        assert!(rest.split_front(2).is_none(), "it is all of it");
        assert_eq!(rest.cost(), window_cost(0) + window_cost(7));
    }

    #[test]
    fn each_limit_ends_a_run() {
        let part = batch(&[100; 6]);
        // One byte of header each, since it is as long as the one before.
        assert_eq!(part.frames_following(5).len(), 5 * 101);
        assert_eq!(part.following(NO_LIMITS), 5);
        assert_eq!(part.following(RunLimits { room: 3 * 101, ..NO_LIMITS }), 3);
        assert_eq!(part.following(RunLimits { room: 3 * 101 - 1, ..NO_LIMITS }), 2);
        assert_eq!(part.following(RunLimits { messages: 4, ..NO_LIMITS }), 4);
        assert_eq!(part.following(RunLimits { cost: 2 * window_cost(100), ..NO_LIMITS }), 2);
        assert_eq!(part.following(RunLimits { begun_within: 101, ..NO_LIMITS }), 1);
        assert_eq!(part.following(RunLimits { begun_within: 102, ..NO_LIMITS }), 2);
        assert_eq!(part.following(RunLimits { begun_within: 0, ..NO_LIMITS }), 0);
    }

    #[test]
    fn memory_is_reused_after_its_last_reader() {
        let mut batches = BatchEncoder::default();
        let first = batches.batch([(Bytes::from_static(b"one"), MessageId(1))].into_iter());
        let second = batches.batch([(Bytes::from_static(b"two"), MessageId(2))].into_iter());
        assert!(!Arc::ptr_eq(&first, &second));
        let place = Arc::as_ptr(&first);
        drop(first);
        let third = batches.batch([(Bytes::from_static(b"three"), MessageId(3))].into_iter());
        assert_eq!(Arc::as_ptr(&third), place);
        assert_eq!(third.submissions().map(|message| message.payload).collect::<Vec<_>>(), ["three"]);
        assert_eq!(second.submissions().map(|message| message.payload).collect::<Vec<_>>(), ["two"]);
    }
}
