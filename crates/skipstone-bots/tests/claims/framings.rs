//! The framings in Luau of messages that games have over their transports. Packets are written down here as the sources
//! of the originals have them, and the servers read them without the scripts' code. No original game server is run.

use crate::runs::{example, exit_of, number, result_of, script};
use crate::servers::Running;
use rusty_enet::{EventNoRef, Host, HostSettings, Packet, PeerID};
use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Whether a script that uses a framing runs to its end: what does not hold there is an error.
fn holds(framing: &str, text: &str) {
    let (folder, path) = script(&format!("skipstone.bot{{ api = 1 }} {text}"));
    let copy = folder.path().join(framing);
    std::fs::copy(example(&format!("framing/{framing}")), copy).expect("copied");
    assert_eq!(exit_of(&[&path, "udp://127.0.0.1:9", "--check"]), 0, "{framing}");
}

const HEX: &str = "local function hex(data)
        return (string.gsub(buffer.tostring(data), '.', function(c) return string.format('%02x', string.byte(c)) end))
    end
    local function same(got, wanted)
        if got ~= wanted then error(`{got} is not {wanted}`, 2) end
    end
";

#[test]
fn batches_of_mirror_are_what_its_source_writes() {
    // The two hashes are those of Mirror's ExtensionsTest, the bounds of the varuints those of its Compression.
    let text = "local mirror = require('mirror')
    same(mirror.hash(''), 2 ^ 32 - 2128831035)
    same(mirror.hash('Test'), 805092869)
    same(mirror.id('Mirror.ReadyMessage'), 0xaabc)
    same(mirror.id('Mirror.NetworkPingMessage'), 0x444f)
    local ready = mirror.message('Mirror.ReadyMessage')
    local ping = mirror.message('Mirror.NetworkPingMessage'):f64(-2):f64(0)
    local batch = mirror.batch(1.5, ready, ping)
    same(hex(batch), '000000000000f83f' .. '02bcaa' .. '124f44' .. '00000000000000c0' .. '0000000000000000')
    local seen = 0
    for id, reader, time in mirror.messages(batch) do
        seen += 1
        same(time, 1.5)
        if id == 0x444f then
            same(reader:f64(), -2)
            same(reader:f64(), 0)
            same(pcall(reader.u8, reader), false)
        end
    end
    same(seen, 2)
    local numbers = {
        [0] = '00', [240] = 'f0', [241] = 'f101', [2287] = 'f8ff', [2288] = 'f90000', [67823] = 'f9ffff',
        [67824] = 'faf00801', [16777215] = 'faffffff', [16777216] = 'fb00000001', [4294967295] = 'fbffffffff',
        [4294967296] = 'fc0000000001', [2 ^ 53] = 'fe00000000000020',
    }
    for number, bytes in numbers do
        local data = mirror.writer():varuint(number):done()
        same(hex(data), bytes)
        local long = mirror.writer():f64(0):varuint(buffer.len(data) + 2):u16(7):done()
        local whole = buffer.fromstring(buffer.tostring(long) .. buffer.tostring(data))
        for _, reader in mirror.messages(whole) do
            same(reader:varuint(), number)
        end
    end
    same(hex(mirror.writer():varint(0):varint(-1):varint(1):varint(-2):string(nil):string('hi'):bytes('a'):done()),
        '00010203' .. '0000' .. '03006869' .. '0261')
    local short = mirror.batch(0, mirror.writer():u16(9):varint(-300):string('text'))
    for id, reader in mirror.messages(short) do
        same(id, 9)
        same(reader:varint(), -300)
        same(reader:string(), 'text')
    end
    local broken = buffer.fromstring(string.rep('\\0', 8) .. '\\9ab')
    same(pcall(function() for _ in mirror.messages(broken) do end end), false)";
    holds("mirror.luau", &format!("{HEX}{text}"));
}

