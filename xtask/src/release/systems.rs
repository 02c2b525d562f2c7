//! The systems for which a release has programs and libraries.

/// A system, and its names in the tools that build for it.
pub(crate) struct System {
    /// Rust's name, which is also the one in the names of artifacts.
    pub(crate) target: &'static str,
    /// What cargo-zigbuild is asked for: Rust's name, and the oldest glibc if it is linked with that.
    pub(crate) zigbuild: &'static str,
    pub(crate) kind: Kind,
    /// .NET's runtime id.
    pub(crate) dotnet: &'static str,
    /// Go's names of the system and the CPU.
    pub(crate) go: &'static str,
}

/// What differs between systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Linux,
    Windows,
    MacOs,
}

impl System {
    /// The one whose programs run on this machine: a release is made on Linux.
    pub(crate) fn here() -> &'static Self {
        if cfg!(target_arch = "aarch64") { &LINUX_AARCH64 } else { &LINUX_X86_64 }
    }

    /// Whether this machine runs its programs.
    pub(crate) fn is_here(&self) -> bool {
        self.target.starts_with(std::env::consts::ARCH) && self.os() == std::env::consts::OS
    }

    /// The system as Rust calls it.
    pub(crate) fn os(&self) -> &'static str {
        match self.kind {
            Kind::Linux => "linux",
            Kind::Windows => "windows",
            Kind::MacOs => "macos",
        }
    }

    /// A program's name there.
    pub(crate) fn program(&self, name: &str) -> String {
        if self.kind == Kind::Windows { format!("{name}.exe") } else { name.to_owned() }
    }

    /// The end of an archive's name: what that system unpacks without further programs.
    pub(crate) fn archive(&self) -> &'static str {
        if self.kind == Kind::Windows { "zip" } else { "tar.gz" }
    }

    /// The file name of the shared library.
    pub(crate) fn shared(&self, name: &str) -> String {
        match self.kind {
            Kind::Linux => format!("lib{name}.so"),
            Kind::Windows => format!("{name}.dll"),
            Kind::MacOs => format!("lib{name}.dylib"),
        }
    }
}

const fn system(
    target: &'static str,
    zigbuild: &'static str,
    kind: Kind,
    dotnet: &'static str,
    go: &'static str,
) -> System {
    System { target, zigbuild, kind, dotnet, go }
}

pub(crate) const LINUX_X86_64: System =
    system("x86_64-unknown-linux-musl", "x86_64-unknown-linux-musl", Kind::Linux, "linux-musl-x64", "linux_amd64");
pub(crate) const LINUX_AARCH64: System =
    system("aarch64-unknown-linux-musl", "aarch64-unknown-linux-musl", Kind::Linux, "linux-musl-arm64", "linux_arm64");
pub(crate) const WINDOWS_X86_64: System =
    system("x86_64-pc-windows-gnu", "x86_64-pc-windows-gnu", Kind::Windows, "win-x64", "windows_amd64");
pub(crate) const MACOS_AARCH64: System =
    system("aarch64-apple-darwin", "aarch64-apple-darwin", Kind::MacOs, "osx-arm64", "darwin_arm64");
pub(crate) const MACOS_X86_64: System =
    system("x86_64-apple-darwin", "x86_64-apple-darwin", Kind::MacOs, "osx-x64", "darwin_amd64");
pub(crate) const GLIBC_X86_64: System =
    system("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-gnu.2.17", Kind::Linux, "linux-x64", "linux_amd64");
pub(crate) const GLIBC_AARCH64: System =
    system("aarch64-unknown-linux-gnu", "aarch64-unknown-linux-gnu.2.17", Kind::Linux, "linux-arm64", "linux_arm64");

/// Those of the libraries, which a program of any Linux loads: they are linked with its glibc.
pub(crate) const LIBRARY_SYSTEMS: [System; 5] =
    [GLIBC_X86_64, GLIBC_AARCH64, WINDOWS_X86_64, MACOS_AARCH64, MACOS_X86_64];
