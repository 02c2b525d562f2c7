//! The page's files, built from `dashboard/` and checked in, so that building the tool needs no npm; and the headers
//! that keep the page to itself.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// A file of the page.
pub(super) struct PageFile {
    pub(super) path: &'static str,
    kind: &'static str,
    content: &'static [u8],
}

impl PageFile {
    pub(super) fn response(&self) -> Response {
        let headers = [(header::CONTENT_TYPE, self.kind), (header::CACHE_CONTROL, "no-cache")];
        (headers, self.content).into_response()
    }
}

macro_rules! built {
    ($name:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/dashboard/dist/", $name))
    };
}

/// All of them.
pub(super) const FILES: [PageFile; 4] = [
    PageFile { path: "/", kind: "text/html; charset=utf-8", content: built!("index.html") },
    PageFile { path: "/dashboard.js", kind: "text/javascript; charset=utf-8", content: built!("dashboard.js") },
    PageFile { path: "/dashboard.css", kind: "text/css; charset=utf-8", content: built!("dashboard.css") },
    PageFile { path: "/icon.svg", kind: "image/svg+xml", content: built!("icon.svg") },
];

/// Nothing from elsewhere, no inline script, no frame around it; text never becomes HTML, where the browser can enforce
/// it (`require-trusted-types-for`).
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for \
    'script'";

/// Adds the security headers that every answer has.
pub(super) fn protect(mut response: Response) -> Response {
    let all = [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in all {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}
