//! The last 15 minutes, so that a new page does not begin with an empty chart.

use std::collections::VecDeque;
use std::sync::Arc;

/// Frames as JSON, oldest first.
#[derive(Debug, Default)]
pub(super) struct History(VecDeque<Arc<str>>);

impl History {
    pub(super) fn push(&mut self, frame: Arc<str>) {
        if self.0.len() == FRAMES_MAX {
            self.0.pop_front();
        }
        self.0.push_back(frame);
    }

    /// A JSON array of all.
    pub(super) fn json(&self) -> String {
        let frames: Vec<&str> = self.0.iter().map(|frame| &**frame).collect();
        format!("[{}]", frames.join(","))
    }
}

/// One frame a second, each of less than 1 KiB.
const FRAMES_MAX: usize = 900;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_frames_are_evicted() {
        let mut history = History::default();
        assert_eq!(history.json(), "[]");
        (0..FRAMES_MAX + 2).for_each(|number| history.push(number.to_string().into()));
        assert!(history.json().starts_with("[2,3,") && history.json().ends_with(",901]"));
    }
}
