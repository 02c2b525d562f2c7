//! The thread of one session: moves bytes between its socket and the [`ConsoleSession`]. The thread waits in short
//! steps, one for reading and one for writing, so it soon notices the end of the server, and a client that does not
//! read blocks no other client.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::limits::POLL;
use super::session::ConsoleSession;

/// Runs `session` to its end, over `stream`. Once `ending` holds a reason, it ends within a few [`POLL`]s.
pub(super) fn drive(mut stream: TcpStream, mut session: ConsoleSession, stall: Duration, ending: &OnceLock<String>) {
    if prepare(&stream).is_err() {
        return;
    }
    let mut patience = Patience { stall, waited: Duration::ZERO };
    loop {
        if let Some(reason) = ending.get() {
            session.handle_server_end(reason);
        }
        if send(&mut stream, &mut session, &mut patience).is_break() {
            return;
        }
        let done = session.is_over() && (session.transmit().is_empty() || ending.get().is_some());
        if done {
            // A displaced client cannot decide how long its thread continues.
            if !session.is_displaced() {
                part(&mut stream);
            }
            return;
        }
        if session.wants_bytes() {
            if receive(&mut stream, &mut session).is_break() {
                return;
            }
        } else if session.transmit().is_empty() {
            std::thread::sleep(POLL);
        }
        session.process(Instant::now());
    }
}

/// How long writes have waited for a client that reads nothing. Time spent elsewhere, such as in a slow handler, does
/// not count.
struct Patience {
    stall: Duration,
    waited: Duration,
}

fn prepare(stream: &TcpStream) -> std::io::Result<()> {
    // Some systems let an accepted socket inherit this from its listener.
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(POLL))?;
    stream.set_write_timeout(Some(POLL))
}

/// One write. Breaks if the client is gone, or has read nothing for too long.
fn send(stream: &mut TcpStream, session: &mut ConsoleSession, patience: &mut Patience) -> ControlFlow<()> {
    let waiting = session.transmit();
    if waiting.is_empty() {
        return ControlFlow::Continue(());
    }
    let begun = Instant::now();
    match stream.write(&waiting[..waiting.len().min(WRITE_BYTES_MAX)]) {
        Ok(0) => return ControlFlow::Break(()),
        Ok(count) => {
            session.on_sent(begun, count);
            patience.waited = Duration::ZERO;
        }
        Err(error) if is_timeout(&error) => patience.waited += begun.elapsed(),
        Err(_) => return ControlFlow::Break(()),
    }
    if patience.waited < patience.stall { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

/// One read. Breaks on an error, such as a connection reset.
fn receive(stream: &mut TcpStream, session: &mut ConsoleSession) -> ControlFlow<()> {
    let mut buffer = [0; READ_BYTES_MAX];
    match stream.read(&mut buffer) {
        Ok(0) => session.handle_end_of_input(),
        Ok(count) => session.handle_bytes(&buffer[..count]),
        Err(error) if is_timeout(&error) => {}
        Err(_) => return ControlFlow::Break(()),
    }
    ControlFlow::Continue(())
}

/// Closes so that the last bytes arrive: a socket closed with unread input resets the connection, and the client's
/// system may then discard bytes that it has not yet read.
fn part(stream: &mut TcpStream) {
    if stream.shutdown(Shutdown::Write).is_err() {
        return;
    }
    let deadline = Instant::now() + POLL * 2;
    let mut buffer = [0; READ_BYTES_MAX];
    while Instant::now() < deadline {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(_) => return,
        }
    }
}

/// The names that systems give to a read or write that took longer than allowed, or was interrupted.
fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

const READ_BYTES_MAX: usize = 1024;
const WRITE_BYTES_MAX: usize = 16 * 1024;
