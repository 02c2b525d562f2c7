//! The application's end of a bus, and its thread.

use super::connection::{self, Connections};
use super::error::{BusError, ConnectError, FlushError, PublishError, SubjectError};
use super::event::{BusEvent, RequestId, SubscriptionId};
use super::outbox::BusCall;
use super::pump::Pump;
use super::settings::BusSettings;
use super::shared::Shared;
use super::stats::{BusServer, BusState, BusStats};
use super::subject::{check_published, check_subscribed};
use async_nats::{Client, ConnectOptions};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// A connection to NATS that heals itself. Dropping it ends its thread, and with it what was not flushed.
#[derive(Debug)]
pub struct Bus {
    shared: Arc<Shared>,
    client: Client,
    ending: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bus {
    /// Connects, and waits for the server for at most [`BusSettings::connect_within`].
    ///
    /// # Errors
    /// A file of the settings is unusable, or the server was not reached or refused: cause and remedy.
    pub fn connect(settings: BusSettings) -> Result<Bus, BusError> {
        let options = connection::options(&settings)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(BusError::Thread)?;
        let shared = Arc::new(Shared::new(&settings));
        let (ending, ended) = oneshot::channel();
        let (first, connected) = sync_channel(1);
        let (own, url) = (Arc::clone(&shared), settings.url.clone());
        let thread = std::thread::Builder::new().name("bus".into()).spawn(move || {
            runtime.block_on(serve(options, settings, own, first, ended));
            runtime.shutdown_timeout(LOOKUP_GRACE);
        });
        let thread = Some(thread.map_err(BusError::Thread)?);
        let client = connected.recv().unwrap_or_else(|_| Err(ConnectError::Other("its thread has ended".into())));
        let client = client.map_err(|error| BusError::Connect(url, error))?;
        Ok(Bus { shared, client, ending: Some(ending), thread })
    }

    /// Sends a message to all that subscribe to the subject now.
    ///
    /// # Errors
    /// The subject or the size is wrong, or too much waits. Nothing was queued then.
    pub fn publish(&self, subject: &str, payload: impl Into<Bytes>) -> Result<(), PublishError> {
        self.publish_call(subject, None, payload.into())
    }

    /// The same, with a subject for answers.
    ///
    /// # Errors
    /// As [`Bus::publish`].
    pub fn publish_with_reply(
        &self,
        subject: &str,
        reply: &str,
        payload: impl Into<Bytes>,
    ) -> Result<(), PublishError> {
        check_published(reply)?;
        self.publish_call(subject, Some(reply.into()), payload.into())
    }

    /// Answers a request: `reply` is [`BusMessage::reply`](super::BusMessage::reply).
    ///
    /// # Errors
    /// As [`Bus::publish`].
    pub fn respond(&self, reply: &str, payload: impl Into<Bytes>) -> Result<(), PublishError> {
        self.publish(reply, payload)
    }

    /// Asks whoever subscribes to the subject. The first answer, or its absence, comes as [`BusEvent::Answer`].
    ///
    /// # Errors
    /// As [`Bus::publish`], or too many requests wait.
    pub fn request(
        &self,
        subject: &str,
        payload: impl Into<Bytes>,
        timeout: Duration,
    ) -> Result<RequestId, PublishError> {
        let payload = payload.into();
        self.check(subject, &payload)?;
        let mut board = self.shared.board();
        if board.answers.len() >= REQUESTS_MAX {
            return Err(PublishError::TooManyRequests(REQUESTS_MAX));
        }
        let request = RequestId(board.next_id());
        board.accept(BusCall::Request { request, subject: subject.into(), payload })?;
        board.answers.insert(request, Instant::now() + timeout);
        drop(board);
        self.shared.called.notify_one();
        self.shared.requested.notify_one();
        Ok(request)
    }

    /// Receives messages of a subject from now on: `*` is any token, `>` as the last token any rest.
    ///
    /// # Errors
    /// The subject is invalid, or too many calls wait.
    pub fn subscribe(&self, subject: &str) -> Result<SubscriptionId, SubjectError> {
        check_subscribed(subject)?;
        let mut board = self.shared.board();
        let subscription = SubscriptionId(board.next_id());
        board.accept(BusCall::Subscribe { subscription, subject: subject.into() })?;
        drop(board);
        self.shared.called.notify_one();
        Ok(subscription)
    }

    /// Ends a subscription. Messages that wait already are still polled.
    ///
    /// # Errors
    /// Too many calls wait.
    pub fn unsubscribe(&self, subscription: SubscriptionId) -> Result<(), SubjectError> {
        self.shared.board().accept(BusCall::Unsubscribe { subscription })?;
        self.shared.called.notify_one();
        Ok(())
    }

    /// The next event, if there is one.
    pub fn poll(&self) -> Option<BusEvent> {
        self.shared.board().events.pop()
    }

    /// The next event, waiting for it at most this long.
    pub fn wait(&self, timeout: Duration) -> Option<BusEvent> {
        let deadline = Instant::now() + timeout;
        let mut board = self.shared.board();
        loop {
            if let Some(event) = board.events.pop() {
                return Some(event);
            }
            if self.shared.changed.wait_until(&mut board, deadline).timed_out() {
                return board.events.pop();
            }
        }
    }

    /// Waits until the server has confirmed all calls before this one. Events wait meanwhile.
    ///
    /// # Errors
    /// Not all were confirmed in time, or the connection broke in between.
    pub fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        let deadline = Instant::now() + timeout;
        let mut board = self.shared.board();
        let (until, unconfirmed) = (board.accepted, board.stats.unconfirmed);
        while board.finished < until {
            if self.shared.changed.wait_until(&mut board, deadline).timed_out() && board.finished < until {
                return Err(FlushError::TimedOut { calls: until - board.finished });
            }
        }
        match board.stats.unconfirmed - unconfirmed {
            0 => Ok(()),
            messages => Err(FlushError::Unconfirmed { messages }),
        }
    }

