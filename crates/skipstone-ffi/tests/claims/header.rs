//! The checked-in header equals the one that cbindgen generates from the sources. `SKIPSTONE_UPDATE=1` writes it.

use std::path::Path;

#[test]
fn the_header_is_generated_from_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml is readable");
    let bindings = cbindgen::Builder::new().with_config(config).with_src(folder.join("src/lib.rs")).generate();
    let mut made = Vec::new();
    bindings.expect("cbindgen understands the sources").write(&mut made);
    let path = folder.join("include/skipstone.h");
    let is_stale = std::fs::read(&path).ok().as_ref() != Some(&made);
    if is_stale && std::env::var_os("SKIPSTONE_UPDATE").is_some() {
        std::fs::write(&path, &made).expect("the header can be written");
    }
    let kept = std::fs::read(&path).expect("the header is there");
    let remedy = "SKIPSTONE_UPDATE=1 cargo test -p skipstone-ffi --test claims";
    assert!(made == kept, "include/skipstone.h is not what the sources make: run `{remedy}`");
}
