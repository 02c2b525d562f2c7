//! The Debian package, installed in a Debian that has nothing else: lintian reads it, its unit starts the server as
//! systemd would, a stress run passes, a reload keeps the port, and a purge leaves nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::emptiness;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::plan::{Checked, Release, copy};

/// Checks it.
pub(super) fn check(package: &Path, architecture: &str, release: &Release, tree: &Tree) -> Result<Checked, String> {
    if !package.is_file() {
        return Err(format!("{} is missing: make it first, without --check", package.display()));
    }
    let read = match system::program("lintian", "lintian", "no program reads the package", tree) {
        None => lintian(package, tree)?,
        Some(why) => why,
    };
    if architecture != "amd64" || std::env::consts::ARCH != "x86_64" {
        return Ok(Checked::Passed(format!("{read}; not installed: it is for another processor")));
    }
    if let Some(why) = emptiness::unavailable(tree) {
        return Ok(Checked::Skipped(format!("{read}; {why}")));
    }
    if let Some(why) = system::program("debootstrap", "debootstrap", "no Debian is made", tree) {
        return Ok(Checked::Skipped(format!("{read}; {why}")));
    }
    let debian = Debian::new(release, tree)?;
    copy(package, &debian.root.join("tmp/skipstone.deb"))?;
    debian.run("dpkg --install /tmp/skipstone.deb")?;
    debian.run("systemd-analyze verify /usr/lib/systemd/system/skipstone.service")?;
    debian.run(SERVED)?;
    debian.run("dpkg --purge skipstone && ! ls -d /usr/bin/skipstone /etc/skipstone /var/lib/skipstone 2>/dev/null")?;
    Ok(Checked::Passed(format!(
        "{read}; an empty Debian: installed, started by its unit's command as its user without capabilities, 100 clients \
         pass, reloaded, purged"
    )))
}

fn lintian(package: &Path, tree: &Tree) -> Result<String, String> {
    let mut lintian = process::command("lintian", tree);
    lintian.args(["--allow-root", "--fail-on", "error,warning"]).arg(package);
    process::run(lintian)?;
    Ok("lintian finds nothing".into())
}

/// Debian without anything that is not essential, except systemd.
struct Debian<'tree> {
    root: PathBuf,
    tree: &'tree Tree,
}

impl<'tree> Debian<'tree> {
    /// A copy of one that is made once.
    fn new(release: &Release, tree: &'tree Tree) -> Result<Self, String> {
        let pristine = release.work.join("debian");
        if !pristine.join("usr/bin/systemctl").is_file() {
            // Half of one, if an earlier run was interrupted.
            let _ = std::fs::remove_dir_all(&pristine);
            let mut debootstrap = process::command("debootstrap", tree);
            debootstrap.args(["--variant=minbase", "--include=systemd", SUITE]).arg(&pristine);
            debootstrap.args(mirror(tree));
            process::run(debootstrap)?;
        }
        let root = release.stage("check/debian")?;
        let mut copied = process::command("cp", tree);
        copied.args(["--archive", "--reflink=auto"]).arg(pristine.join(".")).arg(&root);
        process::run(copied)?;
        Ok(Debian { root, tree })
    }

    /// Runs a line of shell in it.
    fn run(&self, line: &str) -> Result<(), String> {
        let mut shell: Command = emptiness::inside(&self.root, "/bin/sh", self.tree)?;
        shell.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("DEBIAN_FRONTEND", "noninteractive");
        shell.args(["-ec", line]);
        process::run(shell)
    }
}

/// The mirror that this machine uses, if it is a Debian.
fn mirror(tree: &Tree) -> Option<String> {
    let mut known = process::command("apt-get", tree);
    known.args(["indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Component: main"]);
    let listed = process::output(known)?;
    listed.lines().find(|line| !line.contains("security")).map(str::to_owned)
}

const SUITE: &str = "bookworm";

/// The unit's own line, as the user and with the rights that the unit gives: systemd itself would have to be the first
/// process. The reload is the unit's, too: the same process id, another program, the same port.
const SERVED: &str = r#"
unit=/usr/lib/systemd/system/skipstone.service
command=$(sed -n 's/^ExecStart=//p' $unit)
install -d -o skipstone -g skipstone -m 0700 /var/lib/skipstone
cd /var/lib/skipstone
setpriv --reuid=skipstone --regid=skipstone --clear-groups --bounding-set=-all --inh-caps=-all --no-new-privs \
    $command > /tmp/served.log 2>&1 &
server=$!
wait_for() {
    for try in $(seq 100); do
        [ "$(grep -c '^ *native ' /tmp/served.log)" -ge "$1" ] && return 0
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    cat /tmp/served.log
    return 1
}
url() { sed -n 's/^ *native *\([^ ]*\).*/\1/p' /tmp/served.log | tail -1; }
wait_for 1
skipstone stress "$(url)" -c 100 --mix udp=50,ws=50 -d 3s
MAINPID=$server
eval "$(sed -n 's/^ExecReload=//p' $unit)"
wait_for 2
skipstone stress "$(url)" -c 20 -d 2s
kill -TERM $server
wait $server
"#;
