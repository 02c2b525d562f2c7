//! `netem check`: how punctual a link is on this machine, and how many packets a second it takes. Packets with the time
//! of their sending pass through it at a given rate; the time beyond the configured delay is the error.

use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::clock_thread::{Before, make_punctual};
use super::path_settings::{PathSettings, Scope};
use super::relay::Relayed;
use super::run::Running;
use super::settings::LinkSettings;
use super::snapshot::LinkSnapshot;
use super::taps::Taps;
use crate::measure::latency::{Latency, LatencyMs};
use crate::report::format::{or_dash, thousands, three_digits};
use crate::report::{Exit, Sink};

/// Flags of `netem check`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct CheckArguments {
    /// Packets a second, one way
    #[arg(long, value_name = "N", default_value_t = 50_000,
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    packets: u32,
    /// How long
    #[arg(long, value_name = "S", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=600))]
    seconds: u32,
    /// Bytes of each packet
    #[arg(long, value_name = "BYTES", default_value_t = 100, value_parser = clap::value_parser!(u32).range(16..=1_400))]
    bytes: u32,
    /// Measure a relay, which needs no privileges, instead of a link between two namespaces
    #[arg(long)]
    relay: bool,
    /// Write the figures to this file, `-` for standard output instead of the table
    #[arg(long, value_name = "FILE")]
    json: Option<String>,
}

/// The result.
#[derive(Debug, Serialize)]
struct Precision {
    over: &'static str,
    packets_per_second_asked: u32,
    packets_per_second: f64,
    sent: u64,
    received: u64,
    /// From the sender's call to the receiver's, less the delay, in ms: the link's error and the kernel's work at both
    /// ends.
    error_ms: Option<LatencyMs>,
    /// How much later than planned the link itself delivered, in ms.
    lateness_ms: Option<LatencyMs>,
    /// The share of one core that the link's thread used, spinning included.
    link_cpu_percent: Option<f64>,
    imprecise: Option<String>,
    /// How late the generator was, in ms: more than a little makes the rest worthless.
    generator_ms: Option<LatencyMs>,
}

const DELAY: Duration = Duration::from_millis(10);
const DRAIN: Duration = Duration::from_millis(300);

pub(crate) fn check(arguments: &CheckArguments) -> Result<Exit, String> {
    let sink = Sink::open(arguments.json.as_deref())?;
    let blank = LinkSettings::default;
    let mut path = PathSettings { up: blank(), down: blank(), outages: Vec::new(), seed: 1 };
    path.set(Scope::Both, "delay=10ms")?;
    let precision = if arguments.relay { over_relay(arguments, &path)? } else { over_link(arguments, &path)? };
    Ok(Exit::Pass.once_kept("netem", sink.show(&precision, &precision.table(), &[])))
}

fn over_relay(arguments: &CheckArguments, path: &PathSettings) -> Result<Precision, String> {
    let receiver = bind("127.0.0.1:0")?;
    let to = receiver.local_addr().map_err(text)?.to_string();
    let running = Running::relay(Relayed::Udp, "127.0.0.1:0", &to, path, Taps::default())?;
    let sender = bind("127.0.0.1:0")?;
    sender.connect(running.local().expect("a relay has an address")).map_err(text)?;
    let measured = measure(arguments, &sender, &receiver);
    Ok(Precision::of("a relay", arguments, measured, running.stop()?))
}

#[cfg(target_os = "linux")]
fn over_link(arguments: &CheckArguments, path: &PathSettings) -> Result<Precision, String> {
    use super::link::ADDRESSES;
    use super::namespaces::{check_rights, within};

    check_rights().map_err(|error| format!("{error} (`netem check --relay` measures that)"))?;
    let running = Running::link(path, None, crate::report::output::complain)?;
    let [a, b] = running.namespaces();
    let receiver = within(b, || bind(&format!("{}:7000", ADDRESSES[1])))??;
    let sender = within(a, || bind(&format!("{}:7001", ADDRESSES[0])))??;
    sender.connect((ADDRESSES[1], 7000)).map_err(text)?;
    let measured = measure(arguments, &sender, &receiver);
    Ok(Precision::of("a link between namespaces", arguments, measured, running.stop()?))
}

#[cfg(not(target_os = "linux"))]
fn over_link(_arguments: &CheckArguments, _path: &PathSettings) -> Result<Precision, String> {
    Err("a link between two namespaces exists on Linux only; add --relay".into())
}

