//! The connection: the options of NATS' client, its first connection, and what its errors mean.

use super::error::{BusError, ConnectError};
use super::event::BusEvent;
use super::settings::{BusLogin, BusSettings};
use super::shared::Shared;
use super::url::UrlLogin;
use async_nats::rustls::{CertificateError, Error as TlsError, InvalidMessage};
use async_nats::{Client, ClientError, ConnectErrorKind, ConnectOptions, Event, ServerError};
use std::error::Error;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The options, with files read.
///
/// # Errors
/// A file is unusable.
pub(super) fn options(settings: &BusSettings) -> Result<ConnectOptions, BusError> {
    choose_cryptography();
    let options = ConnectOptions::new()
        .name(&settings.name)
        .connection_timeout(settings.connect_within.min(CONNECTION_MAX))
        .ping_interval(PING_INTERVAL)
        .client_capacity(CALLS_AHEAD)
        .subscription_capacity(MESSAGES_AHEAD)
        .reconnect_delay_callback(reconnect_delay);
    let options = match settings.url.login() {
        UrlLogin::None => options,
        UrlLogin::Token(token) => options.token(token),
        UrlLogin::Password { user, password } => options.user_and_password(user, password),
    };
    let options = match &settings.login {
        BusLogin::Url => options,
        BusLogin::Credentials(path) => {
            options.credentials(&read(path)?).map_err(|error| unusable(path, &format!("is no .creds file: {error}")))?
        }
        BusLogin::NkeySeed(path) => options.nkey(
            seed(&read(path)?)
                .ok_or_else(|| unusable(path, "has no line that begins with SU; `nk -gen user` makes one"))?,
        ),
    };
    Ok(match &settings.tls_ca {
        None => options,
        Some(path) => {
            if !read(path)?.contains("-----BEGIN CERTIFICATE-----") {
                return Err(unusable(path, "contains no certificate in PEM format"));
            }
            options.require_tls(true).add_root_certificates(path.clone())
        }
    })
}

/// Connects for the first time, and reports what the connection does from then on.
pub(super) async fn connect(settings: &BusSettings, shared: &Arc<Shared>) -> Result<Client, ConnectError> {
    let options = options(settings).map_err(|error| ConnectError::Other(error.to_string()))?;
    let (own, disconnections) = (Arc::clone(shared), AtomicU64::new(0));
    let options = options.event_callback(move |event| {
        on_event(&own, &disconnections, event);
        std::future::ready(())
    });
    options.connect(settings.url.servers()).await.map_err(|error| meaning(&error, settings))
}

fn on_event(shared: &Shared, disconnections: &AtomicU64, event: Event) {
    match event {
        Event::Connected => {
            if let Some(client) = shared.client.get() {
                let total = client.statistics().connects.load(Ordering::Relaxed);
                shared.report(|board| board.on_connections(total));
                shared.called.notify_one();
            }
        }
        Event::Disconnected => {
            let total = disconnections.fetch_add(1, Ordering::Relaxed) + 1;
            shared.report(|board| board.on_disconnections(total));
        }
        Event::ServerError(ServerError::Other(why)) => {
            shared.report(|board| board.events.push_bounded(BusEvent::Refused { why }));
        }
        Event::ClientError(ClientError::Other(kind)) => {
            let why = failure(&kind).to_string();
            shared.report(|board| board.events.push_connection(BusEvent::ConnectFailed { why }));
        }
        _ => {}
    }
}

/// Why connecting again failed. The client tells the kind alone, as text.
fn failure(kind: &str) -> ConnectError {
    match kind {
        "authorization violation" => ConnectError::LoginRefused,
        "timed out" => ConnectError::TimedOut(CONNECTION_MAX),
        "DNS error" => ConnectError::NameNotResolved("no address".into()),
        "TLS error" => ConnectError::Tls(kind.into()),
        "IO error" => ConnectError::Refused,
        other => ConnectError::Other(other.into()),
    }
}

/// The remedy follows from what the client and its sources say.
fn meaning(error: &async_nats::ConnectError, settings: &BusSettings) -> ConnectError {
    let said = sources(error);
    let has_login = !matches!(settings.url.login(), UrlLogin::None) || settings.login != BusLogin::Url;
    match error.kind() {
        ConnectErrorKind::Dns => ConnectError::NameNotResolved(said),
        ConnectErrorKind::AuthorizationViolation if !has_login => ConnectError::LoginMissing,
        ConnectErrorKind::AuthorizationViolation => ConnectError::LoginRefused,
        ConnectErrorKind::Authentication => ConnectError::BadCredentials(said),
        ConnectErrorKind::TimedOut => ConnectError::TimedOut(settings.connect_within.min(CONNECTION_MAX)),
        ConnectErrorKind::Tls => tls_meaning(said, error),
        _ => match io_error(error).map(io::Error::kind) {
            Some(io::ErrorKind::ConnectionRefused) => ConnectError::Refused,
            Some(io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof) => ConnectError::NotNats(said),
            Some(io::ErrorKind::InvalidData) => tls_meaning(said, error),
            _ if said.contains("expected INFO") => ConnectError::NotNats(said),
            _ => ConnectError::Other(said),
        },
    }
}

fn tls_meaning(said: String, error: &(dyn Error + 'static)) -> ConnectError {
    let inner = io_error(error).and_then(io::Error::get_ref).and_then(|inner| inner.downcast_ref());
    match inner {
        // A bad signature is that of another authority of the same name.
        Some(TlsError::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature)) => {
            ConnectError::Untrusted
        }
        Some(TlsError::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => ConnectError::WrongHost(said),
        // It answered in clear.
        Some(TlsError::InvalidMessage(InvalidMessage::InvalidContentType)) => ConnectError::NoTls,
        _ => ConnectError::Tls(said),
    }
}

/// A program that contains two providers of cryptography must name the one of the process, or the client panics.
fn choose_cryptography() {
    use async_nats::rustls::crypto::{CryptoProvider, ring};
    if CryptoProvider::get_default().is_none() {
        // An error means that another thread was faster.
        let _ = ring::default_provider().install_default();
    }
}

fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn sources(error: &(dyn Error + 'static)) -> String {
    let mut said = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let mut next = error.source().and_then(Error::source);
    while let Some(source) = next {
        said = format!("{said}: {source}");
        next = source.source();
    }
    said
}

fn read(path: &Path) -> Result<String, BusError> {
    std::fs::read_to_string(path).map_err(|error| unusable(path, &format!("cannot be read: {error}")))
}

fn seed(text: &str) -> Option<String> {
    text.lines().map(str::trim).find(|line| line.starts_with("SU")).map(Into::into)
}

fn unusable(path: &Path, why: &str) -> BusError {
    BusError::File { path: path.display().to_string(), why: why.into() }
}

/// The first attempt follows at once, the others 50 ms to 1 s apart.
pub(super) fn reconnect_delay(attempts: usize) -> Duration {
    match attempts {
        0 | 1 => Duration::ZERO,
        more => Duration::from_millis(25 << more.min(6)).min(Duration::from_secs(1)),
    }
}

/// How long one attempt may take.
const CONNECTION_MAX: Duration = Duration::from_secs(2);
/// A server that is silent for three of them counts as lost: after 2.7 s.
const PING_INTERVAL: Duration = Duration::from_millis(900);
/// Calls between the outbox and the client's writer. Those are in doubt when the connection breaks, so they are few.
const CALLS_AHEAD: usize = 128;
/// Messages between the client's reader and the queue of events, for one subscription: more than one read of the socket
/// contains, so that the queue of events alone decides what is dropped, and counts it.
const MESSAGES_AHEAD: usize = 1 << 22;
