//! Chat over loopback, as lines: a server in the test, a reader and a writer in memory.

use super::ending::Ending;
use super::plain;
use super::session::Session;
use skipstone::{Event, Group, PeerId, Redundancy, Server, ServerConfig, Trust, code};
use skipstone_lab::report::Exit;
use skipstone_lab::workload::{self, CONTROL, Guest, LINES, WHO, Word};
use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// A server that answers as `serve` does, driven by the test's closure until the chat ends.
fn chat(
    scheme: &str,
    stop: &AtomicBool,
    input: impl Read + Send + 'static,
    mut on_line: impl FnMut(&mut Server, PeerId, &str) + Send,
) -> (Ending, String) {
    let config = ServerConfig {
        settings: workload::settings(4 << 20, Redundancy::default()),
        ..ServerConfig::new("127.0.0.1:0".parse().expect("an address"))
    };
    let mut server = Server::start(config).expect("a port is free");
    let url = if scheme == "skip" { server.url() } else { format!("{scheme}://{}", server.local_addr()) };
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let end = Instant::now() + Duration::from_secs(30);
            while !is_over.load(Ordering::SeqCst) {
                assert!(Instant::now() < end, "the chat does not end");
                server.wait(Duration::from_millis(1));
                while let Some(event) = server.poll_event() {
                    serve(&mut server, event, &mut on_line);
                }
                server.flush().expect("it runs");
            }
        });
        let session = Session::connect(&url, &Guest::Chat("zoe".into()).token(), Trust::System).expect("a socket");
        let mut output = Vec::new();
        let ending = plain::run(session, BufReader::new(input), &mut output, stop);
        is_over.store(true, Ordering::SeqCst);
        (ending, String::from_utf8(output).expect("lines are UTF-8"))
    })
}

fn serve(server: &mut Server, event: Event, on_line: &mut impl FnMut(&mut Server, PeerId, &str)) {
    match event {
        Event::Requested { peer, token, .. } if Guest::from_token(&token) == Some(Guest::Chat("zoe".into())) => {
            server.accept(peer).expect("it waits");
        }
        Event::Requested { peer, .. } => server.refuse(peer, code::REFUSED, "who?").expect("it waits"),
        Event::Message { peer, channel: LINES, payload, .. } => {
            let line = String::from_utf8(payload.to_vec()).expect("lines are UTF-8");
            server.broadcast(Group::EVERYONE, LINES, format!("zoe: {line}")).expect("room");
            on_line(server, peer, &line);
        }
        Event::Message { peer, channel: CONTROL, payload, .. } => {
            assert_eq!(payload, WHO);
            server.send(peer, CONTROL, Word::Who("zoe, bob".into()).encode()).expect("room");
        }
        _ => {}
    }
}

fn ignore(_: &mut Server, _: PeerId, _: &str) {}

/// An input that stays open until the test drops the sender.
struct Typing(Receiver<&'static str>);

impl Read for Typing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(text) = self.0.recv() else { return Ok(0) };
        buffer[..text.len()].copy_from_slice(text.as_bytes());
        Ok(text.len())
    }
}

fn typing(text: &'static str) -> (Sender<&'static str>, Typing) {
    let (sender, receiver) = channel();
    sender.send(text).expect("the receiver is here");
    (sender, Typing(receiver))
}

static NOBODY: AtomicBool = AtomicBool::new(false);

#[test]
fn piped_lines_are_echoed_by_the_server() {
    for scheme in ["skip", "ws"] {
        let input = &b"hello\n/who\n/dance\n//slash\nlast, without an end"[..];
        let (ending, output) = chat(scheme, &NOBODY, input, ignore);
        assert!(matches!(ending, Ending::Quit), "{ending:?}");
        for line in [
            "zoe: hello",
            "* here: zoe, bob",
            "zoe: /slash",
            "zoe: last, without an end",
            "* there is no command /dance; /help lists them",
        ] {
            assert!(output.lines().any(|shown| shown == line), "{scheme}, {line}: {output}");
        }
    }
}

#[test]
fn commands_are_answered_and_quit_ends() {
    let (_keep_open, input) = typing("/help\n/ping\n/quit\nnever said\n");
    let (ending, output) = chat("skip", &NOBODY, input, ignore);
    assert_eq!((ending.exit(), ending.sentence("")), (Exit::Pass, None));
    assert!(output.contains("* /who   who is there") && output.contains("round trip"), "{output}");
    assert!(!output.contains("never said"), "{output}");
}

#[test]
fn ten_thousand_lines_in_a_pipe_all_arrive_in_order() {
    let input: String = (0..10_000).map(|number| format!("line {number} of a long text\n")).collect();
    let mut next = 0;
    let (ending, output) = chat("skip", &NOBODY, io::Cursor::new(input), |_, _, line| {
        assert_eq!(line, format!("line {next} of a long text"));
        next += 1;
    });
    assert!(matches!(ending, Ending::Quit), "{ending:?}");
    assert!(output.contains("zoe: line 9999 "), "the last line came back");
    assert_eq!(next, 10_000);
}

#[test]
fn remote_text_cannot_control_the_terminal() {
    let (_, output) = chat("skip", &NOBODY, &b"go\n"[..], |server, peer, _| {
        server.send(peer, LINES, &b"bob: \x1b[2J\xff\nzoe: fake"[..]).expect("room");
        server.send(peer, CONTROL, Word::Say("two\nlines\x07".into()).encode()).expect("room");
    });
    assert!(output.contains("bob: ␛[2J\u{fffd} zoe: fake\n"), "{output:?}");
    assert!(output.contains("* two\n* lines␇\n"), "{output:?}");
    assert!(!output.contains(|letter: char| letter.is_control() && letter != '\n'), "{output:?}");
}

#[test]
fn a_closing_server_states_its_reason() {
    for (number, exit) in [(code::SHUTDOWN, Exit::Pass), (code::KICKED, Exit::Fail)] {
        let (_keep_open, input) = typing("go\n");
        let (ending, output) = chat("skip", &NOBODY, input, move |server, peer, _| {
            server.close(peer, number, "enough", Duration::from_millis(500)).expect("it stands");
        });
        let sentence = ending.sentence("").expect("it says why");
        assert!(
            sentence.starts_with(&format!("the server closed the connection: enough (code {number})")),
            "{sentence}"
        );
        assert_eq!(ending.exit(), exit);
        assert!(output.contains("zoe: go"), "what came before the end is shown: {output}");
    }
}

#[test]
fn a_signal_says_goodbye() {
    let stop = AtomicBool::new(false);
    let (_keep_open, input) = typing("go\n");
    let start = Instant::now();
    let (ending, _) = chat("skip", &stop, input, |_, _, _| stop.store(true, Ordering::SeqCst));
    assert_eq!(ending.exit(), Exit::Interrupted);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_unused_port_is_named() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port");
    let url = format!("ws://{free}");
    let session = Session::connect(&url, &Guest::Chat("zoe".into()).token(), Trust::System).expect("a socket");
    let (_keep_open, input) = typing("never sent\n");
    let ending = plain::run(session, BufReader::new(input), &mut Vec::new(), &NOBODY);
    let sentence = ending.sentence(&url).expect("it says why");
    assert!(sentence.starts_with(&format!("cannot reach {url}: ")), "{sentence}");
    assert_eq!(ending.exit(), Exit::Unavailable);
}
