//! Which controller a connection uses.

use super::controller::Controller;
use super::model::PathModel;
use super::switch::Switch;
use core::fmt;
use std::sync::Arc;

/// Which congestion controller a connection uses.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Congestion {
    /// Keeps the queue short, yields to flows that yield, and keeps a fair share in competition with TCP.
    #[default]
    DelayAware,
    /// The same for the owner of the link: in competition, the controller takes the share of several TCP flows.
    Aggressive,
    /// No limit and no pacing, for carriers with their own controller, or by choice.
    Off,
    /// One that the application brings: [`Congestion::custom`].
    Custom(CustomController),
}

/// How a controller of the application is made.
#[derive(Clone)]
pub struct CustomController(Arc<Make>);

type Make = dyn Fn(&PathModel) -> Box<dyn Controller> + Send + Sync;

/// Flows of TCP as which the owner of the link competes.
const FLOWS_OF_OWNER: u32 = 3;

impl Congestion {
    /// A controller of the application. `make` is called for each connection on a carrier without a controller of its
    /// own, and again for each path that the peer or this side moves to. Nothing is known of the path then but the
    /// greatest size of a datagram: [`Controller::on_datagram_bytes`] tells the size that the path carries.
    ///
    /// Additive increase, and half after a loss, with a slow start (Reno, RFC 5681):
    ///
    /// ```
    /// use skipstone_proto::{AckSample, Congestion, Controller, PathModel, Time};
    ///
    /// #[derive(Debug)]
    /// struct Reno {
    ///     window: u64,
    ///     /// Slow start ends here.
    ///     threshold: u64,
    /// }
    ///
    /// impl Controller for Reno {
    ///     fn window(&self) -> u64 {
    ///         self.window
    ///     }
    ///
    ///     fn on_ack(&mut self, ack: &AckSample, path: &PathModel) {
    ///         // Only a window that is used up says that the path carries it.
    ///         if path.is_limited(ack.now) {
    ///             let acked = u64::from(ack.bytes);
    ///             let is_starting = self.window < self.threshold;
    ///             self.window += if is_starting { acked } else { u64::from(path.datagram()) * acked / self.window };
    ///         }
    ///     }
    ///
    ///     fn is_congestion(&self, _: &PathModel) -> bool {
    ///         true
    ///     }
    ///
    ///     fn on_congestion(&mut self, _: Time, path: &PathModel) {
    ///         self.threshold = (self.window / 2).max(2 * u64::from(path.datagram()));
    ///         self.window = self.threshold;
    ///     }
    ///
    ///     fn on_silence(&mut self, now: Time, path: &PathModel) {
    ///         self.on_congestion(now, path);
    ///         self.window = 2 * u64::from(path.datagram());
    ///     }
    ///
    ///     fn on_datagram_bytes(&mut self, path: &PathModel) {
    ///         self.window = self.window.max(2 * u64::from(path.datagram()));
    ///     }
    /// }
    ///
    /// let congestion =
    ///     Congestion::custom(|path| Reno { window: 10 * u64::from(path.datagram()), threshold: u64::MAX });
    /// # drop(congestion);
    /// ```
    pub fn custom<C: Controller + 'static>(make: impl Fn(&PathModel) -> C + Send + Sync + 'static) -> Self {
        Congestion::Custom(CustomController(Arc::new(move |path| Box::new(make(path)))))
    }

    /// A new controller for a path; `None` if nothing limits it.
    pub(super) fn controller(&self, path: &PathModel) -> Option<Box<dyn Controller>> {
        match self {
            Congestion::DelayAware => Some(Box::new(Switch::new(1, path))),
            Congestion::Aggressive => Some(Box::new(Switch::new(FLOWS_OF_OWNER, path))),
            Congestion::Off => None,
            Congestion::Custom(custom) => Some((custom.0)(path)),
        }
    }
}

impl fmt::Debug for CustomController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CustomController")
    }
}

/// Whether both are the same one, not whether they do the same.
impl PartialEq for CustomController {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for CustomController {}
