//! A request, checked before anything is sent; and its bytes.

use crate::tls::{TlsSettings, Trusted};
use std::time::Duration;
use ureq_proto::client::state::RecvResponse;
use ureq_proto::client::{Call, SendRequestResult};
use ureq_proto::http::header::{CONTENT_LENGTH, EXPECT, TRANSFER_ENCODING};
use ureq_proto::http::{HeaderName, HeaderValue, Method, Request, Uri};

/// A request that may be sent.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    method: Method,
    uri: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
    pub(super) origin: HttpOrigin,
    /// From the call to the end of the answer.
    pub(super) timeout: Duration,
    /// Bytes of the answer's body.
    pub(super) body_max: usize,
}

/// What a script may say beside method and URL.
#[derive(Clone, Debug)]
pub(crate) struct HttpOptions {
    /// Names and values, checked by [`HttpRequest::new`].
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    /// The body, and its type unless a header has it.
    pub(crate) body: Option<(Vec<u8>, Option<&'static str>)>,
    /// Seconds from the call to the end of the answer.
    pub(crate) timeout_s: f64,
    /// Bytes of the answer's body.
    pub(crate) body_max: f64,
    /// `trust` of a URL with TLS.
    pub(crate) trust: Option<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions { headers: Vec::new(), body: None, timeout_s: TIMEOUT_S, body_max: BODY_MAX, trust: None }
    }
}

/// Where a connection leads. Requests to the same origin share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct HttpOrigin {
    /// Name or address, without brackets.
    pub(super) host: String,
    pub(super) port: u16,
    /// `None` of `http`.
    pub(super) tls: Option<TlsSettings>,
}

impl HttpRequest {
    /// Checks a request.
    ///
    /// # Errors
    /// One sentence with the cause.
    pub(crate) fn new(method: &str, url: &str, options: HttpOptions) -> Result<Self, String> {
        let method = Method::from_bytes(method.as_bytes()).ok().filter(|method| METHODS.contains(&method.as_str()));
        let method = method.ok_or_else(|| format!("a method is one of {}", METHODS.join(", ")))?;
        let (address, fragment) = url.split_once('#').unwrap_or((url, ""));
        if !["http://", "https://"].iter().any(|scheme| address.starts_with(scheme)) {
            return Err(format!("{url}: a URL begins with http:// or https://"));
        }
        let uri: Uri = address.parse().map_err(|error| format!("{url}: {error}"))?;
        let origin = origin_of(&uri, url, fragment, options.trust.as_deref())?;
        let (body, content_type) = options.body.unwrap_or_default();
        if body.len() > REQUEST_BODY_MAX {
            return Err(format!("a request's body has at most {REQUEST_BODY_MAX} bytes, not {}", body.len()));
        }
        let mut headers = Vec::new();
        for (name, value) in options.headers {
            headers.push(header(&name, &value)?);
        }
        let has = |name: &str| headers.iter().any(|(own, _)| own == name);
        let content_type = content_type.filter(|_| !has("content-type"));
        let own = [("user-agent", Some("skipstone-bots")), ("accept", Some("*/*")), ("content-type", content_type)];
        for (name, value) in own.into_iter().filter(|(name, _)| !has(name)).collect::<Vec<_>>() {
            let value = value.map(HeaderValue::from_static);
            headers.extend(value.map(|value| (HeaderName::from_static(name), value)));
        }
        let timeout = Duration::try_from_secs_f64(options.timeout_s).ok().filter(|timeout| !timeout.is_zero());
        let timeout = timeout.filter(|timeout| *timeout <= TIMEOUT_MAX);
        let timeout = timeout.ok_or_else(|| format!("timeout: more than 0 and at most {TIMEOUT_MAX:?} is needed"))?;
        if !(0.0..=BODY_MOST).contains(&options.body_max) {
            return Err(format!("max: a number of bytes from 0 to {BODY_MOST} is needed"));
        }
        let body_max = options.body_max as usize;
        let request = HttpRequest { method, uri, headers, body, origin, timeout, body_max };
        // What the protocol refuses is the caller's mistake.
        request.encode().map(|_| request)
    }

    /// The request's bytes, and the reader of its answer.
    pub(super) fn encode(&self) -> Result<(Vec<u8>, Call<RecvResponse>), String> {
        let told = |error: ureq_proto::Error| format!("the request cannot be written: {error}");
        let mut builder = Request::builder().method(self.method.clone()).uri(self.uri.clone());
        for (name, value) in &self.headers {
            builder = builder.header(name, value);
        }
        let takes_body = ["POST", "PUT", "PATCH"].contains(&self.method.as_str());
        if takes_body || !self.body.is_empty() {
            builder = builder.header(CONTENT_LENGTH, self.body.len());
        }
        let request = builder.body(()).map_err(|error| error.to_string())?;
        let mut call = Call::new(request).map_err(told)?;
        if !self.body.is_empty() {
            call.force_send_body();
        }
        let mut call = call.proceed();
        let lengths = self.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4);
        let head_max = self.uri.to_string().len() + lengths.sum::<usize>() + HEAD_SPARE;
        let mut bytes = vec![0; head_max + self.body.len()];
        let mut used = 0;
        while !call.can_proceed() {
            used += call.write(&mut bytes[used..]).map_err(told)?;
        }
        let answer = match call.proceed().map_err(told)? {
            Some(SendRequestResult::RecvResponse(answer)) => answer,
            Some(SendRequestResult::SendBody(mut sending)) => {
                let (_, written) = sending.write(&self.body, &mut bytes[used..]).map_err(told)?;
                used += written;
                if !sending.can_proceed() {
                    used += sending.write(&[], &mut bytes[used..]).map_err(told)?.1;
                }
                sending.proceed().ok_or("the request's body is not as long as it says")?
            }
            _ => return Err("the request waits for the server before its body, which bots do not".into()),
        };
        bytes.truncate(used);
        Ok((bytes, answer))
    }
}

