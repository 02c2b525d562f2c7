//! Running a call of a store until it is done, refused, or out of time.
//!
//! Each write carries an id by which JetStream recognises it for two minutes, and which the entry keeps, so that trying
//! again after a silence does not do it twice.

use super::answer::KvOutcome;
use super::bucket::Bucket;
use super::call::{KvCall, KvOperation};
use super::trouble::{SILENCE, Trouble};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::{PublishMessage, StreamMessage};
use async_nats::jetstream::stream::LastRawMessageErrorKind;
use async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use bytes::Bytes;
use std::error::Error;
use std::time::Duration;
use tokio::time::{sleep, timeout_at};

/// Runs a call. `writer` is unique to this bus.
pub(super) async fn run(bucket: &Bucket, call: &KvCall, writer: &str) -> KvOutcome {
    let mut running = Running { bucket, call, writer, is_in_doubt: false, why: String::new() };
    let ended = timeout_at(call.deadline.into(), running.until_it_ends()).await;
    match ended {
        Ok(outcome) => outcome,
        Err(_) if running.is_in_doubt => KvOutcome::Unknown,
        Err(_) => KvOutcome::Unavailable { why: running.why },
    }
}

struct Running<'a> {
    bucket: &'a Bucket,
    call: &'a KvCall,
    writer: &'a str,
    /// Whether a write was sent whose answer is missing.
    is_in_doubt: bool,
    /// Why the last attempt failed.
    why: String,
}

/// How an attempt ended.
enum Attempt {
    Ended(KvOutcome),
    /// Nothing was written.
    Failed(Trouble),
    /// It may have been written, or may be soon. Why there is no answer.
    InDoubt(String),
}

