//! The state of a target's directory: its owner, its releases, the current one. Only `locked_site` changes it; each
//! change is atomic for readers.
//!
//! ```text
//! /srv/game/.skipstone-deploy      whose it is
//!           .skipstone-lock        the token of the deployment that changes it
//!           current -> releases/20261123T060000Z-1a2b3c4
//!           releases/…/.skipstone-release     ours, and whole
//!           releases/.incoming-…              an upload under way
//!           deploy.log
//! ```

use crate::captured::Captured;
use crate::remote::{Remote, RemoteFailure, STEP_MAX, answering};
use skipstone_lab::clean;

/// Refuses a directory that neither is this deployment's nor can be.
const OURS: &str = r#"
d=$1
refuse() { echo "$1" >&2; exit 65; }
[ ! -L "$d" ] || refuse "$d is a symbolic link: name the directory itself"
[ ! -e "$d" ] || [ -d "$d" ] || refuse "$d is no directory"
if [ -f "$d/.skipstone-deploy" ]; then
  owner=$(cat "$d/.skipstone-deploy")
  [ "$owner" = "$2" ] || refuse "$d belongs to the deployment '$owner': use a separate directory for '$2'"
elif [ -d "$d" ] && [ -n "$(ls -A "$d")" ]; then
  refuse "$d is not empty and belongs to no deployment: use a new or an empty directory"
fi
[ ! -L "$d/releases" ] || refuse "$d/releases is a symbolic link: deployments do not follow it"
[ ! -e "$d/current" ] || [ -L "$d/current" ] || refuse "$d/current is not a symbolic link: move it away"
"#;

const CURRENT: &str = r#"[ ! -L "$1/current" ] || readlink "$1/current""#;

const LIST: &str = r#"
[ -d "$1/releases" ] || exit 0
cd "$1/releases"
for release in *; do
  case $release in *[!A-Za-z0-9._-]*) continue;; esac
  [ -f "$release/.skipstone-release" ] && [ ! -L "$release" ] || continue
  state=untried; [ ! -e "$release/.skipstone-well" ] || state=well
  [ ! -e "$release/.skipstone-failed" ] || state=failed
  echo "$release $state $(head -n 1 "$release/.skipstone-release")"
done
"#;

const LOG: &str = r#"tail -n "$2" "$1/deploy.log" 2>/dev/null || true"#;

/// From which release the server runs, by a file with its process id, or by systemd. If a systemd unit's process has a
/// program elsewhere, it is an interpreter, and the release is unknown.
const RUNS_FROM: &str = r#"
case $3 in file) pid=$(cat "$4" || true);; *) pid=$(systemctl show -p MainPID --value "$4");; esac
[ "${pid:-0}" != 0 ] && [ -d "/proc/$pid" ] || { echo no; exit 0; }
root=$(cd "$1" && pwd -P)
exe=$(readlink "/proc/$pid/exe" || sudo -n readlink "/proc/$pid/exe" || true)
[ -n "$exe" ] || {
  echo "which program process $pid runs is visible only to its user and root: use one of them as the ssh user" >&2
  exit 77
}
case $exe in
  "$root/releases/$2/"*) echo yes;;
  "$root/"*) echo no;;
  *) [ "$3" = service ] && echo unknown || echo no;;
esac"#;

/// The known state of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReleaseState {
    /// It was current, and well.
    Well,
    /// It was current and unhealthy.
    Failed,
    /// It was uploaded, but never checked while it was current.
    Untried,
}

/// A release on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) name: String,
    pub(crate) state: ReleaseState,
    /// The commit that it was built from.
    pub(crate) about: String,
}

/// A target's directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'p> {
    pub(crate) remote: Remote<'p>,
}

impl Site<'_> {
    fn directory(&self) -> &str {
        &self.remote.plan.directory
    }

    fn run(&self, script: &str, words: &[&str]) -> Result<Captured, RemoteFailure> {
        let words: Vec<&str> = [self.directory()].into_iter().chain(words.iter().copied()).collect();
        self.remote.run(STEP_MAX, script, &words)
    }

    fn ask(&self, script: &str, words: &[&str]) -> Result<String, RemoteFailure> {
        let said = self.run(&answering(script), words)?;
        self.remote.answer(&said)
    }

    /// Checks that the directory is this deployment's, or can be.
    pub(crate) fn check(&self, name: &str) -> Result<(), RemoteFailure> {
        self.run(OURS, &[name]).map(drop)
    }

    /// The release that is current; empty if there is none.
    pub(crate) fn current(&self) -> Result<String, String> {
        let link = self.ask(CURRENT, &[])?;
        Ok(clean::line(link.rsplit('/').next().unwrap_or_default()))
    }

    /// The releases, the oldest first.
    pub(crate) fn releases(&self) -> Result<Vec<Release>, String> {
        let said = self.ask(LIST, &[])?;
        let release = |line: &str| {
            let mut words = line.splitn(3, ' ');
            let (name, state) = (words.next()?, words.next()?);
            let about = words.next().unwrap_or_default().to_owned();
            let state = match state {
                "well" => ReleaseState::Well,
                "failed" => ReleaseState::Failed,
                _ => ReleaseState::Untried,
            };
            Some(Release { name: name.into(), state, about })
        };
        Ok(said.lines().filter_map(release).collect())
    }

    /// The last lines of the log.
    pub(crate) fn log(&self, lines: u32) -> Result<String, String> {
        let said = self.run(LOG, &[&lines.to_string()])?;
        Ok(clean::page(&said.shown()).trim_end().to_owned())
    }

    /// Whether the server's process runs from this release; `None` if that is unknown.
    pub(crate) fn runs_from(&self, release: &str) -> Result<Option<bool>, String> {
        let plan = self.remote.plan;
        let (kind, word) = match (&plan.pid_file, &plan.service) {
            (Some(file), _) => ("file", file),
            (None, Some(service)) => ("service", service),
            (None, None) => return Ok(None),
        };
        Ok(match self.ask(RUNS_FROM, &[release, kind, word])?.as_str() {
            "yes" => Some(true),
            // Nothing was asked in a dry run.
            "unknown" | "" => None,
            _ => Some(false),
        })
    }
}
