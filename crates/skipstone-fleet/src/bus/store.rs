//! The application's end of key-value stores. All calls queue; outcomes come as [`BusEvent::KvAnswer`], changes as
//! [`BusEvent::KvChange`].
//!
//! [`BusEvent::KvAnswer`]: super::BusEvent::KvAnswer
//! [`BusEvent::KvChange`]: super::BusEvent::KvChange

use super::deadline::after;
use super::error::PublishError;
use super::handle::Bus;
use super::ids::{KvBucket, KvWatchId, RequestId};
use super::kv::call::{KvCall, KvOperation};
use super::kv::error::{KvError, check_bucket, check_key, check_pattern};
use super::kv::settings::KvSettings;
use super::outbox::BusCall;
use bytes::Bytes;

impl Bus {
    /// A key-value store, opened or made when it is first used.
    ///
    /// # Errors
    /// The name is invalid, or too many calls wait.
    pub fn kv(&self, name: &str, settings: KvSettings) -> Result<KvBucket, KvError> {
        check_bucket(name)?;
        let mut board = self.shared().board();
        let bucket = KvBucket { id: board.next_id(), answer_within: settings.answer_within };
        board.accept(BusCall::KvOpen { bucket, name: name.into(), settings })?;
        drop(board);
        self.shared().called.notify_one();
        Ok(bucket)
    }

    /// Ends a watch. What waits already is still polled.
    ///
    /// # Errors
    /// Too many calls wait.
    pub fn unwatch(&self, watch: KvWatchId) -> Result<(), KvError> {
        self.shared().board().accept(BusCall::KvUnwatch { watch })?;
        self.shared().called.notify_one();
        Ok(())
    }
}

/// The calls of a store, by the bus that it is of.
impl KvBucket {
    /// Writes an entry unless there is one: of many that try at once, one succeeds.
    ///
    /// # Errors
    /// The key or the value is invalid, or too much waits. So for all calls.
    pub fn create(self, bus: &Bus, key: &str, value: impl Into<Bytes>) -> Result<RequestId, KvError> {
        self.call(bus, key, KvOperation::Create(value.into()))
    }

    /// Writes an entry, whatever it was.
    ///
    /// # Errors
    /// As [`KvBucket::create`].
    pub fn put(self, bus: &Bus, key: &str, value: impl Into<Bytes>) -> Result<RequestId, KvError> {
        self.call(bus, key, KvOperation::Put(value.into()))
    }

    /// Writes an entry if it has this revision.
    ///
    /// # Errors
    /// As [`KvBucket::create`].
    pub fn update(self, bus: &Bus, key: &str, value: impl Into<Bytes>, revision: u64) -> Result<RequestId, KvError> {
        self.call(bus, key, KvOperation::Update { value: value.into(), revision })
    }

    /// Reads an entry, from the store's leader.
    ///
    /// # Errors
    /// As [`KvBucket::create`].
    pub fn get(self, bus: &Bus, key: &str) -> Result<RequestId, KvError> {
        self.call(bus, key, KvOperation::Get)
    }

    /// Deletes an entry, whatever it is.
    ///
    /// # Errors
    /// As [`KvBucket::create`].
    pub fn delete(self, bus: &Bus, key: &str) -> Result<RequestId, KvError> {
        self.call(bus, key, KvOperation::Delete)
    }

    /// Deletes an entry if it has this revision.
    ///
    /// # Errors
    /// As [`KvBucket::create`].
    pub fn delete_at(self, bus: &Bus, key: &str, revision: u64) -> Result<RequestId, KvError> {
        self.call(bus, key, KvOperation::DeleteAt { revision })
    }

    /// Reports all entries whose keys fit a pattern (`room.*`, `>`), and each change from then on. A watch waits for a
    /// place in the queue of events, and loses nothing; of several changes of one entry while it waits, or while the
    /// connection is away, it may report the last alone.
    ///
    /// # Errors
    /// The pattern is invalid, or too many calls wait.
    pub fn watch(self, bus: &Bus, pattern: &str) -> Result<KvWatchId, KvError> {
        check_pattern(pattern)?;
        let mut board = bus.shared().board();
        let watch = KvWatchId(board.next_id());
        board.accept(BusCall::KvWatch { watch, bucket: self, pattern: pattern.into() })?;
        drop(board);
        bus.shared().called.notify_one();
        Ok(watch)
    }

    fn call(self, bus: &Bus, key: &str, operation: KvOperation) -> Result<RequestId, KvError> {
        check_key(key)?;
        let (bytes, bytes_max) = (operation.value_bytes() + HEADERS, bus.shared().payload_bytes_max());
        if bytes > bytes_max {
            return Err(PublishError::PayloadTooLarge { bytes, bytes_max }.into());
        }
        let deadline = after(self.answer_within);
        let mut board = bus.shared().board();
        board.check_requests()?;
        let request = RequestId(board.next_id());
        let call = KvCall { request, bucket: self, key: key.into(), operation, deadline };
        board.accept(BusCall::Kv(call))?;
        board.answers.insert_kv(request, deadline, self);
        drop(board);
        bus.shared().called.notify_one();
        bus.shared().requested.notify_one();
        Ok(request)
    }
}

/// Bytes that a write's headers need beside its value, at most.
const HEADERS: usize = 256;