impl Running<'_> {
    async fn until_it_ends(&mut self) -> KvOutcome {
        let mut pause = PAUSE_MIN;
        loop {
            match self.attempt().await {
                Attempt::Ended(outcome) => return outcome,
                Attempt::Failed(Trouble::Lasting(why)) => return KvOutcome::Refused { why },
                Attempt::Failed(Trouble::Passing(why)) | Attempt::InDoubt(why) => self.why = why,
            }
            self.bucket.close().await;
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn attempt(&mut self) -> Attempt {
        match &self.call.operation {
            KvOperation::Get => self.get().await,
            KvOperation::Create(value) => self.create(value).await,
            KvOperation::Put(value) => self.write(value, None, "").await,
            KvOperation::Update { value, revision } => self.write(value, Some(*revision), "").await,
            KvOperation::Delete => self.write(&Bytes::new(), None, DELETED).await,
            KvOperation::DeleteAt { revision } => self.write(&Bytes::new(), Some(*revision), DELETED).await,
        }
    }

    async fn get(&self) -> Attempt {
        match self.last().await {
            Ok(Some(message)) if !is_deleted(&message) => {
                Attempt::Ended(KvOutcome::Found { value: message.payload, revision: message.sequence })
            }
            Ok(_) => Attempt::Ended(KvOutcome::NotFound),
            Err(trouble) => Attempt::Failed(trouble),
        }
    }

    /// Where an entry was deleted, its marker is what must be the last.
    async fn create(&mut self, value: &Bytes) -> Attempt {
        let mut marker = 0;
        for _ in 0..MARKERS_MAX {
            match self.write(value, Some(marker), "").await {
                Attempt::Ended(KvOutcome::WrongRevision) => {}
                other => return other,
            }
            marker = match self.last().await {
                Ok(Some(message)) if is_deleted(&message) => message.sequence,
                Ok(Some(message)) => {
                    return Attempt::Ended(KvOutcome::Exists { value: message.payload, revision: message.sequence });
                }
                Ok(None) => 0,
                Err(trouble) => return Attempt::Failed(trouble),
            };
        }
        Attempt::Failed(Trouble::Passing("the entry is made and deleted by others all the time".into()))
    }

    async fn write(&mut self, value: &Bytes, expected: Option<u64>, operation: &str) -> Attempt {
        if let Err(trouble) = self.bucket.open().await {
            return Attempt::Failed(trouble);
        }
        let id = format!("{}.{}", self.call_id(), expected.unwrap_or_default());
        let mut message = PublishMessage::build().payload(value.clone()).message_id(&id);
        if let Some(revision) = expected {
            message = message.expected_last_subject_sequence(revision);
        }
        if !operation.is_empty() {
            message = message.header(OPERATION, operation);
        }
        let was_in_doubt = std::mem::replace(&mut self.is_in_doubt, true);
        let answer = match self.bucket.context().send_publish(self.bucket.subject(&self.call.key), message).await {
            Ok(answer) => answer.await,
            Err(error) => Err(error),
        };
        let attempt = match answer {
            Ok(written) => Attempt::Ended(KvOutcome::Stored { revision: written.sequence }),
            Err(error) => meaning(&error),
        };
        match attempt {
            Attempt::InDoubt(_) => attempt,
            // Perhaps it is an earlier attempt of this call that made it wrong.
            Attempt::Ended(KvOutcome::WrongRevision) if was_in_doubt => self.unless_written().await,
            attempt => {
                self.is_in_doubt = was_in_doubt;
                attempt
            }
        }
    }

    /// The outcome of a write that may have been done before. Newer servers look at the revision before the id.
    async fn unless_written(&self) -> Attempt {
        match self.last().await {
            Ok(Some(message)) if message.headers.get(ID).is_some_and(|id| self.wrote(id.as_str())) => {
                Attempt::Ended(KvOutcome::Stored { revision: message.sequence })
            }
            Ok(_) => Attempt::Ended(KvOutcome::WrongRevision),
            Err(trouble) => Attempt::Failed(trouble),
        }
    }

    /// Whether an attempt of this call has this id, whatever revision it expected.
    fn wrote(&self, id: &str) -> bool {
        id.rsplit_once('.').is_some_and(|(call, _revision)| call == self.call_id())
    }

    fn call_id(&self) -> String {
        format!("{}.{}", self.writer, self.call.request.0)
    }

    /// The last message of the key, from the store's leader: replicas may be behind.
    async fn last(&self) -> Result<Option<StreamMessage>, Trouble> {
        let stream = self.bucket.open().await?;
        let subject = self.bucket.subject(&self.call.key);
        match stream.get_last_raw_message_by_subject(&subject).await {
            Ok(message) => Ok(Some(message)),
            Err(error) => match error.kind() {
                LastRawMessageErrorKind::NoMessageFound => Ok(None),
                LastRawMessageErrorKind::JetStream(error) => Err(Trouble::of_jetstream(&error)),
                _ => Err(Trouble::silence()),
            },
        }
    }
}

/// What the refusal of a write means.
fn meaning(error: &PublishError) -> Attempt {
    match error.kind() {
        PublishErrorKind::WrongLastSequence => Attempt::Ended(KvOutcome::WrongRevision),
        // No server received it: the store is gone, or it elects a leader.
        PublishErrorKind::StreamNotFound => {
            Attempt::Failed(Trouble::Passing("the store is gone, or has no leader".into()))
        }
        PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Attempt::InDoubt(SILENCE.into()),
        _ => match error.source().and_then(|source| source.downcast_ref::<JetStreamError>()) {
            // An earlier attempt of this call waits for the replicas: the next one learns whether it was written.
            Some(error) if error.error_code() == ErrorCode::STREAM_DUPLICATE_MESSAGE_CONFLICT => {
                Attempt::InDoubt(error.to_string())
            }
            Some(error) => Attempt::Failed(Trouble::of_jetstream(error)),
            None => Attempt::Failed(Trouble::Lasting(error.to_string())),
        },
    }
}

fn is_deleted(message: &StreamMessage) -> bool {
    message.headers.get(OPERATION).is_some()
}

/// The header by which all clients of key-value stores mark deletions.
pub(super) const OPERATION: &str = "KV-Operation";
const DELETED: &str = "DEL";
/// The header by which JetStream recognises a repetition.
const ID: &str = "Nats-Msg-Id";
/// How often an entry may be deleted by others while it is created.
const MARKERS_MAX: usize = 8;
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, error_code: u16) -> Attempt {
        let answer = format!(r#"{{"code": {code}, "err_code": {error_code}, "description": "x"}}"#);
        let answer: JetStreamError = serde_json::from_str(&answer).unwrap();
        meaning(&PublishError::with_source(PublishErrorKind::Other, answer))
    }

    #[test]
    fn a_write_that_is_in_process_already_is_tried_again_and_stays_in_doubt() {
        assert!(matches!(refused(409, 10158), Attempt::InDoubt(_)));
        for silence in [PublishErrorKind::TimedOut, PublishErrorKind::BrokenPipe] {
            assert!(matches!(meaning(&PublishError::new(silence)), Attempt::InDoubt(_)));
        }
    }

    #[test]
    fn a_write_without_a_receiver_or_behind_another_is_tried_again_and_was_not_done() {
        assert!(matches!(refused(400, 10164), Attempt::Failed(Trouble::Passing(_))));
        let nobody = meaning(&PublishError::new(PublishErrorKind::StreamNotFound));
        assert!(matches!(nobody, Attempt::Failed(Trouble::Passing(_))));
    }
}
