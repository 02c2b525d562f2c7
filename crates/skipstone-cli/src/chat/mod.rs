//! `chat`: a person among the clients. [`session`] is the connection and its commands; [`screen`] shows it on a
//! terminal, [`plain`] as lines for pipes and scripts; [`ending`] has the ends and their messages.

mod command;
mod editor;
mod ending;
mod plain;
mod screen;
mod scrollback;
mod session;
mod status;
mod text;
mod view;
mod wrap;

use session::Session;
use signal_hook::consts::{SIGINT, SIGTERM};
use skipstone::StartError;
use skipstone_lab::report::{Exit, output};
use skipstone_lab::workload::Guest;
use std::io::{self, BufReader, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The server to chat on, and the user's name.
#[derive(Debug, clap::Args)]
pub(crate) struct ChatArguments {
    /// The server: skip://HOST:PORT#sha256=... as printed by the server, skip+plain://HOST:PORT unencrypted if the
    /// server allows it, skip+dtls://HOST:PORT#sha256=... by DTLS, ws://HOST:PORT over WebSocket
    url: String,
    #[command(flatten)]
    trust: crate::trust::TrustFlags,
    /// Your name, as other users see it [default: your user name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A ticket for a node of a fleet, which names you: `skipstone fleet ticket` prints one
    #[arg(long, value_name = "TICKET", conflicts_with = "name")]
    ticket: Option<String>,
}

/// Chats until the user, the server or a signal ends it.
pub(crate) fn run(arguments: &ChatArguments) -> Exit {
    let (session, stop) = match begin(arguments) {
        Ok(begun) => begun,
        Err((exit, sentence)) => {
            output::complain(sentence);
            return exit;
        }
    };
    let ending = if is_on_terminal() {
        screen::run(session, &stop)
    } else {
        plain::run(session, BufReader::new(io::stdin()), &mut io::stdout().lock(), &stop)
    };
    if let Some(sentence) = ending.sentence(&arguments.url) {
        output::complain(sentence);
    }
    ending.exit()
}

/// A session, and the flag that ends it.
fn begin(arguments: &ChatArguments) -> Result<(Session, Arc<AtomicBool>), (Exit, String)> {
    let bad = |sentence| (Exit::BadConfiguration, sentence);
    let token = arguments.token();
    let token = token.ok_or_else(|| bad("the name is empty: choose one with --name NAME".into()))?;
    let stop = Arc::new(AtomicBool::new(false));
    let deaf = |error| (Exit::Fail, format!("cannot listen for signals: {error}"));
    stop_on_signals(&stop).map_err(deaf)?;
    let trust = arguments.trust.trust().map_err(bad)?;
    let session = Session::connect(&arguments.url, &token, trust);
    let session = session.map_err(|error| match error {
        StartError::Io(..) => (Exit::Fail, error.to_string()),
        _ => bad(error.to_string()),
    })?;
    Ok((session, stop))
}

impl ChatArguments {
    /// The ticket, or the name; `None` if nothing printable is left of that.
    fn token(&self) -> Option<Vec<u8>> {
        if let Some(ticket) = &self.ticket {
            return Some(ticket.trim().as_bytes().to_vec());
        }
        let name = self.name.clone().or_else(|| std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok());
        // The name is checked as the server would read it from the token.
        let guest = Guest::from_token(&Guest::Chat(name.unwrap_or_else(|| "guest".into())).token());
        guest.as_ref().map(Guest::token)
    }
}

fn is_on_terminal() -> bool {
    let can_draw = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    can_draw && io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn stop_on_signals(stop: &Arc<AtomicBool>) -> io::Result<()> {
    // The terminal was closed: the server still gets a proper close.
    for signal in [SIGINT, SIGTERM].into_iter().chain(skipstone_lab::signals::hangup()) {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
