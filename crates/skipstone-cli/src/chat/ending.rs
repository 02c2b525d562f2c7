//! How a chat ends: the sentence that its user reads, and the exit code that a script reads.

use super::text;
use skipstone::{Close, ClosedBy, code};
use skipstone_lab::report::Exit;
use std::io;

/// The reason for which the chat ended.
#[derive(Debug)]
pub(super) enum Ending {
    /// The user left.
    Quit,
    /// A signal.
    Interrupted,
    /// The connection ended, or was never established.
    Closed {
        /// Whether the connection was ever established.
        was_connected: bool,
        /// The side that ended it, and its reason.
        close: Close,
    },
    /// The input ended, and its last lines did not arrive.
    Undelivered,
    /// Input or output broke.
    Broken(io::Error),
    /// The library's thread has ended, which is a defect.
    DriverGone,
}

impl Ending {
    /// The exit code of the process.
    pub(super) fn exit(&self) -> Exit {
        match self {
            Self::Quit => Exit::Pass,
            Self::Interrupted => Exit::Interrupted,
            Self::Closed { close, .. } if close.by == ClosedBy::Peer && close.code == code::SHUTDOWN => Exit::Pass,
            // The reader of the output closed the pipe, as `head` does.
            Self::Broken(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Pass,
            Self::Closed { was_connected, close } if is_absence(*was_connected, close) => Exit::Unavailable,
            Self::Undelivered => Exit::Unavailable,
            Self::Closed { .. } | Self::Broken(_) | Self::DriverGone => Exit::Fail,
        }
    }

    /// The event and its remedy, in one line; `None` if the user knows.
    pub(super) fn sentence(&self, url: &str) -> Option<String> {
        match self {
            Self::Quit | Self::Interrupted => None,
            Self::Broken(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Broken(error) => Some(format!("cannot continue to read and print lines: {error}")),
            Self::Undelivered => Some(format!(
                "the last lines did not arrive at {url} in time: the server hangs, or cannot be reached any more"
            )),
            Self::DriverGone => Some("the connection's thread stopped, which is a defect: please report it".into()),
            Self::Closed { was_connected, close } => Some(of_close(url, *was_connected, close)),
        }
    }
}

/// Whether a connection ended because its server was not running, was another one, or went away.
fn is_absence(was_connected: bool, close: &Close) -> bool {
    match close.by {
        ClosedBy::Nobody => true,
        ClosedBy::Peer => close.code == code::RESTART,
        ClosedBy::Local => !was_connected,
    }
}

fn of_close(url: &str, was_connected: bool, close: &Close) -> String {
    let (reason, number) = (text::reason(close.reason_text()), close.code);
    match (close.by, was_connected) {
        (ClosedBy::Peer, _) => {
            format!("the server closed the connection: {reason} (code {number}){}", remedy(number))
        }
        // The reason contains the remedy: start the server, or correct the port.
        (ClosedBy::Nobody, false) => format!("cannot reach {url}: {reason}"),
        (ClosedBy::Nobody, true) => {
            format!("lost the connection to {url}: {reason} (code {number}); check the network, then connect again")
        }
        (ClosedBy::Local, _) => {
            format!("this side closed the connection: {reason} (code {number}){}", remedy(number))
        }
    }
}

fn remedy(number: u64) -> &'static str {
    match number {
        code::REFUSED => "; try another --name, or ask its operator",
        code::KICKED => "; its operator can tell you more",
        code::QUEUE_OVERFLOW => "; lines came faster than the network carries them: connect again",
        code::FULL => "; try again later",
        code::PROTOCOL | code::NO_COMMON_VERSION => "; use the same version of skipstone on both sides",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(by: ClosedBy, was_connected: bool, code: u64, reason: &'static str) -> Ending {
        Ending::Closed { was_connected, close: Close { by, code, reason: reason.into() } }
    }

    fn sentence(ending: &Ending) -> String {
        ending.sentence("ws://a:1").expect("there is something to say")
    }

    #[test]
    fn a_shutdown_is_a_success_and_a_kick_is_a_failure() {
        let shutdown = closed(ClosedBy::Peer, true, code::SHUTDOWN, "until tomorrow");
        assert_eq!(sentence(&shutdown), "the server closed the connection: until tomorrow (code 1000)");
        assert_eq!(shutdown.exit(), Exit::Pass);
        for code in [code::NONE, code::REFUSED, code::KICKED, code::FULL, 7] {
            let ending = closed(ClosedBy::Peer, true, code, "");
            assert_eq!(ending.exit(), Exit::Fail);
            assert!(sentence(&ending).contains(&format!("no reason given (code {code})")));
        }
    }

    #[test]
    fn an_unreachable_server_is_distinguished_from_a_lost_one() {
        let never = closed(ClosedBy::Nobody, false, code::CARRIER_LOST, "refused");
        assert_eq!(sentence(&never), "cannot reach ws://a:1: refused");
        let lost = closed(ClosedBy::Nobody, true, code::IDLE_TIMEOUT, "silence");
        assert!(sentence(&lost).starts_with("lost the connection to ws://a:1: silence (code 1007)"));
        assert_eq!((never.exit(), lost.exit()), (Exit::Unavailable, Exit::Unavailable));
        let stranger = closed(ClosedBy::Local, false, code::SECURITY, "another fingerprint");
        assert_eq!(stranger.exit(), Exit::Unavailable);
    }

    #[test]
    fn undelivered_lines_are_not_a_success() {
        assert_eq!(Ending::Undelivered.exit(), Exit::Unavailable);
        assert!(sentence(&Ending::Undelivered).contains("did not arrive at ws://a:1"));
    }

    #[test]
    fn leaving_prints_nothing_and_an_interrupt_has_its_exit_code() {
        assert_eq!((Ending::Quit.exit(), Ending::Quit.sentence("")), (Exit::Pass, None));
        assert_eq!((Ending::Interrupted.exit(), Ending::Interrupted.sentence("")), (Exit::Interrupted, None));
        let pipe = Ending::Broken(io::ErrorKind::BrokenPipe.into());
        assert_eq!((pipe.exit(), pipe.sentence("")), (Exit::Pass, None));
    }

    #[test]
    fn reasons_cannot_control_the_terminal() {
        assert!(sentence(&closed(ClosedBy::Peer, true, 1, "\x1b[2J")).contains("␛[2J (code 1)"));
    }
}
