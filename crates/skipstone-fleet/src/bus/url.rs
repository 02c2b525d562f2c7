//! The address of NATS: one server or several, the login that it may contain. It is printed without its secrets.

use std::fmt;
use std::str::FromStr;
use url::Url;

/// Where NATS is: `nats://HOST[:PORT]`, `tls://HOST[:PORT]`, with `USER:PASSWORD@` or `TOKEN@` before the host, and
/// further servers of the same cluster after commas. The port is 4222 unless given.
#[derive(Clone, PartialEq, Eq)]
pub struct NatsUrl {
    servers: Vec<Url>,
}

/// Why a text is no [`NatsUrl`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; an address of NATS is nats://HOST[:PORT] or tls://HOST[:PORT], with USER:PASSWORD@ or TOKEN@ before HOST"
)]
pub struct NatsUrlError(String);

/// What a URL has before its host.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum UrlLogin {
    None,
    Token(String),
    Password { user: String, password: String },
}

impl FromStr for NatsUrl {
    type Err = NatsUrlError;

    fn from_str(text: &str) -> Result<NatsUrl, NatsUrlError> {
        let servers = text.split(',').map(|server| parse(server.trim())).collect::<Result<_, _>>()?;
        Ok(NatsUrl { servers })
    }
}

fn parse(text: &str) -> Result<Url, NatsUrlError> {
    let shown = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let wrong = |why: &str| NatsUrlError(format!("`{shown}` {why}"));
    let with_scheme = if text.contains("://") { text.into() } else { format!("nats://{text}") };
    let url: Url = with_scheme.parse().map_err(|error| wrong(&format!("is no URL: {error}")))?;
    match url.scheme() {
        "nats" | "tls" => {}
        other => return Err(wrong(&format!("has the scheme {other}"))),
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(wrong("names no host"));
    }
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has something after the host"));
    }
    if url.port() == Some(0) {
        return Err(wrong("has port 0"));
    }
    Ok(url)
}

impl NatsUrl {
    /// The login of the first server that has one.
    pub(super) fn login(&self) -> UrlLogin {
        let Some(url) = self.servers.iter().find(|url| !url.username().is_empty()) else { return UrlLogin::None };
        let user = decoded(url.username());
        match url.password() {
            Some(password) => UrlLogin::Password { user, password: decoded(password) },
            None => UrlLogin::Token(user),
        }
    }

    /// Each server, without its login.
    pub(super) fn servers(&self) -> Vec<String> {
        self.servers.iter().map(without_login).collect()
    }
}

fn without_login(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    format!("{}://{host}:{}", url.scheme(), url.port().unwrap_or(PORT))
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => (bytes.push(byte), rest = &after[2..]).1,
            None => (bytes.push(first), rest = after).1,
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for NatsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.servers().join(","))
    }
}

impl fmt::Debug for NatsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

const PORT: u16 = 4222;

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> NatsUrl {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_without_scheme_and_port_is_that_of_a_server_on_4222() {
        assert_eq!(url("localhost").to_string(), "nats://localhost:4222");
        assert_eq!(url("tls://[::1]:9").to_string(), "tls://[::1]:9");
        assert_eq!(url("nats://a,b:7").to_string(), "nats://a:4222,nats://b:7");
    }

    #[test]
    fn a_login_is_taken_from_the_url_and_never_printed() {
        let with_password = url("nats://anna:p%40ss@host");
        let UrlLogin::Password { user, password } = with_password.login() else { panic!("it has a password") };
        assert_eq!((user.as_str(), password.as_str()), ("anna", "p@ss"));
        assert_eq!(format!("{with_password} {with_password:?}"), "nats://host:4222 nats://host:4222");
        assert!(matches!(url("nats://s3cret@host").login(), UrlLogin::Token(token) if token == "s3cret"));
        let error = "http://anna:secret@host".parse::<NatsUrl>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn an_address_of_something_else_is_refused_with_the_form_of_a_right_one() {
        for wrong in ["", "nats://", "http://host", "nats://host/path", "nats://host:0", "nats://host:99999", "a b"] {
            let error = wrong.parse::<NatsUrl>().unwrap_err().to_string();
            assert!(error.contains("nats://HOST[:PORT]"), "{error}");
        }
    }
}
