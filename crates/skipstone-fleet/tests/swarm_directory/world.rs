//! The world of a seed: nodes, their store, and what goes wrong. The first node is spared all but the store's faults, so
//! that there is one that takes over.

use crate::judge::{Process, Receiver, RoomJudge};
use crate::node::{Node, Pause};
use crate::random::Random;
use crate::store::Store;
use bytes::Bytes;
use skipstone_fleet::bus::{KvOutcome, KvWatchState};
use skipstone_fleet::directory::{
    CallId, DirectoryCall, DirectoryEvent, Epoch, Placement, RoomName, RoomPolicy, StoreOperation,
};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) struct World {
    random: Random,
    now: Duration,
    agenda: BTreeMap<(Duration, u64), Happening>,
    scheduled: u64,
    store: Store,
    outage_until: Duration,
    /// A renewal is on its way so long: when it is stored, its lease seems to begin.
    late_until: Duration,
    nodes: Vec<Node>,
    rooms: Vec<(RoomName, RoomPolicy, RoomJudge)>,
    receivers: Vec<Receiver>,
    pub(crate) takeovers: u64,
}

pub(crate) enum Happening {
    Wake { process: Process },
    CallArrives { process: Process, call: DirectoryCall, deadline: Duration },
    LateWrite { call: DirectoryCall },
    Answer { process: Process, id: CallId, outcome: KvOutcome, deadline: Duration },
    Change { process: Process, watch: u64, key: String, value: Option<Bytes>, revision: u64 },
    WatchBegins { process: Process, watch: u64 },
    Message { receiver: usize, room: RoomName, epoch: Epoch, sender: Process },
    Start { node: usize },
    Fault,
    Resume { process: Process },
    Heal { node: usize },
}

impl World {
    pub(crate) fn new(seed: u64) -> World {
        let mut random = Random::new(seed);
        let nodes = 3 + usize::try_from(random.one_of(3)).unwrap();
        let nodes: Vec<Node> = (0..nodes)
            .map(|index| {
                let rate_ppm = i64::try_from(random.one_of(401)).unwrap() - 200;
                Node::new(index, random.between(0, 900_000), rate_ppm)
            })
            .collect();
        let policies = [RoomPolicy::Unique, RoomPolicy::Unique, RoomPolicy::Casual];
        let rooms = policies
            .iter()
            .enumerate()
            .map(|(index, policy)| (RoomName::new(&format!("r{index}")).unwrap(), *policy, RoomJudge::default()));
        let mut world = World {
            random,
            now: Duration::ZERO,
            agenda: BTreeMap::new(),
            scheduled: 0,
            store: Store::default(),
            outage_until: Duration::ZERO,
            late_until: Duration::ZERO,
            nodes,
            rooms: rooms.collect(),
            receivers: vec![Receiver::new(), Receiver::new()],
            takeovers: 0,
        };
        for node in 0..world.nodes.len() {
            let after = world.random.between(0, 500);
            world.schedule(after, Happening::Start { node });
        }
        world.schedule(Duration::from_secs(5), Happening::Fault);
        world
    }

    /// Runs to the end; the longest time that a room had no owner, the store's outages excepted.
    pub(crate) fn run(&mut self) -> Duration {
        while let Some(((at, _), happening)) = self.agenda.pop_first() {
            if at > END {
                break;
            }
            self.now = at;
            self.handle(happening);
            self.judge();
        }
        for (room, _, _) in &self.rooms {
            assert!(self.actors(room).len() <= 1, "{room}: two owners at the end");
        }
        self.rooms.iter().map(|(.., judge)| judge.alone_max).max().unwrap()
    }

    fn schedule(&mut self, after: Duration, happening: Happening) {
        self.scheduled += 1;
        self.agenda.insert((self.now + after, self.scheduled), happening);
    }

    fn handle(&mut self, happening: Happening) {
        let Some(happening) = self.unless_paused(happening) else { return };
        match happening {
            Happening::Wake { process } => self.on_wake(process),
            Happening::CallArrives { process, call, deadline } => self.on_call(process, call, deadline),
            Happening::LateWrite { call } => drop(self.apply(&call)),
            Happening::Answer { process, id, outcome, deadline } => self.on_answer(process, id, outcome, deadline),
            Happening::Change { process, watch, key, value, revision } => {
                if self.is_watching(process, watch) {
                    let (local, directory) = self.running(process).unwrap();
                    directory.handle_change(&key, value.as_ref(), revision, local);
                    self.after(process);
                }
            }
            Happening::WatchBegins { process, watch } => self.on_watch_begins(process, watch),
            Happening::Message { receiver, room, epoch, sender } => {
                self.receivers[receiver].receive(&room, epoch, sender);
            }
            Happening::Start { node } => self.on_start(node),
            Happening::Fault => self.on_fault(),
            Happening::Resume { process } => self.on_resume(process),
            Happening::Heal { node } => {
                self.nodes[node].is_partitioned = false;
                self.begin_watch(node);
            }
        }
    }