#[test]
fn packets_of_godot_are_what_its_source_writes() {
    let text = "local godot = require('godot')
    same(hex(godot.raw('hi')), '036869')
    same(hex(godot.raw('hi', 1)), '036869')
    same(hex(godot.raw('hi', 0)), '0703' .. '00000000' .. '036869')
    same(hex(godot.raw('hi', -7)), '0703' .. 'f9ffffff' .. '036869')
    same(hex(godot.auth('key')), '07006b6579')
    same(hex(godot.auth()), '0700')
    same(godot.url('h:1', 77), 'enet://h:1?channels=255&data=77')
    local function read(bytes, kind, from, content)
        local got_kind, got_from, got = godot.read(buffer.fromstring(bytes))
        same(got_kind, kind)
        same(got_from, from)
        same(got and buffer.tostring(got), content)
    end
    read('\\3hi', 'raw', 1, 'hi')
    read('\\7\\1\\4\\3\\2\\1', 'add', 0x01020304, nil)
    read('\\7\\2\\4\\3\\2\\1', 'remove', 0x01020304, nil)
    read('\\7\\3\\5\\0\\0\\0\\3hi', 'raw', 5, 'hi')
    read('\\7\\3\\5\\0\\0\\0\\22x', 'other', 5, '\\22x')
    read('\\7\\0who', 'auth', 1, 'who')
    same(pcall(godot.read, buffer.fromstring('\\7\\3\\5')), false)";
    holds("godot.luau", &format!("{HEX}{text}"));
}

#[test]
fn bundles_of_fishnet_are_what_its_source_writes() {
    // The keys of the first two texts are folded from published hashes of FNV-1: 050c5d7e and 31f0b262.
    let text = "local fishnet = require('fishnet')
    same(fishnet.key('a'), 0x5872)
    same(fishnet.key('foobar'), 0x8392)
    same(fishnet.key('Game.Move'), 0x534a)
    local function bytes(text) return hex(buffer.fromstring(text)) end
    same(bytes(fishnet.bundle(7, fishnet.version('4.7.2'))), '07000000' .. '1500' .. '0a342e372e32')
    local fields = fishnet.writer():uint(300):f32(1):f32(0)
    local move, ping = fishnet.broadcast('Game.Move', fields), fishnet.ping(9)
    same(bytes(fishnet.bundle(1, move, ping)),
        '01000000' .. '0c004a5314' .. 'ac020000803f00000000' .. '0e0009000000')
    same(bytes(fishnet.writer():int(-1):int(64):uint(127):uint(128):string(nil):string('a'):u8(5):u16(258):done()),
        '01' .. '8001' .. '7f' .. '8001' .. '01' .. '0261' .. '05' .. '0201')
    local fields = fishnet.writer():uint(300):int(-70):string(nil):string('text')
    local seen = ''
    local bundle = fishnet.bundle(1, fishnet.broadcast('a', fields)) .. '\\21\\0\\1' .. '\\1\\0\\232\\7'
        .. '\\18\\0\\5\\0\\0\\0' .. '\\14\\0\\6\\0\\0\\0' .. '\\3\\0rest'
    for kind, value, reader in fishnet.packets(buffer.fromstring(bundle)) do
        seen ..= `{kind}={value} `
        if reader then
            same(reader:uint(), 300)
            same(reader:int(), -70)
            same(reader:string(), nil)
            same(reader:string(), 'text')
            same(pcall(reader.u8, reader), false)
        end
    end
    same(seen, `broadcast={0x5872} version=1 authenticated=500 timing=5 pong=6 other=3 `)";
    holds("fishnet.luau", &format!("{HEX}{text}"));
}

/// What the server in Godot's place saw.
#[derive(Default)]
struct Seen {
    peers: BTreeMap<usize, u32>,
    joined: usize,
    positions: usize,
    questions: usize,
}

