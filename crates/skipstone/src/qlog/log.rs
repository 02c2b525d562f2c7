//! Makes records of an endpoint's packet events, and hands them to the disk in chunks.

use super::disk::Disk;
use super::orders::{Order, lock};
use super::schema::{self, Data, Header, Record};
use skipstone_proto::{LoggedConnection, PacketEvent, PacketLog, PeerId, Time};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// The log of one endpoint, or of all shards of a server.
#[derive(Debug)]
pub(super) struct EndpointLog {
    disk: Arc<Mutex<Disk>>,
    name: Arc<str>,
    /// In virtual time: how long after 1970 its clock shows zero.
    zero: Option<Duration>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// By shard and name. The drivers take turns here.
    traces: BTreeMap<(u32, PeerId), Trace>,
    /// Bytes of records of clients that were not accepted yet; the records wait for that.
    waiting_bytes: usize,
    handed: Instant,
}

/// The log of one connection.
#[derive(Debug)]
struct Trace {
    file: TraceFile,
    /// The zero of its times.
    reference: Time,
    last: Time,
    remote: SocketAddr,
    records: Vec<u8>,
}

/// The file of one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TraceFile {
    /// The client was not accepted yet: the connection gets a file once it is, and leaves nothing otherwise.
    Waits,
    Number(u32),
    /// The connection has no file, and gets none.
    None,
}

/// The machine's time since 1970.
pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Bytes that are written at once, and bytes of a client not yet accepted that wait.
const CHUNK_BYTES: usize = 16 << 10;
/// Bytes of all records of clients not yet accepted; beyond them, a trace keeps only its first lines until its client
/// is accepted.
const WAITING_BYTES_MAX: usize = 4 << 20;
/// Less than a chunk is written after this time.
const CHUNK_TIME: Duration = Duration::from_secs(1);

impl EndpointLog {
    pub(super) fn new(disk: Arc<Mutex<Disk>>, name: &str, zero: Option<Duration>) -> Self {
        let state = State { traces: BTreeMap::new(), waiting_bytes: 0, handed: Instant::now() };
        EndpointLog { disk, name: name.into(), zero, state: Mutex::new(state) }
    }

    /// Begins with the header and the connection's addresses.
    fn begin(&self, now: Time, connection: &LoggedConnection<'_>) -> Trace {
        let remote = connection.path.remote;
        let mut trace = Trace { file: TraceFile::Waits, reference: now, last: now, remote, records: Vec::new() };
        let title = format!("{} and {}, {}", self.name, remote, connection.path.carrier.name);
        let since_zero = Duration::from_micros(now.as_micros());
        let reference = self.zero.map_or_else(since_1970, |zero| zero + since_zero);
        trace.add(&Header::new(&title, connection.side, reference));
        trace.tell_path(now, connection);
        trace
    }

    /// Whether another event of this connection is written, or may be.
    fn takes_more(&self, trace: &mut Trace, connection: &LoggedConnection<'_>, waiting_bytes: usize) -> bool {
        if trace.file == TraceFile::Waits && connection.is_player {
            match lock(&self.disk).begin() {
                Some(number) => trace.file = TraceFile::Number(number),
                None => trace.leave_out(),
            }
        }
        match trace.file {
            TraceFile::Waits => trace.records.len() < CHUNK_BYTES && waiting_bytes < WAITING_BYTES_MAX,
            TraceFile::Number(_) => true,
            TraceFile::None => false,
        }
    }

    fn hand_over(&self, trace: &mut Trace) {
        let TraceFile::Number(file) = trace.file else { return };
        if trace.records.is_empty() {
            return;
        }
        let order = Order { file, name: Arc::clone(&self.name), records: std::mem::take(&mut trace.records) };
        if lock(&self.disk).write(order).is_none() {
            trace.leave_out();
        }
    }
}

impl PacketLog for EndpointLog {
    fn on_event(&self, now: Time, connection: &LoggedConnection<'_>, event: &PacketEvent<'_>) {
        let key = (connection.shard, connection.peer);
        // A client that connects again has another endpoint, whose clock starts again.
        if lock(&self.state).traces.get(&key).is_some_and(|trace| now < trace.last) {
            self.on_removed(connection.shard, connection.peer);
        }
        let mut state = lock(&self.state);
        let State { traces, waiting_bytes, .. } = &mut *state;
        let trace = match traces.entry(key) {
            Entry::Occupied(trace) => trace.into_mut(),
            Entry::Vacant(place) => {
                let trace = place.insert(self.begin(now, connection));
                *waiting_bytes += trace.waiting_bytes();
                trace
            }
        };
        let before = trace.waiting_bytes();
        if self.takes_more(trace, connection, *waiting_bytes) {
            trace.last = now;
            if trace.remote != connection.path.remote {
                trace.remote = connection.path.remote;
                trace.tell_path(now, connection);
            }
            trace.add_event(now, &Data::of(event));
        }
        *waiting_bytes = *waiting_bytes + trace.waiting_bytes() - before;
        if trace.records.len() >= CHUNK_BYTES {
            self.hand_over(trace);
        }
        if state.handed.elapsed() >= CHUNK_TIME {
            state.handed = Instant::now();
            state.traces.values_mut().for_each(|trace| self.hand_over(trace));
        }
    }

    fn on_removed(&self, shard: u32, peer: PeerId) {
        let mut state = lock(&self.state);
        if let Some(mut trace) = state.traces.remove(&(shard, peer)) {
            state.waiting_bytes -= trace.waiting_bytes();
            drop(state);
            self.hand_over(&mut trace);
        }
    }
}

impl Drop for EndpointLog {
    fn drop(&mut self) {
        let traces = std::mem::take(&mut lock(&self.state).traces);
        traces.into_values().for_each(|mut trace| self.hand_over(&mut trace));
    }
}

impl Trace {
    fn tell_path(&mut self, now: Time, connection: &LoggedConnection<'_>) {
        self.add_event(now, &Data::started(connection.path));
    }

    fn add_event(&mut self, now: Time, data: &Data<'_>) {
        let time = schema::millis(now.since(self.reference));
        self.add(&Record { time, name: data.name(), data });
    }

    fn add(&mut self, record: &impl serde::Serialize) {
        // RFC 7464: a record separator, the text, a line feed.
        self.records.push(0x1E);
        serde_json::to_writer(&mut self.records, record).expect("a record has only text keys");
        self.records.push(b'\n');
    }

    /// Bytes that wait for the client to be accepted.
    fn waiting_bytes(&self) -> usize {
        if self.file == TraceFile::Waits { self.records.len() } else { 0 }
    }

    /// Nothing is written of it any more.
    fn leave_out(&mut self) {
        (self.file, self.records) = (TraceFile::None, Vec::new());
    }
}
