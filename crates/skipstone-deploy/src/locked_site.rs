//! The changes of a target's directory. Each is a step that runs only while the target itself confirms that the lock is
//! held it.

use crate::bounded;
use crate::captured::Captured;
use crate::lock::SiteLock;
use crate::names::check_name;
use crate::remote::{IN_DIRECTORY, Practice, RemoteFailure, answering, show};
use crate::site::Site;
use crate::unit;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// An upload becomes a release: the uploaded files are compared with their checksums, and renamed in one step.
const ACCEPT: &str = r#"
cd "$1/releases/.incoming-$2"
sha256sum --check --quiet --strict .skipstone-sums >&2 || { echo "the upload differs from the build" >&2; exit 65; }
printf '%s\n' "$3" > .skipstone-release
cd .. && mv -T ".incoming-$2" "$2"
"#;

/// Switches `current` from one release to another in one rename; an empty name means no release. A link to another
/// place belongs to another program, and is kept.
const MOVE: &str = r#"
cd "$1"
now=; [ ! -L current ] || now=$(readlink current); now=${now##*/}
[ "$now" != "$3" ] || exit 0
[ "$now" = "$2" ] || { echo "current is '$now' now, which this deployment did not create, so it is kept" >&2; exit 78; }
[ -n "$3" ] || { rm -f -- current; exit 0; }
[ -f "releases/$3/.skipstone-release" ] && [ ! -L "releases/$3" ] ||
  { echo "there is no release '$3'; \`status\` lists them" >&2; exit 65; }
ln -sfn "releases/$3" ".current-$3"
mv -T ".current-$3" current
"#;

/// Marks an unhealthy release, and only while it is current: otherwise another release was checked.
const FAILED: &str = r#"cd "$1"; [ "$(readlink current)" != "releases/$2" ] || : > "releases/$2/.skipstone-failed""#;

const WELL: &str = r#"
cd "$1"
[ "$(readlink current)" = "releases/$2" ] || { echo "it is not current any more" >&2; exit 78; }
cd "releases/$2" && : > .skipstone-well && rm -f .skipstone-failed"#;

/// Deletes releases beyond those that are kept, a number of healthy ones and of failed ones, and unfinished uploads:
/// only directories of ours, never through a link.
const PRUNE: &str = r#"
cd "$1/releases"
now=; [ ! -L ../current ] || now=$(readlink ../current); now=${now##*/}; well=0; others=0
ls -1 | sort -r | while read -r release; do
  case $release in *[!A-Za-z0-9._-]*) continue;; esac
  [ -d "$release" ] && [ ! -L "$release" ] &&
    [ -f "$release/.skipstone-release" ] && [ ! -L "$release/.skipstone-release" ] || continue
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

const NOTE: &str = r#"printf '%s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$2" >> "$1/deploy.log""#;

/// A unit from another source stays unchanged.
const UNIT: &str = r#"
file=/etc/systemd/system/$2
if [ -e "$file" ]; then
  [ "$(head -n 1 "$file")" = "$4" ] ||
    { echo "$file was not written by skipstone deploy: leave out [target.…unit], or move it away" >&2; exit 65; }
  [ "$(cat "$file"; echo .)" != "$3." ] || exit 0
fi
printf '%s' "$3" > "$file.new" && mv "$file.new" "$file"
systemctl daemon-reload && systemctl enable --quiet "$2"
"#;

/// A running server is asked to reload its program; one that failed too often may start once more.
const RELOAD: &str = "systemctl reset-failed \"$2\" 2>/dev/null || :\nsystemctl reload-or-restart \"$2\"";

/// The longest upload; ssh's own probes end a stalled connection earlier.
const UPLOAD_MAX: Duration = Duration::from_secs(24 * 3_600);

/// A target's directory that this deployment has locked.
#[derive(Debug)]
pub(crate) struct LockedSite<'p> {
    pub(crate) site: Site<'p>,
    lock: SiteLock,
}

