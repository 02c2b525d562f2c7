//! The values of entries: JSON objects of at most 1,024 bytes, so that any client of NATS shows them.

use super::epoch::Epoch;
use super::name::NodeName;
use bytes::Bytes;
use serde_json::{Value, json};

/// One lease of one process. A lease that ended is never resumed: the process continues with the next session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incarnation {
    /// The process: a random number of its start.
    pub process: u64,
    /// Leases of this process before this one.
    pub session: u32,
}

/// What a node reports with each renewal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeStatus {
    /// Players that it has.
    pub load: u32,
    /// Players that it takes.
    pub capacity: u32,
    /// Whether it is about to end and takes no new rooms.
    pub is_draining: bool,
}

/// The entry of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeRecord {
    /// Where players connect: a URL or `host:port`, at most 256 bytes.
    pub address: String,
    /// The version of its program, at most 64 bytes.
    pub version: String,
    /// Where its `/metrics` are, as `host:port` of at most 256 bytes, if it has any. Records of older programs lack it.
    pub metrics: Option<String>,
    /// Load, capacity, draining.
    pub status: NodeStatus,
    /// Its lease.
    pub incarnation: Incarnation,
}

/// What a room does at a node that cannot renew its lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomPolicy {
    /// It stops before the lease ends: there is one at most.
    Unique,
    /// It continues: there may be two while the fleet is divided. The older epoch stops when it sees the later.
    Casual,
}

/// The entry of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomRecord {
    /// The policy.
    pub policy: RoomPolicy,
    /// The node that owns it.
    pub node: NodeName,
    /// That node's lease when it wrote this.
    pub incarnation: Incarnation,
    /// The claim by which that process has the room: a number of its own, another for each claim.
    pub claim: u64,
    /// Added to the entry's revision; above 0 where the store was lost, and counts from 1 again.
    pub floor: u64,
}

impl NodeRecord {
    pub(super) fn encode(&self) -> Bytes {
        let mut value = json!({
            "address": self.address,
            "version": self.version,
            "load": self.status.load,
            "capacity": self.status.capacity,
            "draining": self.status.is_draining,
            "instance": shown(self.incarnation),
        });
        if let Some(metrics) = &self.metrics {
            value["metrics"] = metrics.as_str().into();
        }
        value.to_string().into()
    }

    pub(super) fn decode(value: &[u8]) -> Option<NodeRecord> {
        let value = parse(value)?;
        let record = NodeRecord {
            address: value["address"].as_str()?.into(),
            version: value["version"].as_str()?.into(),
            metrics: match &value["metrics"] {
                Value::Null => None,
                metrics => Some(metrics.as_str()?.into()),
            },
            status: NodeStatus {
                load: number(&value["load"])?,
                capacity: number(&value["capacity"])?,
                is_draining: value["draining"].as_bool()?,
            },
            incarnation: read(&value["instance"])?,
        };
        record.is_short().then_some(record)
    }

    /// Whether its texts are within their limits.
    pub(super) fn is_short(&self) -> bool {
        let metrics = self.metrics.as_ref().map_or(0, String::len);
        self.address.len().max(metrics) <= ADDRESS_BYTES_MAX && self.version.len() <= VERSION_BYTES_MAX
    }

    /// Whether other nodes take its entry, whatever its load: JSON writes some characters as six.
    pub(super) fn fits(&self) -> bool {
        let status = NodeStatus { load: u32::MAX, capacity: u32::MAX, is_draining: false };
        let incarnation = Incarnation { process: u64::MAX, session: u32::MAX };
        self.is_short() && NodeRecord { status, incarnation, ..self.clone() }.encode().len() <= VALUE_BYTES_MAX
    }
}

impl RoomRecord {
    pub(super) fn encode(&self) -> Bytes {
        let policy = match self.policy {
            RoomPolicy::Unique => "unique",
            RoomPolicy::Casual => "casual",
        };
        let value = json!({
            "policy": policy,
            "node": self.node.as_str(),
            "instance": shown(self.incarnation),
            "claim": self.claim,
            "floor": self.floor,
        });
        value.to_string().into()
    }

