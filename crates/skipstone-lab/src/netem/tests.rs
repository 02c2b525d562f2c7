//! A link impairs real packets as configured, and in no other way. Tests of links between
//! namespaces need root; without it they say so and pass.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use skipstone::netsim::{Fate, Outage};

use super::clock_thread::{Before, make_punctual};
use super::path_settings::{PathSettings, Scope};
use super::relay::Relayed;
use super::run::Running;
use super::settings::{Framing, LinkSettings};
use super::taps::Taps;
use crate::flow_recording::{FlowEntry, FlowEvent, FlowRecorder, FlowRecording};
use crate::measure::splitmix::splitmix;

fn path(list: &str, seed: u64) -> PathSettings {
    let blank = LinkSettings::default;
    let mut path = PathSettings { up: blank(), down: blank(), outages: Vec::new(), seed };
    path.set(Scope::Both, list).expect("good settings");
    path
}

/// Only one link runs at a time, because real-time threads that share two cores delay each other.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A path with a socket at each end.
struct World {
    running: Running,
    client: UdpSocket,
    server: UdpSocket,
}

fn socket(address: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind(address).expect("a free port");
    let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(4 << 20);
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout is possible");
    socket
}

fn over_relay(list: &str, seed: u64) -> World {
    let server = socket(([127, 0, 0, 1], 0).into());
    let to = server.local_addr().unwrap().to_string();
    let running = Running::relay(Relayed::Both, "127.0.0.1:0", &to, &path(list, seed), Taps::default());
    // The port is free over TCP but may be in use over UDP, so that another one is tried.
    let only_udp = || Running::relay(Relayed::Udp, "127.0.0.1:0", &to, &path(list, seed), Taps::default());
    let running = running.or_else(|_| only_udp());
    let running = running.expect("a relay needs no rights");
    let client = socket(([127, 0, 0, 1], 0).into());
    client.connect(running.local().unwrap()).unwrap();
    World { running, client, server }
}

/// `None`, with a message, if no link can be created.
#[cfg(target_os = "linux")]
fn over_link(list: &str, seed: u64) -> Option<World> {
    use super::link::ADDRESSES;
    use super::namespaces::{check_rights, within};

    if let Err(missing) = check_rights() {
        eprintln!("skipped: {missing}");
        return None;
    }
    let running = Running::link(&path(list, seed), None, |line| eprintln!("{line}")).expect("root can make a link");
    let [a, b] = running.namespaces();
    let server = within(b, || socket((ADDRESSES[1], 7_000).into())).unwrap();
    let client = within(a, || socket((ADDRESSES[0], 7_001).into())).unwrap();
    client.connect((ADDRESSES[1], 7_000)).unwrap();
    Some(World { running, client, server })
}

#[cfg(not(target_os = "linux"))]
fn over_link(_list: &str, _seed: u64) -> Option<World> {
    eprintln!("skipped: links between namespaces exist on Linux only");
    None
}

impl World {
    /// Sends numbered packets with a pause after each, and returns the numbers that arrive, in order of arrival.
    fn arriving(&self, count: u32, bytes: usize, pause: Duration) -> Vec<u32> {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                make_punctual(Before::Others);
                let mut packet = vec![0; bytes];
                let began = Instant::now();
                for number in 0..count {
                    packet[..4].copy_from_slice(&number.to_be_bytes());
                    self.client.send(&packet).expect("a local socket takes it");
                    std::thread::sleep((pause * (number + 1)).saturating_sub(began.elapsed()));
                }
            });
            make_punctual(Before::Others);
            let (mut numbers, mut buffer) = (Vec::new(), [0; 2_048]);
            while let Ok(bytes) = self.server.recv(&mut buffer) {
                assert!(bytes >= 4);
                numbers.push(u32::from_be_bytes(*buffer.first_chunk().unwrap()));
            }
            numbers
        })
    }

    /// Round trips of packets that the server sends back at once, sorted.
    fn round_trips(&self, count: u32) -> Vec<Duration> {
        make_punctual(Before::Others);
        let mut buffer = [0; 64];
        let mut trips = Vec::new();
        for _ in 0..count {
            let began = Instant::now();
            self.client.send(b"there and back").unwrap();
            let (bytes, from) = self.server.recv_from(&mut buffer).expect("nothing is lost");
            self.server.send_to(&buffer[..bytes], from).unwrap();
            self.client.recv(&mut buffer).expect("nothing is lost");
            trips.push(began.elapsed());
        }
        trips.sort_unstable();
        trips
    }
}

