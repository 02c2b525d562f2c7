//! What the application's end of a bus and its thread share.

use super::answers::Answers;
use super::error::{BusFull, PublishError};
use super::event::{BusEvent, BusMessage, NoAnswer};
use super::event_queue::EventQueue;
use super::ids::RequestId;
use super::kv::answer::{KvAnswer, KvOutcome};
use super::kv::call::KvCall;
use super::outbox::{BusCall, Outbox};
use super::receipts::{Receipts, Tally};
use super::settings::BusSettings;
use super::stats::{BusState, BusStats};
use async_nats::Client;
use bytes::Bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::OnceLock;
use std::time::Instant;
use tokio::sync::{Notify, watch};

/// The board on which both sides write, and how each wakes the other.
#[derive(Debug)]
pub(super) struct Shared {
    board: Mutex<Board>,
    /// Wakes the application: an event, or a confirmation.
    pub(super) changed: Condvar,
    /// Wakes the task that sends.
    pub(super) called: Notify,
    /// Wakes the task that ends requests in time.
    pub(super) requested: Notify,
    /// Wakes the tasks that wait for a place in the queue of events.
    room: Notify,
    /// NATS' own client, once there was a connection.
    pub(super) client: OnceLock<Client>,
}

/// All state of a bus, behind one lock that is held for microseconds.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) events: EventQueue,
    pub(super) outbox: Outbox,
    pub(super) answers: Answers,
    pub(super) receipts: Receipts,
    pub(super) state: BusState,
    /// Whether there is a connection again that was not reported yet.
    pub(super) is_back: bool,
    pub(super) stats: BusStats,
    /// Calls that were accepted, and those of them that ended: both only grow.
    pub(super) accepted: u64,
    pub(super) finished: u64,
    /// Disconnections that are accounted for.
    disconnections: watch::Sender<u64>,
    /// Calls of stores that were begun and have not ended.
    kv_running: usize,
    /// Whether a task waits for a place in the queue of events.
    wants_room: bool,
    last_id: u64,
}

impl Shared {
    pub(super) fn new(settings: &BusSettings) -> Shared {
        let board = Board {
            events: EventQueue::new(settings.events_max, settings.event_bytes_max),
            outbox: Outbox::new(settings.publish_bytes_max),
            answers: Answers::default(),
            receipts: Receipts::default(),
            state: BusState::Disconnected,
            is_back: false,
            stats: BusStats::default(),
            accepted: 0,
            finished: 0,
            disconnections: watch::Sender::new(0),
            kv_running: 0,
            wants_room: false,
            last_id: 0,
        };
        Shared {
            board: Mutex::new(board),
            changed: Condvar::new(),
            called: Notify::new(),
            requested: Notify::new(),
            room: Notify::new(),
            client: OnceLock::new(),
        }
    }

    pub(super) fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock()
    }

    /// The server's largest payload, or that of most servers while it is unknown.
    pub(super) fn payload_bytes_max(&self) -> usize {
        self.client.get().map_or(PAYLOAD_BYTES_MAX, Client::max_payload)
    }

    /// The next event of the application.
    pub(super) fn pop_event(&self, board: &mut Board) -> Option<BusEvent> {
        let event = board.events.pop()?;
        if std::mem::take(&mut board.wants_room) {
            self.room.notify_waiters();
        }
        Some(event)
    }

    /// Adds an event when there is a place for it.
    pub(super) async fn report_with_room(&self, mut event: BusEvent) {
        loop {
            let room = self.room.notified();
            let pushed = self.report(|board| {
                let pushed = board.events.push_if_room(event);
                board.wants_room |= pushed.is_err();
                pushed
            });
            match pushed {
                Ok(()) => return,
                Err(returned) => event = returned,
            }
            room.await;
        }
    }

    /// Changes with each disconnection from now on.
    pub(super) fn disconnections(&self) -> watch::Receiver<u64> {
        self.board().disconnections.subscribe()
    }

    /// A subject that nobody else has.
    pub(super) fn new_inbox(&self) -> Option<String> {
        self.client.get().map(Client::new_inbox)
    }

    /// Changes the board from the thread of the bus, and wakes the application.
    pub(super) fn report<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        let result = change(&mut self.board());
        self.changed.notify_all();
        result
    }
}

