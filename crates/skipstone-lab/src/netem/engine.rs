//! The real-time loop of a link: incoming packets enter the path, delivered ones leave, and in between the
//! thread waits as precisely as possible. One thread, without locks on the path of a packet.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};

use super::clock_thread::{Before, Waiter, make_punctual};
use super::live_path::{Direction, LivePath};
use super::path_settings::{PathConfig, Scope};
use super::snapshot::LinkSnapshot;

/// Where packets come from and go to.
pub(crate) trait Ports {
    /// The system says that something may be read from it, or written.
    fn on_ready(&mut self, token: Token, readable: bool, writable: bool);

    /// Reads some packets and puts them on the path. True if there may be more.
    fn receive(&mut self, path: &mut LivePath) -> io::Result<bool>;

    /// Takes off the path what has arrived.
    fn transmit(&mut self, path: &mut LivePath) -> io::Result<()>;

    /// When something else than the path's arrivals is due, in the path's time.
    fn next_time(&mut self, path: &LivePath) -> Option<Duration>;

    /// The path's settings have changed.
    fn configure(&mut self, config: &PathConfig);

    /// A direction of the path has been taken down.
    fn take_down(&mut self, direction: Direction, length: Duration);

    /// Adds what only it knows.
    fn describe(&self, snapshot: &mut LinkSnapshot);
}

/// The commands to a running link.
#[derive(Debug, Clone)]
pub(crate) enum LinkCommand {
    Configure(Box<PathConfig>),
    TakeDown(Scope, Duration),
}

/// The loop.
pub(crate) struct Engine<P> {
    pub(crate) poll: Poll,
    pub(crate) ports: P,
    pub(crate) path: LivePath,
    pub(crate) orders: Receiver<LinkCommand>,
    pub(crate) shared: Arc<Shared>,
}

/// The state of a running link that other threads see.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) stop: AtomicBool,
    pub(crate) snapshot: Mutex<LinkSnapshot>,
}

const EVENTS_MAX: usize = 256;
/// The longest sleep, after which signals are looked at.
const SLEEP_MAX: Duration = Duration::from_millis(50);
const PUBLISH_EVERY: Duration = Duration::from_millis(500);

impl<P: Ports> Engine<P> {
    /// Runs until it is stopped.
    pub(crate) fn run(mut self) -> Result<LinkSnapshot, String> {
        let imprecise = make_punctual(Before::All);
        let outcome = self.carry(imprecise.as_deref());
        let mut last = LinkSnapshot::of(&self.path, imprecise);
        self.ports.describe(&mut last);
        last.lost_packets = self.path.losses().iter().copied().collect();
        self.publish(&last);
        outcome.map(|()| last).map_err(|error| format!("the link broke: {error}"))
    }

    fn carry(&mut self, imprecise: Option<&str>) -> io::Result<()> {
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut waiter = Waiter::new();
        let mut published = Instant::now();
        while !self.shared.stop.load(Ordering::Relaxed) {
            self.obey();
            self.ports.transmit(&mut self.path)?;
            let has_more = self.ports.receive(&mut self.path)?;
            if published.elapsed() >= PUBLISH_EVERY {
                published = Instant::now();
                let mut snapshot = LinkSnapshot::of(&self.path, imprecise.map(str::to_owned));
                self.ports.describe(&mut snapshot);
                self.publish(&snapshot);
            }
            let left = if has_more { Duration::ZERO } else { self.left() };
            waiter.wait(&mut self.poll, &mut events, left)?;
            for event in &events {
                let readable = event.is_readable() || event.is_read_closed() || event.is_error();
                self.ports.on_ready(event.token(), readable, event.is_writable());
            }
        }
        Ok(())
    }

    /// The time until the next arrival.
    fn left(&mut self) -> Duration {
        let other = self.ports.next_time(&self.path);
        let next = [self.path.next_arrival(), other].into_iter().flatten().min();
        next.map_or(SLEEP_MAX, |next| next.saturating_sub(self.path.now()).min(SLEEP_MAX))
    }

    fn obey(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            match order {
                LinkCommand::Configure(config) => {
                    self.path.configure(&config);
                    self.ports.configure(&config);
                }
                LinkCommand::TakeDown(scope, length) => {
                    for direction in Direction::BOTH.into_iter().filter(|direction| scope.has(*direction)) {
                        self.path.take_down(direction, length);
                        self.ports.take_down(direction, length);
                    }
                }
            }
        }
    }

    /// Never waits for a reader, because the next snapshot will follow.
    fn publish(&self, snapshot: &LinkSnapshot) {
        if let Ok(mut shared) = self.shared.snapshot.try_lock() {
            shared.clone_from(snapshot);
        }
    }
}

impl Scope {
    fn has(self, direction: Direction) -> bool {
        self == Scope::Both || (self == Scope::Up) == (direction == Direction::Up)
    }
}
