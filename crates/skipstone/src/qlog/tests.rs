//! Files are JSON text sequences, and report the same numbers of sent, received and lost packets as the statistics.

use super::*;
use bytes::Bytes;
use serde_json::Value;
use skipstone_proto::{
    Carrier, Config, Duration, Endpoint, Event, LoggedFrames, MessageId, PacketEvent, Path as PeerPath, RedundancyMode,
    Settings, Stats, Time,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("skipstone-qlog-{name}-{}", std::process::id()))
}

/// The records of each file, which are whole.
fn records(folder: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(name)).expect("it was written");
    assert!(text.starts_with('\u{1E}') && text.ends_with('\n'), "RFC 7464");
    text[1..].split('\u{1E}').map(|record| serde_json::from_str(record).expect("JSON")).collect()
}

fn count(records: &[Value], name: &str) -> u64 {
    records.iter().filter(|record| record["name"] == name).count() as u64
}

fn path(port: u16) -> PeerPath {
    PeerPath { socket: 0, local: None, remote: ([192, 0, 2, 1], port).into(), carrier: Carrier::UDP }
}

/// Carries due datagrams to the other side; every seventh datagram is lost.
fn carry(now: Time, from: &mut Endpoint, to: (&mut Endpoint, u16), number: &mut u32) {
    let mut buffer = vec![0; 1 << 16];
    while let Some(transmit) = from.poll_transmit(now, &mut buffer) {
        for datagram in buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
            *number += 1;
            if !number.is_multiple_of(7) {
                to.0.handle_datagram(now, path(to.1), datagram);
            }
        }
    }
}

/// A client sends messages of 100 bytes for `seconds` seconds. Returns the counters of the client and the server.
fn play(qlog: &Qlog, seconds: u64) -> (Stats, Stats) {
    let config = |config, name| Config { packet_log: Some(qlog.endpoint(name)), ..config };
    // A repair for each packet, however short the path is.
    let mut settings = Settings::default();
    settings.redundancy.mode = RedundancyMode::Fixed { sources: 1, repairs: 1 };
    let mut server = Endpoint::new(config(Config::server(settings), "server"), [1; 32]).expect("it is good");
    let mut client = Endpoint::new(config(Config::client(), "client"), [2; 32]).expect("it is good");
    let (mut now, mut number) = (Time::from_micros(1_000_000), 0);
    let peer = client.connect(now, path(7_777), b"a secret token").expect("it may");
    for tick in 0..seconds * 100 {
        now += Duration::from_millis(10);
        client.handle_timeout(now);
        server.handle_timeout(now);
        // Refused until it is connected.
        let _ = client.send(now, peer, 5, Bytes::from_static(&[b'x'; 100]), MessageId(tick));
        carry(now, &mut client, (&mut server, 5_000), &mut number);
        now += Duration::from_millis(1);
        carry(now, &mut server, (&mut client, 7_777), &mut number);
        while let Some(event) = server.poll_event(now) {
            if let Event::Requested { peer, .. } = event {
                server.accept(now, peer);
            }
        }
        while client.poll_event(now).is_some() {}
    }
    (client.totals(), server.totals())
}