/// The numbers that the model network loses with these settings and this seed: the expected losses.
fn lost_by_the_model(list: &str, seed: u64, count: u32) -> BTreeSet<u32> {
    let mut links = path(list, seed).config(Framing::Ip).unwrap().duplex(seed);
    let is_lost = |number: &u32| links.up.send(Duration::ZERO, &[0; 50], u64::from(*number)) != Fate::Queued;
    (0..count).filter(is_lost).collect()
}

fn missing(arrived: &[u32], count: u32) -> BTreeSet<u32> {
    let arrived: BTreeSet<u32> = arrived.iter().copied().collect();
    (0..count).filter(|number| !arrived.contains(number)).collect()
}

#[track_caller]
fn within_a_twentieth(measured: f64, asked: f64) {
    assert!((measured / asked - 1.0).abs() < 0.05, "{measured} is not within 5% of {asked}");
}

fn seeds_lose(world: &World, list: &str, seed: u64, asked: f64) {
    let count = 10_000;
    let lost = missing(&world.arriving(count, 50, Duration::from_micros(60)), count);
    assert_eq!(lost, lost_by_the_model(list, seed, count), "the same packets as in virtual time");
    within_a_twentieth(lost.len() as f64 / f64::from(count), asked);
}

#[test]
fn a_seed_loses_the_same_packets_on_the_relay_and_on_the_link() {
    let _alone = alone();
    seeds_lose(&over_relay("loss=5%", 7), "loss=5%", 7, 0.05);
    if let Some(world) = over_link("loss=5%", 7) {
        seeds_lose(&world, "loss=5%", 7, 0.05);
    }
}

#[test]
fn bursts_have_the_configured_rate_and_length() {
    let _alone = alone();
    let list = "burst=5%:3";
    let seed = (1..).find(|seed| is_typical(&lost_by_the_model(list, *seed, 10_000))).expect("most are");
    let world = over_link(list, seed).unwrap_or_else(|| over_relay(list, seed));
    let count = 10_000;
    let lost = missing(&world.arriving(count, 50, Duration::from_micros(60)), count);
    assert_eq!(lost, lost_by_the_model(list, seed, count));
    within_a_twentieth(lost.len() as f64 / f64::from(count), 0.05);
    within_a_twentieth(lost.len() as f64 / bursts(&lost), 3.0);
}

/// With 167 bursts, a deviation of a tenth is common, so this seed was chosen because it deviates little.
fn is_typical(lost: &BTreeSet<u32>) -> bool {
    let near = |measured: f64, asked: f64| (measured / asked - 1.0).abs() < 0.03;
    near(lost.len() as f64, 500.0) && near(lost.len() as f64 / bursts(lost), 3.0)
}

fn bursts(lost: &BTreeSet<u32>) -> f64 {
    lost.iter().filter(|number| **number == 0 || !lost.contains(&(**number - 1))).count() as f64
}

#[test]
fn round_trips_have_the_configured_delay() {
    let _alone = alone();
    for world in [Some(over_relay("delay=10ms", 1)), over_link("delay=10ms", 1)].into_iter().flatten() {
        let trips = world.round_trips(60);
        assert!(trips[0] >= Duration::from_millis(20), "{:?} is before its time", trips[0]);
        // A busy machine makes this thread late, not the link: the tenth of the trips that it let alone.
        within_a_twentieth(trips[trips.len() / 10].as_secs_f64(), 0.020);
    }
}

