//! Percent encoding (RFC 3986, section 2.1) of the parts of a database's URL.

use std::fmt::Write;
use std::path::Path;

/// A path as the value of a parameter: its slashes stay, for people.
pub(crate) fn encoded_path(path: &Path) -> String {
    path.to_string_lossy().split('/').map(encoded).collect::<Vec<_>>().join("/")
}

/// A text as any part of a URL.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut url, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
        url
    })
}

/// The text of a part of a URL other than a parameter: a plus stays a plus there.
pub(crate) fn decoded(text: &str) -> String {
    // The crate `url` decodes queries alone by itself.
    let query = format!("v={}", text.replace('+', "%2B").replace('&', "%26"));
    url::form_urlencoded::parse(query.as_bytes()).next().map_or_else(String::new, |(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoding_and_decoding_round_trip() {
        for text in ["plain", "a b+c&d=e#f%g?h", "p\u{e9}:g/", "50%", "@[::1]"] {
            assert_eq!(decoded(&encoded(text)), text);
            let parameter = format!("v={}&w=1", encoded(text));
            let (_, value) = url::form_urlencoded::parse(parameter.as_bytes()).next().expect("two");
            assert_eq!(value, text);
        }
        assert_eq!(decoded("a+b&c"), "a+b&c");
        assert_eq!(encoded_path(Path::new("/a b/c&d")), "/a%20b/c%26d");
    }
}
