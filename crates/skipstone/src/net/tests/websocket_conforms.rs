//! The cases of the Autobahn test suite for servers, sections 1 to 7 and 9, against the echo path: the bytes that are
//! sent, and the expected answers. Its sections 12 and 13 are about compression, which is not offered. Where the suite
//! accepts several outcomes, the strict one is required, except in 6.4.3 and 6.4.4: invalid text is detected at the end
//! of its frame.
//!
//! `cargo test -p skipstone --lib websocket_conforms -- --nocapture` prints how many cases there are.

use super::websocket::{RawClient, Server, client_frame};
use super::*;
use crate::net::websocket::{StreamRules, WsOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How the bytes are handed to TCP.
#[derive(Clone, Copy, Debug)]
enum Chops {
    Whole,
    Frames,
    Of(usize),
}

/// An echoed frame: its opcode and its payload.
type Reply = (u8, Vec<u8>);

#[derive(Debug)]
enum End {
    /// It stays open until the client closes with 1000.
    Open,
    /// The server closes with this code.
    Closes(u16),
    /// The server answers a Close frame without a code.
    ClosesBare,
    /// The server closes, with any code.
    ClosesAnyhow,
}

#[derive(Debug)]
struct Case {
    name: String,
    frames: Vec<Vec<u8>>,
    chops: Chops,
    replies: Vec<Reply>,
    end: End,
}

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
const FIN: u8 = 0x80;

fn whole(opcode: u8, payload: &[u8]) -> Vec<u8> {
    client_frame(FIN | opcode, payload)
}

/// A message in pieces of this many bytes.
fn pieces(opcode: u8, payload: &[u8], bytes: usize) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = payload.chunks(bytes).collect();
    parted(opcode, &parts)
}

/// A message in these pieces.
fn parted(opcode: u8, parts: &[&[u8]]) -> Vec<Vec<u8>> {
    let last = parts.len() - 1;
    let frame = |(place, part): (usize, &&[u8])| {
        let fin = if place == last { FIN } else { 0 };
        client_frame(fin | if place == 0 { opcode } else { CONTINUATION }, part)
    };
    parts.iter().enumerate().map(frame).collect()
}

fn close(code: u16, reason: &[u8]) -> Vec<u8> {
    whole(CLOSE, &[&code.to_be_bytes()[..], reason].concat())
}

#[derive(Default)]
struct Table(Vec<Case>);

impl Table {
    fn add(&mut self, name: impl Into<String>, frames: Vec<Vec<u8>>, chops: Chops, replies: Vec<Reply>, end: End) {
        self.0.push(Case { name: name.into(), frames, chops, replies, end });
    }

    fn echoes(&mut self, name: impl Into<String>, frames: Vec<Vec<u8>>, chops: Chops, reply: Reply) {
        self.add(name, frames, chops, vec![reply], End::Open);
    }

    fn fails(&mut self, name: impl Into<String>, frames: Vec<Vec<u8>>, chops: Chops, replies: Vec<Reply>) {
        self.add(name, frames, chops, replies, End::Closes(1002));
    }
}

const MODES: [Chops; 3] = [Chops::Whole, Chops::Frames, Chops::Of(1)];

fn framing(table: &mut Table) {
    for (section, opcode, byte) in [(1, TEXT, b'*'), (2, BINARY, 0xfe)] {
        let lengths = [0, 125, 126, 127, 128, 65_535, 65_536, 65_536];
        for (place, length) in (1..).zip(lengths) {
            let payload = vec![byte; length];
            let chops = if place == 8 { Chops::Of(997) } else { Chops::Whole };
            table.echoes(format!("1.{section}.{place}"), vec![whole(opcode, &payload)], chops, (opcode, payload));
        }
    }
}

