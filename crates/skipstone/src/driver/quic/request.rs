//! Whether a request for a session is granted: the check of a CONNECT (RFC 8441, RFC 9220).

use crate::net::websocket::{AllowedHosts, AllowedOrigins};
use web_transport_proto::http::StatusCode;
use web_transport_proto::http::header::ORIGIN;
use web_transport_proto::{ConnectError, ConnectRequest, ConnectResponse};

/// The rules for pages that may have sessions.
#[derive(Clone, Debug, Default)]
pub(in crate::driver) struct PageRules {
    origins: AllowedOrigins,
    hosts: AllowedHosts,
}

impl PageRules {
    /// Allowed origins of pages, and names of the server; empty lists mean all.
    pub(in crate::driver) fn new(origins: &[String], hosts: &[String]) -> Self {
        PageRules { origins: AllowedOrigins::only(origins), hosts: AllowedHosts::only(hosts) }
    }
}

/// The result of the first bytes of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestVerdict {
    /// More bytes are needed.
    Incomplete,
    /// The session begins. The request has this number of bytes.
    Granted { bytes: usize },
    /// The answer to the client.
    Refused(StatusCode),
    /// These are not frames of HTTP/3.
    Malformed,
}

/// Maximum bytes of a request: the longest HEADERS frame that is read, and grease before it.
pub(super) const REQUEST_BYTES_MAX: usize = 8 << 10;

/// Judges the bytes that a client has sent so far. Any path is accepted, as on WebSocket; the host must be one of the
/// server's, and the origin, if a browser names one, must be allowed.
pub(super) fn judge(bytes: &[u8], rules: &PageRules) -> RequestVerdict {
    let mut rest = bytes;
    let request = match ConnectRequest::decode(&mut rest) {
        Ok(request) => request,
        Err(ConnectError::UnexpectedEnd) if bytes.len() < REQUEST_BYTES_MAX => return RequestVerdict::Incomplete,
        Err(error) => return refusal(&error),
    };
    let host = request.url.host_str().unwrap_or_default();
    if host.is_empty() || !request.url.username().is_empty() || request.url.password().is_some() {
        return RequestVerdict::Refused(StatusCode::BAD_REQUEST);
    }
    if !rules.hosts.admits(host.as_bytes()) {
        return RequestVerdict::Refused(StatusCode::MISDIRECTED_REQUEST);
    }
    if !request.headers.get_all(ORIGIN).iter().all(|origin| rules.origins.admits(origin.as_bytes())) {
        return RequestVerdict::Refused(StatusCode::FORBIDDEN);
    }
    RequestVerdict::Granted { bytes: bytes.len() - rest.len() }
}

fn refusal(error: &ConnectError) -> RequestVerdict {
    match error {
        ConnectError::UnexpectedFrame(_) | ConnectError::QpackError(_) => RequestVerdict::Malformed,
        ConnectError::UnexpectedEnd | ConnectError::FrameTooLarge | ConnectError::FieldSectionTooLarge => {
            RequestVerdict::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE)
        }
        // A page whose address was typed in, or one that a browser requests again.
        ConnectError::WrongMethod(Some(_)) => RequestVerdict::Refused(StatusCode::NOT_FOUND),
        ConnectError::WrongProtocol(_) => RequestVerdict::Refused(StatusCode::NOT_IMPLEMENTED),
        _ => RequestVerdict::Refused(StatusCode::BAD_REQUEST),
    }
}

/// The HEADERS of an answer.
pub(super) fn answer(status: StatusCode) -> Vec<u8> {
    let mut bytes = Vec::new();
    ConnectResponse::new(status).encode(&mut bytes).expect("a status is no long header");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(url: &str, origin: Option<&str>) -> Vec<u8> {
        let mut request = ConnectRequest::new(url::Url::parse(url).expect("a URL"));
        if let Some(origin) = origin {
            request = request.with_header(ORIGIN, origin.parse().expect("a header"));
        }
        let mut bytes = Vec::new();
        request.encode(&mut bytes).expect("it is short");
        bytes
    }

    #[test]
    fn a_complete_request_from_an_allowed_origin_is_granted() {
        let only = PageRules::new(&["https://game.example".into()], &[]);
        for (origins, origin, is_granted) in [
            (&PageRules::default(), None, true),
            (&PageRules::default(), Some("https://evil.example"), true),
            (&only, None, true),
            (&only, Some("https://game.example"), true),
            (&only, Some("https://evil.example"), false),
            (&only, Some("null"), false),
        ] {
            let mut bytes = request("https://127.0.0.1:7777/play?a=b", origin);
            for cut in 0..bytes.len() {
                assert_eq!(judge(&bytes[..cut], origins), RequestVerdict::Incomplete);
            }
            let whole = bytes.len();
            bytes.extend_from_slice(&[0, 1, 2]);
            let verdict = judge(&bytes, origins);
            let granted = RequestVerdict::Granted { bytes: whole };
            assert_eq!(verdict, if is_granted { granted } else { RequestVerdict::Refused(StatusCode::FORBIDDEN) });
        }
    }

    #[test]
    fn a_page_for_another_host_is_refused() {
        let rules = PageRules::new(&[], &["game.example".into(), "::1".into()]);
        for (host, is_served) in
            [("game.example:7777", true), ("GAME.example", true), ("[::1]:1", true), ("evil.example", false)]
        {
            let bytes = request(&format!("https://{host}/"), None);
            let verdict = judge(&bytes, &rules);
            let refused = RequestVerdict::Refused(StatusCode::MISDIRECTED_REQUEST);
            assert_eq!(
                verdict,
                if is_served { RequestVerdict::Granted { bytes: bytes.len() } } else { refused },
                "{host}"
            );
        }
    }

    #[test]
    fn a_client_with_user_information_in_its_url_is_refused() {
        let verdict = judge(&request("https://me:secret@a/", None), &PageRules::default());
        assert_eq!(verdict, RequestVerdict::Refused(StatusCode::BAD_REQUEST));
    }

    #[test]
    fn other_requests_and_frames_get_their_status() {
        // Static entries of QPACK (RFC 9204, appendix A): 17 is GET, 15 is CONNECT, 23 is https, 1 is the path /.
        let fields = |fields: &[u8]| [&[1, fields.len() as u8 + 2, 0, 0][..], fields].concat();
        let authority = [0x50, 1, b'a'];
        let of = |method: u8| fields(&[&[0xC0 | method, 0xC0 | 23, 0xC1][..], &authority].concat());
        let origins = PageRules::default();
        assert_eq!(judge(&of(17), &origins), RequestVerdict::Refused(StatusCode::NOT_FOUND));
        assert_eq!(judge(&of(15), &origins), RequestVerdict::Refused(StatusCode::NOT_IMPLEMENTED));
        assert_eq!(judge(&fields(&[0xC0 | 15]), &origins), RequestVerdict::Refused(StatusCode::BAD_REQUEST));
        assert_eq!(judge(&[0, 3, 1, 2, 3], &origins), RequestVerdict::Malformed, "DATA before HEADERS");
        assert_eq!(judge(&fields(&[0x80]), &origins), RequestVerdict::Malformed, "the dynamic table is empty");
        let grease = [&[0x21, 0x80, 0, 0x48, 0][..], &[7; REQUEST_BYTES_MAX]].concat();
        assert_eq!(judge(&grease, &origins), RequestVerdict::Refused(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
}
