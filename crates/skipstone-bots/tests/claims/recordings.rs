//! A client that was recorded is played again: the same packets, not before their times.

use crate::runs::{number, result_of};
use crate::servers::{tcp, udp};
use skipstone_lab::flow_recording::{FlowEvent, FlowId, FlowProtocol, FlowRecorder, FlowRecording, Player, files_of};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A client's packet or the server's, at this millisecond.
type Played<'a> = (u64, FlowEvent, &'a [u8]);

/// The script of a client that did this.
fn script_of(folder: &Path, protocol: FlowProtocol, server: &str, played: &[Played<'_>]) -> PathBuf {
    let file = folder.join("game.flows").to_string_lossy().into_owned();
    let recorder = FlowRecorder::begin(&file, server, 1 << 20).expect("it can be written");
    let flow = FlowId { number: 1, protocol };
    for (ms, event, bytes) in played {
        recorder.record_at(Duration::from_millis(1_000 + ms), flow, *event, bytes);
    }
    drop(recorder);
    let recording = FlowRecording::read(&file).expect("a recording");
    let files = files_of(&recording, &Player::of(&recording, flow, None), "player").expect("a script");
    let script = folder.join("player.luau");
    std::fs::write(&script, files.script).expect("written");
    std::fs::write(script.with_extension("json"), files.schedule).expect("written");
    std::fs::write(script.with_extension("bin"), files.bytes).expect("written");
    script
}

/// A login of two answers, then a packet each 20 ms whose size differs and whose second byte counts.
fn game() -> Vec<(u64, FlowEvent, Vec<u8>)> {
    let mut played = vec![
        (0, FlowEvent::Up, b"\x01hello".to_vec()),
        (9, FlowEvent::Down, b"\x02who".to_vec()),
        (12, FlowEvent::Up, b"\x03Ada".to_vec()),
        (20, FlowEvent::Down, b"\x04welcome".to_vec()),
        (21, FlowEvent::Up, b"\x05go".to_vec()),
    ];
    played.extend((0..30_u8).map(|at| (60 + 20 * u64::from(at), FlowEvent::Up, vec![at; 8 + usize::from(at) % 3])));
    played
}

fn borrowed(played: &[(u64, FlowEvent, Vec<u8>)]) -> Vec<Played<'_>> {
    played.iter().map(|(at, event, bytes)| (*at, *event, bytes.as_slice())).collect()
}

#[test]
fn the_script_of_a_recording_sends_the_same_packets_no_earlier() {
    let answer = |heard: &mut Vec<(Instant, Vec<u8>)>, datagram: &[u8]| {
        heard.push((Instant::now(), datagram.to_vec()));
        match datagram[0] {
            1 if datagram.len() == 6 => vec![b"\x02who".to_vec()],
            3 if datagram.ends_with(b"Ada") => vec![b"\x04welcome".to_vec()],
            _ => Vec::new(),
        }
    };
    let server = udp(answer, |_| Vec::new());
    let folder = tempfile::tempdir().expect("a folder");
    let played = game();
    let script = script_of(folder.path(), FlowProtocol::Udp, &server.address.to_string(), &borrowed(&played));
    let began = Instant::now();
    let result = result_of(&[&script.to_string_lossy()]);
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    assert_eq!(number(&result, "/metrics/answered/passed"), 2.0, "{result:#}");
    let heard: Vec<_> = server.stop().into_values().collect();
    assert_eq!(heard.len(), 1, "the address of the recording is the script's");
    let sent: Vec<_> = played.iter().filter(|(_, event, _)| *event == FlowEvent::Up).collect();
    let bytes = |heard: &[(Instant, Vec<u8>)]| heard.iter().map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
    assert_eq!(bytes(&heard[0]), sent.iter().map(|(_, _, bytes)| bytes.clone()).collect::<Vec<_>>());
    // What follows the last answer keeps its distance from it; a timer never fires early, however late a machine is.
    let (answer, end) = (sent[2].0, sent.last().expect("the last").0);
    let took = heard[0].last().expect("the last").0 - began;
    assert!(took >= Duration::from_millis(end - answer), "{took:?} for {} ms", end - answer);
}

#[test]
fn a_stream_is_played_again_too() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let own = Arc::clone(&heard);
    let server = tcp(move |stream| {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            let mut heard = own.lock().expect("one at a time");
            heard.extend_from_slice(&buffer[..count]);
            if heard.ends_with(b"hello") || heard.ends_with(b"Ada") {
                let _ = stream.write_all(b"fine");
            }
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let played = game();
    let script = script_of(folder.path(), FlowProtocol::Tcp, &server.address.to_string(), &borrowed(&played));
    let result = result_of(&[&script.to_string_lossy()]);
    assert_eq!(number(&result, "/metrics/answered/passed"), 2.0, "{result:#}");
    assert_eq!(number(&result, "/bots/faulted"), 0.0, "{result:#}");
    server.stop();
    let sent: Vec<u8> =
        played.into_iter().filter(|(_, event, _)| *event == FlowEvent::Up).flat_map(|it| it.2).collect();
    assert_eq!(*heard.lock().expect("the server has ended"), sent);
}

#[test]
fn the_script_names_fields_that_count_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let packets: Vec<Vec<u8>> = (7..30_u32).map(|number| [&[9], &number.to_le_bytes()[..], b"xy"].concat()).collect();
    let at = |(at, bytes): (usize, &Vec<u8>)| (33 * at as u64, FlowEvent::Up, bytes.clone());
    let played: Vec<_> = packets.iter().enumerate().map(at).collect();
    let script = script_of(folder.path(), FlowProtocol::Udp, "\"] os.exit()", &borrowed(&played));
    let text = std::fs::read_to_string(script).expect("a script");
    assert!(
        text.contains("packets of 7 bytes that begin with 9: bytes 1 to 4 count up by 1 (little-endian)"),
        "{text}"
    );
    assert!(text.contains("udp://127.0.0.1:9000") && !text.contains("os.exit"), "no code of the file's: {text}");
}
