//! Makes records of an endpoint's packet events, and hands them to the disk in chunks.

use super::disk::{CHUNK_BYTES, Disk, lock};
use super::schema::{self, Data, Header, Record};
use skipstone_proto::{LoggedConnection, PacketEvent, PacketLog, PeerId, Time};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

/// The log of one endpoint, or of all shards of a server.
#[derive(Debug)]
pub(super) struct EndpointLog {
    disk: Arc<Mutex<Disk>>,
    name: String,
    /// In virtual time: how long after 1970 its clock shows zero.
    zero: Option<Duration>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// By shard and name. The drivers take turns here.
    traces: BTreeMap<(u32, PeerId), Trace>,
    handed: Instant,
}

/// The file of one connection.
#[derive(Debug)]
struct Trace {
    /// `None` if it has none.
    file: Option<u32>,
    /// The zero of its times.
    reference: Time,
    last: Time,
    remote: SocketAddr,
    records: Vec<u8>,
}

/// By the machine's clock.
pub(super) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Fewer bytes than a chunk are written after so long.
const CHUNK_TIME: Duration = Duration::from_secs(1);

impl EndpointLog {
    pub(super) fn new(disk: Arc<Mutex<Disk>>, name: &str, zero: Option<Duration>) -> Self {
        let state = State { traces: BTreeMap::new(), handed: Instant::now() };
        EndpointLog { disk, name: name.to_owned(), zero, state: Mutex::new(state) }
    }

    /// Begins a file with its header and the connection's addresses.
    fn begin(&self, now: Time, connection: &LoggedConnection<'_>) -> Trace {
        let file = lock(&self.disk).begin(&self.name);
        let remote = connection.path.remote;
        let mut trace = Trace { file, reference: now, last: now, remote, records: Vec::new() };
        if trace.file.is_some() {
            let title = format!("{} and {}, {}", self.name, remote, connection.path.carrier.name);
            let since_zero = Duration::from_micros(now.as_micros());
            let reference = self.zero.map_or_else(since_1970, |zero| zero + since_zero);
            trace.add(&Header::new(&title, connection.side, reference));
            trace.tell_path(now, connection);
        }
        trace
    }
}

impl PacketLog for EndpointLog {
    fn on_event(&self, now: Time, connection: &LoggedConnection<'_>, event: &PacketEvent<'_>) {
        let mut state = lock(&self.state);
        let key = (connection.shard, connection.peer);
        // A client that connects again has another endpoint, whose clock begins anew.
        if state.traces.get(&key).is_some_and(|trace| now < trace.last)
            && let Some(earlier) = state.traces.remove(&key)
        {
            earlier.end(&self.disk);
        }
        let trace = state.traces.entry(key).or_insert_with(|| self.begin(now, connection));
        if trace.file.is_none() {
            return;
        }
        trace.last = now;
        if trace.remote != connection.path.remote {
            trace.remote = connection.path.remote;
            trace.tell_path(now, connection);
        }
        trace.add_event(now, &Data::of(event));
        if trace.records.len() >= CHUNK_BYTES {
            trace.hand_over(&self.disk);
        }
        if state.handed.elapsed() >= CHUNK_TIME {
            state.handed = Instant::now();
            state.traces.values_mut().for_each(|trace| trace.hand_over(&self.disk));
        }
    }

    fn on_removed(&self, shard: u32, peer: PeerId) {
        let removed = lock(&self.state).traces.remove(&(shard, peer));
        if let Some(trace) = removed {
            trace.end(&self.disk);
        }
    }
}

impl Drop for EndpointLog {
    fn drop(&mut self) {
        let traces = std::mem::take(&mut lock(&self.state).traces);
        traces.into_values().for_each(|trace| trace.end(&self.disk));
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

    fn hand_over(&mut self, disk: &Mutex<Disk>) {
        let Some(file) = self.file else { return };
        if self.records.is_empty() {
            return;
        }
        let records = std::mem::take(&mut self.records);
        if lock(disk).write(file, records).is_none() {
            self.file = None;
        }
    }

    fn end(mut self, disk: &Mutex<Disk>) {
        self.hand_over(disk);
        if let Some(file) = self.file {
            lock(disk).end(file);
        }
    }
}
