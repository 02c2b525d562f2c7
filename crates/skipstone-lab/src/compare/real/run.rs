//! One run over a real link: the link, a process for the server, a process for the client, one after the other; and
//! what they found.

use std::ops::ControlFlow;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::messages::{EndMessage, EndReport, EndTask, RealWorkload, Role};
use crate::child::Child;
use crate::compare::condition::Condition;
use crate::compare::contender::{Contender, SimulatedTransport};
use crate::compare::proof::Moments;
use crate::compare::row::{CompareRow, Stalled};
use crate::compare::simulation::{Carried, Measured};
use crate::netem::{LinkSpec, Running, Snapshot};
use crate::peers::HEADER_BYTES;

/// Over what the packets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// A link between two namespaces.
    Link,
    /// A relay over loopback, which needs no rights.
    Relay,
}

/// Why there is no row, or only an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunError {
    Interrupted,
    /// This contender failed; others may not.
    Failed(String),
}

const START_MAX: Duration = Duration::from_secs(15);
/// Beyond the connection, the updates and the patience: whoever takes longer hangs.
const END_MAX: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(super) fn play(
    contender: Contender,
    condition: &Condition,
    seed: u64,
    medium: Medium,
    stop: &AtomicBool,
) -> Result<CompareRow, RunError> {
    let failed = |reason: String| RunError::Failed(format!("{contender}: {reason}"));
    let spec = LinkSpec { there: &condition.link, back: &condition.back, seed };
    let run = Run { contender, condition, seed, stop };
    let (snapshot, report) = match medium {
        Medium::Link => run.over_link(&spec),
        Medium::Relay => run.over_relay(&spec),
    }
    .map_err(|error| match error {
        RunError::Failed(reason) => failed(reason),
        interrupted => interrupted,
    })?;
    Ok(run.row(&snapshot, &report, if medium == Medium::Relay { HEADER_BYTES } else { 0 }))
}

struct Run<'a> {
    contender: Contender,
    condition: &'a Condition,
    seed: u64,
    stop: &'a AtomicBool,
}

