//! Processes of the run that do one thing together: told the same words, heard one at a time.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::child::{Child, Pages, Priority, Silence, Voice};
use super::words::{Order, Told};
use crate::stress::signals::Signals;

/// Children of one name, numbered from 0.
#[derive(Debug)]
pub(crate) struct Crew {
    name: &'static str,
    pages: Pages,
    children: Vec<Child>,
    told: Receiver<(usize, Told)>,
    voice: Sender<(usize, Told)>,
    /// Those that have come to the point where all wait for each other.
    arrived: usize,
}

/// How often signals are looked at.
const LOOK: Duration = Duration::from_millis(50);

impl Crew {
    /// Nobody yet.
    pub(crate) fn new(name: &'static str, pages: Pages) -> Crew {
        let (voice, told) = mpsc::channel();
        Crew { name, pages, children: Vec::new(), told, voice, arrived: 0 }
    }

    /// Starts another process.
    pub(crate) fn add(&mut self, arguments: &[String], priority: Priority) -> Result<(), Silence> {
        let voice = Voice { to: self.voice.clone(), number: self.children.len() };
        let child = Child::start(self.name, arguments, self.pages, priority, voice).map_err(Silence::Failed)?;
        self.children.push(child);
        Ok(())
    }

    /// The process with this number.
    pub(crate) fn process(&self, number: usize) -> u32 {
        self.children[number].id()
    }

    /// Tells one of them a word.
    pub(crate) fn tell_one(&mut self, number: usize, word: &str) {
        self.children[number].tell(word);
    }

    /// Tells all of them a word.
    pub(crate) fn tell(&mut self, word: &str) {
        self.children.iter_mut().for_each(|child| child.tell(word));
    }

    /// The same, while they wait for each other.
    pub(crate) fn order(&mut self, order: &Order) {
        self.tell(&order.to_string());
    }

    /// What one of them tells next, within this time; and which.
    pub(crate) fn hear(&self, within: Duration, signals: &Signals) -> Result<(usize, Told), Silence> {
        let end = Instant::now() + within;
        loop {
            match self.told.recv_timeout(LOOK) {
                Ok((_, Told::Failed { reason })) => return Err(Silence::Failed(reason)),
                Ok(told) => return Ok(told),
                Err(RecvTimeoutError::Disconnected) => unreachable!("the crew has a voice of its own"),
                Err(RecvTimeoutError::Timeout) if signals.is_set() => return Err(Silence::Interrupted),
                Err(RecvTimeoutError::Timeout) if Instant::now() > end => {
                    return Err(Silence::Failed(format!("the process of {} said nothing in {within:?}", self.name)));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// One of them has come to where all wait for each other; whether it was the last.
    pub(crate) fn has_arrived(&mut self) -> bool {
        self.arrived = (self.arrived + 1) % self.children.len();
        self.arrived == 0
    }
}
