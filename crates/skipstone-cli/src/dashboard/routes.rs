//! The routes.
//!
//! ```text
//! GET  /  /dashboard.js  /dashboard.css  /icon.svg     the page
//! GET  /healthz  /readyz  /metrics                     for machines
//! GET  /api/start  /api/stream  /api/clients  /api/clients/ID  /api/log  /api/reports/N
//! POST /api/say  /api/kick  /api/stress/start  /api/stress/stop
//! ```

use crate::console::{Reply, SessionId};
use crate::dashboard::client_row::{id, parse_id};
use crate::dashboard::clients::{self, ClientsQuery};
use crate::dashboard::guard::guard;
use crate::dashboard::metrics;
use crate::dashboard::page;
use crate::dashboard::refusal::Refusal;
use crate::dashboard::state::DashboardState;
use crate::dashboard::stress::StressOrder;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use skipstone_lab::clean;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Shared = State<Arc<DashboardState>>;

/// All routes, behind the access guard.
pub(super) fn router(state: Arc<DashboardState>) -> Router {
    let mut router = Router::new();
    for file in &page::FILES {
        router = router.route(file.path, get(async || file.response()));
    }
    router
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/api/start", get(start))
        .route("/api/stream", get(async |State(state): Shared| state.streams.open()))
        .route("/api/clients", get(list_clients))
        .route("/api/clients/{id}", get(one_client))
        .route("/api/log", get(log))
        .route("/api/reports/{number}", get(report))
        .route("/api/say", post(say))
        .route("/api/kick", post(kick))
        .route("/api/stress/start", post(start_stress))
        .route("/api/stress/stop", post(stop_stress))
        .fallback(async || Refusal(StatusCode::NOT_FOUND, "there is nothing here"))
        .method_not_allowed_fallback(async || Refusal(StatusCode::METHOD_NOT_ALLOWED, "not by this method"))
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(from_fn_with_state(Arc::clone(&state), guard))
        .layer(map_response(async |response: Response| page::protect(response)))
        .with_state(state)
}

/// Ready while the game ticks.
async fn ready(State(state): Shared) -> Response {
    match state.meters.since_tick() < TICK_MAX {
        true => "ready\n".into_response(),
        false => (StatusCode::SERVICE_UNAVAILABLE, "the game loop has not ticked for 3 s\n").into_response(),
    }
}

async fn metrics(State(state): Shared) -> Response {
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], metrics::text(&state)).into_response()
}

/// The initial data of a page.
async fn start(State(state): Shared) -> Response {
    let server = serde_json::to_string(&state.server).expect("its keys are text");
    let stress = serde_json::to_string(&state.stress.lock().view(Instant::now())).expect("its keys are text");
    let frames = state.history.lock().json();
    let body = format!(r#"{{"server":{server},"stress":{stress},"frames":{frames}}}"#);
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn list_clients(State(state): Shared, query: Result<Query<ClientsQuery>, QueryRejection>) -> Response {
    match query {
        Ok(Query(query)) => Json(clients::page(&state, &query)).into_response(),
        Err(_) => {
            Refusal(StatusCode::BAD_REQUEST, "sort, descending, offset, limit and find are invalid").into_response()
        }
    }
}

async fn one_client(State(state): Shared, Path(asked): Path<String>) -> Response {
    match parse_id(&asked) {
        // `null` for a client that has left: nothing is wrong with the request.
        Some(peer) => Json(clients::detail(&state, peer)).into_response(),
        None => Refusal(StatusCode::BAD_REQUEST, "a client's id is two numbers: 12.3").into_response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LogQuery {
    #[serde(default = "newest")]
    before: u64,
}

fn newest() -> u64 {
    u64::MAX
}

async fn log(State(state): Shared, query: Result<Query<LogQuery>, QueryRejection>) -> Response {
    let Ok(Query(LogQuery { before })) = query else {
        return Refusal(StatusCode::BAD_REQUEST, "`before` is the number of a line").into_response();
    };
    Json(state.log.lock().before(before, LOG_LINES_MAX)).into_response()
}

async fn report(State(state): Shared, Path(number): Path<u64>) -> Response {
    match state.stress.lock().report(number) {
        Some(report) => Json(report).into_response(),
        None => Refusal(StatusCode::NOT_FOUND, "no report has this number").into_response(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Say {
    text: String,
}

async fn say(State(state): Shared, order: Result<Json<Say>, JsonRejection>) -> Response {
    let Ok(Json(Say { text })) = order else { return bad_order() };
    let text = clean::line(text.trim());
    if text.is_empty() || text.chars().count() > TEXT_MAX {
        return Refusal(StatusCode::BAD_REQUEST, "1 to 400 letters").into_response();
    }
    run(&state, format!("say {text}")).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kick {
    id: String,
    #[serde(default)]
    reason: String,
}

async fn kick(State(state): Shared, order: Result<Json<Kick>, JsonRejection>) -> Response {
    let Ok(Json(Kick { id: asked, reason })) = order else { return bad_order() };
    let Some(peer) = parse_id(&asked) else {
        return Refusal(StatusCode::BAD_REQUEST, "a client's id is two numbers: 12.3").into_response();
    };
    let reason: String = clean::line(reason.trim()).chars().take(REASON_MAX).collect();
    let reason = if reason.is_empty() { "kicked from the dashboard" } else { &reason };
    run(&state, format!("kick {} {reason}", id(peer))).await
}

async fn start_stress(State(state): Shared, order: Result<Json<StressOrder>, JsonRejection>) -> Response {
    let Ok(Json(order)) = order else { return bad_order() };
    match order.for_attached() {
        Some(Ok(command)) => return run(&state, command).await,
        Some(Err(error)) => return refused(&error),
        None => {}
    }
    // Starting a process takes a moment, which delays the sampler but not the game.
    match state.stress.lock().start(order) {
        Ok(()) => done("the clients connect"),
        Err(error) => refused(&error),
    }
}

async fn stop_stress(State(state): Shared) -> Response {
    let (is_busy, command) = {
        let mut desk = state.stress.lock();
        (desk.is_busy(), desk.stop())
    };
    match command {
        Some(command) => run(&state, command).await,
        // Clients of a run on another machine that wait for the command to start.
        None if !is_busy => run(&state, "stress off".into()).await,
        None => done("the run ends"),
    }
}

/// Runs a command as the console does: the game loop answers at its next tick.
async fn run(state: &DashboardState, line: String) -> Response {
    let commands = Arc::clone(&state.commands);
    let reply = tokio::task::spawn_blocking(move || commands.run(SessionId::DASHBOARD, &line)).await;
    match reply {
        Ok(Reply::Text(text)) => done(&text),
        Ok(Reply::Error(error) | Reply::Unknown(error)) => refused(&error),
        Ok(Reply::Quit) => done(""),
        Err(_) => refused("the command failed; the server continues"),
    }
}

fn done(text: &str) -> Response {
    Json(serde_json::json!({ "done": text })).into_response()
}

fn refused(error: &str) -> Response {
    (StatusCode::CONFLICT, Json(serde_json::json!({ "error": error }))).into_response()
}

fn bad_order() -> Response {
    Refusal(StatusCode::BAD_REQUEST, "the command's body is invalid").into_response()
}

const BODY_BYTES_MAX: usize = 4096;
const TEXT_MAX: usize = 400;
const REASON_MAX: usize = 200;
const LOG_LINES_MAX: usize = 5000;
const TICK_MAX: Duration = Duration::from_secs(3);
