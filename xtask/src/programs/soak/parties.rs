//! The clients of a soak: `skipstone stress` once for each carrier and behaviour, each with its own verdict.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::sample::Sample;
use super::server::Server;
use crate::machine::tree::Tree;

pub(super) struct Parties {
    tool: PathBuf,
    /// The script of clients in pages, if it is built.
    page: Option<PathBuf>,
    all: Vec<Party>,
    ended: usize,
    is_well: bool,
}

struct Party {
    name: String,
    child: Child,
}

impl Parties {
    pub(super) fn new(tool: &Path, tree: &Tree) -> Parties {
        let page = Some(tree.root().join("clients/web/dist/stress.js")).filter(|page| page.exists());
        if page.is_none() {
            println!("no clients in pages: clients/web is not built (`npm ci && npm run build` there)");
        }
        Parties { tool: tool.into(), page, all: Vec::new(), ended: 0, is_well: true }
    }

    /// Clients that stay, and reconnect when the server restarts.
    pub(super) fn all_the_time(&mut self, server: &Server, seconds: u64) -> Result<(), String> {
        let (native, plain) = (server.url("native")?, server.url("in clear")?);
        for (name, url, more) in [
            ("udp", &native, &["--mix", "udp"][..]),
            ("plain", &plain, &[]),
            ("dtls", &native, &["--dtls", "1.3"]),
            ("tcp", &native, &["--mix", "tcp"]),
            ("ws", &native, &["--mix", "ws"]),
            ("wss", &native, &["--mix", "wss"]),
        ] {
            let network: &[&str] = if matches!(name, "udp" | "plain" | "dtls") { &NETWORK } else { &[] };
            self.begin(name, url, seconds, &[more, network, &["--reconnect"]].concat())?;
        }
        Ok(())
    }

    /// Clients whose address changes, and clients in pages: neither outlives the server, so they leave before.
    pub(super) fn until_a_restart(&mut self, server: &Server, seconds: u64) -> Result<(), String> {
        let Some(seconds) = seconds.checked_sub(MARGIN).filter(|seconds| *seconds > 0) else { return Ok(()) };
        let (native, plain, pages) = (server.url("native")?, server.url("in clear")?, server.url("pages")?);
        let roaming = [&["--roam", "20s"], &NETWORK[..]].concat();
        self.begin("udp, roaming", &native, seconds, &[&["--mix", "udp"], &roaming[..]].concat())?;
        self.begin("plain, roaming", &plain, seconds, &roaming)?;
        if self.page.is_some() {
            let hash = pages.split_once("sha256=").map_or("", |(_, hash)| hash);
            self.begin("browser", &native, seconds, &["--mix", "browser=4", "--browsers", "1"])?;
            self.begin("wt", &native, seconds, &["--mix", "wt=4", "--browsers", "1", "--web-hash", hash])?;
        }
        Ok(())
    }

    fn begin(&mut self, name: &str, url: &str, seconds: u64, more: &[&str]) -> Result<(), String> {
        let mut stress = Command::new(&self.tool);
        stress.args(["stress", url, "-q", "-c", "4", "-r", "1/s", "-d", &format!("{seconds}s")]).args(more);
        if let Some(page) = &self.page {
            stress.env("SKIPSTONE_STRESS_PAGE", page);
        }
        let child = stress.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn();
        let child = child.map_err(|error| format!("the clients do not start: {error}"))?;
        self.all.push(Party { name: name.into(), child });
        Ok(())
    }

    /// Records which clients have ended, and how. False once all have.
    pub(super) fn are_running(&mut self) -> bool {
        let (ended, is_well) = (&mut self.ended, &mut self.is_well);
        self.all.retain_mut(|party| match party.child.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                *ended += 1;
                if !status.success() {
                    println!("{}: FAILED, {status}", party.name);
                    *is_well = false;
                }
                false
            }
            Err(error) => {
                println!("{}: {error}", party.name);
                *is_well = false;
                true
            }
        });
        !self.all.is_empty()
    }

    /// Resident memory of each, in KiB.
    pub(super) fn memory(&self) -> String {
        let one = |party: &Party| {
            let memory = Sample::of(party.child.id()).map_or(0, |it| it.memory);
            format!("{} {memory}", party.name)
        };
        format!("{} KiB", self.all.iter().map(one).collect::<Vec<_>>().join(", "))
    }

    /// Ends who is left. False if a client lost a line, or did not end.
    pub(super) fn end(&mut self) -> bool {
        for party in &mut self.all {
            println!("{}: FAILED, it does not end", party.name);
            let _ = party.child.kill();
            let _ = party.child.wait();
            self.is_well = false;
        }
        println!("{} groups of clients ended by themselves", self.ended);
        self.is_well && self.ended > 0
    }
}

impl Drop for Parties {
    fn drop(&mut self) {
        for party in &mut self.all {
            let _ = party.child.kill();
            let _ = party.child.wait();
        }
    }
}

const NETWORK: [&str; 4] = ["--loss", "1%", "--delay", "10ms"];
/// Seconds between the end of clients and a restart.
const MARGIN: u64 = 60;
