//! Runs the game of the library next to this file.

use skipstone_bevy::skipstone::Threading;
use skipstone_example_bevy::{TICKS, play};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("after {TICKS} ticks the player stands at {:.1}", play(Threading::Background)?);
    Ok(())
}
