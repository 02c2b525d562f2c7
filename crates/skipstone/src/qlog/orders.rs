//! The queue of records between the endpoints and the thread that writes them: bounded in bytes, so that many
//! connections with little data take no more than few with much.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Records for a file.
#[derive(Debug)]
pub(super) struct Order {
    /// The number of the file, which its first records make.
    pub(super) file: u32,
    /// The beginning of the file's name.
    pub(super) name: Arc<str>,
    pub(super) records: Vec<u8>,
}

/// The queue.
#[derive(Debug, Default)]
pub(super) struct Orders {
    state: Mutex<OrdersState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct OrdersState {
    waiting: VecDeque<Order>,
    /// Bytes of those that wait.
    bytes: usize,
    /// One end is gone.
    is_over: bool,
}

/// Why the queue takes no more.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum OrderRefusal {
    Full,
    /// The writer has ended.
    Over,
}

/// The end at which orders are taken out, in order and until the other end is gone.
pub(super) struct OrderReader(Arc<Orders>);

/// Bytes that may wait for the disk, at most.
pub(super) const WAITING_BYTES_MAX: usize = 4 << 20;
/// Bytes that an order takes in addition to its records.
const ORDER_BYTES: usize = 64;

/// A driver that panicked has left a whole state: each record is added at once.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Order {
    fn bytes(&self) -> usize {
        self.records.len() + ORDER_BYTES
    }
}

impl Orders {
    pub(super) fn reader(self: &Arc<Self>) -> OrderReader {
        OrderReader(Arc::clone(self))
    }

    /// Adds an order.
    pub(super) fn push(&self, order: Order) -> Result<(), OrderRefusal> {
        let mut state = lock(&self.state);
        if state.is_over {
            return Err(OrderRefusal::Over);
        }
        if state.bytes + order.bytes() > WAITING_BYTES_MAX {
            return Err(OrderRefusal::Full);
        }
        state.bytes += order.bytes();
        state.waiting.push_back(order);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Waits until there is room for records of `bytes`, or one end is gone.
    pub(super) fn wait_for_room(&self, bytes: usize) {
        let is_full = |state: &mut OrdersState| !state.is_over && state.bytes + bytes + ORDER_BYTES > WAITING_BYTES_MAX;
        drop(self.changed.wait_while(lock(&self.state), is_full).unwrap_or_else(PoisonError::into_inner));
    }

    /// No order follows.
    pub(super) fn close(&self) {
        lock(&self.state).is_over = true;
        self.changed.notify_all();
    }
}

impl Iterator for OrderReader {
    type Item = Order;

    fn next(&mut self) -> Option<Order> {
        let is_idle = |state: &mut OrdersState| !state.is_over && state.waiting.is_empty();
        let state = self.0.changed.wait_while(lock(&self.0.state), is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let order = state.waiting.pop_front()?;
        state.bytes -= order.bytes();
        drop(state);
        self.0.changed.notify_all();
        Some(order)
    }
}

impl Drop for OrderReader {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(bytes: usize) -> Order {
        Order { file: 0, name: "a".into(), records: vec![0; bytes] }
    }

    #[test]
    fn the_queue_is_bounded_in_bytes_and_not_in_orders() {
        let orders = Arc::new(Orders::default());
        let reader = orders.reader();
        assert!((0..10_000).all(|_| orders.push(order(100)).is_ok()));
        assert!((0..).map(|_| orders.push(order(16_000))).take_while(Result::is_ok).count() < 256);
        assert_eq!(orders.push(order(16_000)), Err(OrderRefusal::Full));
        orders.close();
        assert!(reader.count() > 10_000, "what was taken is written");
        assert_eq!(orders.push(order(0)), Err(OrderRefusal::Over));
    }

    #[test]
    fn a_waiting_end_is_told_of_room_and_of_a_closed_peer() {
        let orders = Arc::new(Orders::default());
        let reader = orders.reader();
        let count = std::thread::scope(|scope| {
            let counted = scope.spawn(|| reader.count());
            for _ in 0..1_000 {
                orders.wait_for_room(16_000);
                orders.push(order(16_000)).expect("there is room");
            }
            orders.close();
            counted.join().expect("it ends")
        });
        assert_eq!(count, 1_000);
        orders.wait_for_room(WAITING_BYTES_MAX);
    }
}
