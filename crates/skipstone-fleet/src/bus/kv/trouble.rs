//! What JetStream's errors mean: whether to try again.

use async_nats::jetstream::context::{
    CreateStreamError, CreateStreamErrorKind, GetStreamError, GetStreamErrorKind, RequestError, RequestErrorKind,
};
use async_nats::jetstream::{Error as JetStreamError, ErrorCode};
use std::error::Error;

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It may work soon.
    Passing(String),
    /// It will fail again.
    Lasting(String),
}

impl Trouble {
    /// Of looking for a store.
    pub(super) fn of_opening(error: &GetStreamError, has_jetstream: bool) -> Trouble {
        match error.kind() {
            GetStreamErrorKind::JetStream(error) => Trouble::of_jetstream(&error),
            _ => {
                let source = error.source().and_then(|source| source.downcast_ref::<RequestError>());
                match source.map(RequestError::kind) {
                    Some(RequestErrorKind::NoResponders) if !has_jetstream => Trouble::Lasting(NO_JETSTREAM.into()),
                    _ => Trouble::silence(),
                }
            }
        }
    }

    /// Of making a store.
    pub(super) fn of_creation(error: &CreateStreamError, has_jetstream: bool) -> Trouble {
        match error.kind() {
            CreateStreamErrorKind::JetStream(error) => Trouble::of_jetstream(&error),
            CreateStreamErrorKind::JetStreamUnavailable if !has_jetstream => Trouble::Lasting(NO_JETSTREAM.into()),
            _ => Trouble::silence(),
        }
    }

    pub(super) fn silence() -> Trouble {
        Trouble::Passing("JetStream does not answer".into())
    }

    /// Of an answer of JetStream.
    pub(super) fn of_jetstream(error: &JetStreamError) -> Trouble {
        match error.error_code() {
            ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
                Trouble::Lasting(NO_JETSTREAM.into())
            }
            ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED | ErrorCode::CLUSTER_NO_PEERS => Trouble::Lasting(format!(
                "{error}; the store asks for more replicas than the cluster has servers with JetStream"
            )),
            // Somebody else made it since it was looked for; or it was lost since.
            ErrorCode::STREAM_NAME_EXIST | ErrorCode::STREAM_NOT_FOUND => Trouble::Passing(error.to_string()),
            _ if error.code() == 503 => Trouble::Passing(error.to_string()),
            _ => Trouble::Lasting(error.to_string()),
        }
    }
}

const NO_JETSTREAM: &str = "the NATS server has no JetStream, which key-value stores need; start it with -js, or with jetstream { } in its \
     configuration, and allow it to this account";