fn bind(address: &str) -> Result<UdpSocket, String> {
    let socket = UdpSocket::bind(address).map_err(text)?;
    let _ = socket2::SockRef::from(&socket).set_recv_buffer_size(4 << 20);
    Ok(socket)
}

fn text(error: std::io::Error) -> String {
    format!("a socket for the measurement: {error}")
}

struct Measured {
    sent: u64,
    took: Duration,
    errors: Latency,
    generator: Latency,
}

/// Sends at the rate, and receives in another thread.
fn measure(arguments: &CheckArguments, sender: &UdpSocket, receiver: &UdpSocket) -> Measured {
    let (epoch, done) = (Instant::now(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let receiving = scope.spawn(|| receive(receiver, epoch, &done));
        let (sent, generator) = send(arguments, sender, epoch);
        let took = epoch.elapsed();
        std::thread::sleep(DELAY + DRAIN);
        done.store(true, Ordering::Relaxed);
        let errors = receiving.join().expect("the receiver does not panic");
        Measured { sent, took, errors, generator }
    })
}

fn send(arguments: &CheckArguments, socket: &UdpSocket, epoch: Instant) -> (u64, Latency) {
    let _ = make_punctual(Before::Others);
    let count = u64::from(arguments.packets) * u64::from(arguments.seconds);
    let mut packet = vec![0; arguments.bytes as usize];
    let (mut sent, mut late) = (0, Latency::default());
    for number in 0..count {
        let due = Duration::from_nanos(number * 1_000_000_000 / u64::from(arguments.packets));
        // A sleep ends about 50 us late: packets due by then are sent together, as a game's packets are.
        let left = due.saturating_sub(epoch.elapsed());
        if !left.is_zero() {
            std::thread::sleep(left);
        }
        let now = epoch.elapsed();
        late.record((now - due).as_micros() as u64);
        packet[..8].copy_from_slice(&(now.as_nanos() as u64).to_be_bytes());
        sent += u64::from(socket.send(&packet).is_ok());
    }
    (sent, late)
}

fn receive(socket: &UdpSocket, epoch: Instant, done: &AtomicBool) -> Latency {
    let _ = make_punctual(Before::Others);
    let _ = socket.set_read_timeout(Some(Duration::from_millis(50)));
    let (mut errors, mut buffer) = (Latency::default(), [0; 2_048]);
    while !done.load(Ordering::Relaxed) {
        let Ok(bytes) = socket.recv(&mut buffer) else { continue };
        let now = epoch.elapsed();
        if let Some(stamp) = buffer[..bytes].first_chunk() {
            let sent = Duration::from_nanos(u64::from_be_bytes(*stamp));
            errors.record(now.saturating_sub(sent + DELAY).as_micros() as u64);
        }
    }
    errors
}

impl Precision {
    fn of(over: &'static str, arguments: &CheckArguments, measured: Measured, last: LinkSnapshot) -> Precision {
        Precision {
            over,
            packets_per_second_asked: arguments.packets,
            packets_per_second: measured.sent as f64 / measured.took.as_secs_f64(),
            sent: measured.sent,
            received: measured.errors.count(),
            error_ms: measured.errors.figures(),
            lateness_ms: last.lateness_ms,
            link_cpu_percent: last.cpu_percent,
            imprecise: last.imprecise,
            generator_ms: measured.generator.figures(),
        }
    }

    fn table(&self) -> String {
        let (sent, received) = (thousands(self.sent), thousands(self.received));
        let mut page = format!(
            "{}, 10 ms: {} packets/s; {sent} sent, {received} received\n",
            self.over,
            thousands(self.packets_per_second as u64)
        );
        let rows = [
            ("the link's deliveries late by", self.lateness_ms),
            ("end to end beyond the delay", self.error_ms),
            ("the generator late by", self.generator_ms),
        ];
        for (name, figures) in rows {
            let Some(figures) = figures else { continue };
            let told = [figures.p50, figures.p99, figures.p999, figures.max];
            let [p50, p99, p999, max] = told.map(|figure| or_dash(figure, three_digits));
            page += &format!("{name:<32}p50 {p50:>7}  p99 {p99:>7}  p99.9 {p999:>7}  max {max:>7}  ms\n");
        }
        if let Some(percent) = self.link_cpu_percent {
            page += &format!("the link's thread used {percent:.0}% of a core, spinning included\n");
        }
        if let Some(imprecise) = &self.imprecise {
            page += &format!("{imprecise}\n");
        }
        page
    }
}