fn pings(table: &mut Table) {
    let binary = [0, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0, 0xff].to_vec();
    for (place, payload) in (1..).zip([vec![], b"Hello, world!".to_vec(), binary, vec![0xfe; 125]]) {
        table.echoes(format!("2.{place}"), vec![whole(PING, &payload)], Chops::Whole, (PONG, payload));
    }
    table.fails("2.5", vec![whole(PING, &[0xfe; 126])], Chops::Whole, vec![]);
    table.echoes("2.6", vec![whole(PING, &[0xfe; 125])], Chops::Of(1), (PONG, vec![0xfe; 125]));
    table.add("2.7", vec![whole(PONG, b"")], Chops::Whole, vec![], End::Open);
    table.add("2.8", vec![whole(PONG, b"unsolicited")], Chops::Whole, vec![], End::Open);
    table.echoes(
        "2.9",
        vec![whole(PONG, b"unsolicited"), whole(PING, b"ping")],
        Chops::Whole,
        (PONG, b"ping".to_vec()),
    );
    for (name, chops) in [("2.10", Chops::Whole), ("2.11", Chops::Of(1))] {
        let payloads: Vec<Vec<u8>> = (0..10).map(|number| format!("payload-{number}").into_bytes()).collect();
        let frames = payloads.iter().map(|payload| whole(PING, payload)).collect();
        table.add(name, frames, chops, payloads.into_iter().map(|payload| (PONG, payload)).collect(), End::Open);
    }
}

fn reserved(table: &mut Table) {
    let hello = || (TEXT, b"Hello, world!".to_vec());
    let with_rsv = |rsv: u8, opcode: u8| client_frame(FIN | rsv << 4 | opcode, b"Hello, world!");
    table.fails("3.1", vec![with_rsv(1, TEXT)], Chops::Whole, vec![]);
    for (place, chops) in (2..5).zip(MODES) {
        let frames = vec![whole(TEXT, b"Hello, world!"), with_rsv(place, TEXT), whole(PING, b"")];
        table.fails(format!("3.{place}"), frames, chops, vec![hello()]);
    }
    for (place, opcode) in [(5, BINARY), (6, PING), (7, CLOSE)] {
        table.fails(format!("3.{place}"), vec![with_rsv(place, opcode)], Chops::Whole, vec![]);
    }
    for (section, first) in [(1, 3), (2, 11)] {
        table.fails(format!("4.{section}.1"), vec![whole(first, b"")], Chops::Whole, vec![]);
        table.fails(format!("4.{section}.2"), vec![whole(first + 1, b"reserved")], Chops::Whole, vec![]);
        for (place, payload, chops) in [(3, &b""[..], Chops::Whole), (4, b"x", Chops::Whole), (5, b"x", Chops::Of(1))] {
            let frames = vec![whole(TEXT, b"Hello, world!"), whole(first + place - 1, payload), whole(PING, b"")];
            table.fails(format!("4.{section}.{place}"), frames, chops, vec![hello()]);
        }
    }
}

fn fragments(table: &mut Table) {
    let two = |opcode| parted(opcode, &[b"fragment1", b"fragment2"]);
    let joined = || (TEXT, b"fragment1fragment2".to_vec());
    table.fails("5.1", two(PING), Chops::Whole, vec![]);
    table.fails("5.2", two(PONG), Chops::Whole, vec![]);
    for (place, chops) in (3..).zip(MODES) {
        table.echoes(format!("5.{place}"), two(TEXT), chops, joined());
    }
    for (place, chops) in (6..).zip(MODES) {
        let mut frames = two(TEXT);
        frames.insert(1, whole(PING, b"ping"));
        table.add(format!("5.{place}"), frames, chops, vec![(PONG, b"ping".to_vec()), joined()], End::Open);
    }
    for (first, fin) in [(9, FIN), (12, 0)] {
        for (place, chops) in (first..).zip(MODES) {
            let frames = vec![client_frame(fin | CONTINUATION, b"nothing to continue"), whole(TEXT, b"Hello, world!")];
            table.fails(format!("5.{place}"), frames, chops, vec![]);
        }
    }
    let mut frames = two(TEXT);
    frames.extend([client_frame(CONTINUATION, b"fragment3"), whole(TEXT, b"fragment4")]);
    table.fails("5.15", frames, Chops::Whole, vec![joined()]);
    for (name, fin) in [("5.16", 0), ("5.17", FIN)] {
        let round = [
            client_frame(fin | CONTINUATION, b"fragment1"),
            client_frame(TEXT, b"fragment2"),
            whole(CONTINUATION, b"fragment3"),
        ];
        table.fails(name, round.iter().chain(&round).cloned().collect(), Chops::Whole, vec![]);
    }
    table.fails("5.18", vec![client_frame(TEXT, b"fragment1"), whole(TEXT, b"fragment2")], Chops::Whole, vec![]);
    for (name, chops) in [("5.19", Chops::Whole), ("5.20", Chops::Frames)] {
        let mut frames = parted(TEXT, &[b"fragment1", b"fragment2", b"fragment3", b"fragment4", b"fragment5"]);
        frames.insert(2, whole(PING, b"pongme 1!"));
        frames.insert(5, whole(PING, b"pongme 2!"));
        let text = (TEXT, b"fragment1fragment2fragment3fragment4fragment5".to_vec());
        let replies = vec![(PONG, b"pongme 1!".to_vec()), (PONG, b"pongme 2!".to_vec()), text];
        table.add(name, frames, chops, replies, End::Open);
    }
}

