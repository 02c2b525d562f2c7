//! Two network namespaces, and the removal of namespaces that killed runs left behind. Each name contains the id of the
//! process that made it, so that leftovers are distinguished from namespaces in use. All calls go through `ip` of
//! iproute2.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sched::{CloneFlags, setns};
use nix::unistd::geteuid;

use super::iproute::ip;

/// The namespaces of a run. Dropped, they are removed.
#[derive(Debug)]
pub(crate) struct Namespaces {
    names: [String; 2],
    /// Numbers the links of this process.
    number: u32,
}

/// The prefix before the process id.
const PREFIX: &str = "skipstone-netem-";
/// Where `ip netns` keeps its names.
const NAMES: &str = "/run/netns";

impl Namespaces {
    /// Creates two namespaces, after removing the ones that dead runs left behind; `say` is called for each.
    pub(crate) fn create(mut say: impl FnMut(String)) -> Result<Namespaces, String> {
        check_rights()?;
        for name in leftovers() {
            match ip(&["netns", "delete", &name]) {
                Ok(()) => say(format!("removed the namespace {name}, which remained from a killed run")),
                Err(error) => say(format!("the namespace {name} remains from a killed run: {error}")),
            }
        }
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let name = |end| format!("{PREFIX}{}-{number}{end}", std::process::id());
        // Any failure from here on removes what was created.
        let namespaces = Namespaces { names: [name('a'), name('b')], number };
        for name in &namespaces.names {
            ip(&["netns", "add", name])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
            within(name, without_ipv6)??;
        }
        Ok(namespaces)
    }

    /// The client's, as a rule; and the server's.
    pub(crate) fn names(&self) -> [&str; 2] {
        [&self.names[0], &self.names[1]]
    }

    /// No other link of this process has it.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }
}

/// Several links of one process.
static NUMBERS: AtomicU32 = AtomicU32::new(0);

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.names {
            if Path::new(NAMES).join(name).exists()
                && let Err(error) = ip(&["netns", "delete", name])
            {
                crate::report::output::complain(format_args!("the namespace {name} was not removed: {error}"));
            }
        }
    }
}

/// Whether a link can be made here; the error says what is missing, and what to do without it.
pub(crate) fn check_rights() -> Result<(), String> {
    if !geteuid().is_root() {
        return Err(
            "a link between two namespaces needs root; run it with sudo, or use `netem relay`, which needs no rights"
                .into(),
        );
    }
    if !Path::new("/dev/net/tun").exists() {
        return Err("there is no /dev/net/tun: `modprobe tun` loads it; in a container give it the device \
                    (--device /dev/net/tun --cap-add NET_ADMIN --cap-add SYS_ADMIN), or use `netem relay`"
            .into());
    }
    ip(&["-V"])
}

/// Takes the calling thread into a namespace.
pub(crate) fn enter(name: &str) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| format!("the namespace {name} cannot be entered: {error}");
    let namespace = File::open(Path::new(NAMES).join(name)).map_err(|error| text(&error))?;
    setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|error| text(&error))
}

/// Runs something in a namespace, in its own thread: a thread that has entered one stays there.
pub(crate) fn within<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let inside = scope.spawn(|| enter(name).map(|()| work()));
        inside.join().map_err(|_| format!("a thread in the namespace {name} panicked"))?
    })
}

/// Only measured packets may be on the link, but IPv6 sends packets by itself, each of which would use up a loss of the
/// seed.
fn without_ipv6() -> Result<(), String> {
    for which in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6");
        if Path::new(&path).exists() {
            fs::write(&path, "1").map_err(|error| format!("IPv6 cannot be switched off by {path}: {error}"))?;
        }
    }
    Ok(())
}

/// Namespaces with our prefix whose process has ended.
fn leftovers() -> Vec<String> {
    let names = fs::read_dir(NAMES).into_iter().flatten().flatten();
    let names = names.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| owner(name).is_some_and(|id| !is_alive(id))).collect()
}

/// The process that made a namespace of ours.
fn owner(name: &str) -> Option<u32> {
    let (id, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    id.parse().ok()
}

/// A number that the system has given to another process since counts as alive: a leftover name is better than removing
/// one in use.
fn is_alive(id: u32) -> bool {
    Path::new(&format!("/proc/{id}")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_namespace_contains_its_owner() {
        assert_eq!(owner("skipstone-netem-4711-0a"), Some(4711));
        assert_eq!(owner("skipstone-netem-4711"), None);
        assert_eq!(owner("somebody-elses-4711-a"), None);
        assert!(is_alive(std::process::id()));
        assert!(!is_alive(u32::MAX), "no system counts so far");
    }
}
