//! The checks of every request: its host, its origin, its token, and its rate. The rate limit applies to each
//! connection, and delays requests: there is no shared budget that an unauthenticated client, or another site in an
//! operator's browser, could use up.
//!
//! There are no cookies that another site could abuse: the token travels in a header. Without a token, on loopback,
//! requests must have a custom header, which another site cannot send without a preflight that is never answered; and
//! the browser's headers about a request's origin must be correct.

use crate::dashboard::access::Access;
use crate::dashboard::refusal::Refusal;
use crate::dashboard::state::DashboardState;
use crate::door::{Place, WRONG_TOLD_AFTER};
use axum::extract::{Extension, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;

/// The header that the page sends with each request.
pub(super) const OWN_HEADER: &str = "x-skipstone";

/// Lets a request through, or refuses it.
pub(super) async fn guard(
    State(state): State<Arc<DashboardState>>,
    Extension(place): Extension<Arc<Place>>,
    request: Request,
    next: Next,
) -> Response {
    let admitted = admit(&state, &request);
    if let Ok(Standing::Operator) = admitted {
        // If none is free, it is answered as long as no other connection needs its place.
        place.take_seat();
    }
    // A page that is opening has no token yet, and does not guess.
    let is_guess = admitted.as_ref().is_err_and(|refusal| refusal.0 == StatusCode::UNAUTHORIZED)
        && given(request.headers()).is_some();
    tokio::time::sleep(if is_guess { WRONG_TOLD_AFTER } else { REQUEST_PAUSE }).await;
    if let Err(refusal) = admitted {
        state.count_refusal();
        return refusal.into_response();
    }
    let is_change = request.method() == Method::POST;
    let answered = tokio::time::timeout(REQUEST_MAX, next.run(request)).await;
    match answered {
        Ok(response) => response,
        Err(_) if is_change => Refusal(StatusCode::REQUEST_TIMEOUT, "the request took too long").into_response(),
        Err(_) => Refusal(StatusCode::SERVICE_UNAVAILABLE, "the answer took too long").into_response(),
    }
}

/// The sender of a request.
enum Standing {
    /// A client that may read figures and run commands.
    Operator,
    /// Any client: for the page's files, and for health checks.
    Stranger,
}

fn admit(state: &DashboardState, request: &Request) -> Result<Standing, Refusal> {
    let (headers, path) = (request.headers(), request.uri().path());
    // The host of an absolute target counts, whatever the header says (RFC 9112, section 3.2.2).
    let asked = request.uri().authority().map(Authority::as_str);
    let host = asked.or_else(|| text(headers, header::HOST.as_str())).unwrap_or_default();
    if headers.get_all(header::HOST).iter().count() != 1 || !state.access.is_host(host) {
        return Err(Refusal(StatusCode::MISDIRECTED_REQUEST, "this host name is not known here: see --dashboard-host"));
    }
    let is_api = path.starts_with("/api/");
    if !is_api && path != "/metrics" {
        return Ok(Standing::Stranger);
    }
    belongs_to_no_other_page(headers, host)?;
    if is_api {
        is_from_own_page(request.method(), headers)?;
    }
    let is_operator = state.access.secret().is_none_or(|secret| given(headers).is_some_and(|given| secret.is(given)));
    match is_operator {
        true => Ok(Standing::Operator),
        false => Err(Refusal(StatusCode::UNAUTHORIZED, "the token is missing or wrong")),
    }
}

/// Whether the client is no browser, or the browser states that no other site sent the request.
fn belongs_to_no_other_page(headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    if text(headers, "sec-fetch-site").is_some_and(|site| !matches!(site, "same-origin" | "none")) {
        return Err(Refusal(StatusCode::FORBIDDEN, "this comes from another site"));
    }
    if headers.contains_key(header::ORIGIN)
        && !text(headers, header::ORIGIN.as_str()).is_some_and(|origin| Access::is_own_origin(origin, host))
    {
        return Err(Refusal(StatusCode::FORBIDDEN, "this comes from another origin"));
    }
    Ok(())
}

fn is_from_own_page(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    if !headers.contains_key(OWN_HEADER) {
        return Err(Refusal(StatusCode::FORBIDDEN, "the header x-skipstone is missing"));
    }
    let is_json = text(headers, header::CONTENT_TYPE.as_str()).is_some_and(|kind| kind == "application/json");
    if method == Method::POST && !is_json {
        return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a command is application/json"));
    }
    Ok(())
}

/// The token that was given. Bytes, for it may be in any script.
fn given(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(header::AUTHORIZATION)?.as_bytes().strip_prefix(b"Bearer ")
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Limits a body that arrives byte by byte, and a stuck game loop. Streams answer at once, and then continue for
/// longer.
const REQUEST_MAX: Duration = Duration::from_secs(8);
/// The minimum time between requests of one connection, even if it pipelines them. Together with the number of
/// connections it bounds their work.
const REQUEST_PAUSE: Duration = Duration::from_millis(10);
