//! A worker's loop: timers that are due, sockets that are ready, and how a bot comes to rest after both.

mod accounts;
mod calls;
mod connections;

use super::host::WorkerHost;
use super::places::Places;
use super::run_plan::RunPlan;
use super::tally::Tally;
use super::ticks::Ticks;
use super::timers::{Alarm, TimerKind, Timers};
use crate::http::HttpClient;
use crate::plan::Life;
use crate::protocols::row::Step;
use crate::script::{BotScript, Engine};
use crate::socket::BotSocket;
use mio::{Events, Poll};
use skipstone_proto::Time;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A worker under way.
pub(super) struct Worker<'p> {
    plan: &'p RunPlan,
    host: Rc<WorkerHost>,
    slots: Vec<Slot>,
    timers: Timers,
    places: Places,
    poll: Poll,
    /// Sockets that were not read to their end.
    unread: Vec<usize>,
    datagram: Vec<u8>,
    outgoing: Vec<u8>,
    http: HttpClient,
    /// Steps of protocols that have sockets of their own.
    steps: Vec<Step>,
    /// After the bots, whose functions live in it.
    engine: Engine,
}

/// A bot in the worker's eyes.
struct Slot {
    life: Life,
    script: Option<BotScript>,
    ticks: Option<Ticks>,
    wake: Alarm,
    deadline: Alarm,
    resume: Alarm,
    /// What its calls have allocated, less what was freed meanwhile, of those that are counted with it.
    allocated: i64,
}

impl<'p> Worker<'p> {
    pub(super) fn new(
        plan: &'p RunPlan,
        lives: Vec<Life>,
        engine: Engine,
        host: Rc<WorkerHost>,
    ) -> Result<Self, String> {
        let mut timers = Timers::default();
        for (slot, life) in lives.iter().enumerate() {
            timers.set(life.from, TimerKind::Start, slot);
            // The end of the run ends the others.
            if life.until < plan.duration {
                timers.set(life.until, TimerKind::Stop, slot);
            }
        }
        timers.set(BEAT, TimerKind::Beat, 0);
        timers.set(SAMPLE, TimerKind::Sample, 0);
        let slot = |life| {
            let (wake, deadline, resume) = (Alarm::default(), Alarm::default(), Alarm::default());
            Slot { life, script: None, ticks: None, wake, deadline, resume, allocated: 0 }
        };
        let no_poll = |error: std::io::Error| format!("cannot wait for sockets: {error}");
        let poll = Poll::new().map_err(no_poll)?;
        let http = HttpClient::new(&poll, lives.len(), plan.allowed.clone()).map_err(no_poll)?;
        Ok(Worker {
            plan,
            host,
            slots: lives.into_iter().map(slot).collect(),
            timers,
            places: Places::of(plan.allowed.clone()),
            poll,
            http,
            unread: Vec::new(),
            datagram: vec![0; DATAGRAM_BYTES],
            outgoing: Vec::with_capacity(2048),
            steps: Vec::new(),
            engine,
        })
    }

    pub(super) fn run(mut self, stop: &AtomicBool) -> Result<Tally, String> {
        let mut events = Events::with_capacity(1024);
        while !stop.load(Ordering::Relaxed) && self.host.elapsed() < self.plan.duration {
            self.run_due();
            self.serve_requests();
            self.wait(&mut events)?;
            let ready = events.iter().map(|event| event.token().0).chain(std::mem::take(&mut self.unread));
            for slot in ready.collect::<Vec<usize>>() {
                if slot < self.slots.len() {
                    self.read(slot);
                } else {
                    self.http.handle_ready(slot, self.host.elapsed(), &mut self.datagram);
                }
            }
            let now = self.host.time();
            for slot in self.steps.iter().flat_map(|step| step(now)).collect::<Vec<usize>>() {
                self.settle(slot);
            }
        }
        self.note_overdue();
        self.count_cut_off();
        self.http.close();
        self.publish();
        (0..self.slots.len()).for_each(|slot| self.stop(slot));
        // Goodbyes over sockets that are not the worker's.
        let now = self.host.time();
        self.steps.iter().for_each(|step| drop(step(now)));
        let (calls, in_scripts) = self.engine.cost();
        let tally = std::mem::take(&mut *self.host.tally.borrow_mut());
        Ok(Tally { calls, in_scripts, memory_bytes: self.engine.memory_bytes() as u64, ..tally })
    }

    /// Runs what is due, but not so much that sockets wait for long.
    fn run_due(&mut self) {
        for _ in 0..TIMERS_MAX {
            let now = self.host.elapsed();
            let Some((due, kind, slot)) = self.timers.take_due(now) else { return };
            match kind {
                TimerKind::Start => {
                    self.note(due, now);
                    self.start(slot);
                }
                TimerKind::Stop => self.stop(slot),
                TimerKind::Tick => self.tick(slot, due, now),
                TimerKind::Wake => {
                    if self.slots[slot].wake.rings(due) {
                        self.note(due, now);
                        let at = self.bot_time(slot, due);
                        self.call(slot, |script, engine| script.wake(engine, at));
                    }
                    self.settle(slot);
                }
                TimerKind::Deadline => {
                    if self.slots[slot].deadline.rings(due) {
                        self.with_socket(slot, |socket, now, _| socket.handle_deadline(now));
                    }
                    self.settle(slot);
                }
                TimerKind::Resume => {
                    if self.slots[slot].resume.rings(due) {
                        self.note(due, now);
                        self.host.links.borrow_mut()[slot].reads_from = None;
                    }
                    // Nothing reports again what became readable in the pause.
                    self.read(slot);
                }
                TimerKind::Beat => {
                    self.note(due, now);
                    self.timers.set(due + BEAT, TimerKind::Beat, 0);
                }
                TimerKind::Sample => {
                    self.sample();
                    self.publish();
                    self.timers.set(due.max(now) + SAMPLE, TimerKind::Sample, 0);
                }
            }
        }
    }

