//! Errors of calls: a status, and a text for each thread's last error. No panic crosses a call.

use crate::types::SkipstoneStatus;
use library::{PeerError, SendError, SendRefusal, StartError};
use std::any::Any;
use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A call that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: SkipstoneStatus,
    pub(crate) text: String,
}

thread_local! {
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

impl Failure {
    pub(crate) fn new(status: SkipstoneStatus, text: impl Into<String>) -> Self {
        Failure { status, text: text.into() }
    }

    /// A number without a meaning here.
    pub(crate) fn value(field: &str, value: impl std::fmt::Display, range: &str) -> Self {
        Failure::new(SkipstoneStatus::BadValue, format!("{field} is {value}: set it to {range}"))
    }
}

/// Runs a call: its result becomes a status, and so does a panic in it.
pub(crate) fn call(body: impl FnOnce() -> Result<(), Failure>) -> SkipstoneStatus {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => SkipstoneStatus::Ok,
        Ok(Err(failure)) => keep(failure),
        Err(panic) => {
            let text = format!("a mistake in Skipstone, please report it: {}", words(&*panic));
            // The payload of a panic may panic again when it is dropped.
            std::mem::forget(panic);
            crate::log::error(&text);
            keep(Failure::new(SkipstoneStatus::Internal, text))
        }
    }
}

/// As [`call`], for functions without a status: a panic becomes `otherwise`.
pub(crate) fn value<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        std::mem::forget(panic);
        otherwise
    })
}

/// The text of this thread's last failure; empty if there was none.
pub(crate) fn last() -> String {
    LAST.try_with(|last| last.borrow().clone()).unwrap_or_default()
}

fn keep(failure: Failure) -> SkipstoneStatus {
    // A thread that is ending has no storage for a text any more.
    let _ = LAST.try_with(|last| *last.borrow_mut() = failure.text);
    failure.status
}

fn words(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it has no text")
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        let text = error.to_string();
        let status = match error {
            StartError::TokenTooLong { .. } | StartError::QueryAnswer(_) => SkipstoneStatus::TooLong,
            StartError::Io(..) => SkipstoneStatus::System,
            StartError::NotBuilt { .. } | StartError::Url(library::UrlError::NotBuilt(..)) => SkipstoneStatus::NotBuilt,
            StartError::Url(_) => SkipstoneStatus::BadUrl,
            StartError::Identity(_) => SkipstoneStatus::BadIdentity,
            StartError::Trust(library::TrustError::NoEncryption | library::TrustError::NoSystem) => {
                SkipstoneStatus::NotBuilt
            }
            StartError::Trust(_) => SkipstoneStatus::BadTrust,
            _ => SkipstoneStatus::BadValue,
        };
        Failure { status, text }
    }
}

impl From<library::IdentityError> for Failure {
    fn from(error: library::IdentityError) -> Self {
        Failure::new(SkipstoneStatus::BadIdentity, error.to_string())
    }
}

impl From<SendError> for Failure {
    fn from(error: SendError) -> Self {
        let status = match error.reason {
            SendRefusal::UnknownPeer => SkipstoneStatus::UnknownPeer,
            SendRefusal::NotConnected => SkipstoneStatus::NotConnected,
            SendRefusal::NoSuchChannel { .. } => SkipstoneStatus::NoSuchChannel,
            SendRefusal::WrongDirection { .. } => SkipstoneStatus::WrongDirection,
            SendRefusal::TooLong { .. } => SkipstoneStatus::TooLong,
            SendRefusal::QueueFull => SkipstoneStatus::QueueFull,
            SendRefusal::DriverBusy => SkipstoneStatus::DriverBusy,
            SendRefusal::DriverGone => SkipstoneStatus::DriverGone,
            _ => SkipstoneStatus::Internal,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<PeerError> for Failure {
    fn from(error: PeerError) -> Self {
        let status = match error {
            PeerError::UnknownPeer => SkipstoneStatus::UnknownPeer,
            PeerError::Over => SkipstoneStatus::NotConnected,
            PeerError::NotWaiting => SkipstoneStatus::NotWaiting,
            PeerError::EveryoneIsKept | PeerError::CodeTooLarge | PeerError::MergingTooLong => {
                SkipstoneStatus::BadValue
            }
            PeerError::DriverBusy => SkipstoneStatus::DriverBusy,
            PeerError::DriverGone => SkipstoneStatus::DriverGone,
            _ => SkipstoneStatus::Internal,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::new(SkipstoneStatus::System, error.to_string())
    }
}
