//! Names and their addresses. The system's call blocks, so it runs in a thread of its own; each name is asked for once.

use mio::Waker;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// The names of a worker.
#[derive(Debug)]
pub(super) struct Lookups {
    known: BTreeMap<(String, u16), Lookup>,
    running: usize,
    answers: (Sender<Answer>, Receiver<Answer>),
    waker: Arc<Waker>,
}

/// A name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The system is being asked; it is to be asked for again.
    Running,
    /// Its addresses, at least one.
    Known(Vec<SocketAddr>),
    /// It has none: why.
    Failed(String),
}

type Answer = ((String, u16), Lookup);

impl Lookups {
    pub(super) fn new(waker: Arc<Waker>) -> Self {
        Lookups { known: BTreeMap::new(), running: 0, answers: channel(), waker }
    }

    /// The addresses of a name, as far as they are known.
    pub(super) fn find(&mut self, host: &str, port: u16) -> Lookup {
        if let Ok(address) = host.parse::<IpAddr>() {
            return Lookup::Known(vec![(address, port).into()]);
        }
        self.take_answers();
        let key = (host.to_owned(), port);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        if self.known.len() >= NAMES_MAX {
            return Lookup::Failed(format!("the bots' requests go to more than {NAMES_MAX} different hosts"));
        }
        if self.running >= RUNNING_MAX {
            // Tried again when one of them is answered.
            return Lookup::Running;
        }
        let (sender, waker, asked) = (self.answers.0.clone(), Arc::clone(&self.waker), key.clone());
        let ask = move || {
            let found = (asked.0.as_str(), asked.1).to_socket_addrs();
            let answer = match found.map(Iterator::collect::<Vec<SocketAddr>>) {
                Ok(addresses) if addresses.is_empty() => no_address(&asked.0, ""),
                Ok(addresses) => Lookup::Known(addresses),
                Err(error) => no_address(&asked.0, &format!(": {error}")),
            };
            // The run may be over.
            let _ = sender.send((asked, answer));
            let _ = waker.wake();
        };
        match std::thread::Builder::new().name("bots-lookup".into()).spawn(ask) {
            Ok(_) => {
                self.running += 1;
                self.known.insert(key, Lookup::Running);
                Lookup::Running
            }
            Err(error) => Lookup::Failed(format!("cannot start a thread: {error}")),
        }
    }

    /// Names without an address are asked for again by later requests.
    pub(super) fn forget_failures(&mut self) {
        self.known.retain(|_, lookup| !matches!(lookup, Lookup::Failed(_)));
    }

    fn take_answers(&mut self) {
        while let Ok((key, answer)) = self.answers.1.try_recv() {
            self.running -= 1;
            self.known.insert(key, answer);
        }
    }
}

fn no_address(host: &str, why: &str) -> Lookup {
    Lookup::Failed(format!("{host} has no address{why}"))
}

const NAMES_MAX: usize = 1000;
/// Names that the system is asked for at once.
const RUNNING_MAX: usize = 16;
