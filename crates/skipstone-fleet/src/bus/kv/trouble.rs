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
        Trouble::Passing(SILENCE.into())
    }

    /// Of an answer of JetStream.
    pub(super) fn of_jetstream(error: &JetStreamError) -> Trouble {
        match error.error_code() {
            ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
                Trouble::Lasting(NO_JETSTREAM.into())
            }
            ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED => Trouble::Lasting(too_many_replicas(error)),
            // A server that restarts is no peer meanwhile.
            ErrorCode::CLUSTER_NO_PEERS => Trouble::Passing(too_many_replicas(error)),
            // Another client made it since it was looked for; or it was lost since.
            ErrorCode::STREAM_NAME_EXIST | ErrorCode::STREAM_NOT_FOUND => Trouble::Passing(error.to_string()),
            // Another write of this key waits for the replicas. Its outcome decides what this one's is.
            ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT => Trouble::Passing(error.to_string()),
            // The cluster elects a leader, or a server has just started.
            ErrorCode::CLUSTER_NOT_LEADER
            | ErrorCode::CLUSTER_NOT_ASSIGNED
            | ErrorCode::RAFT_GENERAL
            | ErrorCode::STREAM_OFFLINE => Trouble::Passing(error.to_string()),
            _ if matches!(error.code(), TOO_MANY_REQUESTS | UNAVAILABLE) => Trouble::Passing(error.to_string()),
            _ => Trouble::Lasting(error.to_string()),
        }
    }
}

fn too_many_replicas(error: &JetStreamError) -> String {
    format!("{error}; the store asks for more replicas than the cluster has servers with JetStream")
}

/// Why an attempt without an answer failed.
pub(super) const SILENCE: &str = "JetStream does not answer";
/// Codes of JetStream's answers, as HTTP has them.
const TOO_MANY_REQUESTS: usize = 429;
const UNAVAILABLE: usize = 503;
const NO_JETSTREAM: &str = "the NATS server has no JetStream, which key-value stores need; start it with -js, or with jetstream { } in its \
     configuration, and allow it to this account";

#[cfg(test)]
mod tests {
    use super::*;

    fn trouble(code: u16, error_code: u16) -> Trouble {
        let answer = format!(r#"{{"code": {code}, "err_code": {error_code}, "description": "x"}}"#);
        Trouble::of_jetstream(&serde_json::from_str(&answer).unwrap())
    }

    #[test]
    fn what_passes_by_itself_is_tried_again_and_what_does_not_is_refused() {
        let passing = [
            (400, 10005, "a server of the cluster restarts"),
            (503, 10008, "JetStream is not there yet"),
            (500, 10009, "the leader has changed"),
            (503, 10023, "the server is busy"),
            (500, 10041, "the cluster elects"),
            (400, 10058, "another client made the store"),
            (404, 10059, "the store was lost"),
            (500, 10118, "the store has no leader"),
            (503, 10163, "the subject is not ready"),
            (400, 10164, "another write of the key waits for the replicas"),
            (429, 10167, "too many writes wait"),
        ];
        for (code, error_code, case) in passing {
            assert!(matches!(trouble(code, error_code), Trouble::Passing(_)), "{case}: {error_code}");
        }
        let lasting = [
            (503, 10039, "no JetStream"),
            (503, 10076, "no JetStream"),
            (500, 10074, "replicas"),
            (400, 10002, "full"),
        ];
        for (code, error_code, case) in lasting {
            assert!(matches!(trouble(code, error_code), Trouble::Lasting(_)), "{case}: {error_code}");
        }
    }
}
