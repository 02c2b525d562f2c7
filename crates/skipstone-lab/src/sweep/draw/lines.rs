//! Lines of a plan.

use std::fmt::{Display, Write};

/// The lines of a table of the plan.
#[derive(Debug, Default)]
pub(super) struct DrawnLines(pub(super) String);

impl DrawnLines {
    pub(super) fn text(&mut self, key: &str, value: impl Display) {
        writeln!(self.0, "{key} = \"{value}\"").expect("a text takes everything");
    }

    pub(super) fn number(&mut self, key: &str, value: impl Display) {
        writeln!(self.0, "{key} = {value}").expect("a text takes everything");
    }
}
