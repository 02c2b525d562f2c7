//! DTLS 1.2 and 1.3 (dimpl) as sessions of the protocol. WIRE.md sections 2.4 and 3 specify the layout of records in
//! datagrams.
//!
//! dimpl uses instants and its own random numbers; the protocol's time is mapped to instants from one base per process.
//! `kind` has the parts that all sessions share, `session` one end of a session.

mod kind;
mod session;

use super::identity::Identity;
use super::verify::Verifier;
pub(crate) use kind::instant;
use kind::{Kind, Role};
use session::DtlsSession;
use skipstone_proto::Session;
use skipstone_proto::Time;
use std::sync::{Arc, OnceLock};

/// A server's session of this suite; `None` if the suite is not DTLS.
pub(super) fn server(now: Time, suite: u8, identity: &Identity) -> Option<Box<dyn Session>> {
    let kind = Kind::of(suite)?;
    let dtls = kind.dtls(Role::Server, identity.certificate(), now);
    Some(Box::new(DtlsSession::new(dtls, kind, now, Role::Server, None)))
}

/// A client's session of this suite, with its first flight to send; `None` if the suite is not DTLS.
pub(super) fn client(now: Time, suite: u8, verifier: Arc<Verifier>) -> Option<Box<dyn Session>> {
    let kind = Kind::of(suite)?;
    let mut dtls = kind.dtls(Role::Client, nobody().certificate(), now);
    dtls.set_active(true);
    let mut session = DtlsSession::new(dtls, kind, now, Role::Client, Some(verifier));
    session.handle_timeout(now);
    Some(Box::new(session))
}

/// dimpl requires a certificate of clients too, though our servers never request one.
fn nobody() -> &'static Identity {
    static NOBODY: OnceLock<Identity> = OnceLock::new();
    NOBODY.get_or_init(|| Identity::self_signed().expect("the system has entropy"))
}

#[cfg(test)]
mod tests;
