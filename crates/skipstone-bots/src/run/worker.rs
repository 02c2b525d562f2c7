//! A worker's loop: timers that are due, sockets that are ready, and the bots' code for both.

use super::host::WorkerHost;
use super::link::Link;
use super::places::Places;
use super::run_plan::RunPlan;
use super::tally::Tally;
use super::timers::{Alarm, TimerKind, Timers};
use crate::http::HttpClient;
use crate::plan::Life;
use crate::protocol::{Ending, Event};
use crate::protocols::row::{Carrier, Step};
use crate::script::{BotScript, ConnectOrder, Engine, Hoard, ScriptFault};
use crate::socket::BotSocket;
use mio::{Events, Poll, Token};
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

/// A bot's ticks, on a grid that begins with its life.
struct Ticks {
    interval: f64,
    /// The first is this part of an interval late, so that the bots' ticks are spread.
    phase: f64,
    next: u64,
    is_set: bool,
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

    /// What was due before the end and did not happen any more is late: a worker that stands still until the end has
    /// not kept its schedule.
    fn note_overdue(&mut self) {
        let (now, end) = (self.host.elapsed(), self.plan.duration);
        if now < end {
            // The run was interrupted.
            return;
        }
        while let Some((due, kind, slot)) = self.timers.take_due(end) {
            let is_kept = match kind {
                TimerKind::Start | TimerKind::Beat => true,
                TimerKind::Tick => self.host.links.borrow()[slot].is_connected,
                TimerKind::Wake => self.slots[slot].wake.rings(due),
                TimerKind::Resume => self.slots[slot].resume.rings(due),
                TimerKind::Deadline | TimerKind::Stop | TimerKind::Sample => false,
            };
            if is_kept && due < end {
                self.note(due, now);
            }
        }
    }