/// A server as SceneMultiplayer is one: it tells peers of each other, relays, and gives its own packets back.
fn godot() -> Running<Seen> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
    let address = socket.local_addr().expect("an address");
    Running::start(address, move |stop| {
        let mut host = Host::new(socket, HostSettings { peer_limit: 32, ..HostSettings::default() }).expect("a host");
        let mut seen = Seen::default();
        while !stop.load(Ordering::Relaxed) {
            match host.service().expect("served").map(rusty_enet::Event::no_ref) {
                None => std::thread::sleep(Duration::from_millis(1)),
                Some(event) => handle(&mut host, &mut seen, event),
            }
        }
        seen
    })
}

fn handle(host: &mut Host<UdpSocket>, seen: &mut Seen, event: EventNoRef) {
    let system = |what: u8, peer: u32| Packet::reliable([&[7, what][..], &peer.to_le_bytes()].concat());
    let mut send = |to: usize, channel: u8, packet: &Packet| {
        // A peer that has just left cannot be sent to.
        let _ = host.peer_mut(PeerID(to)).send(channel, packet);
    };
    match event {
        EventNoRef::Connect { peer, data } => {
            assert!((2..=0x7fff_ffff).contains(&data) && seen.peers.values().all(|id| *id != data), "id {data}");
            for (other, id) in &seen.peers {
                send(*other, 0, &system(1, data));
                send(peer.0, 0, &system(1, *id));
            }
            seen.peers.insert(peer.0, data);
            seen.joined += 1;
        }
        EventNoRef::Disconnect { peer, .. } => {
            let left = seen.peers.remove(&peer.0).expect("a peer that came");
            seen.peers.keys().for_each(|other| send(*other, 0, &system(2, left)));
        }
        EventNoRef::Receive { peer, channel_id, packet } => match packet.data() {
            [7, 3, 0, 0, 0, 0, inner @ ..] => {
                assert!(channel_id == 1 && inner.len() == 14 && inner[..2] == [3, 2], "{inner:?}");
                seen.positions += 1;
                let from = seen.peers[&peer.0].to_le_bytes();
                let relayed = Packet::new([&[7, 3][..], &from, inner].concat(), packet.kind());
                seen.peers.keys().filter(|other| **other != peer.0).for_each(|other| send(*other, 1, &relayed));
            }
            question @ [3, 1, ..] => {
                assert!(channel_id == 0 && question.len() == 14, "{question:?}");
                seen.questions += 1;
                send(peer.0, 0, &Packet::reliable(question));
            }
            other => panic!("{other:?} is no packet of this game"),
        },
    }
}

#[test]
fn players_with_the_framing_of_godot_hear_each_other_and_are_answered() {
    let server = godot();
    let folder = tempfile::tempdir().expect("a folder");
    let source = std::fs::read_to_string(example("godot.luau")).expect("an example");
    assert!(source.contains("\"127.0.0.1:7000\""), "its address is named once");
    std::fs::create_dir(folder.path().join("framing")).expect("made");
    let framing = folder.path().join("framing/godot.luau");
    std::fs::copy(example("framing/godot.luau"), framing).expect("copied");
    let path = folder.path().join("godot.luau");
    std::fs::write(&path, source.replace("127.0.0.1:7000", &server.address.to_string())).expect("written");
    let words = ["-c", "4", "-d", "1500ms", "--ramp", "100ms", "--seed", "7"];
    let path = path.to_string_lossy();
    let result = result_of(&[&[&*path], &words[..]].concat());
    let seen = server.stop();
    assert_eq!(result["faults"], serde_json::json!([]), "{result:#}");
    assert_eq!((number(&result, "/bots/connected"), seen.joined), (4.0, 4), "{result:#}");
    assert_eq!(number(&result, "/metrics/is_from_a_peer/failed"), 0.0, "{result:#}");
    assert!(number(&result, "/metrics/answer_ms/count") > 0.0 && seen.questions > 0, "{result:#}");
    let heard = number(&result, "/metrics/positions/sum");
    assert!(heard > 0.0 && heard <= 3.0 * seen.positions as f64, "{heard} of {} positions", seen.positions);
}
