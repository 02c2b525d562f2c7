//! The tests of the libraries for a processor that this machine does not have, run by QEMU: what differs between
//! processors (atomics, SIMD, the order of bytes, the system's structures) is in the protocol and in its sockets. Static
//! programs, so that no library of that processor is needed.

use crate::machine::process;
use crate::machine::system;
use crate::machine::tally::Tally;
use crate::machine::tree::Tree;
use crate::machine::verdict::counted;

use super::plan::{Checked, Part};
use super::systems::{LINUX_AARCH64, System};
use super::zig;

/// It makes nothing that is published.
pub(super) const PARTS: &[Part] = &[Part {
    name: "tests-linux-aarch64",
    about: "the libraries' own tests on AArch64, by QEMU: only --check",
    make: |_, _| Ok(Vec::new()),
    check: |_, tree| check(&LINUX_AARCH64, tree),
}];

fn check(system: &System, tree: &Tree) -> Result<Checked, String> {
    let without = "tests for another processor are not run";
    if let Some(why) = system::program(EMULATOR, "qemu-user-static", without, tree) {
        return Ok(Checked::Skipped(why));
    }
    zig::prepare(system, tree)?;
    let mut all = Tally::default();
    for (package, flags, tests) in LIBRARIES {
        let mut cargo = process::bounded(SECONDS_MAX, &zig::zigbuild(tree).to_string_lossy(), tree);
        cargo.args(["test", "--locked", "--no-fail-fast", "--target", system.target, "--package", package]);
        cargo.args(*flags).arg("--").args(*tests);
        let target = system.target.to_uppercase().replace('-', "_");
        cargo.env("PATH", zig::search_path(tree)).env("CARGO_INCREMENTAL", "0");
        cargo.env(format!("CARGO_TARGET_{target}_RUNNER"), EMULATOR);
        all += counted(cargo, Tally::from_result_line)?;
    }
    if all.failed > 0 || all.passed == 0 {
        return Err(format!("{} tests of {} fail, {} pass", all.failed, system.target, all.passed));
    }
    Ok(Checked::Passed(format!("{} tests of the libraries pass under {EMULATOR}", all.passed)))
}

/// For building and running the tests of one package.
const SECONDS_MAX: u32 = 1_800;
const EMULATOR: &str = "qemu-aarch64-static";

/// Packages, cargo's flags, and those of the test program.
const LIBRARIES: &[(&str, &[&str], &[&str])] = &[
    ("skipstone-gf256", &["--tests"], &[]),
    ("skipstone-mailbox", &["--lib"], &[]),
    ("skipstone-proto", &["--lib"], &[]),
    // Without DTLS, whose RustCrypto costs minutes to build.
    (
        "skipstone",
        &["--lib", "--no-default-features", "--features", "ring,websocket,self-signed,simulate"],
        NOT_EMULATED,
    ),
];

/// QEMU's user mode does not pass on all of the data beside a datagram: the address that it came to, and the
/// kernel's count of those that it dropped.
const NOT_EMULATED: &[&str] = &[
    "--skip",
    "each_answer_leaves_from_the_requested_address",
    "--skip",
    "datagrams_beyond_the_receive_buffer_are_counted",
];
