//! Why a call of a bus was refused.

use super::url::NatsUrl;
use std::time::Duration;

/// Why there is no bus.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BusError {
    /// The server was not reached, or refused.
    #[error("NATS at {0}: {1}")]
    Connect(NatsUrl, ConnectError),
    /// A file of the settings cannot be used.
    #[error("{path}: {why}")]
    File {
        /// The file.
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The system refused a thread or a runtime.
    #[error("the thread of the bus cannot start: {0}")]
    Thread(std::io::Error),
}

/// Why a server was not reached, or refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No program listens there.
    #[error("no server listens there; start nats-server on that machine, or correct the address")]
    Refused,
    /// The host's name has no address.
    #[error("the host's name is not known ({0}); correct the name, or give an address")]
    NameNotResolved(String),
    /// The server does not know this login.
    #[error(
        "the server refused this login; check the credentials or the password, and what the server's configuration allows"
    )]
    LoginRefused,
    /// The server asks for a login, and there is none.
    #[error("the server asks for a login; give credentials, or USER:PASSWORD@ or TOKEN@ in the address")]
    LoginMissing,
    /// The nkey or the JWT of the login cannot sign.
    #[error("the credentials cannot sign: {0}; create them anew")]
    BadCredentials(String),
    /// The server's certificate is signed by nobody who is trusted.
    #[error("no certificate that is trusted signs the server's; name the one that does, by the setting for TLS")]
    Untrusted,
    /// The server's certificate is for another host.
    #[error(
        "the server's certificate is not for this host: {0}; use a name that it has, or create another certificate"
    )]
    WrongHost(String),
    /// TLS failed otherwise.
    #[error("TLS failed: {0}")]
    Tls(String),
    /// TLS was demanded of a server that has none.
    #[error("the server has no TLS; write nats:// in place of tls://, or give the server a certificate")]
    NoTls,
    /// What listens there is no NATS server.
    #[error("what listens there is not NATS ({0}); give the port for clients, 4222 by default")]
    NotNats(String),
    /// There was no answer in time.
    #[error("no answer within {0:?}; check the address, firewalls, and whether that port is NATS' for clients")]
    TimedOut(Duration),
    /// The login may not receive what is sent to itself.
    #[error("the server does not let this login subscribe to {0}.> and publish there; allow both, which answers need")]
    NoInbox(String),
    /// Another error of the system or of the server.
    #[error("{0}")]
    Other(String),
}

/// Why a text is no subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubjectError {
    /// Nothing before, after or between dots.
    #[error("the subject `{0}` has an empty token; tokens stand between dots")]
    EmptyToken(String),
    /// White space or a control character.
    #[error("the subject `{0}` contains white space or control characters; use letters, digits, `-` and `_`")]
    Blank(String),
    /// A wildcard where none may be.
    #[error(
        "the subject `{0}` has a wildcard where none may be; `*` and `>` are whole tokens of subscriptions, `>` the last"
    )]
    Wildcard(String),
    /// Longer than 1,024 bytes.
    #[error("the subject has {bytes} bytes; the maximum is 1,024")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The queue of calls is full.
    #[error(transparent)]
    Full(#[from] BusFull),
}

/// The queue of what the server has not confirmed is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{waiting_bytes} bytes wait for NATS, and {bytes_max} may; it is away or slow: send less, or drop what can be dropped"
)]
pub struct BusFull {
    /// Bytes that wait.
    pub waiting_bytes: usize,
    /// [`BusSettings::publish_bytes_max`](super::BusSettings::publish_bytes_max).
    pub bytes_max: usize,
}

/// Why a message was not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The subject is invalid.
    #[error(transparent)]
    Subject(#[from] SubjectError),
    /// Too much waits.
    #[error(transparent)]
    Full(#[from] BusFull),
    /// Too many requests wait for their answers, or too many events to be polled.
    #[error("{0} requests and events wait, which is the maximum; poll events before asking more")]
    TooManyRequests(usize),
    /// The server takes no such payload.
    #[error(
        "the payload has {bytes} bytes, and the server takes {bytes_max}; divide it, or raise the server's max_payload"
    )]
    PayloadTooLarge {
        /// Its length.
        bytes: usize,
        /// The server's `max_payload`.
        bytes_max: usize,
    },
}

/// Why a flush is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FlushError {
    /// NATS has not confirmed all in time.
    #[error("NATS has not confirmed {calls} calls in time; it is away or slow")]
    TimedOut {
        /// Calls that are not confirmed.
        calls: u64,
    },
    /// The connection broke, and messages were sent that the server has not confirmed.
    #[error("the connection to NATS broke, and {messages} messages may not have arrived")]
    Unconfirmed {
        /// Their number.
        messages: u64,
    },
}
