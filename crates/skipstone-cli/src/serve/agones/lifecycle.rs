//! Which call of Agones' SDK is due: a state machine without clock, thread and network.
//!
//! ```text
//! Unknown ──/gameserver──> Starting ──/ready──> Ready ──/allocate──> Allocated
//!    any of them ──────────────── the server ends: /shutdown ────────────────> Over
//! ```
//! Beside it /health, each second in which the game's loop has ticked. A process that follows another one in its pod
//! finds the state that its predecessor left, and does not declare an allocated server ready.

use std::time::{Duration, Instant};

/// When the server declares itself allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Allocation {
    /// As soon as a client has joined
    FirstPlayer,
    /// Never: an allocator does
    Never,
}

/// A call of the SDK's REST interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SdkCall {
    GameServer,
    Ready,
    Health,
    Allocate,
    Shutdown,
}

/// The game's loop, as far as Agones is concerned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopState {
    /// Since the start.
    pub(super) ticks: u64,
    pub(super) has_had_player: bool,
    /// No server follows this one.
    pub(super) has_ended: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Unknown,
    Starting,
    Ready,
    Allocated,
    Over,
}

/// What the SDK server knows already, and when to call it again.
#[derive(Debug)]
pub(super) struct Lifecycle {
    allocation: Allocation,
    phase: Phase,
    /// Of the loop, at the last ping.
    ticks_at_ping: u64,
    ping_at: Instant,
    /// Of a call that failed.
    retry_at: Instant,
    shutdown_tries: u32,
    pings: u64,
    failures: u64,
}

/// Between two pings, and before a call that failed is tried again. Agones' shortest health period is 1 s, its default
/// 5 s, and it takes three missed periods for unhealthy.
const INTERVAL: Duration = Duration::from_secs(1);
/// A server that ends waits no longer for an SDK server that is away.
const SHUTDOWN_TRIES_MAX: u32 = 2;

impl Lifecycle {
    pub(super) fn new(allocation: Allocation, now: Instant) -> Lifecycle {
        Lifecycle {
            allocation,
            phase: Phase::Unknown,
            ticks_at_ping: 0,
            ping_at: now,
            retry_at: now,
            shutdown_tries: 0,
            pings: 0,
            failures: 0,
        }
    }

    /// The call to make now, if any. Its outcome goes to [`Lifecycle::handle_answer`].
    pub(super) fn due(&mut self, now: Instant, seen: LoopState) -> Option<SdkCall> {
        if self.phase == Phase::Over {
            return None;
        }
        if seen.has_ended {
            self.shutdown_tries += 1;
            return Some(SdkCall::Shutdown);
        }
        if now >= self.ping_at {
            self.ping_at = now + INTERVAL;
            // A loop that hangs must not look healthy.
            if seen.ticks > self.ticks_at_ping {
                self.ticks_at_ping = seen.ticks;
                return Some(SdkCall::Health);
            }
        }
        let call = self.transition(seen)?;
        (now >= self.retry_at).then_some(call)
    }

    fn transition(&self, seen: LoopState) -> Option<SdkCall> {
        match self.phase {
            Phase::Unknown => Some(SdkCall::GameServer),
            Phase::Starting => (seen.ticks > 0).then_some(SdkCall::Ready),
            Phase::Ready => {
                let is_due = seen.has_had_player && self.allocation == Allocation::FirstPlayer;
                is_due.then_some(SdkCall::Allocate)
            }
            Phase::Allocated | Phase::Over => None,
        }
    }

    /// The call was answered with this text, or failed.
    pub(super) fn handle_answer(&mut self, now: Instant, call: SdkCall, answer: Option<&str>) {
        let Some(answer) = answer else {
            self.failures += 1;
            self.retry_at = now + INTERVAL;
            if self.shutdown_tries >= SHUTDOWN_TRIES_MAX {
                self.phase = Phase::Over;
            }
            return;
        };
        self.phase = match call {
            SdkCall::Health => {
                self.pings += 1;
                self.phase
            }
            SdkCall::GameServer => phase_left_by_a_predecessor(answer),
            SdkCall::Ready => Phase::Ready,
            SdkCall::Allocate => Phase::Allocated,
            SdkCall::Shutdown => Phase::Over,
        };
    }

    /// How long no call is due unless the loop reports something new.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let retry = Some(self.retry_at).filter(|at| *at > now);
        let next = retry.map_or(self.ping_at, |at| at.min(self.ping_at));
        next.saturating_duration_since(now)
    }

    /// Whether no call will follow.
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    pub(super) fn phase_name(&self) -> &'static str {
        match self.phase {
            Phase::Unknown => "not reached yet",
            Phase::Starting => "starting",
            Phase::Ready => "ready",
            Phase::Allocated => "allocated",
            Phase::Over => "shut down",
        }
    }

    /// Those that were answered.
    pub(super) fn pings(&self) -> u64 {
        self.pings
    }

    pub(super) fn failures(&self) -> u64 {
        self.failures
    }
}

