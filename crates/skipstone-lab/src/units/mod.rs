//! Values that a user writes in options and plan files: each a type that parses with a helpful error and displays as it
//! parses.

mod allowed;
mod bit_rate;
mod bounds;
mod burst;
mod error;
mod fade;
mod loss;
mod mix;
#[cfg(feature = "experiments")]
pub(crate) mod nearest;
mod number;
mod percent;
mod rate;
mod redundancy;
#[cfg(feature = "experiments")]
mod seeds;
mod size;
mod span;
mod threshold;
#[cfg(feature = "experiments")]
mod transport_name;
pub(crate) mod written;

pub use allowed::Allowed;
pub use bit_rate::BitRate;
pub use bounds::Bounds;
pub use burst::Burst;
pub use error::UnitError;
pub use fade::Fade;
pub use loss::{chance, loss};
pub use mix::{Carrier, Mix};
pub use percent::Percent;
pub use rate::Rate;
pub use redundancy::{Budget, Mode};
#[cfg(feature = "experiments")]
pub(crate) use seeds::seed_range;
pub use size::Size;
pub use span::Span;
pub use threshold::{Evaluation, FigureUnit, Threshold, ThresholdError};
#[cfg(feature = "experiments")]
pub(crate) use transport_name::Named;
