//! The shared library's own name, which programs look for when they start: without a folder and without a number. A game ships
//! the library beside itself, and skipstone_check_abi compares the versions.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux") => println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libskipstone.so"),
        Ok("android") => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libskipstone.so");
            // Devices with pages of 16 KiB load nothing that is aligned to less.
            println!("cargo::rustc-cdylib-link-arg=-Wl,-z,max-page-size=16384");
        }
        Ok("macos" | "ios") => println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libskipstone.dylib"),
        _ => {}
    }
}