    /// Keeps for later what a paused process would notice.
    fn unless_paused(&mut self, happening: Happening) -> Option<Happening> {
        let process = match &happening {
            Happening::Wake { process }
            | Happening::Answer { process, .. }
            | Happening::Change { process, .. }
            | Happening::WatchBegins { process, .. } => *process,
            _ => return Some(happening),
        };
        let node = &mut self.nodes[process.0];
        match &mut node.pause {
            Some(pause) if node.life == process.1 => {
                pause.backlog.push(happening);
                None
            }
            _ => Some(happening),
        }
    }

    fn on_start(&mut self, node: usize) {
        let entropy = self.random.draw();
        self.nodes[node].start(self.now, entropy);
        self.begin_watch(node);
        self.after((node, self.nodes[node].life));
    }

    fn begin_watch(&mut self, node: usize) {
        let after = self.random.between(1, 100);
        let node_state = &mut self.nodes[node];
        node_state.watch += 1;
        let (process, watch) = ((node, node_state.life), node_state.watch);
        self.schedule(after, Happening::WatchBegins { process, watch });
    }

    fn on_watch_begins(&mut self, process: Process, watch: u64) {
        if !self.is_watching(process, watch) {
            return;
        }
        let entries = self.store.entries.clone();
        let (local, directory) = self.running(process).unwrap();
        directory.handle_watch(&KvWatchState::Restarted, local);
        for (key, entry) in entries {
            directory.handle_change(&key, entry.value.as_ref(), entry.revision, local);
        }
        directory.handle_watch(&KvWatchState::Current, local);
        self.after(process);
    }

    fn on_wake(&mut self, process: Process) {
        // Another was scheduled for an earlier moment since.
        if self.nodes[process.0].wakes_at != Some(self.now) {
            return;
        }
        let Some((local, directory)) = self.running(process) else { return };
        directory.handle_timeout(local);
        self.nodes[process.0].wakes_at = None;
        self.play(process);
        self.after(process);
    }

    /// The application: sends messages of its rooms, claims rooms that there are not, closes one now and then.
    fn play(&mut self, process: Process) {
        for index in 0..self.rooms.len() {
            let (room, policy) = (self.rooms[index].0.clone(), self.rooms[index].1);
            let epoch = self.nodes[process.0].epoch(&room, self.now);
            if let Some(epoch) = epoch {
                self.send(&room, epoch, process);
            }
            let (closes, claims) = (self.random.one_of(1_000) == 0, self.random.percent(20));
            let (local, directory) = self.running(process).unwrap();
            let placement = directory.place(&room, local);
            if closes && epoch.is_some() {
                directory.close(&room, local);
                self.rooms[index].2.closed_by = Some(process);
            } else if claims && matches!(placement, Placement::New { .. } | Placement::Nowhere) {
                let _ = directory.claim(&room, policy, local);
            }
        }
    }

    fn send(&mut self, room: &RoomName, epoch: Epoch, sender: Process) {
        for receiver in 0..self.receivers.len() {
            let delay =
                if self.random.percent(5) { self.random.between(1, 30_000) } else { self.random.between(1, 100) };
            self.schedule(delay, Happening::Message { receiver, room: room.clone(), epoch, sender });
        }
    }

    /// Sends the calls of a process, reads its events, and has it woken.
    fn after(&mut self, process: Process) {
        let mut is_over = false;
        while let Some((_, directory)) = self.running(process) {
            let (call, event) = (directory.poll_call(), directory.poll_event());
            if call.is_none() && event.is_none() {
                break;
            }
            if let Some(call) = call {
                let (latency, deadline) = (self.latency(), self.now + CALL_TIME);
                self.schedule(latency, Happening::CallArrives { process, call, deadline });
            }
            match event {
                Some(DirectoryEvent::RoomOwned { .. }) => self.takeovers += 1,
                Some(DirectoryEvent::NameTaken { .. } | DirectoryEvent::Left) => is_over = true,
                _ => {}
            }
        }
        if is_over {
            self.nodes[process.0].directory = None;
            let after = self.random.between(100, 4_000);
            return self.schedule(after, Happening::Start { node: process.0 });
        }
        self.schedule_wake(process);
    }

