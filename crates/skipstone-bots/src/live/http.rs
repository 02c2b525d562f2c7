//! An HTTP server of a few documents: GET alone, a connection each, with bounds of number, size and time.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A server in a thread of its own. Dropped, it ends.
pub(super) struct HttpServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A document.
pub(super) struct Answer {
    kind: &'static str,
    body: String,
    is_refreshed: bool,
}

/// What a path has.
type Documents = dyn Fn(&str) -> Option<Answer> + Send + Sync;

const CONNECTIONS_MAX: usize = 16;
const REQUEST_BYTES_MAX: usize = 8 << 10;
const REQUEST_MAX: Duration = Duration::from_secs(5);
const REFRESH: &str = "Refresh: 2\r\n";

impl Answer {
    pub(super) fn new(kind: &'static str, body: &str) -> Self {
        Answer { kind, body: body.to_owned(), is_refreshed: false }
    }

    /// A browser asks for it again and again.
    pub(super) fn refreshed(self) -> Self {
        Answer { is_refreshed: true, ..self }
    }
}

impl HttpServer {
    pub(super) fn start(
        listener: TcpListener,
        documents: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let (own, documents): (_, Arc<Documents>) = (Arc::clone(&is_over), Arc::new(documents));
        let thread = std::thread::Builder::new().name("live".into());
        let thread = Some(thread.spawn(move || accept(&listener, &own, &documents))?);
        Ok(HttpServer { address, is_over, thread })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(if own.is_ipv4() {
                IpAddr::from([127, 0, 0, 1])
            } else {
                IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])
            });
        }
        // The thread waits for a connection.
        let woken = TcpStream::connect_timeout(&own, Duration::from_secs(1));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, is_over: &AtomicBool, documents: &Arc<Documents>) {
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        if is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            // No descriptor is left.
            std::thread::sleep(Duration::from_millis(50));
            continue;
        };
        if open.load(Ordering::Relaxed) >= CONNECTIONS_MAX {
            continue;
        }
        open.fetch_add(1, Ordering::Relaxed);
        let (own, documents) = (Arc::clone(&open), Arc::clone(documents));
        let serve = move || {
            let _ = serve(stream, &*documents);
            own.fetch_sub(1, Ordering::Relaxed);
        };
        if std::thread::Builder::new().name("live-viewer".into()).spawn(serve).is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve(mut stream: TcpStream, documents: &Documents) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.set_write_timeout(Some(REQUEST_MAX))?;
    let is_local = stream.local_addr()?.ip().is_loopback();
    let Some(request) = read(&mut stream)? else { return Ok(()) };
    let (status, answer) = match respond(&request, is_local, documents) {
        Ok(answer) => ("200 OK", answer),
        Err((status, why)) => (status, Answer::new("text/plain; charset=utf-8", why)),
    };
    let refresh = if answer.is_refreshed { REFRESH } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n{refresh}Connection: close\r\n\r\n",
        answer.kind,
        answer.body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(answer.body.as_bytes())
}

/// A request's lines; `None` if it is too long or takes too long.
fn read(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let began = Instant::now();
    let (mut request, mut buffer) = (Vec::new(), [0; 1024]);
    while request.len() < REQUEST_BYTES_MAX && began.elapsed() < REQUEST_MAX {
        let count = stream.read(&mut buffer)?;
        request.extend_from_slice(&buffer[..count]);
        if request.windows(4).any(|end| end == b"\r\n\r\n") {
            return Ok(Some(String::from_utf8_lossy(&request).into_owned()));
        }
        if count == 0 {
            break;
        }
    }
    Ok(None)
}

fn respond(request: &str, is_local: bool, documents: &Documents) -> Result<Answer, (&'static str, &'static str)> {
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method != "GET" {
        return Err(("405 Method Not Allowed", "GET alone is answered here.\n"));
    }
    // A page of another origin reaches a local port by a name of its own that leads here.
    if is_local && !host(request).is_some_and(is_local_name) {
        return Err(("403 Forbidden", "Use the address as --live has it.\n"));
    }
    let path = path.split('?').next().unwrap_or_default();
    documents(path).ok_or(("404 Not Found", "There are / and /metrics.\n"))
}

fn host(request: &str) -> Option<&str> {
    let lines = request.lines().skip(1);
    let mut named = lines.filter_map(|line| line.split_once(':')).filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    named.next().map(|(_, host)| host.trim())
}

fn is_local_name(host: &str) -> bool {
    let is_port = |(_, port): (&str, &str)| port.chars().all(|digit| digit.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|split| is_port(*split)).map_or(host, |(name, _)| name);
    let address: Result<IpAddr, _> = name.trim_start_matches('[').trim_end_matches(']').parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("sent");
        let mut text = String::new();
        // A refused connection is reset.
        let _ = stream.read_to_string(&mut text);
        text
    }

    #[test]
    fn documents_are_served_and_everything_else_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let documents = |path: &str| (path == "/metrics").then(|| Answer::new("text/plain", "up 1\n"));
        let server = HttpServer::start(listener, documents).expect("a thread");
        let get =
            |path: &str, host: &str| asked(server.address(), &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        let answer = get("/metrics?x=1", "127.0.0.1:9464");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nup 1\n"), "{answer}");
        for (path, host, status) in
            [("/", "localhost", "404"), ("/metrics", "evil.example:9464", "403"), ("/metrics", "[::1]:1", "200")]
        {
            let answer = get(path, host);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path} {host}: {answer}");
        }
        let posted = asked(server.address(), "POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert!(posted.starts_with("HTTP/1.1 405"), "{posted}");
        let long = asked(server.address(), &"x".repeat(REQUEST_BYTES_MAX + 1));
        assert_eq!(long, "");
        let address = server.address();
        drop(server);
        assert!(TcpStream::connect(address).is_err(), "the port is free again");
    }
}
