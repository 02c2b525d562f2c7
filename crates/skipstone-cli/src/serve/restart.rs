//! The restart of a server: SIGUSR2, or the console's `drain`. New clients wait in the kernel's queues, players are
//! told when to reconnect, and this process executes the program of its command line, with the same sockets.
//!
//! ```text
//! serving ──> the new program checks its flags ──> sockets at hand ──> no new handshakes ──> players told ──> exec
//!    └───────────────── a failure: a line in the log ─────┘
//! ```
//! A node of a fleet moves its players to other nodes before the sockets are at hand.

use skipstone::RestartNotice;
use skipstone_lab::signals::RestartSignal;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The minimum time in which clients with a cookie may continue before all are told to reconnect: the server does not
/// know of them.
const COOKIES: Duration = Duration::from_millis(400);
/// The maximum time for pending handshakes to complete: they may be on a slow path, or never end.
const HANDSHAKES_MAX: Duration = Duration::from_secs(2);
/// The time in which the next program must report whether it would start.
const CHECK_MAX: Duration = Duration::from_secs(10);
/// Clients reconnect after the first time, spread over at least the second; at most 1,000 reconnect per second.
const PAUSE: Duration = Duration::from_millis(200);
const SPREAD_MIN: Duration = Duration::from_millis(600);
const RETURNS_PER_SECOND: f64 = 1_000.0;

/// The progress of a restart, if there is one.
pub(super) struct Restart {
    signal: Option<RestartSignal>,
    state: RestartState,
}

enum RestartState {
    Serving,
    /// The next program is asked whether it would start.
    Checking(mpsc::Receiver<Result<(), String>>),
    /// The players move to other nodes of the fleet.
    Draining,
    /// No handshake begins any more.
    Closing {
        since: Instant,
        to: Option<String>,
    },
}

/// What a drain of the players to other nodes can do for a server that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrainPhase {
    /// Nothing: there are no players, no other node takes them, or the time is over.
    Nothing,
    Possible,
    UnderWay,
}

/// The next action of the loop.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RestartStep {
    GoOn,
    /// Begin to move the players to other nodes.
    Drain,
    /// Prepare what the next program needs; from then on, new clients are its clients. [`Restart::stay`] if that fails.
    MakeReady,
    /// The old process continues to serve, for this reason.
    Stay(String),
    /// Players reconnect to this address, or to the same one.
    Leave(Option<String>),
}

impl Restart {
    /// Listens to the signal, unless this server has a parent or stress clients in its own process, which would not
    /// survive a restart.
    pub(super) fn new(is_alone: bool) -> Result<Self, String> {
        let signal = if is_alone { RestartSignal::watch()? } else { None };
        Ok(Restart { signal, state: RestartState::Serving })
    }

    /// The console's `drain`: players come back here, or go to another server. Returns what is done, in a sentence.
    pub(super) fn ask(&mut self, to: &str) -> Result<String, String> {
        let Some(signal) = &self.signal else {
            return Err("this server cannot be restarted: it has a parent process or its own clients, or this is not \
                        a Unix system"
                .into());
        };
        if !matches!(self.state, RestartState::Serving) {
            return Err("a restart is under way".into());
        }
        if to.is_empty() {
            signal.raise();
            return Ok(
                "the server restarts as soon as its program has checked its flags; `log on` shows the progress".into()
            );
        }
        RestartNotice::after(PAUSE).at(to)?;
        self.state = RestartState::Closing { since: Instant::now(), to: Some(to.into()) };
        Ok(format!("players are sent to {to}, and the server ends"))
    }

    /// Whether no handshake begins any more.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.state, RestartState::Closing { .. })
    }

    /// The restart is impossible: the server continues as if none had been requested.
    pub(super) fn stay(&mut self) {
        self.state = RestartState::Serving;
    }

    /// The next step. Called each tick with the number of pending handshakes.
    pub(super) fn step(&mut self, now: Instant, arriving: usize, drain: DrainPhase) -> RestartStep {
        match &self.state {
            RestartState::Serving => {
                if self.signal.as_ref().is_some_and(RestartSignal::take) {
                    self.state = RestartState::Checking(check());
                }
                RestartStep::GoOn
            }
            RestartState::Checking(answer) => match answer.try_recv() {
                Err(mpsc::TryRecvError::Empty) => RestartStep::GoOn,
                Ok(Ok(())) if matches!(drain, DrainPhase::Possible | DrainPhase::UnderWay) => {
                    self.state = RestartState::Draining;
                    if drain == DrainPhase::Possible { RestartStep::Drain } else { RestartStep::GoOn }
                }
                Ok(Ok(())) => self.close(now),
                Ok(Err(why)) => {
                    self.state = RestartState::Serving;
                    RestartStep::Stay(why)
                }
                Err(mpsc::TryRecvError::Disconnected) => {
                    self.state = RestartState::Serving;
                    RestartStep::Stay("no thread could be started to check the next program".into())
                }
            },
            RestartState::Draining if drain == DrainPhase::UnderWay => RestartStep::GoOn,
            RestartState::Draining => self.close(now),
            RestartState::Closing { to: Some(to), .. } => RestartStep::Leave(Some(to.clone())),
            RestartState::Closing { since, to: None } => {
                let elapsed = now.saturating_duration_since(*since);
                let is_over = elapsed >= COOKIES && (arriving == 0 || elapsed >= HANDSHAKES_MAX);
                // Players of another node that were on their way here move on.
                if is_over && drain != DrainPhase::UnderWay { RestartStep::Leave(None) } else { RestartStep::GoOn }
            }
        }
    }

    fn close(&mut self, now: Instant) -> RestartStep {
        self.state = RestartState::Closing { since: now, to: None };
        RestartStep::MakeReady
    }
}

