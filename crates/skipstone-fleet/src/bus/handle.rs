//! The application's end of a bus, and its thread.

use super::connection;
use super::deadline::after;
use super::error::{BusError, ConnectError, FlushError, PublishError, SubjectError};
use super::event::BusEvent;
use super::ids::{RequestId, SubscriptionId};
use super::outbox::BusCall;
use super::pump::{self, Pump};
use super::settings::BusSettings;
use super::shared::Shared;
use super::stats::{BusServer, BusState, BusStats};
use super::subject::{check_published, check_subscribed};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// A connection to NATS that heals itself. Dropping it ends its thread, and with it what was not flushed.
#[derive(Debug)]
pub struct Bus {
    shared: Arc<Shared>,
    ending: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Bus {
    /// Connects, and waits for the server for at most [`BusSettings::connect_within`].
    ///
    /// # Errors
    /// A file of the settings is unusable, or the server was not reached or refused: cause and remedy.
    pub fn connect(settings: BusSettings) -> Result<Bus, BusError> {
        let url = settings.url.clone();
        let (first, connected) = sync_channel(1);
        let bus = Bus::spawn(settings, Some(first))?;
        let connected = connected.recv().unwrap_or_else(|_| Err(ConnectError::Other("its thread has ended".into())));
        connected.map(|()| bus).map_err(|error| BusError::Connect(url, error))
    }

    /// Begins to connect, and never gives up. What is published before [`BusEvent::Connected`] waits.
    ///
    /// # Errors
    /// A file of the settings is unusable.
    pub fn start(settings: BusSettings) -> Result<Bus, BusError> {
        Bus::spawn(settings, None)
    }

    fn spawn(settings: BusSettings, first: Option<First>) -> Result<Bus, BusError> {
        connection::options(&settings)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(BusError::Thread)?;
        let shared = Arc::new(Shared::new(&settings));
        let (ending, ended) = oneshot::channel::<()>();
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("bus".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    // The other end says nothing; it is dropped.
                    _ = ended => {}
                    () = serve(settings, own, first) => {}
                }
            });
            runtime.shutdown_timeout(LOOKUP_GRACE);
        });
        let thread = Some(thread.map_err(BusError::Thread)?);
        Ok(Bus { shared, ending: Some(ending), thread })
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
        board.check_requests()?;
        let request = RequestId(board.next_id());
        board.accept(BusCall::Request { request, subject: subject.into(), payload })?;
        board.answers.insert(request, after(timeout));
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
        self.shared.pop_event(&mut self.shared.board())
    }

    /// The next event, waiting for it at most this long.
    pub fn wait(&self, timeout: Duration) -> Option<BusEvent> {
        let deadline = after(timeout);
        let mut board = self.shared.board();
        loop {
            if let Some(event) = self.shared.pop_event(&mut board) {
                return Some(event);
            }
            if self.shared.changed.wait_until(&mut board, deadline).timed_out() {
                return self.shared.pop_event(&mut board);
            }
        }
    }

    /// Waits until the server has confirmed all calls before this one. Events wait meanwhile.
    ///
    /// # Errors
    /// Not all were confirmed in time, or the connection broke in between.
    pub fn flush(&self, timeout: Duration) -> Result<(), FlushError> {
        let deadline = after(timeout);
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

    /// The server that it is connected to, or was last; nothing before the first connection.
    pub fn server(&self) -> Option<BusServer> {
        let info = self.shared.client.get()?.server_info();
        Some(BusServer {
            name: info.server_name,
            version: info.version,
            payload_bytes_max: info.max_payload,
            has_jetstream: info.jetstream,
            cluster: info.cluster,
        })
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    fn publish_call(&self, subject: &str, reply: Option<String>, payload: Bytes) -> Result<(), PublishError> {
        self.check(subject, &payload)?;
        self.shared.board().accept(BusCall::Publish { subject: subject.into(), reply, payload })?;
        self.shared.called.notify_one();
        Ok(())
    }

    fn check(&self, subject: &str, payload: &Bytes) -> Result<(), PublishError> {
        check_published(subject)?;
        let (bytes, bytes_max) = (payload.len(), self.shared.payload_bytes_max());
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

/// Where the first attempt's outcome goes, of a bus that waits for it.
type First = SyncSender<Result<(), ConnectError>>;

async fn serve(settings: BusSettings, shared: Arc<Shared>, first: Option<First>) {
    tokio::spawn(pump::expire_requests(Arc::clone(&shared)));
    let Some(pump) = first_connection(&settings, &shared, first).await else { return };
    pump.send_calls().await;
}

/// The first connection; nothing if it failed and somebody waits for it.
async fn first_connection(settings: &BusSettings, shared: &Arc<Shared>, first: Option<First>) -> Option<Pump> {
    for attempt in 1.. {
        let within = settings.connect_within;
        let connected = tokio::time::timeout(within, connected(settings, shared)).await;
        match (connected.unwrap_or(Err(ConnectError::TimedOut(within))), &first) {
            (Ok(pump), None) => {
                shared.report(|board| board.events.push_connection(BusEvent::Connected));
                return Some(pump);
            }
            (Ok(pump), Some(first)) => return first.send(Ok(())).ok().map(|()| pump),
            (Err(error), Some(first)) => {
                let _ = first.send(Err(error));
                return None;
            }
            (Err(error), None) => {
                let why = error.to_string();
                shared.report(|board| board.events.push_connection(BusEvent::ConnectFailed { why }));
            }
        }
        tokio::time::sleep(connection::reconnect_delay(attempt + 1)).await;
    }
    None
}

/// Connects, and proves that messages to itself come back.
async fn connected(settings: &BusSettings, shared: &Arc<Shared>) -> Result<Pump, ConnectError> {
    let client = connection::connect(settings, shared).await?;
    let inbox = client.new_inbox();
    let other = |error: &dyn std::fmt::Display| ConnectError::Other(error.to_string());
    let mut subscriber = client.subscribe(format!("{inbox}.*")).await.map_err(|error| other(&error))?;
    client.publish(format!("{inbox}.first"), Bytes::new()).await.map_err(|error| other(&error))?;
    let first = futures_util::StreamExt::next(&mut subscriber);
    if tokio::time::timeout(settings.connect_within / 2, first).await.is_err() {
        let prefix = inbox.split('.').next().unwrap_or_default();
        return Err(ConnectError::NoInbox(prefix.into()));
    }
    let _ = shared.client.set(client.clone());
    shared.report(|board| board.on_connections(1));
    let pump = Pump { client, shared: Arc::clone(shared), inbox: inbox.into() };
    tokio::spawn(pump.clone().receive_answers(subscriber));
    Ok(pump)
}

/// A lookup of a name cannot be interrupted.
const LOOKUP_GRACE: Duration = Duration::from_millis(200);
