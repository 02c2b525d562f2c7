//! An answer, as scripts get it.

use std::collections::BTreeMap;
use ureq_proto::http::{HeaderMap, header::SET_COOKIE};

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HttpResponse {
    /// Its status, 200 and the like.
    pub(crate) status: u16,
    /// Its fields by their names in lower case. Several of a name are joined by `, ` (RFC 9110, section 5.3), those of
    /// `set-cookie` by a line's end.
    pub(crate) headers: BTreeMap<String, Vec<u8>>,
    /// Its body, without any transfer coding.
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    pub(super) fn set_headers(&mut self, headers: &HeaderMap) {
        for (name, value) in headers {
            let joint: &[u8] = if name == SET_COOKIE { b"\n" } else { b", " };
            match self.headers.get_mut(name.as_str()) {
                Some(own) => own.extend(joint.iter().chain(value.as_bytes())),
                None => drop(self.headers.insert(name.as_str().to_owned(), value.as_bytes().to_vec())),
            }
        }
    }
}
