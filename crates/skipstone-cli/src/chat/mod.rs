//! `chat`: a person among the clients. [`session`] is the connection and what can be said on it; [`screen`] shows it on
//! a terminal, [`plain`] as lines for pipes and scripts; [`ending`] is how it ends and what the process then says.

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

use crate::chat::session::Session;
use signal_hook::consts::{SIGINT, SIGTERM};
use skipstone::StartError;
use skipstone_lab::report::{Exit, output};
use skipstone_lab::workload::Guest;
use std::io::{self, BufReader, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where to chat, and as whom.
#[derive(Debug, clap::Args)]
pub(crate) struct ChatArguments {
    /// The server: skip://HOST:PORT#sha256=... as it prints, skip+plain://HOST:PORT in clear if it allows that,
    /// skip+dtls://HOST:PORT#sha256=... by DTLS, ws://HOST:PORT over WebSocket
    url: String,
    #[command(flatten)]
    trust: crate::trust::TrustFlags,
    /// Your name, as the others see it [default: your user name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

/// Chats until the user, the server or a signal ends it.
pub(crate) fn run(arguments: &ChatArguments) -> Exit {
    let Some(guest) = arguments.guest() else {
        output::complain("the name is empty: choose one with --name NAME");
        return Exit::BadConfiguration;
    };
    let stop = Arc::new(AtomicBool::new(false));
    if let Err(error) = stop_on_signals(&stop) {
        output::complain(format_args!("cannot listen for signals: {error}"));
        return Exit::Fail;
    }
    let trust = match arguments.trust.trust() {
        Ok(trust) => trust,
        Err(sentence) => {
            output::complain(sentence);
            return Exit::BadConfiguration;
        }
    };
    let session = match Session::connect(&arguments.url, &guest, trust) {
        Ok(session) => session,
        Err(error) => {
            output::complain(&error);
            return if let StartError::Io(..) = error { Exit::Fail } else { Exit::BadConfiguration };
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

impl ChatArguments {
    /// `None` if nothing printable is left of the name.
    fn guest(&self) -> Option<Guest> {
        let name = self.name.clone().or_else(|| std::env::var("USER").or_else(|_| std::env::var("USERNAME")).ok());
        // The server reads the name from the token, so the name that the server would read counts.
        Guest::from_token(&Guest::Chat(name.unwrap_or_else(|| "guest".into())).token())
    }
}

fn is_on_terminal() -> bool {
    let can_draw = std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    can_draw && io::stdin().is_terminal() && io::stdout().is_terminal()
}

fn stop_on_signals(stop: &Arc<AtomicBool>) -> io::Result<()> {
    // The terminal was closed: its user deserves a goodbye too.
    for signal in [SIGINT, SIGTERM].into_iter().chain(skipstone_lab::signals::hangup()) {
        signal_hook::flag::register(signal, stop.clone())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