    fn schedule_wake(&mut self, process: Process) {
        let Some((local, directory)) = self.running(process) else { return };
        let after = directory.deadline().saturating_sub(local).clamp(TICK_MIN, TICK_MAX);
        let at = self.now + after;
        let node = &mut self.nodes[process.0];
        if node.wakes_at.is_none_or(|wakes_at| at < wakes_at) {
            node.wakes_at = Some(at);
            self.schedule(after, Happening::Wake { process });
        }
    }

    /// The client of the store tries again until the call's deadline.
    fn on_call(&mut self, process: Process, call: DirectoryCall, deadline: Duration) {
        let id = call.id;
        if self.nodes[process.0].is_partitioned || self.now < self.outage_until {
            let pause = self.random.between(100, 200);
            if self.now + pause < deadline {
                return self.schedule(pause, Happening::CallArrives { process, call, deadline });
            }
            let outcome = match self.random.percent(50) && call.operation != StoreOperation::Get {
                true => KvOutcome::Unknown,
                false => KvOutcome::Unavailable { why: String::new() },
            };
            return self.schedule(pause, Happening::Answer { process, id, outcome, deadline });
        }
        let is_write = call.operation != StoreOperation::Get;
        let fate = self.random.one_of(100);
        if is_write && fate < ANSWERS_LOST {
            self.apply(&call);
            let unknown = Happening::Answer { process, id, outcome: KvOutcome::Unknown, deadline };
            return self.schedule(deadline.saturating_sub(self.now), unknown);
        }
        if is_write && fate < ANSWERS_LOST + WRITES_LATE {
            let unknown = Happening::Answer { process, id, outcome: KvOutcome::Unknown, deadline };
            self.schedule(deadline.saturating_sub(self.now), unknown);
            let after = self.random.between(10, 20_000);
            if call.key.starts_with("node.") {
                self.late_until = self.late_until.max(self.now + after);
            }
            return self.schedule(after, Happening::LateWrite { call });
        }
        let outcome = self.apply(&call);
        let latency = self.latency();
        self.schedule(latency, Happening::Answer { process, id, outcome, deadline });
    }

    fn on_answer(&mut self, process: Process, id: CallId, outcome: KvOutcome, deadline: Duration) {
        let is_lost = self.nodes[process.0].is_partitioned && !is_by_client(&outcome);
        if is_lost {
            let outcome = KvOutcome::Unknown;
            let after = deadline.saturating_sub(self.now);
            return self.schedule(after, Happening::Answer { process, id, outcome, deadline });
        }
        let Some((local, directory)) = self.running(process) else { return };
        directory.handle_answer(id, outcome, local);
        self.after(process);
    }

    fn apply(&mut self, call: &DirectoryCall) -> KvOutcome {
        let outcome = self.store.apply(call);
        if let KvOutcome::Stored { revision } = outcome {
            let value = self.store.entries[&call.key].value.clone();
            for index in 0..self.nodes.len() {
                let node = &self.nodes[index];
                let (process, watch, key, value) = ((index, node.life), node.watch, call.key.clone(), value.clone());
                let delay =
                    if self.random.percent(3) { self.random.between(1, 1_000) } else { self.random.between(1, 50) };
                self.schedule(delay, Happening::Change { process, watch, key, value, revision });
            }
        }
        outcome
    }

    fn on_fault(&mut self) {
        if self.now > FAULTS_END {
            return;
        }
        let next = self.random.between(200, 15_000);
        self.schedule(next, Happening::Fault);
        let node = 1 + usize::try_from(self.random.one_of(self.nodes.len() as u64 - 1)).unwrap();
        let process = (node, self.nodes[node].life);
        match self.random.one_of(6) {
            0 => self.outage_until = self.now + self.random.between(300, 8_000),
            1 => self.pause(process, 3_000),
            2 => self.pause(process, 120_000),
            3 => {
                self.nodes[node].is_partitioned = true;
                self.nodes[node].watch += 1;
                let length = if self.random.percent(50) { 6_000 } else { 40_000 };
                let after = self.random.between(100, length);
                self.schedule(after, Happening::Heal { node });
            }
            4 => self.crash(node),
            _ => {
                if let Some((local, directory)) = self.running(process) {
                    directory.leave(local);
                    self.after(process);
                }
            }
        }
    }

