//! What is asked of a run: how many bots, when each begins and ends, and the conditions. Values in, values out.

mod options;
mod stages;

pub(crate) use options::ScriptOptions;
pub(crate) use stages::{Life, Stage, lives, lives_max};