impl Board {
    /// Queues a call of the application.
    pub(super) fn accept(&mut self, call: BusCall) -> Result<(), BusFull> {
        let (is_message, bytes) = (call.is_message(), call.payload_bytes());
        if let Err(full) = self.outbox.push(call) {
            self.stats.refused += 1;
            return Err(full);
        }
        self.accepted += 1;
        self.stats.published += u64::from(is_message);
        self.stats.published_bytes += bytes as u64;
        Ok(())
    }

    /// Whether there is a place for one more answer.
    pub(super) fn check_requests(&self) -> Result<(), PublishError> {
        let requests_max = self.events.events_max();
        match self.answers.len() + self.kv_running + self.events.len() < requests_max {
            true => Ok(()),
            false => Err(PublishError::TooManyRequests(requests_max)),
        }
    }

    /// An id that nothing of this bus had before.
    pub(super) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// The next call to send, unless there is no connection. From here on it counts as sent.
    pub(super) fn next_call(&mut self, payload_bytes_max: usize) -> Option<BusCall> {
        while self.state == BusState::Connected {
            let call = self.outbox.pop()?;
            let mut tally = Tally { calls: 1, messages: u64::from(call.is_message()), bytes: call.weight() };
            if self.ends_unsent(&call, payload_bytes_max) {
                self.finish(tally);
                continue;
            }
            if let BusCall::Kv(call) = &call {
                // Its bytes are freed when it ends, and its time is measured by its task.
                tally.bytes = 0;
                self.answers.remove(call.request);
                self.kv_running += 1;
            }
            self.receipts.on_sent(tally);
            return Some(call);
        }
        None
    }

    fn ends_unsent(&mut self, call: &BusCall, bytes_max: usize) -> bool {
        if call.payload_bytes() > bytes_max {
            self.stats.oversized += 1;
            let why = PublishError::PayloadTooLarge { bytes: call.payload_bytes(), bytes_max }.to_string();
            self.events.push_bounded(BusEvent::Refused { why });
            return true;
        }
        let expired = match call {
            BusCall::Request { request, .. } | BusCall::Kv(KvCall { request, .. }) => !self.answers.waits(*request),
            _ => false,
        };
        self.stats.expired += u64::from(expired);
        expired
    }

    /// A fence came back.
    pub(super) fn on_fence_returned(&mut self, id: u64, now: Instant) {
        let Some((confirmed, rtt)) = self.receipts.on_fence_returned(id, now) else { return };
        self.stats.rtt = Some(rtt);
        self.stats.confirmed += confirmed.messages;
        self.finish(confirmed);
        // The client subscribes again before it sends anything else.
        if std::mem::take(&mut self.is_back) {
            self.events.push_connection(BusEvent::Reconnected);
        }
    }

    /// There have been this many disconnections since the beginning.
    pub(super) fn on_disconnections(&mut self, total: u64) {
        if total <= *self.disconnections.borrow() {
            return;
        }
        self.disconnections.send_replace(total);
        (self.state, self.is_back) = (BusState::Disconnected, false);
        let unconfirmed = self.receipts.on_disconnected();
        self.stats.unconfirmed += unconfirmed.messages;
        self.finish(unconfirmed);
        self.events.push_connection(BusEvent::Disconnected { unconfirmed: unconfirmed.messages });
    }

    /// There have been this many connections since the beginning.
    pub(super) fn on_connections(&mut self, total: u64) {
        self.on_disconnections(total - 1);
        if self.state == BusState::Disconnected && *self.disconnections.borrow() == total - 1 {
            self.state = BusState::Connected;
            self.stats.reconnects = total - 1;
            self.is_back = total > 1;
        }
    }

    pub(super) fn on_message(&mut self, message: BusMessage) {
        self.stats.received += 1;
        self.stats.received_bytes += message.payload.len() as u64;
        self.events.push_bounded(BusEvent::Message(message));
    }

    /// A request's answer arrived, or the server said that nobody answers. Late ones end nothing.
    pub(super) fn on_answer(&mut self, request: RequestId, result: Result<Bytes, NoAnswer>) {
        if let Ok(payload) = &result {
            self.stats.received += 1;
            self.stats.received_bytes += payload.len() as u64;
        }
        if self.answers.remove(request) {
            self.events.push_answer(BusEvent::Answer { request, result });
        }
    }