fn text(table: &mut Table) {
    let greek = "κόσμε".as_bytes();
    table.echoes("6.1.1", vec![whole(TEXT, b"")], Chops::Whole, (TEXT, vec![]));
    table.echoes("6.1.2", parted(TEXT, &[b"", b"", b""]), Chops::Whole, (TEXT, vec![]));
    table.echoes(
        "6.1.3",
        parted(TEXT, &[b"", b"middle frame payload", b""]),
        Chops::Whole,
        (TEXT, b"middle frame payload".to_vec()),
    );
    let hello = "Hello-µ@ßöäüàá-UTF-8!!".as_bytes();
    table.echoes("6.2.1", vec![whole(TEXT, hello)], Chops::Whole, (TEXT, hello.to_vec()));
    table.echoes("6.2.2", parted(TEXT, &[&hello[..8], &hello[8..]]), Chops::Whole, (TEXT, hello.to_vec()));
    table.echoes("6.2.3", pieces(TEXT, hello, 1), Chops::Whole, (TEXT, hello.to_vec()));
    table.echoes("6.2.4", pieces(TEXT, greek, 1), Chops::Whole, (TEXT, greek.to_vec()));
    let invalid =
        |table: &mut Table, name: String, frames, chops| table.add(name, frames, chops, vec![], End::Closes(1007));
    let broken = [greek, &[0xed, 0xa0, 0x80], b"edited"].concat();
    invalid(table, "6.3.1".into(), vec![whole(TEXT, &broken)], Chops::Whole);
    invalid(table, "6.3.2".into(), pieces(TEXT, &broken, 1), Chops::Whole);
    // The server has to notice before the message is complete.
    let beyond = [&[0xf4, 0x90, 0x80, 0x80][..], b"edited"].concat();
    let early = |last: &[u8]| vec![client_frame(TEXT, greek), client_frame(CONTINUATION, last)];
    invalid(table, "6.4.1".into(), early(&beyond[..4]), Chops::Frames);
    invalid(table, "6.4.2".into(), early(&beyond[..2]), Chops::Frames);
    invalid(table, "6.4.3".into(), vec![whole(TEXT, &[greek, &beyond].concat())], Chops::Of(11 + 6 + 4));
    invalid(table, "6.4.4".into(), vec![whole(TEXT, &[greek, &beyond].concat())], Chops::Of(11 + 6 + 2));
    let one_way = [hello, b"Hello-\xc2\xb5@\xc3\x9f", "\u{10ffff}".as_bytes(), b"\x7f", greek];
    for (place, payload) in (1..).zip(one_way) {
        table.echoes(format!("6.5.{place}"), vec![whole(TEXT, payload)], Chops::Whole, (TEXT, payload.to_vec()));
    }
    for (section, sequences) in (6..).zip(sequences()) {
        for (place, payload) in (1..).zip(sequences) {
            let name = format!("6.{section}.{place}");
            match str::from_utf8(&payload) {
                Ok(_) => table.echoes(name, vec![whole(TEXT, &payload)], Chops::Whole, (TEXT, payload)),
                Err(_) => invalid(table, name, vec![whole(TEXT, &payload)], Chops::Whole),
            }
        }
    }
}

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// Sections 6.6 to 6.23: Markus Kuhn's sequences, valid and invalid; the standard library decides which are valid.
fn sequences() -> Vec<Vec<Vec<u8>>> {
    let all = |words: &str| words.split_whitespace().map(hex).collect::<Vec<_>>();
    let lonely = |range: std::ops::RangeInclusive<u8>| range.flat_map(|byte| [byte, b' ']).collect::<Vec<u8>>();
    let greek = "κόσμε".as_bytes();
    let missing = "c0 e080 f08080 f8808080 fc80808080 df efbf f7bfbf fbbfbfbf fdbfbfbfbf";
    let planes = (0..17_u32).flat_map(|plane| [0xfffe, 0xffff].map(|low| char::from_u32(plane << 16 | low).unwrap()));
    vec![
        (1..=greek.len()).map(|length| greek[..length].to_vec()).collect(),
        all("00 c280 e0a080 f0908080"),
        all("f888808080 fc8480808080"),
        all("7f dfbf efbfbf f48fbfbf"),
        all("f7bfbfbf fbbfbfbfbf fdbfbfbfbfbf"),
        all("ed9fbf ee8080 efbfbd f48fbfbf f4908080"),
        [all("80 bf 80bf 80bf80 80bf80bf 80bf80bf80 80bf80bf80bf"), vec![(0x80..=0xbf).collect()]].concat(),
        vec![lonely(0xc0..=0xdf), lonely(0xe0..=0xef), lonely(0xf0..=0xf7), lonely(0xf8..=0xfb), lonely(0xfc..=0xfd)],
        all(missing),
        vec![hex(&missing.replace(' ', ""))],
        all("fe ff fefeffff"),
        all("c0af e080af f08080af f8808080af fc80808080af"),
        all("c1bf e09fbf f08fbfbf f887bfbfbf fc83bfbfbfbf"),
        all("c080 e08080 f0808080 f880808080 fc8080808080"),
        all("eda080 edadbf edae80 edafbf edb080 edbe80 edbfbf"),
        all("eda080edb080 eda080edbfbf edadbfedb080 edadbfedbfbf edae80edb080 edae80edbfbf edafbfedb080 edafbfedbfbf"),
        planes.map(|point| point.to_string().into_bytes()).collect(),
        all("efbfb9 efbfba efbfbb efbfbc efbfbd efbfbe efbfbf"),
    ]
}

