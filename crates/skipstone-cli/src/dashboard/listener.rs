//! Connections: their number, the timeout of a request's head, and the timeout of a viewer that does not read.

use crate::door::{Place, Places, PlacesMax};
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use skipstone_proto::Network;
use std::net::TcpListener;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_io_timeout::TimeoutStream;

/// Accepts until the task is aborted. A connection is unauthenticated until the guard has seen the token on it.
/// Unauthenticated connections displace each other, never an open page.
pub(super) async fn accept(listener: TcpListener, router: Router) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the listener does not block");
    let places = Places::new(PLACES_MAX);
    // A connection's place is freed when the connection ends.
    let mut open: Vec<(AbortHandle, Weak<Place>)> = Vec::new();
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // Either the process has no descriptors left, or the client is gone: both are temporary.
            tokio::time::sleep(FAILURE_PAUSE).await;
            continue;
        };
        let place = Arc::new(places.stranger(Network::of(&from)));
        open.retain(|(connection, place)| {
            let place = place.upgrade();
            if place.as_ref().is_some_and(|place| place.is_displaced()) {
                connection.abort();
            }
            place.is_some_and(|place| !place.is_displaced())
        });
        let weak = Arc::downgrade(&place);
        let connection = tokio::spawn(serve(stream, place, router.clone()));
        open.push((connection.abort_handle(), weak));
        // WHY: a request that has arrived is read before others can displace its connection, however fast they arrive.
        tokio::task::yield_now().await;
    }
}

async fn serve(stream: TcpStream, place: Arc<Place>, router: Router) {
    // Without it the connection is only slower.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_MAX));
    let service = TowerToHyperService::new(router.layer(axum::Extension(place)));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX).max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
    // An error is the client's fault: hyper has answered it, or the client is gone.
    let _ = http.serve_connection(TokioIo::new(Box::pin(stream)), service).await;
}

/// Browsers open six connections to a host, for each of 16 pages; only streams stay.
const PLACES_MAX: PlacesMax = PlacesMax { strangers: 128, seats: 64 };
/// Time for a request's head, and so for silence between requests.
const HEAD_MAX: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// How long a client may leave sent data unread.
const WRITE_MAX: Duration = Duration::from_secs(10);
const FAILURE_PAUSE: Duration = Duration::from_millis(100);
