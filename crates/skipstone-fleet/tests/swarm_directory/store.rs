//! A key-value store with compare-and-set: revisions count the writes of all entries.

use bytes::Bytes;
use skipstone_fleet::bus::KvOutcome;
use skipstone_fleet::directory::{DirectoryCall, StoreOperation};
use std::collections::BTreeMap;

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) value: Option<Bytes>,
    pub(crate) revision: u64,
}

#[derive(Default)]
pub(crate) struct Store {
    pub(crate) entries: BTreeMap<String, Entry>,
    revision: u64,
}

impl Store {
    pub(crate) fn apply(&mut self, call: &DirectoryCall) -> KvOutcome {
        let entry = self.entries.get(&call.key);
        let present = entry.and_then(|entry| Some((entry.value.clone()?, entry.revision)));
        let at = |wanted: u64| entry.is_some_and(|entry| entry.revision == wanted);
        match (&call.operation, present) {
            (StoreOperation::Get, Some((value, revision))) => KvOutcome::Found { value, revision },
            (StoreOperation::Get, None) => KvOutcome::NotFound,
            (StoreOperation::Create(_), Some((value, revision))) => KvOutcome::Exists { value, revision },
            (StoreOperation::Create(value), None) => self.write(&call.key, Some(value.clone())),
            (StoreOperation::Update { value, revision }, _) if at(*revision) => {
                self.write(&call.key, Some(value.clone()))
            }
            (StoreOperation::DeleteAt { revision }, _) if at(*revision) => self.write(&call.key, None),
            _ => KvOutcome::WrongRevision,
        }
    }

    /// The revision of an entry, if there is one.
    pub(crate) fn revision(&self, key: &str) -> Option<u64> {
        self.entries.get(key).filter(|entry| entry.value.is_some()).map(|entry| entry.revision)
    }

    fn write(&mut self, key: &str, value: Option<Bytes>) -> KvOutcome {
        self.revision += 1;
        let revision = self.revision;
        self.entries.insert(key.into(), Entry { value, revision });
        KvOutcome::Stored { revision }
    }
}
