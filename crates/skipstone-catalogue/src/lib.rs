//! Writes what the tables of protocol and library declare (statistics, settings, close codes) into the other languages
//! and the pages: each file has regions between `catalogue: NAME` and `catalogue: end`, which
//! `cargo xtask catalogue --update` fills. A test compares them.

mod c;
mod configuration;
mod counters;
mod csharp;
mod driver;
mod go;
mod json;
mod names;
mod pages;
mod python;
mod region;
mod settings;
mod text;
mod version;
mod web;

pub use configuration::{ServerOption, server_options};
pub use counters::{C_1_0, Counter, flow, stats};
pub use driver::{Member, members};
pub use names::{camel, go, pascal, screaming};
pub use region::{Region, filled};

/// Every region, of every file.
pub fn regions() -> Vec<Region> {
    [
        c::regions(),
        go::regions(),
        csharp::regions(),
        python::regions(),
        web::regions(),
        json::regions(),
        pages::regions(),
        configuration::regions(),
        driver::regions(),
        settings::regions(),
        version::regions(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
