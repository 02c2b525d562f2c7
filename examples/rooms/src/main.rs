//! Plays the game of the library next to this file, at a `nats-server` that it starts.

use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::time::Duration;

fn main() -> Result<(), skipstone_example_rooms::Failure> {
    let nats = LocalNats::start(LocalSettings::default())?;
    let story = skipstone_example_rooms::play(&nats.url(), Duration::from_secs(15))?;
    println!("{story:#?}");
    Ok(())
}
