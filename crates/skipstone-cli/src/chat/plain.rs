//! Chat without a terminal: lines in, lines out, for pipes and scripts. Output other than broadcast lines begins
//! with `* `.

use super::ending::Ending;
use super::session::{Entered, Line, Session, Source};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

/// Chats until the input ends, the user quits, the connection ends or `stop` is set. At the end of the input,
/// everything that was read is sent, and the server's answers are awaited for a moment.
pub(super) fn run(
    mut session: Session,
    input: impl BufRead + Send + 'static,
    output: &mut impl Write,
    stop: &AtomicBool,
) -> Ending {
    let mut pipe = match Pipe::new(input, output) {
        Ok(pipe) => pipe,
        Err(error) => return Ending::Broken(error),
    };
    let ending = loop {
        if let Some(ending) = pipe.round(&mut session, stop) {
            break ending;
        }
    };
    session.part(ending)
}

struct Pipe<W: Write> {
    input: Receiver<io::Result<String>>,
    output: BufWriter<W>,
    heard: Vec<Line>,
    end: InputEnd,
}

/// State of the input's end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputEnd {
    /// Not yet.
    Open,
    /// The input ended at this moment; not everything has arrived.
    Sending(Instant),
    /// Everything had arrived then; the server may answer.
    Answering(Instant),
}

impl<W: Write> Pipe<W> {
    fn new(input: impl BufRead + Send + 'static, output: W) -> io::Result<Pipe<W>> {
        let (lines, received) = sync_channel(INPUT_LINES_MAX);
        // A thread that reads standard input cannot be woken: it ends with the process.
        std::thread::Builder::new().name("chat-input".into()).spawn(move || read(input, &lines))?;
        Ok(Pipe { input: received, output: BufWriter::new(output), heard: Vec::new(), end: InputEnd::Open })
    }

    fn round(&mut self, session: &mut Session, stop: &AtomicBool) -> Option<Ending> {
        if stop.load(Ordering::Relaxed) {
            return Some(Ending::Interrupted);
        }
        if let Some(ending) = self.take_input(session) {
            // The last lines received are printed before the chat ends.
            return Some(self.print().map_or_else(Ending::Broken, |()| ending));
        }
        let ending = session.hear(&mut self.heard);
        let heard = !self.heard.is_empty();
        if let Err(error) = self.print() {
            return Some(Ending::Broken(error));
        }
        let ending = ending.or_else(|| self.end_of_input(session));
        if ending.is_none() && !heard {
            session.wait(WAIT);
        }
        ending
    }

    /// Executes the lines that were read, as long as there is room. A line that cannot be sent is reported.
    fn take_input(&mut self, session: &mut Session) -> Option<Ending> {
        while self.end == InputEnd::Open && session.has_room() {
            match self.input.try_recv() {
                Ok(Ok(line)) if session.enter(&line, &mut self.heard) == Entered::Quit => return Some(Ending::Quit),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Some(Ending::Broken(error)),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => self.end = InputEnd::Sending(Instant::now()),
            }
        }
        None
    }

    /// The ending of a chat whose input has ended, once the remaining work is done or takes too long.
    fn end_of_input(&mut self, session: &mut Session) -> Option<Ending> {
        match self.end {
            InputEnd::Open => None,
            InputEnd::Sending(since) => {
                if session.is_all_sent() {
                    self.end = InputEnd::Answering(Instant::now());
                    return None;
                }
                (since.elapsed() >= SENDING_MAX).then_some(Ending::Undelivered)
            }
            InputEnd::Answering(since) => (since.elapsed() >= ANSWERING).then_some(Ending::Quit),
        }
    }

    fn print(&mut self) -> io::Result<()> {
        for line in self.heard.drain(..) {
            let mark = if line.source == Source::Everybody { "" } else { "* " };
            writeln!(self.output, "{mark}{}", line.text)?;
        }
        self.output.flush()
    }
}

/// Reads lines until the end. One that is too long becomes several.
fn read(mut input: impl BufRead, lines: &SyncSender<io::Result<String>>) {
    loop {
        let mut line = Vec::new();
        let result = match input.by_ref().take(INPUT_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => Ok(String::from_utf8_lossy(&line).into_owned()),
            Err(error) => Err(error),
        };
        let is_last = result.is_err();
        if lines.send(result).is_err() || is_last {
            return;
        }
    }
}

/// How long input waits for a quiet network, at most.
const WAIT: Duration = Duration::from_millis(10);
/// Lines that were read and wait for room.
const INPUT_LINES_MAX: usize = 256;
/// The longest line.
const INPUT_BYTES_MAX: u64 = 64 << 10;
/// Time limit for the lines that were read to arrive once the input has ended.
const SENDING_MAX: Duration = Duration::from_secs(10);
/// Time limit for the server's answers after that.
const ANSWERING: Duration = Duration::from_millis(300);