/// The phase by the answer of /gameserver. A fresh pod is `Scheduled`, and `Ready` in the local mode of Agones' SDK
/// server; to declare it ready once more does no harm.
fn phase_left_by_a_predecessor(answer: &str) -> Phase {
    let answer: serde_json::Value = serde_json::from_str(answer).unwrap_or_default();
    match answer["status"]["state"].as_str() {
        Some("Reserved") => Phase::Ready,
        Some("Allocated") => Phase::Allocated,
        _ => Phase::Starting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lifecycle in virtual time; `away` is whether the SDK server does not answer.
    struct Pod {
        lifecycle: Lifecycle,
        now: Instant,
        seen: LoopState,
        found: &'static str,
        is_away: bool,
        calls: Vec<SdkCall>,
    }

    fn pod(allocation: Allocation) -> Pod {
        let now = Instant::now();
        let lifecycle = Lifecycle::new(allocation, now);
        Pod { lifecycle, now, seen: LoopState::default(), found: "Scheduled", is_away: false, calls: Vec::new() }
    }

    impl Pod {
        /// Runs for this long; the loop ticks each 100 ms, unless it hangs.
        fn run(&mut self, seconds: u64, ticks_each_step: u64) -> Vec<SdkCall> {
            for _ in 0..seconds * 10 {
                self.seen.ticks += ticks_each_step;
                while let Some(call) = self.lifecycle.due(self.now, self.seen) {
                    self.calls.push(call);
                    let text = format!("{{\"status\":{{\"state\":\"{}\"}}}}", self.found);
                    let answer = Some(text.as_str()).filter(|_| !self.is_away);
                    self.lifecycle.handle_answer(self.now, call, answer);
                }
                self.now += Duration::from_millis(100);
            }
            core::mem::take(&mut self.calls)
        }
    }

    fn count(calls: &[SdkCall], call: SdkCall) -> usize {
        calls.iter().filter(|own| **own == call).count()
    }

    #[test]
    fn a_server_is_ready_then_allocated_then_shut_down_and_healthy_all_along() {
        let mut pod = pod(Allocation::FirstPlayer);
        let calls = pod.run(5, 1);
        assert_eq!(calls[..3], [SdkCall::Health, SdkCall::GameServer, SdkCall::Ready]);
        assert_eq!(calls[3..], [SdkCall::Health; 4], "once a second, and ready once");
        pod.seen.has_had_player = true;
        let calls = pod.run(5, 1);
        assert_eq!((count(&calls, SdkCall::Allocate), count(&calls, SdkCall::Health)), (1, 5), "{calls:?}");
        pod.seen.has_ended = true;
        assert_eq!(pod.run(5, 0), [SdkCall::Shutdown]);
        assert!(pod.lifecycle.is_over());
    }

    #[test]
    fn a_loop_that_hangs_is_not_healthy_and_one_that_goes_on_is() {
        let mut pod = pod(Allocation::FirstPlayer);
        assert_eq!(count(&pod.run(3, 1), SdkCall::Health), 3);
        assert!(pod.run(1, 0).len() <= 1, "it ticked in the second before");
        assert_eq!(pod.run(30, 0), []);
        assert_eq!(count(&pod.run(3, 1), SdkCall::Health), 3);
    }

    #[test]
    fn a_server_whose_loop_never_ran_is_not_ready() {
        assert_eq!(pod(Allocation::FirstPlayer).run(10, 0), [SdkCall::GameServer]);
    }

    #[test]
    fn calls_that_fail_are_repeated_each_second_until_they_succeed() {
        let mut pod = pod(Allocation::FirstPlayer);
        pod.is_away = true;
        pod.seen.has_had_player = true;
        let calls = pod.run(10, 1);
        assert!(count(&calls, SdkCall::GameServer) <= 10 && count(&calls, SdkCall::Health) <= 10, "{calls:?}");
        assert_eq!(count(&calls, SdkCall::Ready), 0, "the state is not known");
        pod.is_away = false;
        let calls: Vec<_> = pod.run(2, 1).into_iter().filter(|call| *call != SdkCall::Health).collect();
        assert_eq!(calls, [SdkCall::GameServer, SdkCall::Ready, SdkCall::Allocate]);
    }

    #[test]
    fn a_server_ends_though_the_sdk_server_is_away() {
        let mut pod = pod(Allocation::FirstPlayer);
        pod.is_away = true;
        pod.seen.has_ended = true;
        assert_eq!(pod.run(10, 0).len(), SHUTDOWN_TRIES_MAX as usize);
        assert!(pod.lifecycle.is_over());
    }

    #[test]
    fn a_successor_does_not_declare_an_allocated_server_ready() {
        let once_more = vec![SdkCall::Ready, SdkCall::Allocate];
        for (found, expected) in [("Allocated", vec![]), ("Reserved", vec![SdkCall::Allocate]), ("Ready", once_more)] {
            let mut pod = pod(Allocation::FirstPlayer);
            pod.found = found;
            pod.seen.has_had_player = true;
            let calls = pod.run(3, 1);
            let calls: Vec<_> =
                calls.into_iter().filter(|call| !matches!(call, SdkCall::Health | SdkCall::GameServer)).collect();
            assert_eq!(calls, expected, "{found}");
        }
    }

    #[test]
    fn an_allocator_decides_if_so_configured() {
        let mut pod = pod(Allocation::Never);
        pod.seen.has_had_player = true;
        assert_eq!(count(&pod.run(5, 1), SdkCall::Allocate), 0);
    }
}
