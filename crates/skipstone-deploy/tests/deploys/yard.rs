//! A repository, an sshd of its own, and a directory to deploy to, in a temporary folder.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

pub(crate) struct Yard {
    place: TempDir,
    tool: PathBuf,
    sshd: Child,
}

impl Drop for Yard {
    fn drop(&mut self) {
        let _ = self.sshd.kill();
        let _ = self.sshd.wait();
        // A deployed server has no parent process here.
        if let Ok(pid) = fs::read_to_string(self.site().join("pid")) {
            let _ = Command::new("kill").arg(pid.trim()).status();
        }
    }
}

/// A port without a listener.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

impl Yard {
    /// `None` without the tool.
    pub(crate) fn new() -> Option<Yard> {
        let tool = PathBuf::from(std::env::var_os("SKIPSTONE_TEST_TOOL")?);
        // A name without a dot in front, as a directory that is deployed to has one.
        let place = tempfile::Builder::new().prefix("yard-").tempdir().expect("a folder");
        let at = place.path();
        for key in ["host", "user"] {
            succeed(Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(at.join(key)));
        }
        let port = free_port();
        fs::copy(at.join("user.pub"), at.join("authorized")).expect("copied");
        let host_key = fs::read_to_string(at.join("host.pub")).expect("made");
        fs::write(at.join("known"), format!("[127.0.0.1]:{port} {host_key}")).expect("written");
        fs::write(at.join("known-nobody"), "").expect("written");
        let show = at.display();
        // There are hundreds of connections, and OpenSSH's first choice of a key exchange costs a third of the tests'
        // CPU time.
        let common = format!(
            "HostName 127.0.0.1\n IdentityFile {show}/user\n IdentitiesOnly yes\n StrictHostKeyChecking yes\n \
             KexAlgorithms curve25519-sha256\n"
        );
        let config = format!(
            "Host game\n Port {port}\n {common} UserKnownHostsFile {show}/known\n\
             Host stranger\n Port {port}\n {common} UserKnownHostsFile {show}/known-nobody\n\
             Host away\n Port {}\n {common} UserKnownHostsFile {show}/known\n",
            free_port()
        );
        fs::write(at.join("ssh_config"), config).expect("written");
        let daemon = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {show}/host\nAuthorizedKeysFile {show}/authorized\n\
             PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nMaxStartups 100\n"
        );
        fs::write(at.join("sshd_config"), daemon).expect("written");
        // sshd wants it, and only packages with a service make it.
        let _ = fs::create_dir_all("/run/sshd");
        let log = fs::File::create(at.join("sshd.log")).expect("written");
        let sshd = ["/usr/sbin/sshd", "/usr/bin/sshd"].into_iter().find(|path| Path::new(path).exists()).expect("sshd");
        let sshd = Command::new(sshd)
            .args(["-D", "-e", "-f"])
            .arg(at.join("sshd_config"))
            .stderr(log)
            .spawn()
            .expect("it starts");
        let yard = Yard { place, tool, sshd };
        fs::create_dir_all(yard.repository()).expect("a folder");
        yard.git(&["init", "--quiet"]);
        let began = Instant::now();
        while !yard.ssh("true").status.success() {
            assert!(
                began.elapsed() < PATIENCE,
                "{}",
                fs::read_to_string(yard.place.path().join("sshd.log")).unwrap_or_default()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(yard)
    }

    fn ssh(&self, command: &str) -> Output {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F").arg(self.path("ssh_config")).args(["-o", "BatchMode=yes", "game", command]);
        ssh.output().expect("ssh starts")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn repository(&self) -> PathBuf {
        self.path("game")
    }

    /// The directory that is deployed to.
    pub(crate) fn site(&self) -> PathBuf {
        self.path("site")
    }

    /// The tool without what only debuggers read.
    pub(crate) fn slim_tool(&self) -> PathBuf {
        let slim = self.path("slim");
        let is_slim =
            Command::new("strip").arg("-o").arg(&slim).arg(&self.tool).status().is_ok_and(|status| status.success());
        if !is_slim {
            fs::copy(&self.tool, &slim).expect("copied");
        }
        slim
    }

    pub(crate) fn tool(&self) -> Command {
        self.at_the_repository(&self.tool)
    }

    /// `skipstone deploy`, as it was built with these tests.
    pub(crate) fn deployer(&self) -> Command {
        let mut deployer = self.at_the_repository(Path::new(env!("CARGO_BIN_EXE_skipstone-deploy")));
        deployer.arg("deploy");
        deployer
    }

    fn at_the_repository(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.repository()).stdin(Stdio::null());
        command
    }

    pub(crate) fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.repository()).args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(words);
        succeed(&mut git);
    }

    /// Writes files and commits them.
    pub(crate) fn commit(&self, files: &[(&str, &str)]) {
        for (name, text) in files {
            let path = self.repository().join(name);
            fs::write(&path, text).expect("written");
            if text.starts_with("#!") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
            }
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", "a release"]);
    }

    /// Writes a plan with one build and one target, outside the repository's commits.
    pub(crate) fn plan(&self, build: &str, target: &str) {
        let (host, site) = (self.host(), self.site());
        self.whole_plan(&format!(
            "name = \"game\"\n{build}\n[target.here]\n{host}directory = \"{}\"\n{target}\n",
            site.display()
        ));
    }

    /// Writes any plan; `ssh` of its targets is that of this yard.
    pub(crate) fn whole_plan(&self, text: &str) {
        fs::write(self.repository().join("deploy.toml"), text).expect("written");
    }

    /// The `host` and `ssh` of a target here.
    pub(crate) fn host(&self) -> String {
        format!("host = \"game\"\nssh = [\"-F\", \"{}\"]\n", self.path("ssh_config").display())
    }

    /// Where the tool is.
    pub(crate) fn tool_path(&self) -> &Path {
        &self.tool
    }

    /// Changes the plan.
    pub(crate) fn edit(&self, from: &str, to: &str) {
        let file = self.repository().join("deploy.toml");
        let text = fs::read_to_string(&file).expect("written before");
        assert!(text.contains(from), "{from} in {text}");
        fs::write(file, text.replacen(from, to, 1)).expect("written");
    }

    pub(crate) fn deploy(&self, words: &[&str]) -> Output {
        self.deployer().args(words).output().expect("the tool starts")
    }

    /// Deploys, which must go well.
    pub(crate) fn deploy_well(&self, words: &[&str]) -> String {
        let done = self.deploy(words);
        assert!(done.status.success(), "{words:?}: {}", text(&done));
        text(&done)
    }

    /// Deploys, which must fail with this exit code and such a sentence, and leave `current` where it was.
    pub(crate) fn deploy_badly(&self, code: i32, expected: &str) {
        let before = self.current();
        let done = self.deploy(&[]);
        let said = text(&done);
        assert_eq!(done.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "'{expected}' in: {said}");
        assert_eq!(self.current(), before, "{said}");
    }

    /// Where `current` leads.
    pub(crate) fn current(&self) -> Option<PathBuf> {
        fs::read_link(self.site().join("current")).ok()
    }

    pub(crate) fn releases(&self) -> Vec<String> {
        let entries = fs::read_dir(self.site().join("releases")).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Waits until a file is there.
pub(crate) fn until_there(file: &Path) {
    let began = Instant::now();
    while !file.exists() {
        assert!(began.elapsed() < PATIENCE, "{} does not come", file.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn succeed(command: &mut Command) {
    let done = command.output().expect("it starts");
    assert!(done.status.success(), "{command:?}: {}", text(&done));
}

/// Releases are named by the second.
pub(crate) fn next_second() {
    std::thread::sleep(Duration::from_millis(1_050));
}