#[test]
fn a_rate_is_kept_and_its_queue_drops() {
    let _alone = alone();
    let list = "rate=8Mbit/s,queue=50ms";
    let world = over_link(list, 1).unwrap_or_else(|| over_relay(list, 1));
    // 1,000 bytes as IP sees them, at twice the rate, for two seconds.
    let began = Instant::now();
    let arrived = world.arriving(4_000, 972, Duration::from_micros(500));
    let took = began.elapsed() - Duration::from_millis(500);
    let bits = arrived.len() as f64 * 8_000.0;
    within_a_twentieth(bits / took.as_secs_f64(), 8e6);
    let last = world.running.stop().unwrap();
    assert!(last.up.lost_queue > 1_000, "{last:?}");
}

#[test]
fn packets_keep_their_order_unless_reordered() {
    let _alone = alone();
    let overtaken = |list: &str| {
        let world = over_link(list, 3).unwrap_or_else(|| over_relay(list, 3));
        let arrived = world.arriving(2_000, 50, Duration::from_millis(1));
        assert_eq!(arrived.len(), 2_000, "nothing is lost");
        let mut newest = 0;
        let late = |number: &&u32| {
            newest = newest.max(**number);
            **number < newest
        };
        arrived.iter().filter(late).count() as f64 / 2_000.0
    };
    assert_eq!(overtaken("delay=5ms,jitter=4ms"), 0.0);
    // Datagrams are held back for up to 20 ms, uniformly: all but the ones held for less than a millisecond are
    // overtaken.
    let asked = 0.2 * 0.975;
    let share = overtaken("delay=5ms,reorder=20%");
    assert!((share / asked - 1.0).abs() < 0.1, "{share} of {asked}");
}

#[test]
fn damage_duplicates_and_outages_happen_as_configured() {
    let _alone = alone();
    let world = over_relay("duplicate=100%", 1);
    assert_eq!(world.arriving(20, 50, Duration::from_millis(1)).len(), 40);
    let world = over_relay("corrupt=100%", 1);
    world.client.send(&[0; 40]).unwrap();
    let mut buffer = [0; 64];
    world.server.recv(&mut buffer).unwrap();
    let flipped: u32 = buffer[..40].iter().map(|byte| byte.count_ones()).sum();
    assert!((1..=3).contains(&flipped), "{buffer:?}");

    let mut down = path("delay=1ms", 1);
    down.outages.push(Outage { start: Duration::from_millis(200), length: Duration::from_millis(200) });
    let to = world.server.local_addr().unwrap().to_string();
    let running = Running::relay(Relayed::Udp, "127.0.0.1:0", &to, &down, Taps::default()).unwrap();
    let client = socket(([127, 0, 0, 1], 0).into());
    client.connect(running.local().unwrap()).unwrap();
    let world = World { running, client, ..world };
    let lost = missing(&world.arriving(600, 50, Duration::from_millis(1)), 600);
    assert!((150..=205).contains(&lost.len()), "{}", lost.len());
    assert_eq!(lost.last().unwrap() - lost.first().unwrap() + 1, lost.len() as u32, "in one piece");
}

/// Bytes that a mistake anywhere would show in.
fn filler(bytes: usize) -> Vec<u8> {
    let mut state = 1;
    std::iter::repeat_with(|| splitmix(&mut state).to_be_bytes()).flatten().take(bytes).collect()
}