#[test]
fn a_file_is_a_json_text_sequence_that_agrees_with_the_statistics() {
    let folder = folder("whole");
    let limits = QlogLimits { waits_for_disk: true, ..QlogLimits::default() };
    let qlog = Qlog::create(&folder, limits).expect("a folder");
    let (client, server) = play(&qlog, 5);
    assert_eq!(qlog.status().stopped, None);
    assert_eq!(qlog.status().files, 2);
    drop(qlog);
    assert!(client.packets_lost > 20 && server.redundancy.packets_recovered > 0, "{client:?} {server:?}");
    for (name, stats) in [("client", client), ("server", server)] {
        let records = records(&folder, &format!("{name}-1.sqlog"));
        let header = &records[0];
        assert_eq!((&header["qlog_version"], &header["qlog_format"]), (&"0.3".into(), &"JSON-SEQ".into()));
        assert_eq!(header["trace"]["vantage_point"]["type"], name);
        assert_eq!(records[1]["name"], "connectivity:connection_started");
        let times: Vec<f64> = records[1..].iter().map(|record| record["time"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted() && (4_900.0..5_600.0).contains(times.last().expect("there are some")));
        let sent = count(&records, "transport:packet_sent") + count(&records, "skipstone:handshake_sent");
        // The server answers HELLO before a connection exists.
        let answers = if name == "server" { stats.sent.datagrams - sent } else { 0 };
        assert!(answers <= 3, "{answers}");
        assert_eq!(sent + answers, stats.sent.datagrams);
        assert_eq!(count(&records, "transport:packet_received"), stats.received.datagrams);
        assert_eq!(count(&records, "recovery:packet_lost"), stats.packets_lost);
        assert_eq!(count(&records, "skipstone:packet_recovered"), stats.redundancy.packets_recovered);
        assert!(count(&records, "recovery:metrics_updated") > 100);
        let whole = fs::read_to_string(folder.join(format!("{name}-1.sqlog"))).expect("it was written");
        assert!(!whole.contains("secret") && !whole.contains("xxx"), "neither tokens nor payloads are written");
    }
    fs::remove_dir_all(folder).expect("it is ours");
}

/// The packets of a file: their numbers, and when each was sent or received, in ms since 1970.
fn packets(records: &[Value], name: &str) -> BTreeMap<u64, f64> {
    let reference = records[0]["trace"]["common_fields"]["reference_time"].as_f64().expect("a time");
    let of = |record: &Value| {
        let number = record["data"]["header"]["packet_number"].as_u64().expect("a number");
        (number, reference + record["time"].as_f64().expect("a time"))
    };
    records.iter().filter(|record| record["name"] == name).map(of).collect()
}

#[test]
fn files_contain_the_fields_that_qvis_reads_and_both_ends_agree_on_the_time() {
    let folder = folder("qvis");
    let limits = QlogLimits { waits_for_disk: true, ..QlogLimits::default() };
    let qlog = Qlog::create(&folder, limits).expect("a folder").in_virtual_time();
    play(&qlog, 5);
    drop(qlog);
    let [client, server] = ["client", "server"].map(|name| records(&folder, &format!("{name}-1.sqlog")));
    for records in [&client, &server] {
        let trace = &records[0]["trace"];
        // The vantage point selects the side of the sequence diagram; without an offset, a server is moved by a guess.
        let is_server = trace["vantage_point"]["type"] == "server";
        assert_eq!(trace["configuration"]["time_offset"].as_f64().is_some_and(|offset| offset > 0.0), is_server);
        assert_eq!(trace["common_fields"]["time_format"], "relative");
        assert_eq!(trace["title"], records[0]["title"]);
        for record in &records[1..] {
            let name = record["name"].as_str().expect("a name");
            assert!(name.split_once(':').is_some() && record["data"].is_object(), "{record}");
            if !["transport:packet_sent", "transport:packet_received", "recovery:packet_lost"].contains(&name) {
                continue;
            }
            let data = &record["data"];
            assert_eq!(data["header"]["packet_type"], "1RTT", "acknowledgements are looked up by type and number");
            assert!(data["raw"]["length"].as_u64().is_some_and(|bytes| bytes > 0), "{record}");
            let frames = data["frames"].as_array();
            assert!(frames.is_none_or(|frames| !frames.is_empty()), "the first frame of a list is looked at: {record}");
            for frame in frames.into_iter().flatten() {
                let kind = frame["frame_type"].as_str().expect("a type");
                let ranges = frame["acked_ranges"].as_array();
                assert_eq!(ranges.is_some(), kind == "ack", "{frame}");
                let is_range = |range: &Value| {
                    range.as_array().is_some_and(|both| both.len() == 2 && range[0].as_u64() <= range[1].as_u64())
                };
                assert!(ranges.into_iter().flatten().all(is_range), "{frame}");
            }
        }
        let lost = packets(records, "recovery:packet_lost");
        let sent = packets(records, "transport:packet_sent");
        // An OPEN in clear holds packet 0.
        let unsent: Vec<_> = lost.keys().filter(|number| **number > 0 && !sent.contains_key(number)).collect();
        assert!(unsent.is_empty(), "lost, and never sent: {unsent:?}");
        assert!(is_server || !lost.is_empty(), "acknowledgements alone, which a server sends here, are not missed");
    }
    for (from, to) in [(&client, &server), (&server, &client)] {
        let (sent, received) = (packets(from, "transport:packet_sent"), packets(to, "transport:packet_received"));
        assert!(received.len() > 100);
        // The path takes no time. A double of milliseconds since 1970 has a resolution of a quarter of a microsecond.
        let apart = |(number, at): (&u64, &f64)| sent.get(number).map_or(f64::INFINITY, |sent| (at - sent).abs());
        let most = received.iter().filter(|(number, _)| **number > 0).map(apart).fold(0.0, f64::max);
        assert!(most < 0.001, "{most} ms");
    }
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn a_packet_without_frames_has_no_frame_list() {
    let empty = schema::Data::of(&PacketEvent::Sent { number: 7, bytes: 31, frames: LoggedFrames::default() });
    assert_eq!(
        serde_json::to_value(&empty).expect("JSON"),
        serde_json::json!({ "header": { "packet_type": "1RTT", "packet_number": 7 }, "raw": { "length": 31 } })
    );
}

#[test]
fn a_limited_log_ends_with_a_complete_record_and_says_so() {
    let folder = folder("limits");
    let limits = QlogLimits { bytes_max: 100_000, files_max: 1, ..QlogLimits::default() };
    let qlog = Qlog::create(&folder, limits).expect("a folder");
    play(&qlog, 20);
    let status = qlog.status();
    assert_eq!((status.files, status.left_out), (1, 1));
    assert!(status.bytes <= 100_000 && status.bytes > 60_000, "{status:?}");
    assert!(status.stopped.as_deref().is_some_and(|why| why.contains("100000 bytes")), "{status:?}");
    drop(qlog);
    let name = fs::read_dir(&folder).expect("it is there").next().expect("a file").expect("it has a name").file_name();
    assert!(records(&folder, &name.to_string_lossy()).len() > 100);
    fs::remove_dir_all(folder).expect("it is ours");
}

/// A server with this name and a client of each port, which are accepted or not. One connection after another takes
/// part.
fn crowd(qlog: &Qlog, ports: core::ops::Range<u16>, is_accepting: bool) {
    let with_log = |config, name: &str| Config { packet_log: Some(qlog.endpoint(name)), ..config };
    let mut server =
        Endpoint::new(with_log(Config::server(Settings::default()), "server"), [1; 32]).expect("it is good");
    let mut now = Time::from_micros(1_000_000);
    let mut clients = Vec::new();
    for port in ports {
        let mut client = Endpoint::new(Config::client(), [port as u8; 32]).expect("it is good");
        client.connect(now, path(7_777), b"").expect("it may");
        clients.push((port, client));
    }
    for _ in 0..50 {
        now += Duration::from_millis(10);
        server.handle_timeout(now);
        // No datagram is lost at the point where the count of each side starts again.
        for (port, client) in &mut clients {
            client.handle_timeout(now);
            carry(now, client, (&mut server, *port), &mut 0);
            while client.poll_event(now).is_some() {}
        }
        while let Some(event) = server.poll_event(now) {
            if let Event::Requested { peer, .. } = event
                && is_accepting
            {
                server.accept(now, peer);
            }
        }
        let mut buffer = vec![0; 1 << 16];
        while let Some(transmit) = server.poll_transmit(now, &mut buffer) {
            let port = transmit.path.remote.port();
            let Some((_, client)) = clients.iter_mut().find(|(of, _)| *of == port) else { continue };
            for datagram in buffer[..transmit.bytes].chunks_mut(transmit.segment_bytes) {
                client.handle_datagram(now, path(7_777), datagram);
            }
        }
    }
}

#[test]
fn more_connections_than_queued_orders_each_have_a_file() {
    let folder = folder("crowd");
    let qlog = Qlog::create(&folder, QlogLimits::default()).expect("a folder");
    crowd(&qlog, 1_000..1_400, true);
    let status = qlog.status();
    assert_eq!((status.files, status.left_out, status.stopped), (400, 0, None));
    drop(qlog);
    for number in 1..=400 {
        let records = records(&folder, &format!("server-{number}.sqlog"));
        assert!(count(&records, "transport:packet_received") > 0, "{number}");
    }
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn refused_clients_get_no_file() {
    let folder = folder("strangers");
    let qlog = Qlog::create(&folder, QlogLimits { files_max: 20, ..QlogLimits::default() }).expect("a folder");
    crowd(&qlog, 1_000..1_100, false);
    assert_eq!((qlog.status().files, qlog.status().left_out), (0, 0));
    crowd(&qlog, 2_000..2_020, true);
    let status = qlog.status();
    assert_eq!((status.files, status.left_out, status.stopped), (20, 0, None));
    drop(qlog);
    let of_player = records(&folder, "server-1.sqlog");
    let handshake =
        |record: &Value| record["name"] == "skipstone:handshake_sent" || record["name"] == "transport:packet_received";
    assert!(of_player[..4].iter().any(handshake), "the file begins with the handshake: {of_player:?}");
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn existing_files_are_kept() {
    let folder = folder("again");
    for _ in 0..2 {
        play(&Qlog::create(&folder, QlogLimits::default()).expect("a folder"), 1);
    }
    let mut names: Vec<_> =
        fs::read_dir(&folder).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["client-1.sqlog", "client-2.sqlog", "server-1.sqlog", "server-2.sqlog"]);
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_and_an_invalid_folder_are_errors_with_a_message() {
    let mut full = open_files::LogFile {
        file: fs::OpenOptions::new().write(true).open("/dev/full").expect("a device"),
        written: 0,
    };
    let error = full.append(b"a record").expect_err("there is no room");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(Qlog::create("/dev/null/folder", QlogLimits::default()).is_err());
    // The folder is removed while the log runs.
    let folder = folder("gone");
    let qlog = Qlog::create(&folder, QlogLimits::default()).expect("a folder");
    fs::remove_dir_all(&folder).expect("it is ours");
    play(&qlog, 2);
    // The thread may need a moment to find out.
    let (begun, mut stopped) = (std::time::Instant::now(), None);
    while stopped.is_none() && begun.elapsed() < Duration::from_secs(10) {
        std::thread::yield_now();
        stopped = qlog.status().stopped;
    }
    let why = stopped.expect("it cannot write");
    assert!(why.starts_with("it cannot be written: ") && why.contains(".sqlog"), "{why}");
}