fn closings(table: &mut Table) {
    let hello = || whole(TEXT, b"Hello World!");
    table.add(
        "7.1.1",
        vec![hello(), close(1000, b"")],
        Chops::Whole,
        vec![(TEXT, b"Hello World!".to_vec())],
        End::Closes(1000),
    );
    table.add("7.1.2", vec![close(1000, b""), close(1000, b"")], Chops::Whole, vec![], End::Closes(1000));
    table.add("7.1.3", vec![close(1000, b""), whole(PING, b"")], Chops::Whole, vec![], End::Closes(1000));
    table.add("7.1.4", vec![close(1000, b""), hello()], Chops::Whole, vec![], End::Closes(1000));
    let mut frames = parted(TEXT, &[b"fragment1", b"fragment2"]);
    frames.insert(1, close(1000, b""));
    table.add("7.1.5", frames, Chops::Whole, vec![], End::Closes(1000));
    let large = vec![b'x'; 256 << 10];
    let frames = vec![whole(TEXT, &large), close(1000, b""), whole(PING, b"")];
    table.add("7.1.6", frames, Chops::Whole, vec![(TEXT, large)], End::Closes(1000));
    table.add("7.3.1", vec![whole(CLOSE, b"")], Chops::Whole, vec![], End::ClosesBare);
    table.add("7.3.2", vec![whole(CLOSE, b"a")], Chops::Whole, vec![], End::Closes(1002));
    table.add("7.3.3", vec![close(1000, b"")], Chops::Whole, vec![], End::Closes(1000));
    table.add("7.3.4", vec![close(1000, b"Hello World!")], Chops::Whole, vec![], End::Closes(1000));
    table.add("7.3.5", vec![close(1000, &[b'*'; 123])], Chops::Whole, vec![], End::Closes(1000));
    table.add("7.3.6", vec![close(1000, &[b'*'; 124])], Chops::Whole, vec![], End::Closes(1002));
    let broken = ["κόσμε".as_bytes(), &[0xed, 0xa0, 0x80], b"edited"].concat();
    table.add("7.5.1", vec![close(1000, &broken)], Chops::Whole, vec![], End::Closes(1007));
    let good = [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999];
    for (place, code) in (1..).zip(good) {
        table.add(format!("7.7.{place}"), vec![close(code, b"")], Chops::Whole, vec![], End::Closes(code));
    }
    for (place, code) in (1..).zip([0, 999, 1004, 1005, 1006, 1016, 1100, 2000, 2999]) {
        table.add(format!("7.9.{place}"), vec![close(code, b"")], Chops::Whole, vec![], End::Closes(1002));
    }
    // The suite is only informative about these.
    table.add("7.13.1", vec![close(5000, b"")], Chops::Whole, vec![], End::ClosesAnyhow);
    table.add("7.13.2", vec![close(65_535, b"")], Chops::Whole, vec![], End::ClosesAnyhow);
}

