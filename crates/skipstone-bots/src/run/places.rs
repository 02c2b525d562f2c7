//! Where bots connect: targets read once, names resolved once.

use crate::protocols::row::ProtocolRow;
use crate::protocols::table::find;
use crate::target::BotTarget;
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;

/// The places of a worker, by URL.
#[derive(Debug, Default)]
pub(crate) struct Places {
    known: BTreeMap<String, Rc<Place>>,
}

/// A place.
#[derive(Debug)]
pub(crate) struct Place {
    /// Its protocol.
    pub(crate) row: &'static ProtocolRow,
    /// Its parts.
    pub(crate) target: BotTarget,
    /// Its address.
    pub(crate) address: SocketAddr,
}

impl Places {
    /// The place of that URL. The first of a name asks the system, which may take long.
    ///
    /// # Errors
    /// One sentence: the URL is wrong, or its name has no address.
    pub(crate) fn find(&mut self, url: &str) -> Result<Rc<Place>, String> {
        if let Some(place) = self.known.get(url) {
            return Ok(Rc::clone(place));
        }
        if self.known.len() >= PLACES_MAX {
            return Err(format!("the bots connect to more than {PLACES_MAX} different URLs"));
        }
        let (row, target) = find(url).map_err(|error| error.to_string())?;
        let found = (target.host.as_str(), target.port).to_socket_addrs();
        let found = found.map_err(|error| format!("{url}: no address of {}: {error}", target.host))?.next();
        let address = found.ok_or_else(|| format!("{url}: {} has no address", target.host))?;
        let place = Rc::new(Place { row, target, address });
        self.known.insert(url.to_owned(), Rc::clone(&place));
        Ok(place)
    }
}

const PLACES_MAX: usize = 1000;
