//! A recording is read back as it was written, and any fault of the disk or the file is reported as a sentence.

use super::*;
use skipstone_proto::DeliveryMode;
use std::io::Cursor;
use std::path::PathBuf;

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("skipstone-{name}-{}.rec", std::process::id()))
}

fn message(peer: u32, channel: u16, bytes: u64) -> RecordedMessage {
    RecordedMessage { peer, channel, bytes }
}

/// The bytes of a recording of one peer.
fn recorded(name: &str, bytes_max: u64, messages: u64) -> Vec<u8> {
    let path = file(name);
    let mut recorder = TrafficRecorder::create(&path, bytes_max).expect("a file");
    recorder.begin(RecordingSide::Server);
    recorder.on_connected(300);
    for number in 0..messages {
        recorder.on_received(message(300, 1, number), Some(DeliveryMode::ReliableSequenced));
    }
    recorder.on_broadcast(2, 1 << 40, Some(DeliveryMode::Unreliable));
    drop(recorder);
    let bytes = std::fs::read(&path).expect("it was written");
    std::fs::remove_file(path).expect("it is ours");
    bytes
}

fn events(bytes: &[u8]) -> Result<Vec<RecordedEvent>, RecordingError> {
    let reader = RecordingReader::new(Cursor::new(bytes))?;
    reader.map(|event| event.map(|(_, event)| event)).collect()
}

#[test]
fn a_recording_round_trips() {
    let bytes = recorded("whole", 1 << 20, 2);
    assert_eq!(
        events(&bytes).expect("it is whole"),
        [
            RecordedEvent::Connected { peer: 300 },
            RecordedEvent::Channel { channel: 1, mode: DeliveryMode::ReliableSequenced },
            RecordedEvent::Received(message(300, 1, 0)),
            RecordedEvent::Received(message(300, 1, 1)),
            RecordedEvent::Channel { channel: 2, mode: DeliveryMode::Unreliable },
            RecordedEvent::Broadcast { channel: 2, bytes: 1 << 40 },
            RecordedEvent::End(RecordingEnd::Complete),
        ]
    );
}

#[test]
fn a_recording_stops_at_its_limit_and_says_so() {
    let bytes = recorded("limit", 1_000, 10_000);
    assert!(bytes.len() <= 1_000, "{}", bytes.len());
    assert!(bytes.len() > 800, "{}", bytes.len());
    assert_eq!(events(&bytes).expect("it is whole").last(), Some(&RecordedEvent::End(RecordingEnd::Full)));
}

/// Each file that ends too early is an error that names the entry, or ends after a whole one.
#[test]
fn a_truncated_file_is_an_error_or_ends_with_a_complete_entry() {
    let bytes = recorded("cut", 1 << 20, 3);
    let all = events(&bytes).expect("it is whole");
    let mut whole = 0;
    for length in 0..bytes.len() {
        match events(&bytes[..length]) {
            Ok(some) => {
                assert_eq!(some[..], all[..some.len()]);
                whole += 1;
            }
            Err(RecordingError::NotARecording) => assert!(length < 9, "{length}"),
            Err(RecordingError::Cut(begin)) => assert!((9..length as u64).contains(&begin), "{begin} {length}"),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(whole, all.len());
}

#[test]
fn damaged_files_are_errors_with_a_position() {
    let good = recorded("damaged", 1 << 20, 1);
    let with = |at: usize, bytes: &[u8]| {
        let mut damaged = good.clone();
        damaged.splice(at..at + bytes.len().min(good.len() - at), bytes.iter().copied());
        events(&damaged).expect_err("it is damaged").to_string()
    };
    assert_eq!(with(0, b"X"), "it is no recording of traffic");
    assert_eq!(with(7, &[2]), "it is a recording of version 2, and this program reads version 1");
    assert_eq!(with(8, &[7]), "it is damaged: there is no such entry as at byte 0");
    assert_eq!(with(9, &[99]), "it is damaged: there is no such entry as at byte 9");
    assert_eq!(with(10, &[0xFF; 12]), "it is damaged: there is no such entry as at byte 9");
    // Any byte may become any other: the file is read to its end, or to an error.
    for at in 0..good.len() {
        for byte in 0..=255 {
            let mut damaged = good.clone();
            damaged[at] = byte;
            let _ = events(&damaged);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_ends_the_recording_with_a_message() {
    let mut recorder = TrafficRecorder::create("/dev/full", 64 << 20).expect("the device is there");
    recorder.begin(RecordingSide::Client);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while recorder.status().stopped.is_none() && std::time::Instant::now() < end {
        (0..1_000).for_each(|_| recorder.on_sent(message(0, 1, 1), None));
    }
    let stopped = recorder.status().stopped.expect("nothing can be written");
    assert!(stopped.contains("No space left"), "{stopped}");
}
