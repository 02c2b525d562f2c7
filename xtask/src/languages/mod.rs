//! Clients in other languages, for browsers and for other systems: built, tested and measured.

pub(crate) mod agones;
pub(crate) mod bench_languages;
pub(crate) mod bots_template;
pub(crate) mod browsers_bench;
pub(crate) mod c;
pub(crate) mod catalogue;
pub(crate) mod csharp;
pub(crate) mod dashboard;
pub(crate) mod go;
pub(crate) mod interop;
pub(crate) mod manifests;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod web;
pub(crate) mod windows;
