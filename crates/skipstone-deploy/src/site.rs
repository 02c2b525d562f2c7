//! A target's directory: whose it is, its releases, which one is current. Every change is one step that a reader sees whole, or
//! not at all.
//!
//! ```text
//! /srv/game/.skipstone-deploy      whose it is
//!           current -> releases/20261123T060000Z-1a2b3c4
//!           releases/…/.skipstone-release     ours, and whole
//!           releases/.incoming-…              an upload under way
//!           deploy.log
//! ```

use crate::remote::{Practice, Remote, RemoteFailure, no_program, show};
use skipstone_lab::clean;
use std::cell::RefCell;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command};

/// Marks a directory, by the deployment's name.
const OURS: &str = r#"
d=$1
refuse() { echo "$1" >&2; exit 65; }
[ ! -L "$d" ] || refuse "$d is a symbolic link: name the directory itself"
[ ! -e "$d" ] || [ -d "$d" ] || refuse "$d is no directory"
if [ -f "$d/.skipstone-deploy" ]; then
  owner=$(cat "$d/.skipstone-deploy")
  [ "$owner" = "$2" ] || refuse "$d belongs to the deployment '$owner': use a directory of its own for '$2'"
elif [ -d "$d" ] && [ -n "$(ls -A "$d")" ]; then
  refuse "$d is not empty and not ours: use a new or an empty directory"
fi
[ ! -L "$d/releases" ] || refuse "$d/releases is a symbolic link: nothing is deployed through it"
[ ! -e "$d/current" ] || [ -L "$d/current" ] || refuse "$d/current is no symbolic link: move it away"
"#;

/// Holds the lock for as long as its standard input is open, so that it ends with whoever holds it.
const LOCK: &str = r#"
mkdir -p "$1"
[ -n "$(ls -A "$1")" ] && [ ! -f "$1/.skipstone-deploy" ] && { echo "$1 is not empty and not ours" >&2; exit 65; }
[ -f "$1/.skipstone-deploy" ] || printf '%s\n' "$2" > "$1/.skipstone-deploy"
mkdir -p "$1/releases"
command -v flock >/dev/null || { echo "flock is missing on the target: install util-linux" >&2; exit 69; }
exec flock -n -E 75 "$1/.skipstone-deploy" sh -c '
  owner=$(cat "$1/.skipstone-deploy")
  [ "$owner" = "$2" ] || { echo "$1 belongs to the deployment $owner by now" >&2; exit 65; }
  echo locked; exec cat >/dev/null' sh "$1" "$2"
"#;

const CURRENT: &str = r#"readlink "$1/current" 2>/dev/null || true"#;

/// An upload becomes a release: what came is compared with its checksums, and renamed in one step.
const ACCEPT: &str = r#"
cd "$1/releases/.incoming-$2"
sha256sum --check --quiet --strict .skipstone-sums >&2 || { echo "the upload is not what was built" >&2; exit 65; }
printf '%s\n' "$3" > .skipstone-release
cd .. && mv -T ".incoming-$2" "$2"
"#;

const SWITCH: &str = r#"
cd "$1"
[ -f "releases/$2/.skipstone-release" ] && [ ! -L "releases/$2" ] || { echo "there is no release '$2'; \`status\` lists them" >&2; exit 65; }
ln -sfn "releases/$2" ".current-$2"
mv -T ".current-$2" current
"#;

const NOWHERE: &str = r#"rm -f -- "$1/current""#;

const FAILED: &str = r#"[ ! -d "$1/releases/$2" ] || : > "$1/releases/$2/.skipstone-failed""#;

const WELL: &str = r#"cd "$1/releases/$2" && : > .skipstone-well && rm -f .skipstone-failed"#;

/// Deletes releases beyond those that are kept, so many that were well and so many that were not, and uploads that never ended: only
/// directories of ours, never through a link.
const PRUNE: &str = r#"
cd "$1/releases"
now=$(readlink ../current || true); now=${now##*/}; well=0; others=0
ls -1 | sort -r | while read -r release; do
  case $release in *[!A-Za-z0-9._-]*) continue;; esac
  [ -d "$release" ] && [ ! -L "$release" ] && [ -f "$release/.skipstone-release" ] && [ ! -L "$release/.skipstone-release" ] || continue
  if [ -e "$release/.skipstone-well" ] && [ ! -e "$release/.skipstone-failed" ]; then well=$((well+1)); place=$well
  else others=$((others+1)); place=$others; fi
  [ "$release" != "$now" ] && [ "$release" != "$3" ] && [ "$place" -gt "$2" ] || continue
  rm -rf -- "./$release"
  echo "deleted $release"
done
for upload in .incoming-*; do
  [ -d "$upload" ] && [ ! -L "$upload" ] && rm -rf -- "./$upload"
done
true
"#;

