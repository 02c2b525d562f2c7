//! Short-lived certificates for pages, which accept them by their hash. There is one for each turn of four days, and
//! only the clock selects it: the same ones are used after a restart, by another server with the same identity, and by
//! a server whose clock was wrong for a while.

use super::news::CertificateEvent;
use crate::security::identity::Identity;
use crate::security::identity_error::IdentityError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The period in which a certificate is used, by its number since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageTurn(u64);

const DAY: Duration = Duration::from_secs(86_400);
const TURN: Duration = Duration::from_secs(4 * 86_400);

impl PageTurn {
    pub(super) fn at(now: SystemTime) -> PageTurn {
        let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        PageTurn(since_1970.as_secs() / TURN.as_secs())
    }

    /// Whether this is still the turn: a clock that is set back by less than a day changes nothing.
    pub(super) fn holds(self, now: SystemTime) -> bool {
        now + DAY >= self.begins() && PageTurn::at(now) <= self
    }

    fn begins(self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(self.0 * TURN.as_secs())
    }

    fn next(self) -> PageTurn {
        PageTurn(self.0 + 1)
    }

    /// The validity of a certificate of this turn, 13 of the 14 days that browsers allow: the turn before, in which it
    /// is announced, its own, the one after, and a day for slow clocks.
    #[cfg(feature = "self-signed")]
    fn life(self) -> core::ops::Range<SystemTime> {
        let start = self.begins() - TURN - DAY;
        // Some libraries cannot represent dates before 1970.
        start.max(SystemTime::UNIX_EPOCH)..self.begins() + 2 * TURN
    }
}

/// Returns the certificates of each turn.
#[derive(Debug)]
pub(super) struct PageShelf {
    /// The identity's file; the certificates are stored in its directory.
    kept_in: Option<PathBuf>,
    /// The certificates of all requested turns, including turns requested while the clock was wrong.
    known: BTreeMap<PageTurn, Arc<Identity>>,
}

impl PageShelf {
    /// `None` if an authority has signed the identity: browsers verify that certificate.
    pub(super) fn of(identity: &Identity) -> Option<Self> {
        let made = identity.self_made.as_ref()?;
        let dated =
            made.pages.iter().filter_map(|page| Some((PageTurn::at(page.expires()? - 2 * TURN), Arc::clone(page))));
        Some(PageShelf { kept_in: made.kept_in.clone(), known: dated.collect() })
    }

    /// The certificates of a turn and of the next. Errors of their files are passed to `tell`.
    pub(super) fn pair(
        &mut self,
        turn: PageTurn,
        mut tell: impl FnMut(CertificateEvent),
    ) -> Result<[Arc<Identity>; 2], IdentityError> {
        self.kept_in.iter().for_each(|kept_in| remove_ended(kept_in, turn));
        let mut one = |turn| match self.known.get(&turn) {
            Some(known) => Ok(Arc::clone(known)),
            None => self.read_or_make(turn, &mut tell).map(Arc::new),
        };
        let pair = [one(turn)?, one(turn.next())?];
        self.known.extend([turn, turn.next()].into_iter().zip(pair.clone()));
        while self.known.len() > KNOWN_MAX
            && let Some(oldest) = self.known.keys().copied().find(|known| *known != turn && *known != turn.next())
        {
            self.known.remove(&oldest);
        }
        Ok(pair)
    }

    fn read_or_make(&self, turn: PageTurn, tell: &mut impl FnMut(CertificateEvent)) -> Result<Identity, IdentityError> {
        let Some(kept_in) = &self.kept_in else { return made(turn) };
        let file = file_of(kept_in, turn);
        kept(&file, turn).or_else(|error| {
            tell(CertificateEvent::NotKept { file, error: error.to_string() });
            made(turn)
        })
    }
}

/// `identity.pem.pages.5133`.
fn file_of(kept_in: &Path, turn: PageTurn) -> PathBuf {
    let mut name = kept_in.as_os_str().to_owned();
    name.push(format!(".pages.{}", turn.0));
    name.into()
}

#[cfg(feature = "self-signed")]
fn made(turn: PageTurn) -> Result<Identity, IdentityError> {
    Identity::short_lived(turn.life())
}

#[cfg(feature = "self-signed")]
fn kept(file: &Path, turn: PageTurn) -> Result<Identity, IdentityError> {
    use rustls_pki_types::UnixTime;

    let pem = crate::security::kept_file::read_or_make(file, || Ok(made(turn)?.to_pem()))?;
    let begins = UnixTime::since_unix_epoch(Duration::from_secs(turn.0 * TURN.as_secs()));
    Identity::own(&String::from_utf8_lossy(&pem), begins).map_err(|error| error.in_file(file))
}

#[cfg(not(feature = "self-signed"))]
fn made(_: PageTurn) -> Result<Identity, IdentityError> {
    Err(IdentityError::CannotMake)
}

#[cfg(not(feature = "self-signed"))]
fn kept(_: &Path, _: PageTurn) -> Result<Identity, IdentityError> {
    Err(IdentityError::CannotMake)
}

/// Maximum number of certificates in memory: two for the current turn, two for a turn of a wrong clock, and two for
/// earlier turns.
const KNOWN_MAX: usize = 6;
/// Files of past turns are kept by number and not by age: a clock may be fast, and be set back.
const ENDED_KEPT: usize = 4;

/// Removes the files of turns that ended long ago. Those of later turns stay: a clock may start at 1970, and be set
/// afterwards.
fn remove_ended(kept_in: &Path, turn: PageTurn) {
    let (Some(folder), Some(name)) = (kept_in.parent(), kept_in.file_name()) else { return };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let prefix = format!("{}.pages.", name.to_string_lossy());
    let ended = std::fs::read_dir(folder).into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        // The number of a turn is followed by the number of a process that died while writing it.
        let number = name.to_str()?.strip_prefix(&prefix)?.split('.').next()?.parse::<u64>().ok()?;
        (number < turn.0).then(|| (number, entry.path()))
    });
    let mut files: BTreeMap<u64, Vec<PathBuf>> = BTreeMap::new();
    for (number, file) in ended {
        files.entry(number).or_default().push(file);
    }
    for file in files.into_values().rev().skip(ENDED_KEPT).flatten() {
        // A file that cannot be removed does no harm.
        let _ = std::fs::remove_file(file);
    }
}

#[cfg(all(test, feature = "self-signed"))]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_within_the_14_days_that_browsers_allow() {
        let turn = PageTurn::at(SystemTime::now());
        let life = turn.life();
        assert_eq!(life.end.duration_since(life.start).ok(), Some(13 * DAY));
        assert!(turn.holds(turn.begins()) && turn.holds(turn.begins() - DAY));
        assert!(!turn.holds(turn.begins() - 2 * DAY) && !turn.holds(turn.next().begins()));
    }
}
