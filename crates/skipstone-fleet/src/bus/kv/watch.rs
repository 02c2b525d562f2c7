//! A watch: all entries that fit a pattern, then each change. After a reconnection, and whenever the server's consumer was
//! lost, it begins anew: a store that was made again counts its revisions from 1, so that nothing can be resumed.

use super::answer::{KvChange, KvWatchState};
use super::bucket::Bucket;
use super::run::OPERATION;
use super::trouble::Trouble;
use crate::bus::event::BusEvent;
use crate::bus::ids::KvWatchId;
use crate::bus::shared::Shared;
use async_nats::jetstream::Message;
use async_nats::jetstream::consumer::push::OrderedConfig;
use async_nats::jetstream::consumer::{DeliverPolicy, ReplayPolicy};
use async_nats::jetstream::stream::ConsumerErrorKind;
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// A watch that runs.
pub(super) struct Watching {
    pub(super) watch: KvWatchId,
    pub(super) bucket: Arc<Bucket>,
    pub(super) pattern: String,
    pub(super) shared: Arc<Shared>,
}

impl Watching {
    /// Until the task is aborted.
    pub(super) async fn run(self) {
        let (mut pause, mut reported) = (PAUSE_MIN, None);
        loop {
            let mut disconnections = self.shared.disconnections();
            let failure = tokio::select! {
                failure = self.follow() => failure,
                _ = disconnections.changed() => None,
            };
            self.bucket.close().await;
            match failure {
                None => (pause, reported) = (PAUSE_MIN, None),
                // Each reason once in a row.
                Some(why) if reported.as_ref() != Some(&why) => {
                    self.report(KvWatchState::Failed { why: why.clone() }).await;
                    reported = Some(why);
                }
                Some(_) => {}
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Follows one consumer until it ends. Why it could not begin.
    async fn follow(&self) -> Option<String> {
        let stream = match self.bucket.open().await {
            Ok(stream) => stream,
            Err(Trouble::Passing(why) | Trouble::Lasting(why)) => return Some(why),
        };
        let config = OrderedConfig {
            deliver_subject: self.shared.new_inbox()?,
            filter_subject: self.bucket.subject(&self.pattern),
            replay_policy: ReplayPolicy::Instant,
            deliver_policy: DeliverPolicy::LastPerSubject,
            ..OrderedConfig::default()
        };
        let consumer = match stream.create_consumer(config).await {
            Ok(consumer) => consumer,
            Err(error) => match error.kind() {
                ConsumerErrorKind::JetStream(error) => return Some(error.to_string()),
                _ => return Some("JetStream does not answer".into()),
            },
        };
        let mut pending = consumer.cached_info().num_pending;
        let Ok(mut messages) = consumer.messages().await else { return Some("JetStream does not answer".into()) };
        self.report(KvWatchState::Restarted).await;
        if pending == 0 {
            self.report(KvWatchState::Current).await;
        }
        while let Some(Ok(message)) = messages.next().await {
            self.report_change(&message).await?;
            if pending > 0 {
                pending -= 1;
                if pending == 0 {
                    self.report(KvWatchState::Current).await;
                }
            }
        }
        None
    }

    async fn report(&self, state: KvWatchState) {
        self.shared.report_with_room(BusEvent::KvWatch { watch: self.watch, state }).await;
    }

    async fn report_change(&self, message: &Message) -> Option<()> {
        let key = message.subject.strip_prefix(&self.bucket.subject(""))?.to_owned();
        let is_deleted = message.headers.as_ref().is_some_and(|headers| headers.get(OPERATION).is_some());
        let value = (!is_deleted).then(|| message.payload.clone());
        let info = message.info().ok()?;
        let (revision, stored_at) = (info.stream_sequence, info.published.into());
        let change = KvChange { watch: self.watch, key, value, revision, stored_at };
        self.shared.report_with_room(BusEvent::KvChange(change)).await;
        Some(())
    }
}

const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);
