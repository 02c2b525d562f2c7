//! An in-memory stream of packets between two drivers of one process: no socket, no copy through the kernel, no loss.
//!
//! ```text
//!   LocalStream ──send──> Queue ──receive──> LocalStream        one queue for each direction
//!        └── flush ──> LocalListener of the other driver ──> its mio::Waker
//! ```
//! Each queue is bounded in bytes: a writer that finds it full is not writable until the reader has emptied it.

use mio::Waker;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `is_writable` is false from this many unread bytes on.
pub(crate) const QUEUE_BYTES_MAX: usize = 256 << 10;
/// Above this limit no packet is accepted at all. The difference is room for control packets, which do not wait for a
/// writable stream.
const QUEUE_BYTES_HARD_MAX: usize = 2 * QUEUE_BYTES_MAX;
/// Streams that may wait for a driver to take them.
const ARRIVALS_MAX: usize = 4_096;
/// Bytes that one stream may deliver before the others have their turn.
const TURN_BYTES: usize = 200 << 10;
/// Overhead that is counted for each packet, in bytes: it corresponds to the cost of handling one.
const PACKET_BYTES: usize = 3_200;
/// Memory that an idle queue may keep for its next burst.
const KEPT_BYTES: usize = 16 << 10;

/// A driver's listener for local streams: new streams arrive here, and streams with new data or state are listed here.
#[derive(Debug)]
pub(crate) struct LocalListener {
    waker: Arc<Waker>,
    /// The driver was woken for new entries that it has not taken yet.
    has_news: AtomicBool,
    news: Mutex<News>,
}

#[derive(Debug, Default)]
struct News {
    arrivals: Vec<LocalStream>,
    /// Sockets whose stream has packets, has room again, or lost its other end.
    ready: Vec<u32>,
    is_closed: bool,
}

impl LocalListener {
    /// Creates a listener that wakes its driver by this waker.
    pub(crate) fn new(waker: Arc<Waker>) -> Arc<Self> {
        Arc::new(LocalListener { waker, has_news: AtomicBool::new(false), news: Mutex::default() })
    }

    /// Offers a stream to this driver. A stream that the driver cannot take ends, and its other end is notified.
    pub(crate) fn offer(&self, stream: LocalStream) {
        // Dropping the stream locks the other driver's listener, so it happens after this lock is released.
        let refused = {
            let mut news = lock(&self.news);
            if news.is_closed || news.arrivals.len() >= ARRIVALS_MAX {
                Some(stream)
            } else {
                news.arrivals.push(stream);
                None
            }
        };
        drop(refused);
        self.wake();
    }

    /// The streams that arrived, and the sockets with new data or state, since the last call.
    pub(crate) fn take_news(&self, ready: &mut Vec<u32>) -> Vec<LocalStream> {
        ready.clear();
        // Reset before the news is taken, so that later news wakes the driver again.
        if !self.has_news.swap(false, Ordering::SeqCst) {
            return Vec::new();
        }
        let mut news = lock(&self.news);
        core::mem::swap(&mut news.ready, ready);
        core::mem::take(&mut news.arrivals)
    }

    /// Takes no further streams and ends those that wait.
    pub(crate) fn close(&self) {
        let waiting = {
            let mut news = lock(&self.news);
            news.is_closed = true;
            core::mem::take(&mut news.arrivals)
        };
        drop(waiting);
    }

    fn note_ready(&self, socket: u32) {
        lock(&self.news).ready.push(socket);
        self.wake();
    }

    fn wake(&self) {
        if !self.has_news.swap(true, Ordering::SeqCst) {
            // A driver that cannot be woken is gone, and so are its streams.
            let _ = self.waker.wake();
        }
    }
}

/// One end of a stream in memory. Dropping it ends the stream; the other end reads what was sent before.
#[derive(Debug)]
pub(crate) struct LocalStream {
    incoming: Arc<Direction>,
    outgoing: Arc<Direction>,
    /// Packets that were taken from the queue, and the number of them that were delivered.
    taken: Packets,
    handed_over: usize,
    is_peer_gone: bool,
}