/// Sends it to a server that sends all of it back once it has ended, and compares.
fn there_and_back(server: TcpListener, client: impl FnOnce() -> TcpStream, bytes: usize) {
    let sent = filler(bytes);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            stream.write_all(&all).unwrap();
        });
        let mut stream = client();
        stream.write_all(&sent).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        assert!(back == sent, "{} bytes came back, of {}, or others", back.len(), sent.len());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn fifty_megabytes_of_tcp_arrive_intact_through_two_percent_of_loss() {
    use super::link::ADDRESSES;
    use super::namespaces::within;

    let _alone = alone();
    let Some(world) = over_link("delay=300us,loss=2%", 5) else { return };
    let [a, b] = world.running.namespaces();
    let server = within(b, || TcpListener::bind((ADDRESSES[1], 9_000)).unwrap()).unwrap();
    // Half of it each way.
    there_and_back(server, || within(a, || TcpStream::connect((ADDRESSES[1], 9_000)).unwrap()).unwrap(), 25 << 20);
    let last = world.running.stop().unwrap();
    assert!(last.up.lost > 100 && last.down.lost > 100, "{last:?}");
    // How many packets TCP makes of it is its own matter, and with it which of the link's draws they meet: five
    // standard deviations.
    let sent = (last.up.sent + last.down.sent) as f64;
    let (rate, asked) = ((last.up.lost + last.down.lost) as f64 / sent, 0.02_f64);
    let bound = 5.0 * (asked * (1.0 - asked) / sent).sqrt();
    assert!((rate - asked).abs() < bound, "{rate} is not within {bound} of {asked}");
}

#[test]
fn a_relayed_stream_is_delayed_and_paced_and_arrives_complete() {
    let _alone = alone();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = server.local_addr().unwrap().to_string();
    let list = "delay=5ms,jitter=2ms,loss=20%,corrupt=20%,duplicate=20%,rate=40Mbit/s";
    let running = Running::relay(Relayed::Tcp, "127.0.0.1:0", &to, &path(list, 1), Taps::default()).unwrap();
    let began = Instant::now();
    there_and_back(server, || TcpStream::connect(running.local().unwrap()).unwrap(), 2 << 20);
    // 2 MiB and their headers there, and back behind them: 0.87 s, and four delays.
    let took = began.elapsed().as_secs_f64();
    assert!((0.85..5.0).contains(&took), "{took} s");
    let streams = running.stop().unwrap().streams.unwrap();
    assert_eq!((streams.opened, streams.broken, streams.bytes_up), (1, 0, 2 << 20));
}

#[test]
fn outages_delay_a_relayed_stream_without_losing_data() {
    let _alone = alone();
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = server.local_addr().unwrap().to_string();
    let ms = Duration::from_millis;
    let mut path = path("", 1);
    // A long one, and many in which a stream is just being read.
    path.outages = (0..500).map(|at| Outage { start: ms(600 + 2 * at), length: ms(1) }).collect();
    path.outages.push(Outage { start: Duration::ZERO, length: ms(600) });
    let began = Instant::now();
    let running = Running::relay(Relayed::Tcp, "127.0.0.1:0", &to, &path, Taps::default()).unwrap();
    there_and_back(server, || TcpStream::connect(running.local().unwrap()).unwrap(), 8 << 20);
    assert!(began.elapsed() >= ms(600), "{:?}", began.elapsed());
}

#[test]
fn an_unreachable_server_breaks_the_stream_but_not_the_relay() {
    let _alone = alone();
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let running = Running::relay(Relayed::Tcp, "127.0.0.1:0", &unused, &path("", 1), Taps::default()).unwrap();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(running.local().unwrap()).unwrap();
        let ended = stream.read(&mut [0; 10]);
        assert!(matches!(ended, Ok(0) | Err(_)));
    }
    let streams = running.stop().unwrap().streams.unwrap();
    assert_eq!((streams.opened, streams.broken, streams.open), (3, 3, 0));
}

#[test]
fn a_servers_replies_reach_the_right_client() {
    let _alone = alone();
    let world = over_relay("delay=1ms", 1);
    let clients: Vec<UdpSocket> = (0..5).map(|_| socket(([127, 0, 0, 1], 0).into())).collect();
    for (number, client) in clients.iter().enumerate() {
        client.connect(world.running.local().unwrap()).unwrap();
        client.send(&[number as u8]).unwrap();
    }
    let mut buffer = [0; 8];
    for _ in &clients {
        let (bytes, from) = world.server.recv_from(&mut buffer).unwrap();
        world.server.send_to(&buffer[..bytes], from).unwrap();
    }
    for (number, client) in clients.iter().enumerate() {
        assert_eq!((client.recv(&mut buffer).unwrap(), buffer[0]), (1, number as u8));
    }
    let sessions = world.running.stop().unwrap().sessions.unwrap();
    assert_eq!((sessions.opened, sessions.open), (5, 5));
}

