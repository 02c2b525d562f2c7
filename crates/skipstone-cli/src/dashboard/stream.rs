//! Server-sent events: the frames, the lines of the log and the state of stress runs, as they happen. A viewer that
//! reads too slowly misses some; it never delays the sampler, and its connection ends if it stops reading.

use crate::dashboard::refusal::Refusal;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;
use tokio_stream::wrappers::errors::BroadcastStreamRecvError;
use tokio_stream::{Stream, StreamExt};

/// All viewers.
pub(super) struct Streams(broadcast::Sender<Update>);

/// An event for the viewers.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub(super) name: &'static str,
    pub(super) json: Arc<str>,
}

impl Default for Streams {
    fn default() -> Self {
        Streams(broadcast::channel(UPDATES_MAX).0)
    }
}

impl Streams {
    /// Sends to all viewers.
    pub(super) fn send(&self, name: &'static str, json: Arc<str>) {
        // Dropped if there are no viewers.
        let _ = self.0.send(Update { name, json });
    }

    /// Sends the reason as the last event: each viewer's stream ends behind it.
    pub(super) fn end(&self, reason: &str) {
        self.send("end", serde_json::json!(reason).to_string().into());
        self.send(LAST, "".into());
    }

    pub(super) fn viewers(&self) -> usize {
        self.0.receiver_count()
    }

    /// A viewer's stream.
    pub(super) fn open(&self) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>> + use<>>, Refusal> {
        if self.viewers() >= VIEWERS_MAX {
            return Err(Refusal(StatusCode::SERVICE_UNAVAILABLE, "16 pages are open already: close one of them"));
        }
        let updates = BroadcastStream::new(self.0.subscribe());
        let updates = updates.take_while(|update| !matches!(update, Ok(Update { name: LAST, .. })));
        let updates = updates.map(|update| Ok(event(update)));
        Ok(Sse::new(updates).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
    }
}

fn event(update: Result<Update, BroadcastStreamRecvError>) -> Event {
    match update {
        Ok(update) => Event::default().event(update.name).data(&*update.json),
        Err(BroadcastStreamRecvError::Lagged(count)) => Event::default().event("missed").data(count.to_string()),
    }
}

/// The number of updates that may wait for a slow viewer: about twelve seconds.
const UPDATES_MAX: usize = 64;
/// Not sent to viewers: their streams end in its place.
const LAST: &str = "last";
const VIEWERS_MAX: usize = 16;
const KEEP_ALIVE: Duration = Duration::from_secs(10);
