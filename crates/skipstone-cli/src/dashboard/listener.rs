//! Connections: how many, how long for a request's head, how long without reading.

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio_io_timeout::TimeoutStream;

/// Accepts until the task is aborted. Where there are too many connections the oldest goes: a crowd of silent ones does
/// not lock anybody out, and a page that loses its connection opens another.
pub(super) async fn accept(listener: TcpListener, router: Router) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("the listener does not block");
    let mut open: VecDeque<AbortHandle> = VecDeque::new();
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // Out of descriptors, or the client is gone already: both pass.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        open.retain(|connection| !connection.is_finished());
        if open.len() >= CONNECTIONS_MAX
            && let Some(oldest) = open.pop_front()
        {
            oldest.abort();
        }
        open.push_back(tokio::spawn(serve(stream, from, router.clone())).abort_handle());
    }
}

async fn serve(stream: TcpStream, from: SocketAddr, router: Router) {
    // A connection without it is slower, no more.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE_MAX));
    let service = TowerToHyperService::new(router.layer(axum::Extension(ConnectInfo(from))));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX).max_buf_size(HEAD_BYTES_MAX).max_headers(HEADERS_MAX);
    // An error is the client's: hyper has answered it, or the client is gone.
    let _ = http.serve_connection(TokioIo::new(Box::pin(stream)), service).await;
}

/// Browsers open six to a host, for each of 16 pages; only streams stay.
const CONNECTIONS_MAX: usize = 96;
/// Time for a request's head, and so for silence between requests.
const HEAD_MAX: Duration = Duration::from_secs(10);
const HEAD_BYTES_MAX: usize = 16 << 10;
const HEADERS_MAX: usize = 64;
/// How long a client may leave what is sent unread.
const WRITE_MAX: Duration = Duration::from_secs(10);
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
