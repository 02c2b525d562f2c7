//! A container of the image, run by crun in the network of this machine: its server passes a stress run, and ends by
//! SIGTERM.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};

use crate::machine::process;
use crate::machine::system;
use crate::machine::tree::Tree;

/// Runs the image, and `tool` against it.
pub(super) fn try_out(reference: &str, tool: &Path, folder: &Path, tree: &Tree) -> Result<(), String> {
    let without = "the image is made, and not tried";
    if let Some(why) = system::program("crun", "crun", without, tree) {
        return Err(why);
    }
    let python = system::python(tree).ok_or("no Python 3, which fills in the container's configuration")?;
    let bundle = folder.join("bundle");
    let mut unpack = process::command("umoci", tree);
    unpack.args(["unpack", "--image", reference]).arg(&bundle);
    process::run(unpack)?;
    let mut configure = process::command(python, tree);
    configure.args(["-c", CONFIGURE]).arg(bundle.join("config.json"));
    configure.args(["serve", "--listen", "127.0.0.1:0", "--console", "off", "--identity", "new"]);
    process::run_quietly(configure, "the configuration of the container is completed")?;
    let container = Container { state: folder.join("state"), tree };
    let mut running = container.start(&bundle)?;
    let judged = url(&mut running).and_then(|url| {
        let mut stress = process::command(&tool.to_string_lossy(), tree);
        stress.args(["stress", &url, "-c", "100", "--mix", "udp=50,ws=25,tcp=25", "-r", "2/s", "-d", "5s"]);
        process::run(stress)
    });
    container.end()?;
    let status = running.wait().map_err(|error| error.to_string())?;
    judged?;
    if status.success() { Ok(()) } else { Err(format!("the container's server ended with {status}")) }
}

struct Container<'tree> {
    state: std::path::PathBuf,
    tree: &'tree Tree,
}

impl Container<'_> {
    /// Old versions of crun refuse a machine with both versions of cgroups even if they are to use none: an empty file
    /// system hides them, from crun alone.
    fn start(&self, bundle: &Path) -> Result<Child, String> {
        let mut crun = process::command("unshare", self.tree);
        crun.args(["--mount", "sh", "-c", "mount -t tmpfs none /sys/fs/cgroup && exec \"$@\"", "crun"]);
        crun.args(["crun", "--cgroup-manager=disabled", "--root"]).arg(&self.state);
        crun.args(["run", "--bundle"]).arg(bundle).arg(NAME).stdout(Stdio::piped());
        crun.spawn().map_err(|error| format!("crun cannot be started: {error}"))
    }

    fn end(&self) -> Result<(), String> {
        let mut crun = process::command("crun", self.tree);
        crun.arg("--root").arg(&self.state).args(["kill", NAME, "TERM"]);
        process::run(crun)
    }
}

/// The address that the server prints.
fn url(running: &mut Child) -> Result<String, String> {
    let out = running.stdout.take().ok_or("its output is not read")?;
    let mut lines = BufReader::new(out).lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.trim().strip_prefix("native")?.split_whitespace().next().map(String::from));
    // What follows is read, so that the server can print it.
    std::thread::spawn(move || lines.for_each(|line| println!("{line}")));
    url.ok_or_else(|| "the container's server has no address".into())
}

const NAME: &str = "skipstone-image";

/// Entrypoint and user are the image's; the rest is `docker run --network host --read-only --cap-drop ALL`.
const CONFIGURE: &str = "
import json, sys
file, *words = sys.argv[1:]
with open(file) as opened:
    config = json.load(opened)
process = config['process']
process['args'] = process['args'][:1] + words
process['terminal'] = False
process['capabilities'] = {}
config['root']['readonly'] = True
config['mounts'] = [mount for mount in config['mounts'] if mount['destination'] in ('/proc', '/dev')]
linux = config['linux']
linux.pop('resources', None)
linux['namespaces'] = [own for own in linux['namespaces'] if own['type'] != 'network']
with open(file, 'w') as opened:
    json.dump(config, opened)
";