/// The packets towards one end, and how to wake the driver of that end.
#[derive(Debug)]
struct Direction {
    listener: Arc<LocalListener>,
    /// The reader's socket number; [`UNBOUND`] until its driver gave it one.
    socket: AtomicU32,
    /// The reader's socket is listed as ready already.
    is_listed: AtomicBool,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    packets: Packets,
    is_writer_gone: bool,
    /// The writer found the queue full and must be notified when the queue is empty again.
    is_writer_waiting: bool,
}

/// Packets stored one after another in one buffer.
#[derive(Debug, Default)]
struct Packets {
    bytes: Vec<u8>,
    /// End offset of each packet.
    ends: Vec<usize>,
}

const UNBOUND: u32 = u32::MAX;

/// Error: the stream takes no more packets until its reader has taken some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalStreamFull;

impl Direction {
    fn to(listener: &Arc<LocalListener>) -> Arc<Self> {
        Arc::new(Direction {
            listener: listener.clone(),
            socket: AtomicU32::new(UNBOUND),
            is_listed: AtomicBool::new(false),
            queue: Mutex::default(),
        })
    }

    fn notify(&self) {
        if !self.is_listed.swap(true, Ordering::SeqCst) {
            self.listener.note_ready(self.socket.load(Ordering::SeqCst));
        }
    }
}

impl LocalStream {
    /// A stream between two drivers: the end of each.
    pub(crate) fn pair(first: &Arc<LocalListener>, second: &Arc<LocalListener>) -> (Self, Self) {
        let (to_first, to_second) = (Direction::to(first), Direction::to(second));
        let end = |incoming: &Arc<Direction>, outgoing: &Arc<Direction>| LocalStream {
            incoming: incoming.clone(),
            outgoing: outgoing.clone(),
            taken: Packets::default(),
            handed_over: 0,
            is_peer_gone: false,
        };
        (end(&to_first, &to_second), end(&to_second, &to_first))
    }

    /// Sets the number by which the driver knows this end. Packets that were sent before can then be received.
    pub(crate) fn bind(&mut self, socket: u32) {
        self.incoming.socket.store(socket, Ordering::SeqCst);
        self.incoming.is_listed.store(false, Ordering::SeqCst);
    }

    /// Queues a packet. [`flush`](Self::flush) wakes the other end.
    ///
    /// # Errors
    /// The queue holds twice what makes it unwritable; the packet is not taken.
    pub(crate) fn send(&mut self, packet: &[u8]) -> Result<(), LocalStreamFull> {
        let mut queue = lock(&self.outgoing.queue);
        if queue.packets.memory_bytes() + packet.len() > QUEUE_BYTES_HARD_MAX {
            return Err(LocalStreamFull);
        }
        queue.packets.push(packet);
        Ok(())
    }

    /// Whether the queue has room. If not, this end is listed as ready when it has room again.
    pub(crate) fn is_writable(&mut self) -> bool {
        let mut queue = lock(&self.outgoing.queue);
        let is_writable = queue.packets.memory_bytes() < QUEUE_BYTES_MAX;
        queue.is_writer_waiting |= !is_writable;
        is_writable
    }

    /// Wakes the other end's driver, if it was not notified of packets yet.
    pub(crate) fn flush(&mut self) {
        self.outgoing.notify();
    }

    /// Delivers packets, as many as one turn allows. True if more wait.
    pub(crate) fn receive(&mut self, mut take: impl FnMut(&mut [u8])) -> bool {
        // Reset before the queue is read, so that a later packet lists this end again.
        self.incoming.is_listed.store(false, Ordering::SeqCst);
        let mut turn_bytes = 0;
        while turn_bytes < TURN_BYTES {
            if self.handed_over == self.taken.ends.len() && !self.refill() {
                return false;
            }
            let packet = self.taken.packet(self.handed_over);
            self.handed_over += 1;
            turn_bytes += PACKET_BYTES + packet.len();
            take(packet);
        }
        true
    }

    /// Whether the other end is gone and everything that it sent was received.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_peer_gone && self.handed_over == self.taken.ends.len()
    }

    /// Takes everything that waits in the queue. False if it is empty.
    fn refill(&mut self) -> bool {
        self.taken.clear();
        self.handed_over = 0;
        let is_writer_waiting = {
            let mut queue = lock(&self.incoming.queue);
            core::mem::swap(&mut self.taken, &mut queue.packets);
            self.is_peer_gone = queue.is_writer_gone;
            core::mem::take(&mut queue.is_writer_waiting)
        };
        if is_writer_waiting {
            self.outgoing.notify();
        }
        !self.taken.ends.is_empty()
    }
}

