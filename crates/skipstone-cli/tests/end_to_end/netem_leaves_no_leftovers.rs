//! A bad network of the tool's own: its orders, its end, and what a killed one leaves for the next.

use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Running, SKIPSTONE, fresh_file, run};

/// Names of namespaces that this process made.
fn namespaces(id: u32) -> Vec<String> {
    let prefix = format!("skipstone-netem-{id}-");
    let names = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(&prefix)).collect()
}

fn link() -> Running {
    let mut running = Running::tool(&["netem", "link", "--delay", "5ms"]);
    running.until("the server's end is 198.18.0.2");
    running
}

#[test]
fn a_link_is_removed_with_its_process_or_by_the_next_run() {
    let first = run(&["netem", "link", "--queue", "1ms"]);
    first.expect(&[104]);
    if ["needs root", "/dev/net/tun", "cannot run `ip`"].iter().any(|missing| first.err.contains(missing)) {
        eprintln!("skipped: {}", first.err);
        return;
    }
    assert!(first.err.contains("give it a rate"), "{}", first.err);

    for signal in ["TERM", "INT"] {
        let running = link();
        let id = running.id();
        assert_eq!(namespaces(id).len(), 2);
        let name = &namespaces(id)[0];
        let inside = Command::new("ip").args(["netns", "exec", name, "ip", "-o", "link"]).output().expect("ip runs");
        assert!(String::from_utf8_lossy(&inside.stdout).contains("netem0"));
        running.signal(signal);
        running.wait().expect(&[0]);
        assert_eq!(namespaces(id), Vec::<String>::new(), "after SIG{signal}");
    }

    let killed = link();
    let id = killed.id();
    killed.signal("KILL");
    killed.wait();
    assert_eq!(namespaces(id).len(), 2, "no run has removed them");
    let next = link();
    assert_eq!(namespaces(id), Vec::<String>::new());
    next.signal("TERM");
    let ended = next.wait();
    // Another link that began at the same time may have been faster.
    let removed = ended.err.matches("remained from a killed run").count();
    assert!(removed <= 4, "{}", ended.err);
}

#[test]
fn a_relay_follows_commands_and_captures_its_traffic() {
    let server = UdpSocket::bind("127.0.0.1:0").unwrap();
    server.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let prefix = fresh_file("capture");
    let mut command = Command::new(SKIPSTONE);
    let to = server.local_addr().unwrap().to_string();
    command.args(["netem", "relay", "--relay", "udp", "--to", &to, "--pcap", prefix.to_str().unwrap()]);
    let mut running = Running::start_with_input(command, Stdio::piped());
    let text = running.until(", for ");
    let at = text.split("listening on ").nth(1).and_then(|rest| rest.split(',').next()).expect("it says where");
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(at).unwrap();

    let mut buffer = [0; 16];
    client.send(b"hello").unwrap();
    assert_eq!(server.recv(&mut buffer).unwrap(), 5);
    running.order("up loss=100%");
    running.until("up   loss=100%");
    std::thread::sleep(Duration::from_millis(100));
    client.send(b"hello?").unwrap();
    assert!(server.recv(&mut buffer).is_err(), "it got through");
    running.order("set los=1%");
    running.order("quit");
    let ended = running.wait();
    ended.expect(&[0]);
    assert!(ended.err.contains("did you mean loss?"), "{}", ended.err);
    assert!(ended.out.contains("at random"), "the table at the end: {}", ended.out);
    // A header, and what passed: two packets at the client's end, one at the server's.
    for (end, packets) in [("a", [33, 34].as_slice()), ("b", &[33])] {
        let path = format!("{}-{end}.pcap", prefix.display());
        let bytes: usize = packets.iter().map(|packet| packet + 16).sum();
        assert_eq!(std::fs::metadata(&path).unwrap().len() as usize, 24 + bytes, "{path}");
        std::fs::remove_file(path).unwrap();
    }
}

#[test]
fn mistakes_are_refused_before_any_change() {
    for (flags, cause) in [
        (["relay", "--to", "nowhere"].as_slice(), "--to nowhere"),
        (&["relay", "--to", "127.0.0.1:9", "--loss", "2"], "no percent sign"),
        (&["relay", "--to", "127.0.0.1:9", "--up", "los=2%"], "did you mean loss?"),
        (
            &["relay", "--to", "127.0.0.1:9", "--pcap", "/nonexistent/x"],
            "cannot write the capture /nonexistent/x-a.pcap",
        ),
        (&["relay", "--to", "127.0.0.1:9", "--trace", "/nonexistent/x"], "the trace /nonexistent/x"),
        (&["link", "--outage", "5s"], "as in 5s:300ms"),
    ] {
        let ended = run(&[&["netem"], flags].concat());
        ended.expect(&[104]);
        assert!(ended.err.contains(cause), "{flags:?}: {}", ended.err);
    }
    assert!(!Path::new("/nonexistent").exists());
}