    fn crash(&mut self, node: usize) {
        let node_state = &mut self.nodes[node];
        if node_state.directory.take().is_some() {
            node_state.life += 1;
            node_state.pause = None;
            let after = self.random.between(50, 25_000);
            self.schedule(after, Happening::Start { node });
        }
    }

    fn pause(&mut self, process: Process, most_ms: u64) {
        let rooms: Vec<RoomName> = self.rooms.iter().map(|(room, ..)| room.clone()).collect();
        let node = &mut self.nodes[process.0];
        if node.pause.is_some() || node.directory.is_none() {
            return;
        }
        let composed = rooms.into_iter().filter_map(|room| Some((room.clone(), node.epoch(&room, self.now)?)));
        let composed = composed.collect();
        node.pause = Some(Pause { backlog: Vec::new(), composed });
        let length = self.random.between(50, most_ms);
        self.schedule(length, Happening::Resume { process });
    }

    /// The process continues with what it had: it sends what it had composed, then acts for its rooms, then reads.
    fn on_resume(&mut self, process: Process) {
        let node = &mut self.nodes[process.0];
        let Some(pause) = node.pause.take_if(|_| node.life == process.1) else { return };
        node.wakes_at = None;
        for (room, epoch) in pause.composed {
            self.send(&room, epoch, process);
        }
        self.judge();
        self.play(process);
        self.judge();
        for happening in pause.backlog {
            self.handle(happening);
            self.judge();
        }
        self.schedule_wake(process);
    }

    fn judge(&mut self) {
        let is_excused = self.now < self.outage_until.max(self.late_until);
        for index in 0..self.rooms.len() {
            let actors = self.actors(&self.rooms[index].0);
            let (room, policy, judge) = &mut self.rooms[index];
            if *policy == RoomPolicy::Unique {
                judge.see_unique(room, &actors);
            }
            judge.see(room, &actors);
            let entry = self.store.revision(&format!("room.{room}")).filter(|_| actors.is_empty());
            judge.closed_by = judge.closed_by.filter(|_| entry.is_some());
            // Who closed it deletes its entry, as long as it runs.
            let is_being_deleted = judge.closed_by.is_some_and(|(index, life)| {
                let node = &self.nodes[index];
                node.life == life && node.pause.is_none() && node.directory.is_some()
            });
            judge.count(self.now, entry, is_excused || is_being_deleted);
            if judge.alone_max > TAKEOVER_MAX {
                let entries: Vec<_> = self.store.entries.iter().map(|(k, e)| (k, e.revision, &e.value)).collect();
                panic!("{room} has no owner for {:?} at {:?}: {entries:#?}", judge.alone_max, self.now);
            }
        }
    }

    fn actors(&self, room: &RoomName) -> Vec<(Process, Epoch)> {
        let all = self.nodes.iter().enumerate();
        all.filter_map(|(index, node)| Some(((index, node.life), node.epoch(room, self.now)?))).collect()
    }

    /// The directory of a process that runs, with the time of its clock.
    fn running(&mut self, (node, life): Process) -> Option<(Duration, &mut skipstone_fleet::directory::Directory)> {
        let node = &mut self.nodes[node];
        let local = node.local(self.now);
        let runs = node.life == life && node.pause.is_none();
        node.directory.as_mut().filter(|_| runs).map(|directory| (local, directory))
    }

    fn is_watching(&mut self, process: Process, watch: u64) -> bool {
        let node = &self.nodes[process.0];
        node.watch == watch && !node.is_partitioned && self.running(process).is_some()
    }

    fn latency(&mut self) -> Duration {
        if self.random.percent(3) { self.random.between(1, 300) } else { self.random.between(1, 20) }
    }
}

/// Whether no answer of the store is meant.
fn is_by_client(outcome: &KvOutcome) -> bool {
    matches!(outcome, KvOutcome::Unknown | KvOutcome::Unavailable { .. })
}

/// A lease of 15 s, and what the slowest answers and changes add.
const TAKEOVER_MAX: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(240);
const FAULTS_END: Duration = Duration::from_secs(100);
/// How long a call of the store may take.
const CALL_TIME: Duration = Duration::from_secs(3);
const TICK_MIN: Duration = Duration::from_millis(5);
const TICK_MAX: Duration = Duration::from_millis(500);
/// In percent.
const ANSWERS_LOST: u64 = 3;
const WRITES_LATE: u64 = 1;
