//! What a run shows: the JSON result and its schema, the verdict, the table at the end and the view while it runs.
//! Values in, text out; only `sink` prints.

#[cfg(test)]
mod example;
pub(crate) mod exit;
pub(crate) mod format;
pub(crate) mod judge;
pub(crate) mod live;
pub(crate) mod paint;
pub(crate) mod result;
pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;
