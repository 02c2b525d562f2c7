//! The refusal of a request.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// A refusal: a status and a sentence.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal(pub(super) StatusCode, pub(super) &'static str);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(serde_json::json!({ "error": self.1 }))).into_response()
    }
}
