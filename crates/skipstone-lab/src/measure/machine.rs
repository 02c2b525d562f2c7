//! The machine that a run was made on, so that a figure is never read without it.

use procfs_core::{CpuInfo, FromRead};
use serde::{Deserialize, Serialize};

/// Where a run was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The processor's model.
    pub cpu: String,
    /// Cores that the run could use.
    pub cores: u64,
    /// Operating system and version.
    pub kernel: String,
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// This machine, as far as it tells.
pub fn this_machine() -> Machine {
    let model = CpuInfo::from_file("/proc/cpuinfo").ok().and_then(|info| info.model_name(0).map(str::to_owned));
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Machine {
        cpu: model.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: cores() as u64,
        kernel: format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_little_information_is_still_described() {
        let machine = this_machine();
        assert!(machine.cores >= 1 && !machine.cpu.is_empty() && machine.kernel.starts_with(std::env::consts::OS));
    }
}
