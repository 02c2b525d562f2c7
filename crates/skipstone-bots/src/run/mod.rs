//! A run: worker threads, each with its bots, their sockets and a VM; what they found, added up.

mod bot_records;
mod host;
mod lateness;
mod link;
mod places;
mod progress;
mod run_plan;
mod tally;
mod ticks;
mod timers;
mod worker;
mod worst_bots;

pub(crate) use places::Places;
pub(crate) use progress::Progress;
pub(crate) use run_plan::RunPlan;
pub(crate) use tally::Tally;
pub(crate) use worst_bots::WorstBots;

use crate::plan::Life;
use crate::script::{Engine, EngineLimits, Watchdog};
use host::WorkerHost;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use worker::Worker;

/// Runs the bots until their time is up or the flag is set. `epoch` is when the run begins.
///
/// # Errors
/// What could not begin, in one sentence.
pub(crate) fn play(
    plan: &RunPlan,
    epoch: Instant,
    stop: &AtomicBool,
    progress: &Arc<Progress>,
) -> Result<Tally, String> {
    let watchdog = Watchdog::start()?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..plan.workers.max(1))
            .map(|own| {
                let (watchdog, progress) = (&watchdog, Arc::clone(progress));
                let run = move || work(plan, own, epoch, stop, watchdog, progress);
                std::thread::Builder::new().name(format!("bots-{own}")).spawn_scoped(scope, run)
            })
            .collect();
        let mut whole = Tally::default();
        let mut failure = None;
        for worker in workers {
            let worker = worker.map_err(|error| format!("cannot start a thread: {error}"))?;
            match worker.join() {
                Ok(Ok(tally)) => whole.merge(tally),
                Ok(Err(why)) => failure = Some(why),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        failure.map_or(Ok(whole), Err)
    })
}

/// The bots of one worker: every n-th.
fn work(
    plan: &RunPlan,
    own: usize,
    epoch: Instant,
    stop: &AtomicBool,
    watchdog: &Watchdog,
    progress: Arc<Progress>,
) -> Result<Tally, String> {
    let lives: Vec<Life> = plan.lives.iter().skip(own).step_by(plan.workers.max(1)).copied().collect();
    let host = WorkerHost::new(epoch, plan.seed, &lives, progress);
    let limits = EngineLimits::for_bots(lives.len() as u32);
    let engine = Engine::new(plan.script.clone(), host.clone(), watchdog, limits).map_err(|fault| fault.to_string())?;
    // The start of a run on several machines is agreed on before.
    std::thread::sleep(epoch.saturating_duration_since(Instant::now()));
    Worker::new(plan, lives, engine, host)?.run(stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::ScriptFolder;
    use std::path::Path;
    use std::time::Duration;

    #[test]
    fn workers_publish_what_they_have_found() {
        let source = "
            local bot = skipstone.bot{ api = 1, connect = 'udp://127.0.0.1:9' }
            local steps, took = metrics.counter('steps'), metrics.trend('took_ms')
            function bot:start()
                while true do
                    self:sleep(0.02)
                    steps:add(1)
                    took:add(bot.number)
                end
            end
        ";
        let duration = Duration::from_millis(300);
        let life = |number| Life { number, from: Duration::ZERO, until: duration, leaves: false };
        let script = ScriptFolder::of_text("steps.luau", source, Path::new("."));
        let plan = RunPlan {
            script,
            url: None,
            lives: (0..4).map(life).collect(),
            duration,
            seed: 1,
            allowed: None,
            workers: 2,
        };
        let progress = Arc::new(Progress::published());
        let whole = play(&plan, Instant::now(), &AtomicBool::new(false), &progress).expect("it runs");
        let published = progress.published_tally();
        assert_eq!((published.started, whole.started), (4, 4), "both workers have told");
        assert_eq!(published.metrics.curves().len(), 1);
        let worst = |tally: &Tally| WorstBots::of(&tally.bots).shown().iter().map(|one| one.bot).collect::<Vec<_>>();
        assert_eq!((worst(&published), worst(&whole)), (Vec::new(), vec![3, 2, 1]), "bots are known at the end");
    }
}