const LIST: &str = r#"
cd "$1/releases" 2>/dev/null || exit 0
for release in *; do
  [ -f "$release/.skipstone-release" ] && [ ! -L "$release" ] || continue
  state=untried; [ ! -e "$release/.skipstone-well" ] || state=well; [ ! -e "$release/.skipstone-failed" ] || state=failed
  echo "$release $state $(head -n 1 "$release/.skipstone-release")"
done
"#;

const NOTE: &str = r#"printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$2" >> "$1/deploy.log""#;

const LOG: &str = r#"tail -n "$2" "$1/deploy.log" 2>/dev/null || true"#;

/// A unit that somebody else wrote stays as it is.
const UNIT: &str = r#"
file=/etc/systemd/system/$1
if [ -e "$file" ]; then
  [ "$(head -n 1 "$file")" = "$3" ] || { echo "$file is not ours: leave out [target.…unit], or move it away" >&2; exit 65; }
  [ "$(cat "$file"; echo .)" != "$2." ] || exit 0
fi
printf '%s' "$2" > "$file.new" && mv "$file.new" "$file"
systemctl daemon-reload && systemctl enable --quiet "$1"
"#;

/// From which release the server runs, by a file with its process id, or by systemd. A process of systemd whose program lies
/// elsewhere is an interpreter, which says nothing.
const RUNS_FROM: &str = r#"
case $3 in file) pid=$(cat "$4" || true);; *) pid=$(systemctl show -p MainPID --value "$4");; esac
[ "${pid:-0}" != 0 ] && [ -d "/proc/$pid" ] || { echo no; exit 0; }
root=$(cd "$1" && pwd -P)
exe=$(readlink "/proc/$pid/exe" || sudo -n readlink "/proc/$pid/exe" || true)
[ -n "$exe" ] || { echo "which program process $pid runs may be read only by its user and root: let the ssh user be one of both" >&2; exit 77; }
case $exe in
  "$root/releases/$2/"*) echo yes;;
  "$root/"*) echo no;;
  *) [ "$3" = service ] && echo unknown || echo no;;
esac"#;

/// What is known of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReleaseState {
    /// It was current, and well.
    Well,
    /// It was current, and did not get well.
    Failed,
    /// It came, and was never looked at while it was current.
    Untried,
}

/// A release on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Release {
    pub(crate) name: String,
    pub(crate) state: ReleaseState,
    /// What it was built from.
    pub(crate) about: String,
}

/// A target's directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'p> {
    pub(crate) remote: Remote<'p>,
}

/// The right to change a directory, until it is dropped.
#[derive(Debug)]
pub(crate) struct SiteLock(Option<RefCell<Child>>);

impl SiteLock {
    #[cfg(test)]
    pub(crate) fn none() -> Self {
        SiteLock(None)
    }

    #[cfg(test)]
    pub(crate) fn break_off(&self) {
        let mut child = self.0.as_ref().expect("it is held").borrow_mut();
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }

    /// An error if the connection that holds it has ended: somebody else may hold it by now.
    pub(crate) fn check(&self) -> Result<(), String> {
        let is_held = self.0.as_ref().is_none_or(|child| matches!(child.borrow_mut().try_wait(), Ok(None)));
        let text = "the connection that held the lock has ended, so another deployment may be under way: start anew";
        is_held.then_some(()).ok_or_else(|| text.into())
    }
}

impl Drop for SiteLock {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take().map(RefCell::into_inner) {
            // Its end of the pipe closes, which ends the remote command.
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

impl Site<'_> {
    fn directory(&self) -> &str {
        &self.remote.plan.directory
    }

    fn run(&self, script: &str, words: &[&str]) -> Result<String, RemoteFailure> {
        let words: Vec<&str> = [self.directory()].into_iter().chain(words.iter().copied()).collect();
        self.remote.script(script, &words)
    }

