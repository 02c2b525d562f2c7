//! One run over a real link: the link, a process for the server, a process for the client, one after the other; and
//! what they found.

use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use super::external::{self, ExternalClient, Next};
use super::messages::{BEGIN_AT, EndMessage, EndReport, EndTask, OVER, RealWorkload, Role};
use super::talk::{LINE_BYTES_MAX, LINES_MAX, RunError, Talk};
use crate::child::Child;
use crate::compare::condition::Condition;
use crate::compare::contender::Contender;
use crate::compare::jobs::Job;
use crate::compare::packet_logs::QlogPlace;
use crate::compare::peers::peer::Telemetry;
use crate::compare::row::{CompareRow, Stalled};
use crate::compare::series::LostPacket;
use crate::compare::simulation::{LinkFindings, Measured};
use crate::framing::HEADER_BYTES;
use crate::measure::monotonic::monotonic;
use crate::measure::process::{Probe, Sample};
use crate::measure::stalls::StallWatch;
use crate::netem::{Before, Direction, LinkSnapshot, LinkSpec, LossLine, Running, make_punctual};

/// Over what the packets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// A link between two namespaces.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "links of the kernel are Linux' own"))]
    Link,
    /// A relay over loopback, which needs no rights.
    Relay,
}

/// Where the packet events of a run are written, in addition to its result.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Traces<'a> {
    /// The beginning of the names of captures.
    pub(crate) pcap: Option<&'a str>,
    /// The folder of Skipstone's own logs.
    pub(crate) qlog: Option<&'a str>,
}

impl Traces<'_> {
    pub(crate) fn are_none(&self) -> bool {
        self.pcap.is_none() && self.qlog.is_none()
    }
}

const START_MAX: Duration = Duration::from_secs(15);
/// Added to the time for connecting, sending and waiting; a run that takes longer hangs.
const END_MAX: Duration = Duration::from_secs(30);
/// A server that tells its counters does so at once.
const OVER_MAX: Duration = Duration::from_secs(2);

pub(super) fn play(
    job: Job,
    condition: &Condition,
    medium: Medium,
    traces: Traces<'_>,
    stop: &AtomicBool,
) -> Result<CompareRow, RunError> {
    let Job { contender, seed } = job;
    let failed = |reason: String| RunError::Failed(format!("{contender}: {reason}"));
    let name = job.file_name(condition);
    let pcap = traces.pcap.map(|prefix| format!("{prefix}-{name}"));
    let qlog = traces.qlog.filter(|_| contender.transport.is_ours()).map(|folder| QlogPlace::new(folder, &name));
    let spec = LinkSpec { there: &condition.link, back: &condition.back, seed, pcap: pcap.as_deref() };
    let run = Run { contender, condition, seed, qlog, stop };
    let (snapshot, found) = match medium {
        Medium::Link => run.over_link(&spec),
        Medium::Relay => run.over_relay(&spec),
    }
    .map_err(|error| match error {
        RunError::Failed(reason) => failed(reason),
        interrupted => interrupted,
    })?;
    Ok(run.row(&snapshot, &found, if medium == Medium::Relay { HEADER_BYTES } else { 0 }))
}

struct Run<'a> {
    contender: Contender,
    condition: &'a Condition,
    seed: u64,
    qlog: Option<QlogPlace>,
    stop: &'a AtomicBool,
}

