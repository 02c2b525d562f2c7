//! The soname of the shared library, which programs look for at start: without a folder and without a version. A game
//! ships the library with itself, and skipstone_check_abi compares the versions.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libskipstone.so"),
        Ok("android") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libskipstone.so");
            // Devices with 16 KiB pages load no library with a smaller alignment.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,max-page-size=16384");
        }
        Ok("macos" | "ios") => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libskipstone.dylib"),
        _ => {}
    }
}
