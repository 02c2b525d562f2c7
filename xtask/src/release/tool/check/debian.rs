//! The Debian package, installed in a Debian that has nothing else: lintian reads it, its unit starts the server as
//! systemd would, a stress run passes, a reload keeps the port, and a purge leaves nothing.

use std::path::{Path, PathBuf};

use super::emptiness;
use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;
use crate::release::plan::{Checked, Release, copy, write};

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
    let without = "the package is not installed";
    if let Some(why) = system::program("systemd-nspawn", "systemd-container", without, tree) {
        return Ok(Checked::Skipped(format!("{read}; {why}")));
    }
    let debian = Debian::new(release, tree)?;
    copy(package, &debian.root.join("skipstone.deb"))?;
    let said = debian.boot_with(SCRIPT)?;
    let exposure = said.lines().find_map(|line| line.split_once("Overall exposure level for skipstone.service: "));
    let exposure = exposure.map_or("unknown", |(_, rest)| rest.split(' ').next().unwrap_or("unknown"));
    Ok(Checked::Passed(format!(
        "{read}; a Debian that has only systemd: installed, started, 100 clients pass, the reload keeps the process and \
         the port, upgraded, purged; systemd-analyze security: {exposure}"
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

    /// Starts it in a container with systemd as its first process and a network of its own, and ends with the script.
    /// Returns the script's output.
    fn boot_with(&self, script: &str) -> Result<String, String> {
        write(&self.root.join("check.sh"), script)?;
        write(&self.root.join("etc/systemd/system/check.service"), UNIT)?;
        // Without a display manager, a login and a mail server there is nothing else to wait for.
        let wants = self.root.join("etc/systemd/system/multi-user.target.wants/check.service");
        let linked = std::os::unix::fs::symlink("/etc/systemd/system/check.service", &wants);
        linked.map_err(|error| format!("{}: {error}", wants.display()))?;
        let mut boot = process::command("timeout", self.tree);
        boot.args(["--kill-after=10", "300", "systemd-nspawn", "--boot", "--quiet", "--register=no", "--keep-unit"]);
        boot.args(["--private-network", "--console=pipe", "--machine=skipstone-check", "--directory"]).arg(&self.root);
        let ended = process::run(boot);
        let said = std::fs::read_to_string(self.root.join("check.log")).unwrap_or_default();
        print!("{said}");
        ended.map(|()| said)
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

/// What the container runs, after which it ends with that exit code.
const UNIT: &str = "\
[Unit]
After=dbus.service
SuccessAction=exit
SuccessActionExitStatus=0
FailureAction=exit
FailureActionExitStatus=1
[Service]
Type=oneshot
ExecStart=/bin/sh -ex /check.sh
StandardOutput=file:/check.log
StandardError=file:/check.log
TimeoutStartSec=240
";

const SCRIPT: &str = r#"
ready() {
    for try in $(seq 100); do
        [ "$(journalctl --unit=skipstone --output=cat | grep -c '^ *native ')" -ge "$1" ] && return 0
        sleep 0.2
    done
    systemctl --no-pager status skipstone || true
    journalctl --no-pager --unit=skipstone
    return 1
}
url() { journalctl --unit=skipstone --output=cat | sed -n 's/^ *native *\([^ ]*\).*/\1/p' | tail -1; }
main() { systemctl show --property=MainPID --value skipstone; }

dpkg --install /skipstone.deb
systemd-analyze verify --man=no /usr/lib/systemd/system/skipstone.service
systemd-analyze --no-pager security skipstone.service | tail -1
systemctl is-active skipstone && exit 1
systemctl enable --now skipstone
ready 1
skipstone stress "$(url)" -c 100 --mix udp=50,ws=50 -r 1/s -d 3s
before=$(main)
systemctl reload skipstone
ready 2
test "$before" = "$(main)"
skipstone stress "$(url)" -c 20 -d 2s
dpkg --install /skipstone.deb
ready 3
test "$before" = "$(main)"
sed -i 's/^listen.*/listen = "nonsense"/' /etc/skipstone/server.toml
systemctl reload skipstone
sleep 2
systemctl is-active skipstone
test "$before" = "$(main)"
journalctl --no-pager --unit=skipstone --output=cat | tail -5
systemctl stop skipstone
test "$(systemctl show --property=Result --value skipstone)" = success
dpkg --purge skipstone
ls -d /usr/bin/skipstone /etc/skipstone /var/lib/skipstone && exit 1
exit 0
"#;
