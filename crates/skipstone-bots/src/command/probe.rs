//! The script's body, run once before the run: what it asks for, and its mistakes.

use crate::metrics::{HTTP_FAILED, HTTP_TIMES, MetricId, MetricKind, Metrics};
use crate::plan::ScriptOptions;
use crate::protocol::{Outgoing, ProtocolFigures};
use crate::script::{BotScript, Engine, EngineLimits, Host, ScriptFolder, Watchdog};
use std::cell::RefCell;
use std::rc::Rc;

/// What the script's body says.
pub(super) struct Probed {
    pub(super) options: ScriptOptions,
    pub(super) url: Option<String>,
    /// The metrics that it has, all empty.
    pub(super) metrics: Metrics,
}

impl Probed {
    /// Runs the body as bot 0 would.
    pub(super) fn of(script: &ScriptFolder) -> Result<Self, String> {
        let watchdog = Watchdog::start()?;
        let host = Rc::new(Nowhere::default());
        let limits = EngineLimits::for_bots(1);
        let engine = Engine::new(script.clone(), host.clone(), &watchdog, limits).map_err(|fault| fault.to_string())?;
        let bot = BotScript::new(&engine).map_err(|fault| fault.to_string())?;
        let mut metrics = host.metrics.borrow().clone();
        // Thresholds may name what http measures before it has measured anything; modules may use it, too.
        if ["http.", "require"].iter().any(|name| script.source.contains(name)) {
            for (name, kind) in [(HTTP_TIMES, MetricKind::Trend), (HTTP_FAILED, MetricKind::Rate)] {
                metrics.register(name, kind).map_err(|refused| refused.to_string())?;
            }
        }
        Ok(Probed { options: engine.options(), url: bot.url().map(str::to_owned), metrics })
    }
}

/// A run that does not run.
#[derive(Default)]
struct Nowhere {
    metrics: RefCell<Metrics>,
}

impl Host for Nowhere {
    fn now(&self) -> f64 {
        0.0
    }

    fn number(&self) -> u32 {
        0
    }

    fn random(&self) -> u64 {
        0
    }

    fn send(&self, _: Outgoing<'_>, _: Option<f64>) -> Result<(), String> {
        Err(self.not_connected())
    }

    fn close(&self) {}

    fn is_closing(&self) -> bool {
        false
    }

    fn figures(&self) -> Option<ProtocolFigures> {
        None
    }

    fn metric(&self, name: &str, kind: MetricKind) -> Result<MetricId, String> {
        self.metrics.borrow_mut().register(name, kind).map_err(|refused| refused.to_string())
    }

    fn record(&self, _: MetricId, _: f64) -> Result<(), String> {
        Ok(())
    }

    fn print(&self, _: &str) {}
}