#[test]
fn a_recording_has_what_each_client_sent_and_received() {
    let _alone = alone();
    let file = std::env::temp_dir().join(format!("skipstone-relay-{}.flows", std::process::id()));
    let file = file.to_str().unwrap();
    let (udp, tcp) = (socket(([127, 0, 0, 1], 0).into()), TcpListener::bind("127.0.0.1:0").unwrap());
    let relay = |relayed, to: SocketAddr| {
        let recorder = Some(Arc::new(FlowRecorder::begin(file, &to.to_string(), 1 << 20).unwrap()));
        let taps = Taps { recorder, ..Taps::default() };
        Running::relay(relayed, "127.0.0.1:0", &to.to_string(), &path("delay=5ms", 1), taps).unwrap()
    };
    let events = |recording: &FlowRecording| -> Vec<(u32, FlowEvent, Vec<u8>)> {
        let of = |entry: &FlowEntry| (entry.flow.number, entry.event, recording.bytes(entry).to_vec());
        recording.entries.iter().map(of).collect()
    };

    let running = relay(Relayed::Udp, udp.local_addr().unwrap());
    let mut buffer = [0; 64];
    for text in [b"one", b"two"] {
        let client = socket(([127, 0, 0, 1], 0).into());
        client.connect(running.local().unwrap()).unwrap();
        client.send(text).unwrap();
        let (bytes, from) = udp.recv_from(&mut buffer).unwrap();
        udp.send_to(&[b"re", &buffer[..bytes]].concat(), from).unwrap();
        client.recv(&mut buffer).unwrap();
    }
    running.stop().unwrap();
    let recording = FlowRecording::read(file).unwrap();
    let expected = [
        (1, FlowEvent::Up, b"one".to_vec()),
        (1, FlowEvent::Down, b"reone".to_vec()),
        (2, FlowEvent::Up, b"two".to_vec()),
        (2, FlowEvent::Down, b"retwo".to_vec()),
    ];
    assert_eq!((events(&recording), recording.cut), (expected.to_vec(), None));
    let trip = recording.entries[1].at - recording.entries[0].at;
    assert!(trip >= Duration::from_millis(10), "{trip:?}: as the client has it, with both delays");

    let running = relay(Relayed::Tcp, tcp.local_addr().unwrap());
    let mut client = TcpStream::connect(running.local().unwrap()).unwrap();
    let (mut server, _) = tcp.accept().unwrap();
    client.write_all(b"a line").unwrap();
    server.read_exact(&mut buffer[..6]).unwrap();
    server.write_all(b"an answer").unwrap();
    client.read_exact(&mut buffer[..9]).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    assert_eq!(server.read(&mut buffer).unwrap(), 0);
    drop(server);
    assert_eq!(client.read(&mut buffer).unwrap(), 0);
    running.stop().unwrap();
    let expected = [
        (1, FlowEvent::Opened, Vec::new()),
        (1, FlowEvent::Up, b"a line".to_vec()),
        (1, FlowEvent::Down, b"an answer".to_vec()),
        (1, FlowEvent::UpEnded, Vec::new()),
        (1, FlowEvent::DownEnded, Vec::new()),
    ];
    assert_eq!(events(&FlowRecording::read(file).unwrap()), expected);
    std::fs::remove_file(file).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn namespaces_are_removed_with_their_link() {
    use super::namespaces::enter;

    let _alone = alone();
    let Some(world) = over_link("delay=1ms", 1) else { return };
    let names = world.running.namespaces().map(str::to_owned);
    drop(world);
    for name in names {
        let entered = std::thread::spawn(move || enter(&name)).join().unwrap();
        assert!(entered.unwrap_err().contains("cannot be entered"));
    }
}