impl Run<'_> {
    #[cfg(target_os = "linux")]
    fn over_link(&self, spec: &LinkSpec<'_>) -> Result<(Snapshot, EndReport), RunError> {
        use crate::netem::link::ADDRESSES;

        let running = Running::link_of(spec, crate::report::output::complain).map_err(RunError::Failed)?;
        let [a, b] = running.namespaces().map(str::to_owned);
        let (server, address) = self.serve(&format!("{}:0", ADDRESSES[1]), Some(b))?;
        let report = self.connect(&address, Some(a), server)?;
        Ok((running.stop().map_err(RunError::Failed)?, report))
    }

    #[cfg(not(target_os = "linux"))]
    fn over_link(&self, _spec: &LinkSpec<'_>) -> Result<(Snapshot, EndReport), RunError> {
        Err(RunError::Failed("a link between namespaces exists on Linux only".into()))
    }

    fn over_relay(&self, spec: &LinkSpec<'_>) -> Result<(Snapshot, EndReport), RunError> {
        if self.contender.transport == SimulatedTransport::Tcp {
            let reason = "a relay cannot take packets from the kernel's TCP; run as root, through a link";
            return Err(RunError::Failed(reason.into()));
        }
        let (server, address) = self.serve("127.0.0.1:0", None)?;
        // A URL begins with its scheme, and may go on behind the address.
        let bare = address.split("://").last().unwrap_or_default();
        let bare = bare.split(['/', '#', '?']).next().unwrap_or_default();
        let running = Running::relay_of(bare, spec).map_err(RunError::Failed)?;
        let relayed = running.local().expect("a relay has an address").to_string();
        let report = self.connect(&address.replace(bare, &relayed), None, server)?;
        Ok((running.stop().map_err(RunError::Failed)?, report))
    }

    fn serve(&self, listen: &str, namespace: Option<String>) -> Result<(Talk, String), RunError> {
        let mut server = self.start(Role::Server { listen: listen.into() }, namespace)?;
        match self.hear(&mut server, None, START_MAX)? {
            EndMessage::Listening { address } => Ok((server, address)),
            other => Err(RunError::Failed(format!("the server's process said {other:?} at its beginning"))),
        }
    }

    fn connect(&self, address: &str, namespace: Option<String>, mut server: Talk) -> Result<EndReport, RunError> {
        let mut client = self.start(Role::Client { connect: address.into() }, namespace)?;
        let whole = START_MAX + self.condition.lasting + self.condition.patience + END_MAX;
        loop {
            match self.hear(&mut client, Some(&mut server), whole)? {
                EndMessage::Connected { .. } => {}
                EndMessage::Done(report) => return Ok(*report),
                other => return Err(RunError::Failed(format!("the client's process said {other:?}"))),
            }
        }
    }

    fn start(&self, role: Role, namespace: Option<String>) -> Result<Talk, RunError> {
        let who = if matches!(role, Role::Server { .. }) { "server" } else { "client" };
        let task = EndTask {
            role,
            transport: self.contender.transport,
            mode: self.contender.mode,
            seed: self.seed,
            namespace,
            workload: RealWorkload::of(self.condition),
        };
        let task = serde_json::to_string(&task).expect("a task has only text keys");
        let failed = |error: std::io::Error| RunError::Failed(format!("the {who}'s process does not start: {error}"));
        let mut command = Command::new(std::env::current_exe().map_err(failed)?);
        command.args(["compare-end", &task]).stderr(Stdio::inherit());
        let (send, lines) = channel();
        let child = Child::start(command, move |line| match send.send(line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        Ok(Talk { who, child: child.map_err(failed)?, lines })
    }

    /// The next message of a process, while another one has to stay alive.
    fn hear(&self, talk: &mut Talk, mut other: Option<&mut Talk>, within: Duration) -> Result<EndMessage, RunError> {
        let end = Instant::now() + within;
        let who = talk.who;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(RunError::Interrupted);
            }
            match talk.lines.recv_timeout(LOOK_EVERY) {
                Ok(Some(line)) => return message(who, &line),
                Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                    let how = talk.child.ended().unwrap_or_else(|| "it says nothing more".into());
                    return Err(RunError::Failed(format!("the {who}'s process ended ({how})")));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(other) = other.as_deref_mut() {
                other.check()?;
            }
            if Instant::now() >= end {
                return Err(RunError::Failed(format!("the {who}'s process hangs: nothing for {within:?}")));
            }
        }
    }

    fn row(&self, snapshot: &Snapshot, report: &EndReport, header_bytes: usize) -> CompareRow {
        let both = [&snapshot.up, &snapshot.down];
        let datagrams: u64 = both.iter().map(|counts| counts.sent).sum();
        let measured = Measured {
            counts: report.counts,
            latencies: report.latencies_us.clone(),
            moments: Moments::default(),
            connect: report.connect_us.map(Duration::from_micros),
            datagrams,
            ip_bytes: both.iter().map(|counts| counts.sent_bytes).sum::<u64>() + datagrams * header_bytes as u64,
            ip_bytes_late: 0,
            datagrams_lost: both.iter().map(|counts| counts.lost).sum(),
            datagrams_overflowed: both.iter().map(|counts| counts.lost_queue).sum(),
            queue_delays: Vec::new(),
            queue_delays_back: Vec::new(),
            carried: Carried::default(),
            telemetry: report.telemetry,
            gave_up: false,
        };
        let mut row = CompareRow::new(self.contender, self.condition, self.seed, &measured);
        row.figures.take_stalled(&Stalled {
            calm_us: &report.calm_us,
            samples: report.latencies_us.len(),
            stalls: report.stalls,
            longest: Duration::from_micros(report.longest_stall_us),
            lateness_p99: snapshot.lateness_ms.map(|late| late.p99),
        });
        row
    }
}

/// A process and what it says.
struct Talk {
    who: &'static str,
    child: Child,
    lines: Receiver<Option<String>>,
}

impl Talk {
    /// It is expected to be silent, and alive.
    fn check(&mut self) -> Result<(), RunError> {
        match self.lines.try_recv() {
            Ok(Some(line)) => message(self.who, &line).map(drop),
            Ok(None) => {
                let how = self.child.ended().unwrap_or_else(|| "it says nothing more".into());
                Err(RunError::Failed(format!("the {}'s process ended in the middle ({how})", self.who)))
            }
            Err(_) => Ok(()),
        }
    }
}

/// A line as a message; a failure as an error.
fn message(who: &str, line: &str) -> Result<EndMessage, RunError> {
    match serde_json::from_str(line) {
        Ok(EndMessage::Failed { reason }) => Err(RunError::Failed(format!("the {who}'s process: {reason}"))),
        Ok(message) => Ok(message),
        Err(_) => {
            let begin: String = line.chars().take(200).collect();
            Err(RunError::Failed(format!("the {who}'s process said \"{begin}\"")))
        }
    }
}