fn limits(table: &mut Table) {
    const KB: usize = 1 << 10;
    for (sections, opcode, byte) in [([1, 3, 5, 7], TEXT, b'*'), ([2, 4, 6, 8], BINARY, 0xfe)] {
        let [large, fragmented, chopped, many] = sections;
        for (place, length) in (1..).zip([64 * KB, 256 * KB, KB * KB, 4 * KB * KB, 8 * KB * KB, 16 * KB * KB]) {
            let payload = vec![byte; length];
            table.echoes(format!("9.{large}.{place}"), vec![whole(opcode, &payload)], Chops::Whole, (opcode, payload));
        }
        for (place, length) in (1..).zip([64, 256, KB, 4 * KB, 16 * KB, 64 * KB, 256 * KB, KB * KB, 4 * KB * KB]) {
            let payload = vec![byte; 4 * KB * KB];
            table.echoes(
                format!("9.{fragmented}.{place}"),
                pieces(opcode, &payload, length),
                Chops::Whole,
                (opcode, payload),
            );
        }
        for (place, bytes) in (1..).zip([64, 128, 256, 512, KB, 2 * KB]) {
            let payload = vec![byte; KB * KB];
            table.echoes(
                format!("9.{chopped}.{place}"),
                vec![whole(opcode, &payload)],
                Chops::Of(bytes),
                (opcode, payload),
            );
        }
        for (place, length) in (1..).zip([0, 16, 64, 256, KB, 4 * KB]) {
            let payload = vec![byte; length];
            let (frames, replies) = (vec![whole(opcode, &payload); 1_000], vec![(opcode, payload); 1_000]);
            table.add(format!("9.{many}.{place}"), frames, Chops::Frames, replies, End::Open);
        }
    }
}

