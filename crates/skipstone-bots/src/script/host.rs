//! What a script may ask of the run. Each call is about the bot whose code runs.

use crate::http::HttpRequest;
use crate::metrics::{MetricId, MetricKind};
use crate::protocol::{Outgoing, ProtocolFigures, SendRefused};

/// The run, as a script knows it. An error is a sentence, which the script gets with its line.
pub(crate) trait Host {
    /// Seconds since the run began.
    fn now(&self) -> f64;

    /// The number of the bot whose code runs.
    fn number(&self) -> u32;

    /// A random word of that bot.
    fn random(&self) -> u64;

    /// Sends a message, which was due at that time.
    fn send(&self, message: Outgoing<'_>, due: Option<f64>) -> Result<(), String>;

    /// Ends the bot's connection; without effect if it has none.
    fn close(&self);

    /// Whether it was closed, and has not ended yet.
    fn is_closing(&self) -> bool;

    /// A sentence: the bot is not connected, and why.
    fn not_connected(&self) -> String {
        SendRefused::NotConnected.to_string()
    }

    /// Reads nothing from the bot's socket for this long; 0 reads again.
    fn pause_reading(&self, _seconds: f64) -> Result<(), String> {
        Err(self.not_connected())
    }

    /// What the bot's protocol knows of its connection.
    fn figures(&self) -> Option<ProtocolFigures>;

    /// A metric of that name.
    fn metric(&self, name: &str, kind: MetricKind) -> Result<MetricId, String>;

    /// Records a value.
    fn record(&self, id: MetricId, value: f64) -> Result<(), String>;

    /// Begins a request of HTTP. Its number, by which the answer is known.
    fn request(&self, _request: HttpRequest) -> Result<u64, String> {
        Err("the bot does not run yet".into())
    }

    /// Shows a line of the script, unless there were too many.
    fn print(&self, line: &str);
}
