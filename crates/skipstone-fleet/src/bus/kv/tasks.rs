//! The tasks of key-value stores: one for each call, one for each watch.

use super::bucket::Bucket;
use super::call::KvCall;
use super::run::run;
use super::settings::KvSettings;
use super::watch::Watching;
use crate::bus::ids::{KvBucket, KvWatchId};
use crate::bus::shared::Shared;
use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::ContextBuilder;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;

/// The stores and watches of a bus.
pub(in crate::bus) struct KvTasks {
    client: Client,
    context: Context,
    shared: Arc<Shared>,
    /// What distinguishes the writes of this bus from those of all others.
    writer: Arc<str>,
    buckets: HashMap<KvBucket, Arc<Bucket>>,
    watches: HashMap<KvWatchId, JoinHandle<()>>,
}

impl KvTasks {
    pub(in crate::bus) fn new(client: Client, shared: Arc<Shared>, writer: Arc<str>) -> KvTasks {
        let context = ContextBuilder::new().timeout(ATTEMPT_MAX).build(client.clone());
        KvTasks { client, context, shared, writer, buckets: HashMap::new(), watches: HashMap::new() }
    }

    pub(in crate::bus) fn add(&mut self, id: KvBucket, name: String, settings: KvSettings) {
        let bucket = Bucket::new(self.client.clone(), self.context.clone(), name, settings);
        self.buckets.insert(id, Arc::new(bucket));
    }

    pub(in crate::bus) fn run(&self, call: KvCall) {
        let (shared, writer) = (Arc::clone(&self.shared), Arc::clone(&self.writer));
        let bucket = Arc::clone(&self.buckets[&call.bucket]);
        tokio::spawn(async move {
            let outcome = run(&bucket, &call, &writer).await;
            shared.report(|board| board.on_kv_answer(call, outcome));
        });
    }

    pub(in crate::bus) fn watch(&mut self, watch: KvWatchId, bucket: KvBucket, pattern: String) {
        let (bucket, shared) = (Arc::clone(&self.buckets[&bucket]), Arc::clone(&self.shared));
        let watching = Watching { watch, bucket, pattern, shared };
        self.watches.insert(watch, tokio::spawn(watching.run()));
    }

    pub(in crate::bus) fn unwatch(&mut self, watch: KvWatchId) {
        if let Some(watching) = self.watches.remove(&watch) {
            watching.abort();
        }
    }
}

/// How long one attempt may take. Most take a millisecond.
const ATTEMPT_MAX: Duration = Duration::from_secs(1);
