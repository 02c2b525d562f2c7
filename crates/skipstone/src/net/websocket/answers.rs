//! A server's answers to plain HTTP on its TCP port: health, small answers that the application registers, and texts
//! that describe the port's purpose. Each answer ends its connection.

use std::sync::Arc;

/// An answer to HTTP requests for one path, such as a status page or a certificate's hash. It stays the same while the
/// server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The path, which begins with a slash: `/status`. A request's query (after `?`) is ignored.
    pub path: String,
    /// The media type: `application/json`.
    pub content_type: String,
    /// Up to 64 KiB.
    pub body: Vec<u8>,
    /// Whether pages of any origin may read it (`Access-Control-Allow-Origin: *`).
    pub is_public: bool,
}

/// The answers of a server.
#[derive(Clone, Debug, Default)]
pub struct HttpAnswers(Arc<[HttpAnswer]>);

const BODY_BYTES_MAX: usize = 64 << 10;
/// The path that reports whether the server runs.
const HEALTH: &str = "/healthz";

impl HttpAnswers {
    /// These, in addition to `/healthz`.
    ///
    /// # Errors
    /// The path whose answer is invalid, and why.
    pub fn new(answers: &[HttpAnswer]) -> Result<Self, (String, &'static str)> {
        for answer in answers {
            if let Some(complaint) = complaint(answer) {
                return Err((answer.path.clone(), complaint));
            }
        }
        Ok(HttpAnswers(answers.into()))
    }

    /// The answer to a request without an upgrade. `None` for a path that has none.
    #[cfg(feature = "websocket")]
    pub(super) fn to(&self, method: &str, target: &str) -> Option<Vec<u8>> {
        let path = target.split('?').next().unwrap_or_default();
        let of_health = HttpAnswer {
            path: HEALTH.into(),
            content_type: "text/plain".into(),
            body: b"ok\n".to_vec(),
            is_public: false,
        };
        let answer = self.0.iter().find(|answer| answer.path == path);
        let answer = answer.or_else(|| (path == HEALTH).then_some(&of_health))?;
        Some(match method {
            "GET" | "HEAD" => answer.encode(method == "GET"),
            _ => text("405 Method Not Allowed", "Allow: GET, HEAD\r\n", "Only GET and HEAD are answered here.\n"),
        })
    }
}

fn complaint(answer: &HttpAnswer) -> Option<&'static str> {
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if !answer.path.starts_with('/') || !is_plain(&answer.path) || answer.path.contains([' ', '?', '#']) {
        return Some("a path that begins with a slash, of printable ASCII, without a question mark, as in /status");
    }
    if !is_plain(&answer.content_type) {
        return Some("a media type, as in application/json");
    }
    (answer.body.len() > BODY_BYTES_MAX).then_some("a body of at most 65,536 bytes")
}

impl HttpAnswer {
    #[cfg(feature = "websocket")]
    fn encode(&self, has_body: bool) -> Vec<u8> {
        let origin = if self.is_public { "Access-Control-Allow-Origin: *\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\n{origin}Content-Type: {}\r\nX-Content-Type-Options: nosniff\r\n\
             Cache-Control: no-store\r\nContent-Length: {}\r\n\r\n",
            self.content_type,
            self.body.len()
        );
        let mut answer = head.into_bytes();
        if has_body {
            answer.extend_from_slice(&self.body);
        }
        answer
    }
}

/// An answer of plain text that ends the connection.
#[cfg(feature = "websocket")]
pub(super) fn text(status: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}Content-Type: text/plain\r\n");
    format!("{head}X-Content-Type-Options: nosniff\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}

#[cfg(all(test, feature = "websocket"))]
mod tests {
    use super::*;

    fn answer(path: &str, body: &[u8]) -> HttpAnswer {
        HttpAnswer { path: path.into(), content_type: "text/plain".into(), body: body.to_vec(), is_public: true }
    }

    #[test]
    fn registered_paths_and_health_checks_are_answered() {
        let answers = HttpAnswers::new(&[answer("/status", b"fine")]).expect("they are good");
        let ask = |method: &str, target: &str| {
            answers.to(method, target).map(|bytes| String::from_utf8(bytes).expect("text"))
        };
        let status = ask("GET", "/status?x=1").expect("it is registered");
        assert!(status.starts_with("HTTP/1.1 200 OK\r\n") && status.ends_with("\r\n\r\nfine"), "{status}");
        assert!(status.contains("Access-Control-Allow-Origin: *\r\n") && status.contains("Content-Length: 4\r\n"));
        let head = ask("HEAD", "/status").expect("it is registered");
        assert!(head.ends_with("\r\n\r\n") && head.contains("Content-Length: 4\r\n"));
        assert!(ask("POST", "/status").expect("it is registered").starts_with("HTTP/1.1 405 "));
        assert!(ask("GET", "/healthz").expect("always").ends_with("\r\n\r\nok\n"));
        assert!(!ask("GET", "/healthz").expect("always").contains("Access-Control"));
        for path in ["/", "/status/", "/STATUS", "", "*"] {
            assert_eq!(ask("GET", path), None, "{path}");
        }
        let own = HttpAnswers::new(&[answer("/healthz", b"busy")]).expect("the application knows better");
        assert!(own.to("GET", "/healthz").is_some_and(|bytes| bytes.ends_with(b"busy")));
    }

    #[test]
    fn an_invalid_answer_is_refused() {
        let bad_type = HttpAnswer { content_type: "a\r\nb".into(), ..answer("/a", b"") };
        for bad in [answer("a", b""), answer("", b""), answer("/a b", b""), answer("/a?b", b""), answer("/a\r\n", b"")]
        {
            assert!(HttpAnswers::new(&[bad]).is_err());
        }
        assert!(HttpAnswers::new(&[bad_type]).is_err());
        assert!(HttpAnswers::new(&[answer("/a", &[0; BODY_BYTES_MAX + 1])]).is_err());
    }
}
