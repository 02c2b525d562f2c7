//! Runs the game of the library next to this file.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "after {} ticks the player stands at {:.1}",
        skipstone_example_bevy::TICKS,
        skipstone_example_bevy::play()?
    );
    Ok(())
}
