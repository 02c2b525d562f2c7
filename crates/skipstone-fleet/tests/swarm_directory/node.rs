//! A node: a directory, a clock with an offset and a rate of its own, and what happens to it.

use crate::world::Happening;
use skipstone_fleet::directory::{Directory, DirectorySettings, Epoch, NodeName, NodeStatus, RoomName};
use std::time::Duration;

pub(crate) struct Node {
    pub(crate) name: NodeName,
    clock: Clock,
    /// Processes of this node so far. What was meant for an earlier one is lost.
    pub(crate) life: u64,
    pub(crate) directory: Option<Directory>,
    pub(crate) is_partitioned: bool,
    /// Watches so far.
    pub(crate) watch: u64,
    pub(crate) pause: Option<Pause>,
    pub(crate) wakes_at: Option<Duration>,
}

/// A process that does not run, with what arrives meanwhile.
#[derive(Default)]
pub(crate) struct Pause {
    pub(crate) backlog: Vec<Happening>,
    /// Messages that it was about to send.
    pub(crate) composed: Vec<(RoomName, Epoch)>,
}

struct Clock {
    offset: Duration,
    rate_ppm: i64,
}

impl Node {
    pub(crate) fn new(index: usize, offset: Duration, rate_ppm: i64) -> Node {
        Node {
            name: NodeName::new(&format!("n{index}")).unwrap(),
            clock: Clock { offset, rate_ppm },
            life: 0,
            directory: None,
            is_partitioned: false,
            watch: 0,
            pause: None,
            wakes_at: None,
        }
    }

    pub(crate) fn start(&mut self, now: Duration, process: u64) {
        self.life += 1;
        self.watch += 1;
        (self.pause, self.wakes_at) = (None, None);
        let settings = DirectorySettings::new(self.name.clone(), process);
        let mut directory = Directory::new(settings, self.local(now)).unwrap();
        directory.set_status(NodeStatus { load: 0, capacity: 100, is_draining: false }, self.local(now));
        self.directory = Some(directory);
    }

    /// Its own clock's time.
    pub(crate) fn local(&self, now: Duration) -> Duration {
        let nanos = i128::try_from(now.as_nanos()).unwrap();
        let local = nanos + nanos * i128::from(self.clock.rate_ppm) / 1_000_000;
        self.clock.offset + Duration::from_nanos(u64::try_from(local).unwrap())
    }

    /// The epoch with which it would act for a room, if it runs.
    pub(crate) fn epoch(&self, room: &RoomName, now: Duration) -> Option<Epoch> {
        let directory = self.directory.as_ref().filter(|_| self.pause.is_none())?;
        directory.epoch(room, self.local(now))
    }
}