impl Run<'_> {
    #[cfg(target_os = "linux")]
    fn over_link(&self, spec: &LinkSpec<'_>) -> Result<(LinkSnapshot, Findings), RunError> {
        use crate::netem::link::ADDRESSES;

        let running = Running::link_of(spec, crate::report::output::complain).map_err(RunError::Failed)?;
        let [a, b] = running.namespaces().map(str::to_owned);
        let (server, address) = self.serve(&format!("{}:0", ADDRESSES[1]), Some(b))?;
        let found = self.connect(&address, Some(a), server)?;
        Ok((running.stop().map_err(RunError::Failed)?, found))
    }

    #[cfg(not(target_os = "linux"))]
    fn over_link(&self, _spec: &LinkSpec<'_>) -> Result<(LinkSnapshot, Findings), RunError> {
        Err(RunError::Failed("a link between namespaces exists on Linux only".into()))
    }

    fn over_relay(&self, spec: &LinkSpec<'_>) -> Result<(LinkSnapshot, Findings), RunError> {
        if self.contender.transport.is_stream() {
            let reason = "a relay cannot take packets from the kernel's TCP; run as root, through a link";
            return Err(RunError::Failed(reason.into()));
        }
        let (server, address) = self.serve("127.0.0.1:0", None)?;
        // A URL begins with its scheme, and may continue behind the address.
        let bare = address.split("://").last().unwrap_or_default();
        let bare = bare.split(['/', '#', '?']).next().unwrap_or_default();
        let running = Running::relay_of(bare, spec).map_err(RunError::Failed)?;
        let relayed = running.local().expect("a relay has an address").to_string();
        let found = self.connect(&address.replace(bare, &relayed), None, server)?;
        Ok((running.stop().map_err(RunError::Failed)?, found))
    }

    fn serve(&self, listen: &str, namespace: Option<String>) -> Result<(Talk, String), RunError> {
        let mut server = self.start(Role::Server { listen: listen.into() }, namespace)?;
        match server.hear(None, START_MAX, self.stop)? {
            EndMessage::Listening { address } => Ok((server, address)),
            other => Err(RunError::Failed(format!("the server's process began with {other:?}"))),
        }
    }

    fn connect(&self, address: &str, namespace: Option<String>, mut server: Talk) -> Result<Findings, RunError> {
        if self.contender.external.is_some() {
            return self.connect_external(address, namespace, server);
        }
        let mut client = self.start(Role::Client { connect: address.into() }, namespace)?;
        let (whole, mut before) = (self.whole(), None);
        loop {
            match client.hear(Some(&mut server), whole, self.stop)? {
                EndMessage::Connected { first_us, .. } => {
                    before = cpu(&server);
                    if let Some(first_us) = first_us {
                        server.child.send(&format!("{BEGIN_AT}{first_us}"));
                    }
                }
                EndMessage::Played => {
                    server.check()?;
                    let server_cpu = cpu(&server).zip(before).map(|(after, before)| after.since(before));
                    server.child.send(OVER);
                    let EndMessage::Served { telemetry, own } = server.hear(Some(&mut client), whole, self.stop)?
                    else {
                        return Err(RunError::Failed("the server's process does not report what it received".into()));
                    };
                    client.child.send(&serde_json::to_string(&own).expect("it has only text keys"));
                    let EndMessage::Done(report) = client.hear(None, END_MAX, self.stop)? else {
                        return Err(RunError::Failed("the client's process does not report its results".into()));
                    };
                    return Ok(Findings { telemetry: report.telemetry.with(telemetry), report: *report, server_cpu });
                }
                EndMessage::Done(report) => {
                    server.check()?;
                    let server_cpu = before.zip(cpu(&server)).map(|(before, after)| after.since(before));
                    let told = self.conclude(&mut server);
                    return Ok(Findings { telemetry: report.telemetry.with(told), report: *report, server_cpu });
                }
                other => return Err(RunError::Failed(format!("the client's process said {other:?}"))),
            }
        }
    }

    fn whole(&self) -> Duration {
        START_MAX + self.condition.lasting + self.condition.patience + END_MAX
    }

    /// The same with an external client, whose lines are judged here.
    fn connect_external(
        &self,
        address: &str,
        namespace: Option<String>,
        mut server: Talk,
    ) -> Result<Findings, RunError> {
        let failed = |error: std::io::Error| RunError::Failed(format!("no thread for the control: {error}"));
        let epoch = monotonic().unwrap_or_default();
        let watch = punctually(|| StallWatch::start_on_each_cpu(Instant::now())).map_err(failed)?;
        let mut client = self.start(Role::Client { connect: address.into() }, namespace)?;
        let mut findings = ExternalClient::new(self.condition);
        let (end, mut before) = (Instant::now() + self.whole(), None);
        let late = format!("is not done after {:?}", self.whole());
        loop {
            let line = client.line(Some(&mut server), end, &late, self.stop)?;
            let next =
                findings.take(&line).map_err(|wrong| RunError::Failed(format!("the client's process {wrong}")))?;
            let client_and_server = || (cpu(&client), cpu(&server));
            let Next::Nothing { refused, corrupted, resent } = next else {
                before.get_or_insert_with(client_and_server);
                continue;
            };
            let after = client_and_server();
            server.check()?;
            let before = before.unwrap_or_default();
            let share = |before: Option<Cost>, after: Option<Cost>| Some(after?.since(before?));
            let report = findings.report((refused, corrupted, resent), &watch.stop(), epoch);
            return Ok(Findings {
                telemetry: report.telemetry,
                report: EndReport { cpu_percent: share(before.0, after.0), ..report },
                server_cpu: share(before.1, after.1),
            });
        }
    }

    /// The command of an external program.
    fn external(&self, words: &[String], role: &Role, namespace: Option<&str>) -> Command {
        let arguments = match role {
            Role::Server { listen } => external::server_arguments(self.condition, listen),
            Role::Client { connect } => external::client_arguments(self.condition, connect, self.seed),
        };
        let entered = namespace.map(|namespace| ["ip", "netns", "exec", namespace].map(str::to_owned));
        let mut all = entered.into_iter().flatten().chain(words.iter().cloned()).chain(arguments);
        let mut command = Command::new(all.next().expect("a command has a word"));
        command.args(all);
        command
    }

    fn own(&self, role: Role, namespace: Option<String>) -> std::io::Result<Command> {
        let task = EndTask {
            role,
            transport: self.contender.transport,
            mode: self.contender.mode,
            seed: self.seed,
            namespace,
            qlog: self.qlog.clone(),
            workload: RealWorkload::of(self.condition),
        };
        let task = serde_json::to_string(&task).expect("a task has only text keys");
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["compare-end", &task]);
        Ok(command)
    }

    fn start(&self, role: Role, namespace: Option<String>) -> Result<Talk, RunError> {
        let who = if matches!(role, Role::Server { .. }) { "server" } else { "client" };
        let failed = |error: std::io::Error| RunError::Failed(format!("the {who}'s process does not start: {error}"));
        let mut command = match self.contender.external {
            Some(transport) => self.external(&transport.words, &role, namespace.as_deref()),
            None => self.own(role, namespace).map_err(failed)?,
        };
        command.stderr(Stdio::inherit());
        let (send, lines) = sync_channel(LINES_MAX);
        let on_line = move |line| match send.send(line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        };
        // The tool's own ends report all their latencies in one line, and set their own priority.
        let (child, line_bytes_max) = match self.contender.external {
            Some(_) => (punctually(|| Child::start_stranger(command, LINE_BYTES_MAX, on_line)), LINE_BYTES_MAX),
            None => (Child::start(command, on_line), usize::MAX),
        };
        Ok(Talk { who, lines, child: child.map_err(failed)?, line_bytes_max })
    }

    /// A server's own counters; none, if it does not report it.
    fn conclude(&self, server: &mut Talk) -> Telemetry {
        server.child.send(OVER);
        match server.hear(None, OVER_MAX, self.stop) {
            Ok(EndMessage::Served { telemetry, .. }) => telemetry,
            _ => Telemetry::default(),
        }
    }

    fn row(&self, snapshot: &LinkSnapshot, found: &Findings, header_bytes: usize) -> CompareRow {
        let report = &found.report;
        let mut series = report.series.clone();
        series.take_lost(&lost_packets(snapshot, report.first_due_us));
        let both = [&snapshot.up, &snapshot.down];
        let datagrams: u64 = both.iter().map(|counts| counts.sent).sum();
        let link = LinkFindings {
            datagrams,
            ip_bytes: both.iter().map(|counts| counts.sent_bytes).sum::<u64>() + datagrams * header_bytes as u64,
            lost: both.iter().map(|counts| counts.lost).sum(),
            overflowed: both.iter().map(|counts| counts.lost_queue).sum(),
            ..LinkFindings::default()
        };
        let measured = Measured {
            counts: report.counts,
            latencies: report.latencies_us.clone(),
            connect: report.connect_us.map(Duration::from_micros),
            link,
            series,
            telemetry: found.telemetry,
            ..Measured::default()
        };
        let mut row = CompareRow::new(self.contender, self.condition, self.seed, &measured);
        row.figures.take_stalled(&Stalled {
            calm_us: &report.calm_us,
            samples: report.latencies_us.len(),
            stalls: report.stalls,
            longest: Duration::from_micros(report.longest_stall_us),
            lateness_p99: snapshot.lateness_ms.and_then(|late| late.p99),
            server_cpu: found.server_cpu,
            client_cpu: report.cpu_percent,
        });
        row
    }
}