    pub(super) fn decode(value: &[u8]) -> Option<RoomRecord> {
        let value = parse(value)?;
        let policy = match value["policy"].as_str()? {
            "unique" => RoomPolicy::Unique,
            "casual" => RoomPolicy::Casual,
            _ => return None,
        };
        let node = NodeName::new(value["node"].as_str()?).ok()?;
        let floor = value["floor"].as_u64().filter(|floor| *floor <= FLOOR_MAX)?;
        let claim = value["claim"].as_u64()?;
        Some(RoomRecord { policy, node, incarnation: read(&value["instance"])?, claim, floor })
    }

    /// The epoch of this record at this revision.
    pub fn epoch(&self, revision: u64) -> Epoch {
        Epoch(self.floor + revision)
    }
}

fn parse(value: &[u8]) -> Option<Value> {
    match value.len() <= VALUE_BYTES_MAX {
        true => serde_json::from_slice(value).ok(),
        false => None,
    }
}

fn number(value: &Value) -> Option<u32> {
    u32::try_from(value.as_u64()?).ok()
}

/// As text: numbers of 64 bits lose digits in JavaScript.
fn shown(incarnation: Incarnation) -> String {
    format!("{:016x}.{}", incarnation.process, incarnation.session)
}

fn read(value: &Value) -> Option<Incarnation> {
    let (process, session) = value.as_str()?.split_once('.')?;
    Some(Incarnation { process: u64::from_str_radix(process, 16).ok()?, session: session.parse().ok()? })
}

const VALUE_BYTES_MAX: usize = 1_024;
const ADDRESS_BYTES_MAX: usize = 256;
const VERSION_BYTES_MAX: usize = 64;
/// Far from where a sum with a revision overflows.
const FLOOR_MAX: u64 = 1 << 62;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_return_from_their_bytes() {
        let incarnation = Incarnation { process: u64::MAX - 1, session: 7 };
        let status = NodeStatus { load: 3, capacity: u32::MAX, is_draining: true };
        let (address, version) = ("skip://host:1".into(), "1.2 \"b\"".into());
        let node = NodeRecord { address, version, metrics: Some("host:2".into()), status, incarnation };
        assert_eq!(NodeRecord::decode(&node.encode()), Some(node.clone()));
        let older = r#"{"address":"skip://host:1","version":"1.2 \"b\"","load":3,"capacity":4294967295,"draining":true,
            "instance":"fffffffffffffffe.7"}"#;
        assert_eq!(NodeRecord::decode(older.as_bytes()), Some(NodeRecord { metrics: None, ..node }));
        let name = NodeName::new("n1").unwrap();
        let room = RoomRecord { policy: RoomPolicy::Casual, node: name, incarnation, claim: 3, floor: 9 };
        assert_eq!(room.epoch(4), Epoch(13));
        assert_eq!(RoomRecord::decode(&room.encode()), Some(room));
    }

    #[test]
    fn values_that_are_no_records_are_refused() {
        let long = format!(
            r#"{{"policy":"unique","node":"n","instance":"1.0","claim":0,"floor":0,"x":"{}"}}"#,
            "x".repeat(1_024)
        );
        let wrong = [
            "",
            "{",
            "[]",
            "7",
            &long,
            r#"{"policy":"other","node":"n","instance":"1.0","claim":0,"floor":0}"#,
            r#"{"policy":"unique","node":"n.m","instance":"1.0","claim":0,"floor":0}"#,
            r#"{"policy":"unique","node":"n","instance":"1","claim":0,"floor":0}"#,
            r#"{"policy":"unique","node":"n","instance":"1.0","claim":0,"floor":18446744073709551615}"#,
        ];
        for value in wrong {
            assert_eq!(RoomRecord::decode(value.as_bytes()), None, "{value}");
            assert_eq!(NodeRecord::decode(value.as_bytes()), None, "{value}");
        }
    }
}
