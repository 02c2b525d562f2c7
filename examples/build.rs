//! Generates Rust types for the packets in `proto/game.proto`.

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=proto/game.proto");
    let files = protox::compile(["proto/game.proto"], ["proto"])?;
    prost_build::compile_fds(files)?;
    Ok(())
}
