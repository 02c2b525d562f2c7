//! The machine that a run was made on, so that a figure is never read without it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a run was made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The processor's model.
    pub cpu: String,
    /// Cores that the run could use.
    pub cores: u64,
    /// Operating system and version.
    pub kernel: String,
}

/// This machine, as far as it tells.
pub fn this_machine() -> Machine {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    Machine {
        cpu: cpu_model(&read("/proc/cpuinfo")).unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64),
        kernel: kernel(&read("/proc/sys/kernel/osrelease")),
    }
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let (_, model) = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?;
    Some(model.trim().to_owned())
}

fn kernel(release: &str) -> String {
    format!("{} {}", std::env::consts::OS, release.trim()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_by_its_model() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7B13\n\nprocessor\t: 1\n";
        assert_eq!(cpu_model(cpuinfo).as_deref(), Some("AMD EPYC 7B13"));
        assert_eq!(cpu_model(""), None);
    }

    #[test]
    fn a_machine_that_tells_nothing_is_still_described() {
        let machine = this_machine();
        assert!(machine.cores >= 1 && !machine.cpu.is_empty() && !machine.kernel.is_empty());
        assert_eq!(kernel(""), std::env::consts::OS);
    }
}
