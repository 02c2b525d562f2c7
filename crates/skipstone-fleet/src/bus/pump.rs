//! The tasks of a bus' thread: one sends, one receives answers and fences, one ends requests in time, and one for each
//! subscription receives its messages.

use super::event::{BusMessage, NoAnswer};
use super::ids::{RequestId, SubscriptionId};
use super::kv::tasks::KvTasks;
use super::outbox::BusCall;
use super::shared::{Board, Shared};
use super::stats::BusState;
use async_nats::{Client, Message, StatusCode, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// The tasks' common knowledge.
#[derive(Clone)]
pub(super) struct Pump {
    pub(super) client: Client,
    pub(super) shared: Arc<Shared>,
    /// The subject before the ids of requests and fences.
    pub(super) inbox: Arc<str>,
}

impl Pump {
    /// Sends calls in their order, and a fence behind them.
    pub(super) async fn send_calls(self) {
        let mut subscriptions = HashMap::new();
        let mut kv = KvTasks::new(self.client.clone(), Arc::clone(&self.shared), Arc::clone(&self.inbox));
        let mut last_fence = Instant::now();
        loop {
            while let Some(call) = self.next_call() {
                self.send(call, &mut subscriptions, &mut kv).await;
                if last_fence.elapsed() >= FENCES_APART && self.send_fence().await {
                    last_fence = Instant::now();
                }
            }
            let due = last_fence + if self.wants_fence() { FENCES_APART } else { HEARTBEAT };
            tokio::select! {
                () = self.shared.called.notified() => {}
                () = tokio::time::sleep_until(due.into()) => {
                    self.send_fence().await;
                    last_fence = Instant::now();
                }
            }
        }
    }

    fn next_call(&self) -> Option<BusCall> {
        let mut board = self.shared.board();
        self.notice_reconnection(&mut board);
        board.next_call(self.client.max_payload())
    }

    async fn send(&self, call: BusCall, subscriptions: &mut HashMap<SubscriptionId, JoinHandle<()>>, kv: &mut KvTasks) {
        // The client refuses only subjects and sizes, which are checked.
        match call {
            BusCall::Publish { subject, reply: None, payload } => {
                let _ = self.client.publish(subject, payload).await;
            }
            BusCall::Publish { subject, reply: Some(reply), payload } => {
                let _ = self.client.publish_with_reply(subject, reply, payload).await;
            }
            BusCall::Request { request: RequestId(id), subject, payload } => {
                let reply = format!("{}.{REQUEST}{id}", self.inbox);
                let _ = self.client.publish_with_reply(subject, reply, payload).await;
            }
            BusCall::Subscribe { subscription, subject } => {
                if let Ok(subscriber) = self.client.subscribe(subject).await {
                    let receiving = receive_messages(Arc::clone(&self.shared), subscription, subscriber);
                    subscriptions.insert(subscription, tokio::spawn(receiving));
                }
            }
            BusCall::Unsubscribe { subscription } => {
                if let Some(receiving) = subscriptions.remove(&subscription) {
                    receiving.abort();
                }
            }
            BusCall::KvOpen { bucket, name, settings } => kv.add(bucket, name, settings),
            BusCall::Kv(call) => kv.run(call),
            BusCall::KvWatch { watch, bucket, pattern } => kv.watch(watch, bucket, pattern),
            BusCall::KvUnwatch { watch } => kv.unwatch(watch),
        }
    }

    /// Whether one was sent: one at a time is enough.
    async fn send_fence(&self) -> bool {
        let id = {
            let mut board = self.shared.board();
            self.notice_reconnection(&mut board);
            if board.state != BusState::Connected || board.receipts.fences() > 0 {
                return false;
            }
            board.receipts.on_fence_sent(Instant::now())
        };
        let _ = self.client.publish(format!("{}.{FENCE}{id}", self.inbox), Bytes::new()).await;
        true
    }

    fn wants_fence(&self) -> bool {
        let board = self.shared.board();
        let is_wanted = board.is_back || board.receipts.wants_fence();
        board.state == BusState::Connected && board.receipts.fences() == 0 && is_wanted
    }

    /// Receives answers and fences.
    pub(super) async fn receive_answers(self, mut subscriber: Subscriber) {
        while let Some(message) = subscriber.next().await {
            let token = message.subject.rsplit('.').next().unwrap_or_default();
            if let Some(id) = token.strip_prefix(FENCE).and_then(|id| id.parse().ok()) {
                self.shared.report(|board| {
                    self.notice_reconnection(board);
                    board.on_fence_returned(id, Instant::now());
                });
                self.shared.called.notify_one();
            } else if let Some(id) = token.strip_prefix(REQUEST).and_then(|id| id.parse().ok()) {
                self.shared.report(|board| board.on_answer(RequestId(id), answer(message)));
            }
        }
    }

    /// The client's event of a reconnection comes later than its first messages.
    fn notice_reconnection(&self, board: &mut Board) {
        board.on_connections(self.client.statistics().connects.load(Ordering::Relaxed));
    }
}

/// Ends requests whose time has passed.
pub(super) async fn expire_requests(shared: Arc<Shared>) {
    loop {
        let next = shared.report(|board| board.expire_requests(Instant::now()));
        let far = Instant::now() + Duration::from_secs(3_600);
        tokio::select! {
            () = shared.requested.notified() => {}
            () = tokio::time::sleep_until(next.unwrap_or(far).into()) => {}
        }
    }
}

async fn receive_messages(shared: Arc<Shared>, subscription: SubscriptionId, mut subscriber: Subscriber) {
    while let Some(Message { subject, reply, payload, .. }) = subscriber.next().await {
        let (subject, reply) = (subject.to_string(), reply.map(|reply| reply.to_string()));
        shared.report(|board| board.on_message(BusMessage { subscription, subject, reply, payload }));
    }
}

fn answer(message: Message) -> Result<Bytes, NoAnswer> {
    match message.status {
        Some(StatusCode::NO_RESPONDERS) => Err(NoAnswer::NoResponder),
        _ => Ok(message.payload),
    }
}

const FENCE: &str = "fence-";
const REQUEST: &str = "request-";
/// At most 500 fences a second.
const FENCES_APART: Duration = Duration::from_millis(2);
/// A fence without messages before it measures the round trip.
const HEARTBEAT: Duration = Duration::from_secs(1);