impl<'p> LockedSite<'p> {
    /// Checks that the directory is this deployment's, or can be, and takes it.
    pub(crate) fn lock(site: Site<'p>, name: &str) -> Result<Self, String> {
        site.check(name)?;
        let lock = SiteLock::take(&site.remote, name)?;
        Ok(LockedSite { site, lock })
    }

    fn step(&self, script: &str, words: &[&str]) -> Result<Captured, RemoteFailure> {
        self.lock.step(&self.site.remote, script, words)
    }

    /// Uploads a folder and makes it a release; only files that differ from the previous release are sent.
    pub(crate) fn upload(&self, folder: &Path, release: &str, before: &str, about: &str) -> Result<(), String> {
        let remote = &self.site.remote;
        let mut rsync = self.rsync(folder, release, before);
        if remote.practice == Practice::Dry {
            show(&rsync);
        } else {
            let done = bounded::output(&mut rsync, b"", UPLOAD_MAX);
            let done = done.map_err(|error| remote.unfinished("rsync", &error, UPLOAD_MAX))?;
            if !done.status.success() {
                let failure = remote.failure(done.status.code(), &done.stderr.shown());
                return Err(format!("the upload failed, and nothing has changed: {}", failure.sentence));
            }
        }
        Ok(self.step(ACCEPT, &[release, about]).map(drop)?)
    }

    fn rsync(&self, folder: &Path, release: &str, before: &str) -> Command {
        let remote = &self.site.remote;
        let mut rsync = Command::new("rsync");
        let words = remote.options();
        let shell = crate::remote::quote(["ssh"].into_iter().chain(words.iter().map(String::as_str)));
        // By checksum and without times: a clean build has new times for equal files.
        rsync.args(["--recursive", "--links", "--perms", "--checksum", "--delete", "--rsh"]).arg(shell);
        // Copies, not links: a game that writes into its folder must not change the previous release, which a rollback
        // needs. A name that the target reports is used only if it has plain characters.
        if check_name("release", before).is_ok() {
            rsync.arg(format!("--copy-dest=../{before}"));
        }
        rsync.arg("--").arg(format!("{}/", folder.display()));
        rsync.arg(format!("{}:{}/releases/.incoming-{release}/", remote.plan.host, remote.plan.directory));
        rsync
    }

    /// Switches `current` from one release to another in one step; an empty name means no release.
    ///
    /// # Errors
    /// `current` points to neither of them, or there is no such release.
    pub(crate) fn switch(&self, from: &str, to: &str) -> Result<(), RemoteFailure> {
        self.step(MOVE, &[from, to]).map(drop)
    }

    /// Marks an unhealthy release.
    pub(crate) fn mark_failed(&self, release: &str) -> Result<(), String> {
        Ok(self.step(FAILED, &[release]).map(drop)?)
    }

    /// Marks a release that was current and well: to go back to.
    pub(crate) fn mark_well(&self, release: &str) -> Result<(), String> {
        Ok(self.step(WELL, &[release]).map(drop)?)
    }

    /// Deletes old releases, but neither the current one nor `before`. A line for each.
    pub(crate) fn prune(&self, before: &str) -> Result<String, String> {
        let said = self.step(&answering(PRUNE), &[&self.site.remote.plan.keep.to_string(), before])?;
        Ok(self.site.remote.answer(&said)?)
    }

    /// Adds a line to the target's log.
    pub(crate) fn note(&self, line: &str) -> Result<(), String> {
        Ok(self.step(NOTE, &[line]).map(drop)?)
    }

    /// Writes the unit, and restarts the server.
    pub(crate) fn restart(&self, name: &str) -> Result<(), String> {
        let plan = self.site.remote.plan;
        if let (Some(service), Some(of_unit)) = (&plan.service, &plan.unit) {
            let text = unit::text(name, plan, of_unit)?;
            self.step(UNIT, &[service, &text, unit::MARK])?;
        }
        match (&plan.service, &plan.restart) {
            (Some(service), _) => self.step(RELOAD, &[service]).map(drop)?,
            (None, Some(command)) => self.step(IN_DIRECTORY, &[command]).map(drop)?,
            (None, None) => {}
        }
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn break_off(&self) {
        self.lock.break_off();
    }
}
