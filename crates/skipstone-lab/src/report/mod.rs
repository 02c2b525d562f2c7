//! The output of a run: how it is judged, the page that people read, and where page and JSON go. Values in, text out;
//! only `output` prints. `stress` and `bots` have what such runs alone show.

mod added;
pub mod bots;
mod command;
pub mod connects;
pub(crate) mod copied;
#[cfg(feature = "experiments")]
pub(crate) mod figures;
pub mod format;
mod html;
pub mod output;
mod page;
pub mod paint;
pub mod replace;
#[cfg(feature = "experiments")]
pub(crate) mod rows;
#[cfg(test)]
pub(crate) mod schema;
mod sink;
pub mod stress;
mod thresholds;
mod verdict;

pub use command::command;
pub use html::{PageKind, ReportFile, page_of};
pub use page::{Cell, Page};
pub use paint::{Style, Tone};
pub use sink::Sink;
pub use thresholds::ThresholdResult;
pub use verdict::{Exit, ServerOwner, Verdict};
