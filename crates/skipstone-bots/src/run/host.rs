//! What the scripts of a worker may ask: answered for the bot whose code runs.

use super::link::Link;
use super::progress::Progress;
use super::tally::Tally;
use crate::http::{HttpFinished, HttpRequest, HttpTicket};
use crate::metrics::{HTTP_FAILED, HTTP_TIMES, MetricId, MetricKind};
use crate::plan::Life;
use crate::protocol::{Outgoing, ProtocolFigures, SendRefused};
use crate::script::Host;
use skipstone_lab::measure::splitmix::{mix, splitmix};
use skipstone_lab::report::output;
use skipstone_proto::Time;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The links of a worker's bots, and what was found.
pub(super) struct WorkerHost {
    epoch: Instant,
    seed: u64,
    /// The bot whose code runs.
    current: Cell<usize>,
    pub(super) links: RefCell<Vec<Link>>,
    pub(super) tally: RefCell<Tally>,
    pub(super) progress: Arc<Progress>,
    /// Requests that scripts have made, which the worker has not begun yet.
    pub(super) requests: RefCell<Vec<(HttpTicket, HttpRequest)>>,
    requested: Cell<u64>,
    printed: Cell<u32>,
}

impl WorkerHost {
    pub(super) fn new(epoch: Instant, seed: u64, lives: &[Life], progress: Arc<Progress>) -> Rc<Self> {
        let link = |life: &Life| Link::new(life.number, life.from, mix(seed ^ mix(u64::from(life.number))));
        Rc::new(WorkerHost {
            epoch,
            seed,
            current: Cell::new(0),
            links: RefCell::new(lives.iter().map(link).collect()),
            tally: RefCell::default(),
            progress,
            requests: RefCell::default(),
            requested: Cell::new(0),
            printed: Cell::new(0),
        })
    }

    /// The code of this bot runs now.
    pub(super) fn enter(&self, slot: usize) {
        self.current.set(slot);
    }

    /// Time since the run began.
    pub(super) fn elapsed(&self) -> Duration {
        self.epoch.elapsed()
    }

    /// The same as protocols have it.
    pub(super) fn time(&self) -> Time {
        Time::from_micros(self.elapsed().as_micros() as u64)
    }

    /// Counts a request that has ended: the time of an answer, and whether it was one that a player wants.
    pub(super) fn note_request(&self, finished: &HttpFinished) {
        let at = self.elapsed().as_secs_f64();
        let metrics = &mut self.tally.borrow_mut().metrics;
        let mut record = |name: &str, kind: MetricKind, value: f64| {
            // The names are the tool's own: scripts cannot give them another kind.
            let _ = metrics.register(name, kind).and_then(|id| metrics.record(id, value, at));
        };
        if finished.outcome.is_ok() {
            record(HTTP_TIMES, MetricKind::Trend, finished.took.as_secs_f64() * 1000.0);
        }
        let is_good = finished.outcome.as_ref().is_ok_and(|response| response.status < 400);
        record(HTTP_FAILED, MetricKind::Rate, f64::from(u8::from(!is_good)));
    }

    /// The seed of a bot's next connection.
    pub(super) fn connection_seed(&self, link: &mut Link) -> u64 {
        link.connections += 1;
        mix(self.seed ^ mix(u64::from(link.number) << 32 | link.connections))
    }
}

impl Host for WorkerHost {
    fn now(&self) -> f64 {
        let from = self.links.borrow()[self.current.get()].from;
        self.elapsed().as_secs_f64() - from.as_secs_f64()
    }

    fn number(&self) -> u32 {
        self.links.borrow()[self.current.get()].number
    }

    fn random(&self) -> u64 {
        splitmix(&mut self.links.borrow_mut()[self.current.get()].random)
    }

    fn send(&self, message: Outgoing<'_>, due: Option<f64>) -> Result<(), String> {
        let mut links = self.links.borrow_mut();
        let link = &mut links[self.current.get()];
        let now = self.elapsed();
        let time = Time::from_micros(now.as_micros() as u64);
        let sent = match &mut link.socket {
            Some(socket) => socket.protocol().send(time, message),
            None => Err(SendRefused::NotConnected),
        };
        let tally = &mut *self.tally.borrow_mut();
        if let Err(refused) = sent {
            let why = match refused {
                SendRefused::NotConnected => link.not_connected(),
                refused => refused.to_string(),
            };
            tally.count_refusal(&why);
            return Err(why);
        }
        tally.messages.sent += 1;
        tally.messages.bytes_sent += message.data.len() as u64;
        self.progress.sent.fetch_add(1, Ordering::Relaxed);
        if let Some(due) = due {
            tally.lateness.note(link.from + Duration::try_from_secs_f64(due).unwrap_or_default(), now);
        }
        Ok(())
    }

    fn close(&self) {
        let link = &mut self.links.borrow_mut()[self.current.get()];
        if let Some(socket) = &mut link.socket {
            socket.protocol().close(self.time());
            link.is_closing = true;
        }
    }

    fn is_closing(&self) -> bool {
        self.links.borrow()[self.current.get()].is_closing
    }

    fn not_connected(&self) -> String {
        self.links.borrow_mut()[self.current.get()].not_connected()
    }

    fn pause_reading(&self, seconds: f64) -> Result<(), String> {
        let mut links = self.links.borrow_mut();
        let link = &mut links[self.current.get()];
        let Some(socket) = &link.socket else { return Err(link.not_connected()) };
        if socket.is_shared() {
            return Err("the bots of this protocol share their sockets, which are read for all".into());
        }
        link.reads_from = Some(self.elapsed() + Duration::try_from_secs_f64(seconds).unwrap_or_default());
        Ok(())
    }

    fn figures(&self) -> Option<ProtocolFigures> {
        let mut links = self.links.borrow_mut();
        links[self.current.get()].socket.as_mut().map(|socket| socket.protocol().figures())
    }

    fn metric(&self, name: &str, kind: MetricKind) -> Result<MetricId, String> {
        self.tally.borrow_mut().metrics.register(name, kind).map_err(|refused| refused.to_string())
    }

    fn record(&self, id: MetricId, value: f64) -> Result<(), String> {
        let at = self.elapsed().as_secs_f64();
        let tally = &mut *self.tally.borrow_mut();
        tally.metrics.record(id, value, at).map_err(|refused| refused.to_string())?;
        if let Some(trend) = tally.metrics.trend_in_ms(id) {
            tally.bots.record(self.number(), trend, value);
        }
        Ok(())
    }

    fn request(&self, request: HttpRequest) -> Result<u64, String> {
        let number = self.requested.get() + 1;
        self.requested.set(number);
        self.requests.borrow_mut().push((HttpTicket { slot: self.current.get(), number }, request));
        Ok(number)
    }

    fn print(&self, line: &str) {
        let printed = self.printed.get();
        if printed <= LINES_MAX {
            self.printed.set(printed + 1);
            let text: String = line.chars().take(LINE_MAX).collect();
            let end = if printed == LINES_MAX { " (further lines of this worker are not shown)" } else { "" };
            output::complain(format_args!("bot {}: {text}{end}", self.number()));
        }
    }
}

/// Lines of scripts that a worker shows.
const LINES_MAX: u32 = 200;
const LINE_MAX: usize = 1000;
