//! Lines for the application's log. They are queued until the application takes them: the library never calls back.

use crate::types::SkipstoneLogLevel;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of queued lines; the oldest is dropped for a newer one.
static LINES: Mutex<VecDeque<(SkipstoneLogLevel, String)>> = Mutex::new(VecDeque::new());
const LINES_MAX: usize = 256;
/// A longer line is truncated.
const LINE_BYTES_MAX: usize = 4_096;

pub(crate) fn error(text: &str) {
    add(SkipstoneLogLevel::Error, text);
}

pub(crate) fn warn(text: &str) {
    add(SkipstoneLogLevel::Warning, text);
}

pub(crate) fn info(text: &str) {
    add(SkipstoneLogLevel::Info, text);
}

/// The oldest line, unless `take` returns without taking it.
pub(crate) fn next<T>(take: impl FnOnce(SkipstoneLogLevel, &str) -> (T, bool)) -> Option<T> {
    let mut lines = lines();
    let (level, line) = lines.front()?;
    let (outcome, is_taken) = take(*level, line);
    if is_taken {
        lines.pop_front();
    }
    Some(outcome)
}

fn add(level: SkipstoneLogLevel, text: &str) {
    let mut lines = lines();
    if lines.len() >= LINES_MAX {
        lines.pop_front();
    }
    let end = (0..=LINE_BYTES_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    lines.push_back((level, text[..end].to_owned()));
}

fn lines() -> MutexGuard<'static, VecDeque<(SkipstoneLogLevel, String)>> {
    LINES.lock().unwrap_or_else(PoisonError::into_inner)
}
