//! Where bots connect: targets read once, names resolved once.

use crate::protocols::row::ProtocolRow;
use crate::protocols::table::find;
use crate::target::{BotTarget, check_allowed};
use skipstone_lab::units::Allowed;
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;

/// The places of a worker, by URL.
#[derive(Debug, Default)]
pub(crate) struct Places {
    allowed: Option<Vec<Allowed>>,
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
    /// Those of these servers alone, if there is a list.
    pub(crate) fn of(allowed: Option<Vec<Allowed>>) -> Self {
        Places { allowed, ..Places::default() }
    }

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
        check_allowed(self.allowed.as_deref(), &target.host, target.port).map_err(|why| format!("{url}: {why}"))?;
        let found = (target.host.as_str(), target.port).to_socket_addrs();
        let found = found.map_err(|error| format!("{url}: no address of {}: {error}", target.host))?.next();
        let address = found.ok_or_else(|| format!("{url}: {} has no address", target.host))?;
        let place = Rc::new(Place { row, target, address });
        self.known.insert(url.to_owned(), Rc::clone(&place));
        Ok(place)
    }
}

const PLACES_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_bots_connect_only_where_its_flags_allow() {
        let allowed = vec!["127.0.0.1:9000".parse().expect("a server")];
        let mut places = Places::of(Some(allowed));
        assert!(places.find("udp://127.0.0.1:9000").is_ok());
        let why = places.find("udp://127.0.0.1:9001").expect_err("another port");
        assert!(why.contains("only to 127.0.0.1:9000") && why.contains("--allow 127.0.0.1"), "{why}");
        assert!(Places::default().find("udp://127.0.0.1:9001").is_ok());
    }
}