/// The notice for this number of players.
pub(super) fn notice(players: usize, to: Option<&str>) -> RestartNotice {
    let spread = SPREAD_MIN.max(Duration::from_secs_f64(players as f64 / RETURNS_PER_SECOND));
    let notice = RestartNotice::after(PAUSE).spread(spread);
    match to {
        Some(to) => notice.clone().at(to).unwrap_or(notice),
        None => notice,
    }
}

/// The command that started this process. Its program may have been replaced since: `current` may point to another
/// release.
pub(super) fn own_command() -> Option<Command> {
    let mut words = std::env::args_os();
    let mut command = Command::new(words.next()?);
    command.args(words);
    forget_handover(&mut command);
    Some(command)
}

/// Names this process and the descriptor of the pipe that holds the identity: `PID:FD`.
pub(super) const IDENTITY_VARIABLE: &str = "SKIPSTONE_HANDOVER";

/// Removes the variables that this process was given: after `exec` the process id is the same, so the next program
/// would take them as its own.
pub(super) fn forget_handover(command: &mut Command) {
    for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", IDENTITY_VARIABLE] {
        command.env_remove(variable);
    }
}

/// Asks the next program, in a separate thread, whether it would start, so that a broken release never gets the
/// players.
fn check() -> mpsc::Receiver<Result<(), String>> {
    let (answer, answered) = mpsc::channel();
    // If the thread cannot start, the sender is dropped, which the receiver detects.
    let _ = std::thread::Builder::new().name("restart check".into()).spawn(move || {
        let _ = answer.send(would_start());
    });
    answered
}

fn would_start() -> Result<(), String> {
    let mut command = own_command().ok_or("this process does not know its command")?;
    command.arg("--check").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let mut child =
        command.spawn().map_err(|error| format!("{:?} cannot be started: {error}", command.get_program()))?;
    let end = Instant::now() + CHECK_MAX;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("the next program would not start ({status})")),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                // It may have ended meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the next program has not checked its flags in {} s", CHECK_MAX.as_secs()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inherited_descriptors_are_not_passed_on() {
        let command = own_command().expect("it has one");
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        for variable in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "SKIPSTONE_HANDOVER"] {
            assert!(removed.iter().any(|name| *name == variable), "{variable}");
        }
    }

    #[test]
    fn a_thousand_players_a_second_reconnect() {
        assert_eq!(notice(0, None).to_string(), "retry=200..800; the server restarts");
        assert_eq!(notice(5_000, None).to_string(), "retry=200..5200; the server restarts");
        let to = notice(1, Some("eu2.example:7777")).to_string();
        assert_eq!(to, "retry=200..800 at=eu2.example:7777; the server restarts");
    }

    #[test]
    fn players_are_notified_after_the_last_pending_handshake() {
        let since = Instant::now();
        let mut restart = Restart { signal: None, state: RestartState::Closing { since, to: None } };
        let mut step = |ms, arriving| restart.step(since + Duration::from_millis(ms), arriving, DrainPhase::Nothing);
        assert_eq!(step(100, 0), RestartStep::GoOn, "a client may hold a cookie");
        assert_eq!(step(1_500, 1), RestartStep::GoOn, "a slow path");
        assert_eq!(step(1_600, 0), RestartStep::Leave(None));
        assert_eq!(step(2_000, 1), RestartStep::Leave(None), "no client delays a restart any longer");
    }

    #[test]
    fn a_failed_restart_leaves_the_server_running_and_can_be_repeated() {
        let (answer, answered) = mpsc::channel();
        let signal = RestartSignal::watch().expect("it watches");
        let mut restart = Restart { signal, state: RestartState::Checking(answered) };
        answer.send(Ok(())).expect("the loop waits");
        assert_eq!(restart.step(Instant::now(), 0, DrainPhase::Nothing), RestartStep::MakeReady);
        restart.stay();
        assert!(!restart.is_under_way());
        assert_eq!(restart.step(Instant::now(), 0, DrainPhase::Nothing), RestartStep::GoOn);
        assert!(restart.ask("").is_ok() || cfg!(not(unix)));
    }

    #[test]
    fn a_node_gives_its_players_away_before_new_clients_wait() {
        let (answer, answered) = mpsc::channel();
        let mut restart = Restart { signal: None, state: RestartState::Checking(answered) };
        let began = Instant::now();
        let mut step = |ms, drain| restart.step(began + Duration::from_millis(ms), 0, drain);
        assert_eq!(step(0, DrainPhase::Possible), RestartStep::GoOn, "the next program has not been checked");
        answer.send(Ok(())).expect("the loop waits");
        assert_eq!(step(10, DrainPhase::Possible), RestartStep::Drain);
        assert_eq!(step(20, DrainPhase::UnderWay), RestartStep::GoOn);
        assert_eq!(step(59_000, DrainPhase::UnderWay), RestartStep::GoOn);
        assert_eq!(step(60_000, DrainPhase::Nothing), RestartStep::MakeReady);
        assert_eq!(step(60_100, DrainPhase::Nothing), RestartStep::GoOn, "a client may hold a cookie");
        assert_eq!(step(60_500, DrainPhase::UnderWay), RestartStep::GoOn, "a player has arrived");
        assert_eq!(step(60_900, DrainPhase::Nothing), RestartStep::Leave(None));
    }

    #[test]
    fn a_server_with_a_parent_is_not_restarted() {
        let mut restart = Restart::new(false).expect("nothing to watch");
        assert!(restart.ask("").is_err());
        assert_eq!(restart.step(Instant::now(), 0, DrainPhase::Nothing), RestartStep::GoOn);
    }
}