/// Runs an echo server while it lives.
struct Echo {
    address: SocketAddr,
    must_stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Echo {
    fn start() -> Echo {
        let mut server = Server::new(loopback_v4());
        server.listener.set_rules(StreamRules { echo_path: Some("/echo".into()), ..StreamRules::default() });
        // More than the largest message.
        let room = 64 << 20;
        server.listener.set_options(WsOptions {
            message_bytes_max: room,
            high_water_bytes: room,
            ..WsOptions::default()
        });
        let (address, must_stop) = (server.address, Arc::new(AtomicBool::new(false)));
        let stop = Arc::clone(&must_stop);
        let thread = std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                server.step();
            }
        });
        Echo { address, must_stop, thread: Some(thread) }
    }

    fn play(&self, case: &Case) -> Result<(), String> {
        let mut tcp = self.join();
        let mut writer = tcp.try_clone().expect("a second handle");
        let (frames, chops) = (case.frames.clone(), case.chops);
        let closes_itself = matches!(case.end, End::Open);
        let sender = std::thread::spawn(move || {
            // The server may have hung up, which some cases are about.
            match chops {
                Chops::Whole => drop(writer.write_all(&frames.concat())),
                Chops::Frames => frames.iter().for_each(|frame| drop(writer.write_all(frame))),
                Chops::Of(bytes) => frames.concat().chunks(bytes).for_each(|part| drop(writer.write_all(part))),
            }
            if closes_itself {
                let _ = writer.write_all(&close(1000, b""));
            }
        });
        let mut replies = Vec::new();
        let end = loop {
            match read_frame(&mut tcp)? {
                (CLOSE, payload) => break payload,
                reply => replies.push(reply),
            }
        };
        sender.join().expect("it writes");
        let rest = std::io::copy(&mut tcp, &mut std::io::sink());
        let code = end.first_chunk().map(|code| u16::from_be_bytes(*code));
        let is_good_end = match case.end {
            End::Open => code == Some(1000),
            End::Closes(wanted) => code == Some(wanted),
            End::ClosesBare => code.is_none_or(|code| code == 1000),
            End::ClosesAnyhow => true,
        };
        match (is_good_end, replies == case.replies) {
            (true, true) if rest.as_ref().is_ok_and(|rest| *rest == 0) => Ok(()),
            (true, true) => Err(format!("after the Close frame: {rest:?}")),
            (false, _) => Err(format!("closed with {code:?}, and {:?} was expected", case.end)),
            (_, false) => {
                Err(format!("{} replies, and {} were expected, or others", replies.len(), case.replies.len()))
            }
        }
    }

    /// A stream at the echo path, whose handshake is through.
    fn join(&self) -> TcpStream {
        let mut tcp = TcpStream::connect(self.address).expect("it listens");
        tcp.set_nodelay(true).expect("it is a socket");
        tcp.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a socket");
        let request = "GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
            Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
        tcp.write_all(request.as_bytes()).expect("it is open");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            tcp.read_exact(&mut byte).expect("it answers");
            head.push(byte[0]);
        }
        assert!(head.starts_with(b"HTTP/1.1 101 "));
        let head = String::from_utf8(head).expect("text").to_ascii_lowercase();
        assert!(!head.contains("sec-websocket-extensions"), "no compression is offered");
        tcp
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.must_stop.store(true, Ordering::Relaxed);
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}

/// One frame from the server: whole, not masked, without extensions.
fn read_frame(tcp: &mut TcpStream) -> Result<Reply, String> {
    let mut take = |count: usize| {
        let mut bytes = vec![0; count];
        tcp.read_exact(&mut bytes).map(|()| bytes).map_err(|error| format!("no frame: {error}"))
    };
    let head = take(2)?;
    let length = match head[1] {
        length @ 0..126 => usize::from(length),
        126 => usize::from(u16::from_be_bytes(take(2)?.try_into().expect("two bytes"))),
        127 => u64::from_be_bytes(take(8)?.try_into().expect("eight bytes")) as usize,
        _ => return Err("a masked frame".into()),
    };
    if head[0] & 0xf0 != FIN {
        return Err(format!("a frame that begins with {:#x}", head[0]));
    }
    Ok((head[0] & 0x0f, take(length)?))
}

#[test]
fn to_every_case_of_the_autobahn_suite() {
    let mut table = Table::default();
    for section in [framing, pings, reserved, fragments, text, closings, limits] {
        section(&mut table);
    }
    let echo = Echo::start();
    let failed: Vec<String> = table
        .0
        .iter()
        .filter_map(|case| echo.play(case).err().map(|error| format!("case {}: {error}", case.name)))
        .collect();
    println!("{} cases, {} failed", table.0.len(), failed.len());
    assert!(failed.is_empty(), "{failed:#?}");
    let names: std::collections::BTreeSet<_> = table.0.iter().map(|case| &case.name).collect();
    assert_eq!(names.len(), table.0.len(), "each once");
}

#[test]
fn echo_is_off_by_default() {
    let mut server = Server::new(loopback_v4());
    let mut client = RawClient::upgraded(&mut server);
    client.send(&whole(TEXT, b"echo?"));
    client.send(&whole(PING, b"there?"));
    server.run_until("the ping is answered", |_| {
        client.read();
        !client.received.is_empty()
    });
    assert_eq!(client.received, [&[0x8a, 6][..], b"there?"].concat());
}