    /// Bots that the end of the run found on their way: they say nothing about the server.
    fn count_cut_off(&mut self) {
        let (now, links) = (self.host.elapsed(), self.host.links.borrow());
        let is_on_its_way = |(slot, link): (&Slot, &Link)| {
            let has_just_begun = link.connecting_since.is_some_and(|since| now.saturating_sub(since) < CUT_OFF_MAX);
            slot.script.is_some() && !link.was_connected && (link.connections == 0 || has_just_begun)
        };
        let count = self.slots.iter().zip(links.iter()).filter(|both| is_on_its_way(*both)).count();
        self.host.tally.borrow_mut().cut_off += count as u64;
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

    fn read(&mut self, slot: usize) {
        if self.host.links.borrow()[slot].reads_from.is_some() {
            return self.settle(slot);
        }
        let mut has_more = false;
        let mut datagram = std::mem::take(&mut self.datagram);
        self.with_socket(slot, |socket, now, _| has_more = socket.handle_readable(now, &mut datagram, READS_MAX));
        self.datagram = datagram;
        if has_more {
            self.unread.push(slot);
        }
        self.settle(slot);
    }

    /// Brings a bot to rest after anything that concerned it: its orders, what its socket sends, its events, its timers.
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

    /// Whether the bot has done what it came for.
    fn leaves(&self, slot: usize) -> bool {
        let Slot { life, script, .. } = &self.slots[slot];
        life.leaves && script.as_ref().is_some_and(BotScript::is_done)
    }

    fn on_event(&mut self, slot: usize, event: Event) {
        match event {
            Event::Connected => {
                self.on_connected(slot);
                self.call(slot, |script, engine| script.on_connected(engine));
            }
            Event::Message { channel, data } => {
                {
                    let messages = &mut self.host.tally.borrow_mut().messages;
                    messages.received += 1;
                    messages.bytes_received += data.len() as u64;
                }
                self.host.progress.received.fetch_add(1, Ordering::Relaxed);
                self.call(slot, |script, engine| script.on_message(engine, channel, &data));
            }
            Event::Closed(ending) => {
                self.end_link(slot);
                self.host.links.borrow_mut()[slot].ending = Some(ending.clone());
                self.on_closed(slot, &ending);
            }
        }
    }

    fn on_connected(&mut self, slot: usize) {
        let now = self.host.elapsed();
        {
            let link = &mut self.host.links.borrow_mut()[slot];
            let tally = &mut *self.host.tally.borrow_mut();
            tally.connects += 1;
            tally.connected += u64::from(!link.was_connected);
            if let Some(since) = link.connecting_since.take() {
                tally.connect_us.record(now.saturating_sub(since).as_micros() as u64);
            }
            (link.is_connected, link.was_connected) = (true, true);
        }
        self.host.progress.on_connected();
        let from = self.slots[slot].life.from;
        if let Some(ticks) = &mut self.slots[slot].ticks {
            let due = ticks.restart((now - from).as_secs_f64());
            if !std::mem::replace(&mut ticks.is_set, true) {
                self.timers.set(from + Duration::from_secs_f64(due), TimerKind::Tick, slot);
            }
        }
    }

    fn on_closed(&mut self, slot: usize, ending: &Ending) {
        let is_wanted = ending.cause == crate::protocol::Cause::Closed;
        let Some(script) = &self.slots[slot].script else { return };
        let handles = script.handles_closed();
        if !is_wanted {
            let tally = &mut *self.host.tally.borrow_mut();
            tally.count_ending(ending);
            let was_connected = self.host.links.borrow()[slot].was_connected;
            tally.dropped += u64::from(was_connected && !handles);
            if was_connected {
                tally.bots.on_drop(self.slots[slot].life.number);
            }
        }
        self.call(slot, |script, engine| script.on_closed(engine, ending));
    }

    fn connect(&mut self, slot: usize, order: &ConnectOrder) {
        if self.host.links.borrow()[slot].socket.is_some() {
            return self.fault(slot, &ScriptFault::new("bot:connect while the bot connects already"));
        }
        self.host.tally.borrow_mut().attempts += 1;
        let opened = self.open(slot, order);
        match opened {
            Ok(()) => {}
            Err(why) => self.fault(slot, &ScriptFault::new(why)),
        }
    }

    fn open(&mut self, slot: usize, order: &ConnectOrder) -> Result<(), String> {
        let script_url = self.slots[slot].script.as_ref().and_then(BotScript::url);
        let url = order.url.as_deref().or(self.plan.url.as_deref()).or(script_url);
        let url = url.ok_or(
            "the bot has nowhere to connect to: give a URL on the command line, or in the script as \
                             skipstone.bot{ connect = \"udp://127.0.0.1:9000\" }",
        )?;
        let place = self.places.find(url)?;
        let now = self.host.elapsed();
        let mut links = self.host.links.borrow_mut();
        let link = &mut links[slot];
        let seed = self.host.connection_seed(link);
        let mut socket = BotSocket::open(place.row, &place.target, place.address, seed, self.host.time())
            .map_err(|error| error.to_string())?;
        socket.register(self.poll.registry(), Token(slot)).map_err(|error| format!("no socket: {error}"))?;
        // The first connection of a bot that connects as it begins counts from when it was to begin.
        let is_first = link.connections == 1 && !self.slots[slot].script.as_ref().is_some_and(BotScript::has_waited);
        link.connecting_since = Some(if is_first { link.from } else { now });
        link.socket = Some(socket);
        if let Carrier::Own(step) = place.row.carrier
            && !self.steps.iter().any(|own| std::ptr::fn_addr_eq(*own, step))
        {
            self.steps.push(step);
        }
        Ok(())
    }

    /// An error of the script ends its bot.
    fn fault(&mut self, slot: usize, fault: &ScriptFault) {
        self.host.progress.faulted.fetch_add(1, Ordering::Relaxed);
        self.host.tally.borrow_mut().count_fault(fault.to_string(), self.slots[slot].life.number);
        self.stop(slot);
    }

    /// Calls the bot's code.
    fn call(&mut self, slot: usize, call: impl FnOnce(&mut BotScript, &Engine) -> Result<(), ScriptFault>) {
        let Slot { life, script: Some(script), allocated, .. } = &mut self.slots[slot] else { return };
        self.host.enter(slot);
        let before = self.engine.memory_of(life.number);
        let called = call(script, &self.engine);
        *allocated += self.engine.memory_of(life.number) as i64 - before as i64;
        if let Err(fault) = called {
            self.fault(slot, &fault);
        }
        if self.engine.is_crowded()
            && let Some(hoard) = self.engine.find_hoard()
        {
            self.end_hoarder(hoard);
        }
    }

    /// Memory is for all: a bot that holds far more than the others ends before they have none.
    fn end_hoarder(&mut self, hoard: Hoard) {
        let suspects = self.slots.iter().enumerate().filter(|(_, slot)| slot.script.is_some());
        let suspects = suspects.filter(|(_, slot)| hoard.may_be_of(slot.life.number));
        let Some((slot, _)) = suspects.max_by_key(|(_, slot)| slot.allocated) else { return };
        let mebibytes = hoard.bytes >> 20;
        let why = format!("the bot holds {mebibytes} MiB, far more than the others: does a table grow forever?");
        self.fault(slot, &ScriptFault::new(why));
    }

    fn with_socket(&mut self, slot: usize, with: impl FnOnce(&mut BotSocket, Time, &mut Vec<u8>)) {
        let mut links = self.host.links.borrow_mut();
        if let Some(socket) = &mut links[slot].socket {
            with(socket, self.host.time(), &mut self.outgoing);
        }
    }

    /// The connection is over: its counters are kept.
    fn end_link(&mut self, slot: usize) {
        let mut links = self.host.links.borrow_mut();
        let link = &mut links[slot];
        if let Some(mut socket) = link.socket.take() {
            let tally = &mut *self.host.tally.borrow_mut();
            tally.socket += socket.counts();
            tally.protocol += socket.protocol().figures().counts;
        }
        if std::mem::take(&mut link.is_connected) {
            self.host.progress.on_closed();
        }
        (link.connecting_since, link.is_closing, link.reads_from) = (None, false, None);
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

    /// Begins the requests of scripts, and gives them their answers. Those that follow from the answers begin at the next
    /// turn, so that a script which asks without end does not stop the others.
    fn serve_requests(&mut self) {
        let requests = std::mem::take(&mut *self.host.requests.borrow_mut());
        for (ticket, request) in requests {
            self.http.start(self.host.elapsed(), ticket, request, &mut self.datagram);
        }
        self.http.handle_time(self.host.elapsed(), &mut self.datagram);
        while let Some(finished) = self.http.poll_finished() {
            self.host.note_request(&finished);
            let slot = finished.ticket.slot;
            self.call(slot, |script, engine| script.on_answer(engine, finished.ticket.number, finished.outcome));
            self.settle(slot);
        }
    }

    /// Estimates of the round-trip time, one of each bot.
    fn sample(&mut self) {
        let tally = &mut *self.host.tally.borrow_mut();
        for link in self.host.links.borrow_mut().iter_mut().filter(|link| link.is_connected) {
            let figures = link.socket.as_mut().map(|socket| socket.protocol().figures());
            if let Some(rtt) = figures.and_then(|figures| figures.rtt) {
                tally.rtt.record(rtt.as_micros() as u64);
            }
        }
    }

    /// Tells viewers what was found so far, the traffic of open connections included.
    fn publish(&self) {
        if !self.host.progress.is_published() {
            return;
        }
        let (calls, in_scripts) = self.engine.cost();
        let mut tally = self.host.tally.borrow_mut().without_bots();
        for socket in self.host.links.borrow_mut().iter_mut().filter_map(|link| link.socket.as_mut()) {
            tally.socket += socket.counts();
            tally.protocol += socket.protocol().figures().counts;
        }
        let memory_bytes = self.engine.memory_bytes() as u64;
        self.host.progress.publish(Tally { calls, in_scripts, memory_bytes, ..tally });
    }

    fn note(&self, due: Duration, now: Duration) {
        self.host.tally.borrow_mut().lateness.note(due, now);
    }

    fn bot_time(&self, slot: usize, at: Duration) -> f64 {
        at.as_secs_f64() - self.slots[slot].life.from.as_secs_f64()
    }
}

impl Ticks {
    fn new(rate: f64, number: u32) -> Self {
        // Multiples of the golden ratio are evenly spread, however many bots there are.
        let phase = (f64::from(number) * GOLDEN).fract();
        Ticks { interval: 1.0 / rate, phase, next: 1, is_set: false }
    }

    /// When a tick is due, in seconds of the bot's life.
    fn at(&self, number: u64) -> f64 {
        (number as f64 - 1.0 + self.phase) * self.interval
    }

    /// The first tick from now on is the next; returns when it is due.
    fn restart(&mut self, now: f64) -> f64 {
        let past = (now / self.interval - self.phase).max(-1.0).floor();
        self.next = self.next.max((past + 2.0) as u64);
        self.at(self.next)
    }
}

const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Timers between two looks at the sockets.
const TIMERS_MAX: usize = 256;
/// Datagrams or chunks that are read from a socket in its turn.
const READS_MAX: usize = 32;
const DATAGRAM_BYTES: usize = 65_536;
/// How long a message waits at most because a timer is less than a millisecond away.
const SLEEP_MAX: Duration = Duration::from_micros(200);
/// How often protocols with sockets of their own are stepped at least.
const STEP: Duration = Duration::from_micros(900);
/// A connection that has taken longer at the end of the run was not made.
const CUT_OFF_MAX: Duration = Duration::from_secs(1);
const BEAT: Duration = Duration::from_millis(10);
const SAMPLE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_keep_to_the_grid_of_the_bots_life() {
        let mut ticks = Ticks::new(10.0, 0);
        assert_eq!(ticks.restart(0.0), 0.1, "the first is one interval after the beginning");
        assert!((ticks.restart(0.55) - 0.6).abs() < 1e-9);
        assert!((ticks.restart(0.2) - 0.6).abs() < 1e-9, "a tick never comes twice");
        let mut spread = Ticks::new(10.0, 1);
        assert!((spread.restart(0.0) - 0.061_803).abs() < 1e-5);
    }
}