    /// Whether there is a connection now.
    pub fn state(&self) -> BusState {
        match &self.thread {
            Some(thread) if thread.is_finished() => BusState::Ended,
            _ => self.shared.board().state,
        }
    }

    /// Counters since the beginning.
    pub fn stats(&self) -> BusStats {
        let board = self.shared.board();
        let (dropped, waiting_bytes) = (board.events.dropped(), board.outbox.waiting_bytes() as u64);
        BusStats { dropped, waiting_bytes, ..board.stats }
    }

    /// The server that it is connected to, or was last.
    pub fn server(&self) -> BusServer {
        let info = self.client.server_info();
        BusServer {
            name: info.server_name,
            version: info.version,
            payload_bytes_max: info.max_payload,
            has_jetstream: info.jetstream,
            cluster: info.cluster,
        }
    }

    fn publish_call(&self, subject: &str, reply: Option<String>, payload: Bytes) -> Result<(), PublishError> {
        self.check(subject, &payload)?;
        self.shared.board().accept(BusCall::Publish { subject: subject.into(), reply, payload })?;
        self.shared.called.notify_one();
        Ok(())
    }

    fn check(&self, subject: &str, payload: &Bytes) -> Result<(), PublishError> {
        check_published(subject)?;
        let (bytes, bytes_max) = (payload.len(), self.client.max_payload());
        match bytes > bytes_max {
            true => Err(PublishError::PayloadTooLarge { bytes, bytes_max }),
            false => Ok(()),
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        drop(self.ending.take());
        if let Some(thread) = self.thread.take() {
            // It panics only by a defect of ours, which has then been printed.
            let _ = thread.join();
        }
    }
}

async fn serve(
    options: ConnectOptions,
    settings: BusSettings,
    shared: Arc<Shared>,
    first: SyncSender<Result<Client, ConnectError>>,
    ended: oneshot::Receiver<()>,
) {
    let pump = match connected(options, &settings, shared).await {
        Ok(pump) => pump,
        Err(error) => return drop(first.send(Err(error))),
    };
    tokio::spawn(pump.clone().expire_requests());
    let sending = tokio::spawn(pump.clone().send_calls());
    let _ = first.send(Ok(pump.client));
    // The other end says nothing; it is dropped.
    tokio::select! {
        _ = ended => {}
        _ = sending => {}
    }
}

/// Connects, and proves that messages to itself come back.
async fn connected(options: ConnectOptions, settings: &BusSettings, shared: Arc<Shared>) -> Result<Pump, ConnectError> {
    let connections = Connections::default();
    let client = connection::connect(options, settings, &shared, &connections).await?;
    let inbox = client.new_inbox();
    let other = |error: &dyn std::fmt::Display| ConnectError::Other(error.to_string());
    let mut subscriber = client.subscribe(format!("{inbox}.*")).await.map_err(|error| other(&error))?;
    client.publish(format!("{inbox}.first"), Bytes::new()).await.map_err(|error| other(&error))?;
    let first = futures_util::StreamExt::next(&mut subscriber);
    if tokio::time::timeout(settings.connect_within, first).await.is_err() {
        let prefix = inbox.split('.').next().unwrap_or_default();
        return Err(ConnectError::NoInbox(prefix.into()));
    }
    shared.board().on_connections(1);
    let pump = Pump { client, shared, connections, inbox: inbox.into() };
    tokio::spawn(pump.clone().receive_answers(subscriber));
    Ok(pump)
}

/// A lookup of a name cannot be interrupted.
const LOOKUP_GRACE: Duration = Duration::from_millis(200);
/// Requests that may wait at once.
const REQUESTS_MAX: usize = 65_536;
