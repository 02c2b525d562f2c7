//! Builds: concurrent, each in a clean clone of the commit, with a log each. The work tree may change
//! meanwhile.

use crate::plan::{BuildPlan, Plan, TargetPlan};
use crate::remote::{Practice, show};
use crate::stage;
use skipstone_lab::clean;
use skipstone_lab::report::output;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The lines of a failed build's log that are shown.
const TAIL_LINES: usize = 20;
const TAIL_BYTES_MAX: u64 = 64 << 10;

/// The commit that is deployed, and where that is prepared.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) tree: PathBuf,
    pub(crate) commit: String,
    /// In the work tree, and in no commit.
    pub(crate) changed: usize,
    pub(crate) workspace: PathBuf,
    /// The name of the release: when, and of which commit.
    pub(crate) release: String,
}

impl Source {
    /// The commit that the folder of `deploy.toml` is at.
    pub(crate) fn find(folder: &Path, plan: &Plan) -> Result<Self, String> {
        let tree = PathBuf::from(git(folder, &["rev-parse", "--show-toplevel"])?);
        let commit = git(&tree, &["rev-parse", "--verify", "HEAD^{commit}"])?;
        let changed = git(&tree, &["status", "--porcelain", "--untracked-files=no"])?.lines().count();
        let beside = tree.parent().unwrap_or(&tree).join(format!("{}-deploy", plan.name));
        let workspace = plan.workspace.as_ref().map_or(beside, |path| folder.join(path));
        let release = format!("{}-{}", moment(), commit.get(..8).unwrap_or(&commit));
        Ok(Source { tree, commit, changed, workspace, release })
    }

    fn clone_of(&self, build: &str) -> PathBuf {
        self.workspace.join("clones").join(&self.release).join(build)
    }

    fn log_of(&self, build: &str) -> PathBuf {
        self.workspace.join("logs").join(format!("{}-{build}.log", self.release))
    }

    /// The folder that goes to a target.
    pub(crate) fn stage_of(&self, target: &str) -> PathBuf {
        self.workspace.join("uploads").join(&self.release).join(target)
    }

    /// Builds everything that the targets want. On failure the first lines name what failed, and where its log is.
    pub(crate) fn build(&self, plan: &Plan, practice: Practice) -> Result<(), String> {
        if practice == Practice::Dry {
            plan.builds.iter().for_each(|(name, build)| self.commands(name, build).iter().for_each(show));
            return Ok(());
        }
        let failed: Vec<String> = std::thread::scope(|scope| {
            let running: Vec<_> = plan
                .builds
                .iter()
                .map(|(name, build)| (name, scope.spawn(move || self.build_one(name, build))))
                .collect();
            let result = |(name, thread): (&String, std::thread::ScopedJoinHandle<'_, Result<(), String>>)| {
                let ended = thread.join().unwrap_or_else(|_| Err("its thread panicked".into()));
                ended.err().map(|why| format!("build '{name}' failed: {why}"))
            };
            running.into_iter().filter_map(result).collect()
        });
        match failed.is_empty() {
            true => Ok(()),
            false => Err(failed.join("\n")),
        }
    }

    fn commands(&self, name: &str, build: &BuildPlan) -> [Command; 3] {
        let clone = self.clone_of(name);
        let mut fetch = Command::new("git");
        fetch.args(["clone", "--quiet", "--no-checkout", "--shared", "--"]).arg(&self.tree).arg(&clone);
        let mut check_out = Command::new("git");
        check_out.arg("-C").arg(&clone).args(["checkout", "--quiet", "--detach", &self.commit]);
        let mut command = Command::new("sh");
        command.arg("-c").arg(&build.command).current_dir(&clone);
        command.env("SKIPSTONE_RELEASE", &self.release).env("SKIPSTONE_COMMIT", &self.commit);
        [fetch, check_out, command]
    }

    fn build_one(&self, name: &str, build: &BuildPlan) -> Result<(), String> {
        let (clone, log) = (self.clone_of(name), self.log_of(name));
        for folder in [clone.parent(), log.parent()].into_iter().flatten() {
            fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        let file = File::create(&log).map_err(|error| format!("cannot write {}: {error}", log.display()))?;
        for mut command in self.commands(name, build) {
            let twice = file.try_clone().and_then(|out| Ok((out, file.try_clone()?)));
            let (out, err) = twice.map_err(|error| error.to_string())?;
            let status = command.stdin(Stdio::null()).stdout(out).stderr(err).status();
            let status = status.map_err(|error| format!("{:?} cannot be started: {error}", command.get_program()))?;
            if !status.success() {
                return Err(format!("{status}; the end of {}:\n{}", log.display(), tail(&log)));
            }
        }
        Ok(())
    }

    /// Puts a target's artifacts into its folder.
    pub(crate) fn stage(&self, plan: &Plan, name: &str, target: &TargetPlan) -> Result<PathBuf, String> {
        let folder = self.stage_of(name);
        fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        for (build, of) in plan.builds.iter().filter(|(build, _)| target.wants(build)) {
            let clone = self.clone_of(build);
            of.artifacts.iter().try_for_each(|artifact| stage::add(&folder, &clone, artifact))?;
        }
        stage::seal(&folder).map_err(|error| format!("cannot read what was built: {error}"))?;
        Ok(folder)
    }

    /// Deletes this release's clones and uploads; logs stay.
    pub(crate) fn tidy(&self) {
        for folder in ["clones", "uploads"] {
            let folder = self.workspace.join(folder).join(&self.release);
            if let Err(error) = fs::remove_dir_all(&folder)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                output::complain(format_args!("skipstone deploy: {} stays: {error}", folder.display()));
            }
        }
    }
}

/// When, in UTC, as a name that sorts by time.
fn moment() -> String {
    let text = skipstone_lab::report::format::rfc3339(std::time::SystemTime::now());
    text.chars().filter(|letter| !"-:".contains(*letter)).collect()
}

fn tail(log: &Path) -> String {
    let text = end_of(log).unwrap_or_default();
    let text = clean::page(&String::from_utf8_lossy(&text));
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

/// The end of a log, which may be longer than memory.
fn end_of(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES_MAX)))?;
    let mut end = Vec::new();
    file.take(TAIL_BYTES_MAX).read_to_end(&mut end)?;
    Ok(end)
}

fn git(folder: &Path, words: &[&str]) -> Result<String, String> {
    let done = Command::new("git").arg("-C").arg(folder).args(words).stdin(Stdio::null()).output();
    let done = done.map_err(|error| format!("git cannot be started: {error}"))?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        return Err(format!("git {}: {}", words[0], clean::line(said.lines().next().unwrap_or("it failed"))));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}