fn origin_of(uri: &Uri, url: &str, fragment: &str, trust: Option<&str>) -> Result<HttpOrigin, String> {
    let is_secure = uri.scheme_str() == Some("https");
    let authority = uri.authority().ok_or_else(|| format!("{url}: a host is needed"))?;
    if authority.as_str().contains('@') {
        return Err(format!("{url}: a URL has no password; give headers = {{ authorization = \"Basic ...\" }}"));
    }
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let port = authority.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    if host.is_empty() || port == 0 {
        return Err(format!("{url}: a host, and a port of 1 to 65535 are needed"));
    }
    let tls = match is_secure {
        true => {
            let trust = Trusted::read(trust, fragment).map_err(|why| format!("{url}: {why}"))?;
            let tls = TlsSettings { name: host.to_owned(), trust };
            tls.config().map_err(|why| format!("{url}: {why}"))?;
            Some(tls)
        }
        false if trust.is_some() || !fragment.is_empty() => {
            return Err(format!("{url}: only https:// has a certificate to trust or to pin"));
        }
        false => None,
    };
    Ok(HttpOrigin { host: host.to_owned(), port, tls })
}

fn header(name: &str, value: &[u8]) -> Result<(HeaderName, HeaderValue), String> {
    let wrong = || format!("the header {name:?} cannot be sent: a name has no spaces, a value no line's end");
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    if [CONTENT_LENGTH, TRANSFER_ENCODING, EXPECT].contains(&name) {
        return Err(format!("the header {name} follows from the body: leave it out"));
    }
    HeaderValue::from_bytes(value).map(|value| (name, value)).map_err(|_| wrong())
}

const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
/// What a request may take unless a script says otherwise.
const TIMEOUT_S: f64 = 30.0;
const TIMEOUT_MAX: Duration = Duration::from_secs(3600);
const BODY_MAX: f64 = (1 << 20) as f64;
/// All bots of a worker share its memory.
const BODY_MOST: f64 = (64 << 20) as f64;
const REQUEST_BODY_MAX: usize = 16 << 20;
/// The first line's other words, and the headers that the protocol adds.
const HEAD_SPARE: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(method: &str, url: &str, options: HttpOptions) -> String {
        let request = HttpRequest::new(method, url, options).expect("sound");
        String::from_utf8(request.encode().expect("it was").0).expect("text")
    }

    #[test]
    fn a_request_has_host_length_and_body() {
        let json = HttpOptions {
            headers: vec![("X-Room".into(), b"7".to_vec())],
            body: Some((b"{}".to_vec(), Some("application/json"))),
            ..HttpOptions::default()
        };
        let text = encoded("POST", "http://127.0.0.1:8080/login?a=b", json);
        assert!(text.starts_with("POST /login?a=b HTTP/1.1\r\n") && text.ends_with("\r\n\r\n{}"), "{text}");
        for line in ["host: 127.0.0.1:8080", "content-length: 2", "content-type: application/json", "x-room: 7"] {
            assert_eq!(text.matches(line).count(), 1, "{line} in {text}");
        }
        assert!(encoded("GET", "http://h", HttpOptions::default()).starts_with("GET / HTTP/1.1\r\nhost: h\r\n"));
        assert!(encoded("POST", "http://h/x", HttpOptions::default()).contains("content-length: 0\r\n"));
    }

    #[test]
    fn a_wrong_request_says_what_is_wrong() {
        let refused = |url: &str, options: HttpOptions| HttpRequest::new("GET", url, options).err().unwrap_or_default();
        for (url, part) in [
            ("file:///etc/passwd", "http:// or https://"),
            ("/etc/passwd", "http:// or https://"),
            ("http://", ""),
            ("http://user:word@h/", "authorization"),
            ("http://h:0/", "port"),
            ("http://h/#sha256=00", "only https://"),
            ("https://h/#sha256=00", "64 hexadecimal"),
        ] {
            let why = refused(url, HttpOptions::default());
            assert!(!why.is_empty() && why.contains(part), "{url}: {why}");
        }
        let with = |name: &str, value: &str| HttpOptions {
            headers: vec![(name.into(), value.into())],
            ..HttpOptions::default()
        };
        assert!(refused("http://h", with("Content-Length", "9")).contains("leave it out"));
        assert!(refused("http://h", with("A", "b\r\nHost: evil")).contains("no line's end"));
        let timeout = HttpOptions { timeout_s: f64::NAN, ..HttpOptions::default() };
        assert!(refused("http://h", timeout).contains("timeout"));
        assert!(HttpRequest::new("BREW", "http://h", HttpOptions::default()).is_err());
    }
}
