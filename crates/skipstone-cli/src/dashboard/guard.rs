//! Every request passes here first: its host, its rate, its token, and that it comes from the dashboard's own page.
//!
//! There are no cookies, so a page elsewhere has nothing to abuse: the token travels in a header. Without a token, on
//! loopback, a header of our own is asked for, which a page elsewhere cannot send without a preflight that is never
//! answered; and whatever the browser says about where a request comes from must be right.

use crate::dashboard::access::Access;
use crate::dashboard::refusal::Refusal;
use crate::dashboard::state::DashboardState;
use crate::door::Place;
use axum::extract::{ConnectInfo, Extension, Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The header that the page sends with each request.
pub(super) const OWN_HEADER: &str = "x-skipstone";

/// Lets a request through, or refuses it.
pub(super) async fn guard(
    State(state): State<Arc<DashboardState>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    Extension(place): Extension<Arc<Place>>,
    request: Request,
    next: Next,
) -> Response {
    if let Err(refusal) = admit(&state, from, &place, &request) {
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

fn admit(state: &DashboardState, from: SocketAddr, place: &Place, request: &Request) -> Result<(), Refusal> {
    let (headers, path) = (request.headers(), request.uri().path());
    // The host of an absolute target counts, whatever the header says (RFC 9112, section 3.2.2).
    let asked = request.uri().authority().map(Authority::as_str);
    let host = asked.or_else(|| text(headers, header::HOST.as_str())).unwrap_or_default();
    if headers.get_all(header::HOST).iter().count() != 1 || !state.access.is_host(host) {
        return Err(Refusal(StatusCode::MISDIRECTED_REQUEST, "this host name is not known here: see --dashboard-host"));
    }
    let from = state.access.source(from.ip(), headers);
    if !state.may_ask(from, Instant::now()) {
        return Err(Refusal(StatusCode::TOO_MANY_REQUESTS, "too many requests: wait a little"));
    }
    let is_api = path.starts_with("/api/");
    if is_api {
        is_from_own_page(request.method(), headers, host)?;
    }
    if is_api || path == "/metrics" {
        has_token(state, from, headers)?;
        // Without a free one it is answered all the same, for as long as nobody needs its place.
        place.take_seat();
    }
    Ok(())
}

fn is_from_own_page(method: &Method, headers: &HeaderMap, host: &str) -> Result<(), Refusal> {
    if !headers.contains_key(OWN_HEADER) {
        return Err(Refusal(StatusCode::FORBIDDEN, "the header x-skipstone is missing"));
    }
    if text(headers, "sec-fetch-site").is_some_and(|site| site != "same-origin") {
        return Err(Refusal(StatusCode::FORBIDDEN, "this comes from another site"));
    }
    if headers.contains_key(header::ORIGIN)
        && !text(headers, header::ORIGIN.as_str()).is_some_and(|origin| Access::is_own_origin(origin, host))
    {
        return Err(Refusal(StatusCode::FORBIDDEN, "this comes from another origin"));
    }
    let is_json = text(headers, header::CONTENT_TYPE.as_str()).is_some_and(|kind| kind == "application/json");
    if method == Method::POST && !is_json {
        return Err(Refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "a command is application/json"));
    }
    Ok(())
}

fn has_token(state: &DashboardState, from: IpAddr, headers: &HeaderMap) -> Result<(), Refusal> {
    if !state.access.has_token() {
        return Ok(());
    }
    let now = Instant::now();
    if state.is_guessing(from, now) {
        return Err(Refusal(StatusCode::TOO_MANY_REQUESTS, "too many wrong tokens: wait a minute"));
    }
    // Bytes, for a token may be in any script.
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    if state.access.is_token(given) {
        return Ok(());
    }
    // A page that opens has no token yet, and is no guess.
    if given.is_some() {
        state.count_guess(from, now);
    }
    Err(Refusal(StatusCode::UNAUTHORIZED, "the token is missing or wrong"))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A body that comes a byte at a time, or a game loop that is stuck. Streams answer at once, and then go on for longer.
const REQUEST_MAX: Duration = Duration::from_secs(8);