/// The findings of both processes.
struct Findings {
    report: EndReport,
    /// Both ends' counters.
    telemetry: Telemetry,
    /// In percent of one core, while updates were sent.
    server_cpu: Option<f64>,
}

/// Uses a thread with priority over other programs, if that is allowed: the processes that it starts inherit it.
fn punctually<T: Send>(start: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _ = make_punctual(Before::Others);
            start()
        });
        thread.join().expect("what is started does not panic")
    })
}

/// The cost of a process at a moment.
struct Cost {
    at: Instant,
    sample: Sample,
}

impl Cost {
    /// CPU time since then, in percent of one core.
    fn since(&self, before: Cost) -> f64 {
        self.sample.since(&before.sample, self.at - before.at).cpu_percent
    }
}

fn cpu(talk: &Talk) -> Option<Cost> {
    let sample = Probe::of(talk.child.id()).sample()?;
    Some(Cost { at: Instant::now(), sample })
}

/// The packets that the link lost since the first update, if both clocks are known.
fn lost_packets(snapshot: &LinkSnapshot, first_due_us: Option<u64>) -> Vec<LostPacket> {
    let Some((begun, first)) = snapshot.begun.zip(first_due_us.map(Duration::from_micros)) else { return Vec::new() };
    let of = |loss: &LossLine| {
        let at = (begun + loss.at).checked_sub(first)?;
        Some(LostPacket { at, is_up: loss.direction == Direction::Up, number: loss.number })
    };
    snapshot.lost_packets.iter().filter_map(of).collect()
}

#[cfg(all(test, unix))]
mod tests;