    /// Waits for sockets until the next timer. The system counts milliseconds; the rest is slept, in short steps, so
    /// that a message does not wait for long either.
    fn wait(&mut self, events: &mut Events) -> Result<(), String> {
        let next = self.timers.next().into_iter().chain(self.http.deadline()).min();
        let next = next.unwrap_or(self.plan.duration).min(self.plan.duration);
        let is_idle = self.unread.is_empty() && self.host.requests.borrow().is_empty();
        let left = if is_idle { next.saturating_sub(self.host.elapsed()) } else { Duration::ZERO };
        // Sockets that are not the worker's do not wake it.
        let left = if self.steps.is_empty() { left } else { left.min(STEP) };
        let whole = Duration::from_millis(left.as_millis() as u64);
        if whole.is_zero() && !left.is_zero() {
            std::thread::sleep(left.min(SLEEP_MAX));
        }
        match self.poll.poll(events, Some(whole)) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                Err(format!("cannot wait for sockets: {error}"))
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, slot: usize) {
        self.host.enter(slot);
        self.host.tally.borrow_mut().started += 1;
        self.host.progress.started.fetch_add(1, Ordering::Relaxed);
        match BotScript::new(&self.engine) {
            Ok(script) => {
                let life = self.slots[slot].life;
                self.slots[slot].ticks = script.tick_hz().map(|rate| Ticks::new(rate, life.number));
                self.slots[slot].script = Some(script);
                self.call(slot, |script, engine| script.begin(engine));
                self.settle(slot);
            }
            Err(fault) => self.fault(slot, &fault),
        }
    }

    /// The bot's time is over, or the run is.
    fn stop(&mut self, slot: usize) {
        self.slots[slot].script = None;
        self.host.requests.borrow_mut().retain(|(ticket, _)| ticket.slot != slot);
        if !self.http.is_unused() {
            self.http.forget(slot);
        }
        self.with_socket(slot, |socket, now, outgoing| {
            socket.protocol().close(now);
            socket.flush(now, outgoing);
        });
        self.end_link(slot);
    }

    fn tick(&mut self, slot: usize, due: Duration, now: Duration) {
        let is_connected = self.host.links.borrow()[slot].is_connected;
        let Slot { life, ticks: Some(ticks), .. } = &mut self.slots[slot] else { return };
        let from = life.from;
        if !is_connected {
            ticks.is_set = false;
            return;
        }
        let at = ticks.at(ticks.next);
        let planned = from + Duration::from_secs_f64(at);
        if planned > due {
            // The bot has come back meanwhile: this timer was its last life's.
            return self.timers.set(planned, TimerKind::Tick, slot);
        }
        ticks.next += 1;
        let next = from + Duration::from_secs_f64(ticks.at(ticks.next));
        self.note(due, now);
        self.call(slot, |script, engine| script.tick(engine, at));
        if self.slots[slot].script.is_some() {
            self.timers.set(next, TimerKind::Tick, slot);
        }
        self.settle(slot);
    }

    /// Brings a bot to rest after anything that concerned it: its orders, what its socket sends, its events, its
    /// timers.
    fn settle(&mut self, slot: usize) {
        loop {
            // A bot that closes and connects at once waits for the end of the former connection.
            if !self.host.links.borrow()[slot].is_closing {
                let order = self.slots[slot].script.as_mut().and_then(BotScript::take_order);
                order.into_iter().for_each(|order| self.connect(slot, &order));
            }
            let mut event = None;
            self.with_socket(slot, |socket, now, outgoing| {
                socket.flush(now, outgoing);
                event = socket.poll_event();
            });
            match event {
                Some(event) => self.on_event(slot, event),
                None if self.leaves(slot) => self.stop(slot),
                None => break,
            }
        }
        self.set_timers(slot);
    }

    fn set_timers(&mut self, slot: usize) {
        let from = self.slots[slot].life.from;
        let wake = self.slots[slot].script.as_ref().and_then(BotScript::next_wake);
        // A time that is too far away for a clock never comes.
        let wake =
            wake.map(|at| from.saturating_add(Duration::try_from_secs_f64(at.max(0.0)).unwrap_or(Duration::MAX)));
        let resume = self.host.links.borrow()[slot].reads_from;
        let deadline = self.host.links.borrow()[slot].socket.as_ref().and_then(BotSocket::deadline);
        let deadline = deadline.filter(|at| *at != Time::NEVER).map(|at| Duration::from_micros(at.as_micros()));
        let own = &mut self.slots[slot];
        for (kind, alarm, wanted) in [
            (TimerKind::Wake, &mut own.wake, wake),
            (TimerKind::Deadline, &mut own.deadline, deadline),
            (TimerKind::Resume, &mut own.resume, resume),
        ] {
            if let Some(at) = alarm.set(wanted) {
                self.timers.set(at, kind, slot);
            }
        }
    }

    fn bot_time(&self, slot: usize, at: Duration) -> f64 {
        at.as_secs_f64() - self.slots[slot].life.from.as_secs_f64()
    }
}

/// Timers between two looks at the sockets.
const TIMERS_MAX: usize = 256;
const DATAGRAM_BYTES: usize = 65_536;
/// How long a message waits at most because a timer is less than a millisecond away.
const SLEEP_MAX: Duration = Duration::from_micros(200);
/// How often protocols with sockets of their own are stepped at least.
const STEP: Duration = Duration::from_micros(900);
const BEAT: Duration = Duration::from_millis(10);
const SAMPLE: Duration = Duration::from_secs(1);
