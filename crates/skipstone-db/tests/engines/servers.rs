//! Databases for tests: a file, and private servers on free ports, which end with the test.

use skipstone_db::DatabaseUrl;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A database, and what runs it.
pub(crate) struct TestDatabase {
    pub(crate) url: DatabaseUrl,
    pub(crate) engine: Engine,
    server: Option<Child>,
    folder: PathBuf,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    SqliteBySqlx,
    Mariadb,
    Postgres,
}

/// Every engine that is to be tried.
pub(crate) fn engines() -> Vec<Engine> {
    let mut all = vec![Engine::Sqlite, Engine::SqliteBySqlx];
    if std::env::var_os("SKIPSTONE_TEST_SERVERS").is_some() {
        all.extend([Engine::Mariadb, Engine::Postgres]);
    }
    all
}

impl TestDatabase {
    pub(crate) fn start(engine: Engine) -> TestDatabase {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("skipstone-db-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a free port").port();
        let url = match engine {
            Engine::Sqlite => format!("sqlite:{}/t.db", folder.display()),
            Engine::SqliteBySqlx => format!("sqlite+sqlx:{}/t.db", folder.display()),
            Engine::Mariadb => format!("mariadb://skipstone:s3cret@127.0.0.1:{port}/game"),
            Engine::Postgres => format!("postgres://skipstone:s3cret@127.0.0.1:{port}/game"),
        };
        let url = DatabaseUrl::with_secrets(&url).expect("a good URL");
        let mut database = TestDatabase { url, engine, server: None, folder, port };
        database.install();
        database.run();
        database
    }

    /// Ends the server at once, as a loss of power would, and starts it again.
    pub(crate) fn kill_and_restart(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        server.kill().expect("it runs");
        server.wait().expect("it ends");
        self.run();
    }

    /// Sends it a signal, and the processes that it has for its connections.
    pub(crate) fn signal(&self, signal: &str) {
        let Some(server) = &self.server else { return };
        let id = server.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        // One of a connection that has just ended is gone.
        let _ = Command::new("kill").arg(signal).args(children.split_whitespace()).status();
        let status = Command::new("kill").args([signal, &id.to_string()]).status();
        assert!(status.is_ok_and(|status| status.success()), "kill {signal}");
    }

    fn install(&self) {
        match self.engine {
            Engine::Sqlite | Engine::SqliteBySqlx => {}
            Engine::Mariadb => {
                own(&self.folder, "mysql");
                let mut install = self.command("mariadb-install-db", "mysql");
                install.args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"]);
                // Each server that starts removes the files of others from a shared folder.
                install.arg(format!("--tmpdir={}", self.folder.display()));
                finish(install.arg(format!("--datadir={}", self.data())));
            }
            Engine::Postgres => {
                own(&self.folder, "postgres");
                let password = self.folder.join("password");
                std::fs::write(&password, "s3cret\n").expect("a file");
                let mut install = self.command("initdb", "postgres");
                install.args(["--username=skipstone", "--auth=scram-sha-256", "--no-sync", "--pwfile"]).arg(&password);
                finish(install.args(["-D", &self.data()]));
            }
        }
    }

    fn run(&mut self) {
        let data = self.data();
        let port = self.port;
        let folder = self.folder.display().to_string();
        let command = match self.engine {
            Engine::Sqlite | Engine::SqliteBySqlx => return,
            Engine::Mariadb => {
                let init = self.folder.join("init.sql");
                let sql = "CREATE DATABASE IF NOT EXISTS game;\n\
                           CREATE USER IF NOT EXISTS skipstone@'%' IDENTIFIED BY 's3cret';\n\
                           GRANT ALL ON *.* TO skipstone@'%';\n";
                std::fs::write(&init, sql).expect("a file");
                let mut command = self.command("mariadbd", "mysql");
                command.args(["--no-defaults", "--bind-address=127.0.0.1", "--skip-name-resolve"]);
                command.arg(format!("--datadir={data}")).arg(format!("--port={port}"));
                command.arg(format!("--tmpdir={folder}"));
                command.arg(format!("--socket={folder}/s")).arg(format!("--init-file={}", init.display()));
                command
            }
            Engine::Postgres => {
                let mut command = self.command("postgres", "postgres");
                command.args(["-D", &data, "-k", &folder, "-h", "127.0.0.1", "-p", &port.to_string()]);
                command
            }
        };
        let end = Instant::now() + Duration::from_secs(60);
        self.server = Some(started(command));
        while let Err(why) = self.make() {
            assert!(Instant::now() < end, "{:?} does not answer: {why}", self.engine);
            std::thread::sleep(Duration::from_millis(100));
            let server = self.server.as_mut().expect("it was started");
            // The shared memory of the previous server may still be in use.
            if server.try_wait().is_ok_and(|status| status.is_some()) {
                self.run();
                return;
            }
        }
    }

    /// The tables, and the database before them.
    fn make(&self) -> Result<(), String> {
        if self.engine == Engine::Postgres {
            let mut create = self.command("createdb", "postgres");
            create.args(["-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", "skipstone", "game"]);
            // After a restart the user already exists.
            drop(create.env("PGPASSWORD", "s3cret").output());
        }
        skipstone_db::run_line(&self.url, "create").map(drop)
    }

    fn data(&self) -> String {
        self.folder.join("data").display().to_string()
    }

    /// A program of a server, as its own user if we are root, which servers refuse to run as.
    fn command(&self, program: &str, user: &str) -> Command {
        let mut command = Command::new(find(program));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).current_dir(&self.folder);
        if id("-u", "") == Some(0) {
            let (uid, gid) = (id("-u", user), id("-g", user));
            command.uid(uid.expect("the package made its user")).gid(gid.expect("and its group"));
        }
        command
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
            // Processes of PostgreSQL see a moment later that the first is gone.
            std::thread::sleep(Duration::from_millis(200));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn started(mut command: Command) -> Child {
    command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()))
}

fn finish(command: &mut Command) {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = command.output().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success(), "{:?} ended with {}: {said}", command.get_program(), output.status);
}

/// The folder is its user's.
fn own(folder: &Path, user: &str) {
    if id("-u", "") == Some(0) {
        let uid = id("-u", user).expect("the package made its user");
        std::os::unix::fs::chown(folder, Some(uid), id("-g", user)).expect("we are root");
    }
}

fn id(what: &str, user: &str) -> Option<u32> {
    let mut id = Command::new("id");
    id.arg(what).args((!user.is_empty()).then_some(user));
    String::from_utf8(id.output().ok()?.stdout).ok()?.trim().parse().ok()
}

/// Debian keeps PostgreSQL's programs where no search path leads.
fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    let folders = folders.chain(std::env::split_paths(&path)).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join(program)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{program} is not installed: apt-get install mariadb-server postgresql"))
}

/// Everything that a child says.
pub(crate) fn said(child: &mut Child) -> String {
    let mut text = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut text).expect("it is text");
    text
}