    /// A call of a store ended.
    pub(super) fn on_kv_answer(&mut self, call: KvCall, outcome: KvOutcome) {
        let (bucket, request) = (call.bucket, call.request);
        self.kv_running -= 1;
        self.outbox.release(BusCall::Kv(call).weight());
        self.events.push_answer(BusEvent::KvAnswer(KvAnswer { bucket, request, outcome }));
    }

    /// Ends the requests whose time has passed; when the next one's will have.
    pub(super) fn expire_requests(&mut self, now: Instant) -> Option<Instant> {
        while let Some((request, bucket)) = self.answers.pop_expired(now) {
            self.events.push_answer(match bucket {
                None => BusEvent::Answer { request, result: Err(NoAnswer::TimedOut) },
                Some(bucket) => {
                    let outcome = KvOutcome::Unavailable { why: "there is no connection to NATS".into() };
                    BusEvent::KvAnswer(KvAnswer { bucket, request, outcome })
                }
            });
        }
        self.answers.next_deadline()
    }

    fn finish(&mut self, tally: Tally) {
        self.finished += tally.calls;
        self.outbox.release(tally.bytes);
    }
}

/// The default of nats-server.
const PAYLOAD_BYTES_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bus::ids::KvBucket;
    use crate::bus::kv::call::KvOperation;
    use std::time::Duration;

    fn shared() -> Shared {
        let shared = Shared::new(&BusSettings::new("localhost".parse().unwrap()));
        shared.board().on_connections(1);
        shared
    }

    fn publish(board: &mut Board, subject: &str) {
        let (subject, payload) = (subject.into(), Bytes::new());
        board.accept(BusCall::Publish { subject, reply: None, payload }).unwrap();
    }

    fn events(board: &mut Board) -> Vec<BusEvent> {
        std::iter::from_fn(|| board.events.pop()).collect()
    }

    #[test]
    fn a_fence_that_outlives_its_connection_confirms_nothing_sent_before() {
        let shared = shared();
        let mut board = shared.board();
        publish(&mut board, "lost");
        assert!(board.next_call(1).is_some());
        let fence = board.receipts.on_fence_sent(Instant::now());
        // The client's count is ahead of its events: the fence came by the second connection.
        board.on_connections(2);
        board.on_fence_returned(fence, Instant::now());
        assert_eq!((board.stats.confirmed, board.stats.unconfirmed, board.outbox.waiting_bytes()), (0, 1, 0));
        // The events follow, and say nothing new.
        board.on_disconnections(1);
        board.on_connections(2);
        assert_eq!(events(&mut board), [BusEvent::Disconnected { unconfirmed: 1 }]);
        // A fence of the new connection comes behind all subscriptions.
        let fence = board.receipts.on_fence_sent(Instant::now());
        board.on_fence_returned(fence, Instant::now());
        assert_eq!(events(&mut board), [BusEvent::Reconnected]);
        assert_eq!((board.state, board.stats.reconnects), (BusState::Connected, 1));
    }

    #[test]
    fn nothing_is_sent_between_a_disconnection_and_the_next_connection() {
        let shared = shared();
        let mut board = shared.board();
        board.on_disconnections(1);
        publish(&mut board, "waits");
        assert!(board.next_call(1).is_none());
        // That connection is gone already: its disconnection is the one that was accounted for.
        board.on_connections(1);
        assert!(board.next_call(1).is_none());
        board.on_connections(2);
        assert!(board.next_call(1).is_some());
    }

    #[test]
    fn a_call_of_a_store_that_never_began_ends_at_its_deadline_and_frees_its_bytes_later() {
        let shared = shared();
        let mut board = shared.board();
        board.on_disconnections(1);
        let bucket = KvBucket { id: 1, answer_within: Duration::from_secs(1) };
        let (request, deadline) = (RequestId(2), Instant::now());
        let operation = KvOperation::Put(vec![0; 100].into());
        board.accept(BusCall::Kv(KvCall { request, bucket, key: "k".into(), operation, deadline })).unwrap();
        board.answers.insert_kv(request, deadline, bucket);
        assert_eq!(board.expire_requests(deadline), None);
        assert!(matches!(&events(&mut board)[1..], [BusEvent::KvAnswer(KvAnswer { request: RequestId(2), .. })]));
        board.on_connections(2);
        assert!(board.next_call(1_000).is_none(), "it has ended");
        assert_eq!((board.outbox.waiting_bytes(), board.finished, board.kv_running), (0, 1, 0));
    }
}
