//! Rules for our sources and packages, checked on the files themselves.

pub(crate) mod claims;
pub(crate) mod docs;
pub(crate) mod features;
pub(crate) mod house;
pub(crate) mod layering;
pub(crate) mod licences;
pub(crate) mod local_paths;
pub(crate) mod package;
pub(crate) mod purity;
pub(crate) mod snippets;
pub(crate) mod source;