impl Drop for LocalStream {
    fn drop(&mut self) {
        lock(&self.outgoing.queue).is_writer_gone = true;
        self.outgoing.notify();
    }
}

impl Packets {
    fn push(&mut self, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
        self.ends.push(self.bytes.len());
    }

    fn packet(&mut self, index: usize) -> &mut [u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &mut self.bytes[start..self.ends[index]]
    }

    fn memory_bytes(&self) -> usize {
        self.bytes.len() + size_of_val(&self.ends[..])
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.ends.clear();
        self.ends.shrink_to(KEPT_BYTES / size_of::<usize>());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The data behind the lock is consistent even after a panic of a thread.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mio::{Poll, Token};

    fn listener() -> (Poll, Arc<LocalListener>) {
        let poll = Poll::new().expect("a poll");
        let waker = Waker::new(poll.registry(), Token(0)).expect("a waker");
        (poll, LocalListener::new(Arc::new(waker)))
    }

    fn received(stream: &mut LocalStream) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while stream.receive(|packet| all.push(packet.to_vec())) {}
        all
    }

    #[test]
    fn packets_arrive_complete_and_in_order_with_one_wakeup() {
        let ((mut poll, here), (_other, there)) = (listener(), listener());
        let (mut reader, mut writer) = LocalStream::pair(&here, &there);
        reader.bind(7);
        for packet in [&b"a"[..], b"", b"ccc"] {
            writer.send(packet).expect("there is room");
            writer.flush();
        }
        let mut events = mio::Events::with_capacity(4);
        poll.poll(&mut events, Some(std::time::Duration::ZERO)).expect("it polls");
        assert_eq!(events.iter().count(), 1);
        let mut ready = Vec::new();
        assert!(here.take_news(&mut ready).is_empty());
        assert_eq!(ready, [7], "listed once, however often it was flushed");
        assert_eq!(received(&mut reader), [&b"a"[..], b"", b"ccc"]);
        writer.send(b"d").expect("there is room");
        writer.flush();
        here.take_news(&mut ready);
        assert_eq!(ready, [7], "listed again after it was read");
    }

    #[test]
    fn a_full_queue_refuses_packets_and_reports_room_again() {
        let ((_here, here), (_there, there)) = (listener(), listener());
        let (mut reader, mut writer) = LocalStream::pair(&here, &there);
        reader.bind(1);
        writer.bind(2);
        let packet = vec![5; 16_384];
        let mut sent = 0;
        while writer.is_writable() {
            writer.send(&packet).expect("there is room");
            sent += 1;
        }
        assert_eq!(sent * packet.len(), QUEUE_BYTES_MAX);
        while writer.send(&packet).is_ok() {
            sent += 1;
        }
        assert_eq!(sent, QUEUE_BYTES_HARD_MAX / packet.len() - 1, "where each packet ends takes memory, too");
        let mut ready = Vec::new();
        there.take_news(&mut ready);
        assert!(ready.is_empty());
        assert_eq!(received(&mut reader).len(), sent);
        there.take_news(&mut ready);
        assert_eq!(ready, [2]);
        assert!(writer.is_writable());
    }

    #[test]
    fn the_other_end_reads_everything_sent_before_the_end() {
        let ((_here, here), (_there, there)) = (listener(), listener());
        let (mut reader, mut writer) = LocalStream::pair(&here, &there);
        writer.send(b"goodbye").expect("there is room");
        drop(writer);
        assert!(!reader.is_closed());
        assert_eq!(received(&mut reader), [b"goodbye"]);
        assert!(reader.is_closed());
    }

    #[test]
    fn an_unaccepted_stream_ends() {
        let ((_here, here), (_there, there)) = (listener(), listener());
        let (mut waiting, offered) = LocalStream::pair(&here, &there);
        there.offer(offered);
        there.close();
        let (mut late, refused) = LocalStream::pair(&here, &there);
        there.offer(refused);
        for stream in [&mut waiting, &mut late] {
            assert!(received(stream).is_empty());
            assert!(stream.is_closed());
        }
    }
}
