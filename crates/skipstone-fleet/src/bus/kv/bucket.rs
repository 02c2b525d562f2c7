//! A store as the tasks see it: a stream of JetStream with the names that all clients of key-value stores use. It is opened
//! when it is first needed, and again when it was lost.
//!
//! The client's own stores are not used: to make one, it reads an account's figures, and those of NATS 2.9 lack some.

use super::settings::KvSettings;
use super::trouble::Trouble;
use async_nats::Client;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{Config, DiscardPolicy, StorageType, Stream};
use async_nats::jetstream::{Context, ErrorCode};
use tokio::sync::Mutex;

/// A store.
pub(super) struct Bucket {
    client: Client,
    context: Context,
    name: String,
    settings: KvSettings,
    stream: Mutex<Option<Stream>>,
}

impl Bucket {
    pub(super) fn new(client: Client, context: Context, name: String, settings: KvSettings) -> Bucket {
        Bucket { client, context, name, settings, stream: Mutex::new(None) }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// The store, made if there is none.
    pub(super) async fn open(&self) -> Result<Stream, Trouble> {
        let mut stream = self.stream.lock().await;
        if let Some(stream) = &*stream {
            return Ok(stream.clone());
        }
        let opened = match self.context.get_stream(format!("KV_{}", self.name)).await {
            Ok(opened) => opened,
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                    self.create().await?
                }
                _ => return Err(Trouble::of_opening(&error, self.has_jetstream())),
            },
        };
        Ok(stream.insert(opened).clone())
    }

    async fn create(&self) -> Result<Stream, Trouble> {
        // A node may have begun before its NATS, so that this is the first moment at which a cluster is known.
        let cluster = self.client.server_info().cluster;
        let config = Config {
            name: format!("KV_{}", self.name),
            subjects: vec![self.subject(">")],
            max_messages_per_subject: 1,
            max_age: self.settings.age_max.unwrap_or_default(),
            storage: StorageType::Memory,
            num_replicas: self.settings.replicas_in(cluster.as_deref()),
            discard: DiscardPolicy::New,
            allow_rollup: true,
            deny_delete: true,
            allow_direct: true,
            ..Config::default()
        };
        let created = self.context.create_stream(config).await;
        created.map_err(|error| Trouble::of_creation(&error, self.has_jetstream()))
    }

    fn has_jetstream(&self) -> bool {
        self.client.server_info().jetstream
    }

    /// The store may be gone: the next call looks for it.
    pub(super) async fn close(&self) {
        *self.stream.lock().await = None;
    }

    /// The subject of a key.
    pub(super) fn subject(&self, key: &str) -> String {
        format!("$KV.{}.{key}", self.name)
    }
}
