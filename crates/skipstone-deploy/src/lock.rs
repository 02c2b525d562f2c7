//! The right to change a target's directory: two locks there, and a token.
//!
//! ```text
//! .skipstone-deploy   flock of the deployment, held by a command for as long as its connection stands
//! .skipstone-lock     flock of one step; holds the token of the deployment that came last
//! ```
//!
//! A deployment writes its token while it holds both. Each step that changes something takes the second, and finds its
//! own token and the first lock held, or ends: so no step runs concurrently with another deployment, not even after its
//! connection has ended.

use crate::bounded::{NoLine, PREFACE_BYTES_MAX, Running};
use crate::captured::Captured;
use crate::remote::{Practice, Remote, RemoteFailure, STEP_MAX};
use std::cell::RefCell;
use std::time::Duration;

/// Marks a directory by the deployment's name, and holds its lock for as long as standard input is open.
const LOCK: &str = r#"
mkdir -p "$1"
[ -n "$(ls -A "$1")" ] && [ ! -f "$1/.skipstone-deploy" ] &&
  { echo "$1 is not empty and belongs to no deployment" >&2; exit 65; }
[ -f "$1/.skipstone-deploy" ] || printf '%s\n' "$2" > "$1/.skipstone-deploy"
mkdir -p "$1/releases"
for program in flock timeout; do
  command -v $program >/dev/null ||
    { echo "$program is missing on the target: install util-linux and coreutils" >&2; exit 69; }
done
exec flock -n -E 75 "$1/.skipstone-deploy" sh -euc '
  owner=$(cat "$1/.skipstone-deploy")
  [ "$owner" = "$2" ] || { echo "$1 belongs to the deployment $owner by now" >&2; exit 65; }
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d " \n")
  [ ${#token} = 32 ] ||
    { echo "the target has no random numbers: od of coreutils cannot read /dev/urandom" >&2; exit 69; }
  exec 9>>"$1/.skipstone-lock"
  flock -w 20 9 || { echo "a step of the previous deployment is still running; wait until it has ended" >&2; exit 65; }
  printf "%s\n" "$token" > "$1/.skipstone-lock"
  exec 9>&-
  echo "locked $token"
  exec cat >/dev/null' sh "$1" "$2"
"#;

/// Runs a script if the lock is still this deployment's, and holds the lock of a step meanwhile. The script's programs
/// do not inherit that: a server that `restart` leaves behind would hold it forever. A script that hangs ends before
/// its connection is given up, or it would change something later.
const STEP: &str = r#"
token=$1 limit=$2 script=$3
shift 3
exec 9>>"$1/.skipstone-lock"
flock -w 20 9 || { echo "another step is still running on the target; wait until it has ended" >&2; exit 75; }
[ "$(cat "$1/.skipstone-lock")" = "$token" ] && [ -f "$1/.skipstone-deploy" ] &&
  ! flock -n "$1/.skipstone-deploy" true || {
  echo "the lock is no longer this deployment's, so another may be running: nothing was changed; see \`status\`" >&2
  exit 76
}
timeout -k 5 "$limit" sh -euc "$script" sh "$@" 9>&- || {
  code=$?
  [ $code != 124 ] || echo "no end within $limit s" >&2
  exit $code
}"#;

/// The limit of a step on the target itself: below [`STEP_MAX`] by the time to connect and to take the lock.
const STEP_SECONDS_MAX: &str = "260";
/// The exit code of a step whose deployment has lost its lock.
const LOST_LOCK: i32 = 76;
/// How long a target may take to grant the lock: the time to connect, and one step of the previous deployment.
const LOCK_MAX: Duration = Duration::from_secs(60);
/// How long the connection may take to end.
const END_MAX: Duration = Duration::from_secs(20);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct SiteLock {
    /// `None` where nothing is changed.
    holder: Option<RefCell<Running>>,
    token: String,
}

impl SiteLock {
    /// Takes the lock of a directory.
    ///
    /// # Errors
    /// Another deployment holds it, or the target cannot be reached. A sentence.
    pub(crate) fn take(remote: &Remote<'_>, name: &str) -> Result<Self, String> {
        let words = [remote.plan.directory.as_str(), name];
        if remote.practice == Practice::Dry {
            remote.run(LOCK_MAX, LOCK, &words)?;
            return Ok(SiteLock { holder: None, token: "TOKEN".into() });
        }
        let mut holder = remote.start(LOCK, &words)?;
        match holder.line_after("locked ", LOCK_MAX) {
            Ok(token) if is_token(&token) => Ok(SiteLock { holder: Some(RefCell::new(holder)), token }),
            Err(NoLine::Missing) => Err(refusal(remote, &mut holder)),
            Ok(_) | Err(NoLine::TooMuch) => {
                holder.kill();
                let host = &remote.plan.host;
                Err(format!(
                    "{host}: no lock in the first {PREFACE_BYTES_MAX} bytes that it says: does `ssh {host}` run \
                     commands?"
                ))
            }
        }
    }

    /// Runs a script as a step. Its $1 is the directory, and these words follow.
    ///
    /// # Errors
    /// The lock is lost, and nothing was changed; or the step failed.
    pub(crate) fn step(&self, remote: &Remote<'_>, script: &str, words: &[&str]) -> Result<Captured, RemoteFailure> {
        if self.holder.as_ref().is_some_and(|holder| !holder.borrow_mut().is_running()) {
            let text =
                "the connection that held the lock has ended, so another deployment may be running: run it again";
            return Err(RemoteFailure { code: Some(LOST_LOCK), sentence: format!("{}: {text}", remote.plan.host) });
        }
        let own = [self.token.as_str(), STEP_SECONDS_MAX, script, &remote.plan.directory];
        let words: Vec<&str> = own.into_iter().chain(words.iter().copied()).collect();
        remote.run(STEP_MAX, STEP, &words)
    }

    #[cfg(test)]
    pub(crate) fn break_off(&self) {
        self.holder.as_ref().expect("it is held").borrow_mut().kill();
    }
}

impl Drop for SiteLock {
    fn drop(&mut self) {
        if let Some(holder) = &mut self.holder {
            // Its end of the pipe closes, which ends the remote command.
            let _ = holder.get_mut().finish(END_MAX);
        }
    }
}

/// Whether these are the 16 random bytes of [`LOCK`], in hexadecimal digits.
fn is_token(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Why the lock was not given.
fn refusal(remote: &Remote<'_>, holder: &mut Running) -> String {
    let (host, directory) = (&remote.plan.host, &remote.plan.directory);
    match holder.finish(END_MAX) {
        Ok(done) if done.status.code() == Some(75) => {
            format!("{host}: another deployment to {directory} is under way; wait until it has ended")
        }
        Ok(done) => remote.failure(done.status.code(), &done.stderr.shown()).into(),
        Err(error) => remote.unfinished("ssh", &error, LOCK_MAX).into(),
    }
}