    /// Checks that the directory is this deployment's, or can be, and takes it.
    pub(crate) fn lock(&self, name: &str) -> Result<SiteLock, String> {
        self.run(OURS, &[name])?;
        if self.remote.practice == Practice::Dry {
            self.run(LOCK, &[name])?;
            return Ok(SiteLock(None));
        }
        let mut child = self.remote.hold(LOCK, &[self.directory(), name])?;
        let mut said = String::new();
        let stdout = child.stdout.take().ok_or("ssh has no output")?;
        // An error leaves the line empty, which the next lines explain.
        let _ = BufReader::new(stdout).read_line(&mut said);
        if said.trim() == "locked" {
            return Ok(SiteLock(Some(RefCell::new(child))));
        }
        drop(child.stdin.take());
        let mut text = String::new();
        if let Some(stderr) = &mut child.stderr {
            let _ = stderr.read_to_string(&mut text);
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        if status.code() == Some(75) {
            let (host, directory) = (&self.remote.plan.host, self.directory());
            return Err(format!("{host}: another deployment to {directory} is under way; wait until it has ended"));
        }
        Err(self.remote.failure(status.code(), &text).into())
    }

    /// The release that is current; empty if there is none.
    pub(crate) fn current(&self) -> Result<String, String> {
        let link = self.run(CURRENT, &[])?;
        Ok(clean::line(link.rsplit('/').next().unwrap_or_default()))
    }

    /// Uploads a folder, of which only what is not in the release before it travels, and makes it a release.
    pub(crate) fn upload(
        &self,
        lock: &SiteLock,
        folder: &Path,
        release: &str,
        before: &str,
        about: &str,
    ) -> Result<(), String> {
        let plan = self.remote.plan;
        let mut rsync = Command::new("rsync");
        let words = self.remote.options();
        let shell = crate::remote::quote(["ssh"].into_iter().chain(words.iter().map(String::as_str)));
        // By checksum and without times: a clean build has new times for equal files.
        rsync.args(["--recursive", "--links", "--perms", "--checksum", "--delete", "--rsh"]).arg(shell);
        if !before.is_empty() {
            rsync.arg(format!("--link-dest=../{before}"));
        }
        rsync.arg("--").arg(format!("{}/", folder.display()));
        rsync.arg(format!("{}:{}/releases/.incoming-{release}/", plan.host, plan.directory));
        if self.remote.practice == Practice::Dry {
            show(&rsync);
        } else {
            let done = rsync.output().map_err(|error| String::from(no_program("rsync", &error)))?;
            if !done.status.success() {
                let failure = self.remote.failure(done.status.code(), &String::from_utf8_lossy(&done.stderr));
                return Err(format!("the upload broke off, and nothing has changed: {}", failure.sentence));
            }
        }
        lock.check()?;
        self.run(ACCEPT, &[release, about]).map(drop).map_err(String::from)
    }

    /// Makes a release current, in one step; an empty name leaves none.
    pub(crate) fn switch(&self, release: &str) -> Result<(), String> {
        match release {
            "" => self.run(NOWHERE, &[]).map(drop)?,
            release => self.run(SWITCH, &[release]).map(drop)?,
        }
        Ok(())
    }

    /// Marks a release that did not get well.
    pub(crate) fn mark_failed(&self, release: &str) -> Result<(), String> {
        Ok(self.run(FAILED, &[release]).map(drop)?)
    }

    /// Marks a release that was current and well: to go back to.
    pub(crate) fn mark_well(&self, release: &str) -> Result<(), String> {
        Ok(self.run(WELL, &[release]).map(drop)?)
    }

    /// Deletes old releases, but neither the current one nor `before`.
    pub(crate) fn prune(&self, before: &str) -> Result<String, String> {
        Ok(self.run(PRUNE, &[&self.remote.plan.keep.to_string(), before])?)
    }

    /// The releases, the oldest first.
    pub(crate) fn releases(&self) -> Result<Vec<Release>, String> {
        let said = self.run(LIST, &[])?;
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

    /// Adds a line to the target's log.
    pub(crate) fn note(&self, line: &str) -> Result<(), String> {
        Ok(self.run(NOTE, &[line]).map(drop)?)
    }

    /// The last lines of the log.
    pub(crate) fn log(&self, lines: u32) -> Result<String, String> {
        Ok(self.run(LOG, &[&lines.to_string()])?)
    }

    /// Writes the unit, and restarts the server.
    pub(crate) fn restart(&self, name: &str) -> Result<(), String> {
        let plan = self.remote.plan;
        if let (Some(service), Some(unit)) = (&plan.service, &plan.unit) {
            let text = crate::unit::text(name, plan, unit)?;
            self.remote.script(UNIT, &[service, &text, crate::unit::MARK])?;
        }
        match (&plan.service, &plan.restart) {
            (Some(service), _) => self.remote.script(
                "systemctl reset-failed \"$1\" 2>/dev/null || :\nsystemctl reload-or-restart \"$1\"",
                &[service],
            )?,
            (None, Some(command)) => self.run(r#"cd "$1" && sh -c "$2""#, &[command])?,
            (None, None) => String::new(),
        };
        Ok(())
    }

    /// Whether the server's process runs from this release; `None` if nobody can know.
    pub(crate) fn runs_from(&self, release: &str) -> Result<Option<bool>, String> {
        let plan = self.remote.plan;
        let (kind, word) = match (&plan.pid_file, &plan.service) {
            (Some(file), _) => ("file", file),
            (None, Some(service)) => ("service", service),
            (None, None) => return Ok(None),
        };
        Ok(match self.run(RUNS_FROM, &[release, kind, word])?.as_str() {
            "yes" => Some(true),
            // Nothing was asked in a dry run.
            "unknown" | "" => None,
            _ => Some(false),
        })
    }
}
