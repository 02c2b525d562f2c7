//! `deploy.toml`: what is built, and where it goes. Everything is checked before anything starts.

use crate::names::{PathKind, check_name, check_path};
use serde::Deserialize;
use skipstone_lab::units::Span;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The whole file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    /// The name of what is deployed: a target's directory belongs to it.
    pub(crate) name: String,
    /// Where clones, logs and uploads are prepared. Default: next to the work tree.
    pub(crate) workspace: Option<PathBuf>,
    #[serde(default, rename = "build")]
    pub(crate) builds: BTreeMap<String, BuildPlan>,
    #[serde(default, rename = "target")]
    pub(crate) targets: BTreeMap<String, TargetPlan>,
    /// The fleet of which targets are nodes.
    pub(crate) fleet: Option<FleetPlan>,
}

/// A fleet, whose nodes are switched one after the other, while the others have the players.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FleetPlan {
    /// NATS, as this machine reaches it: nats://HOST or tls://HOST.
    pub(crate) nats: String,
    /// Flags of a login at NATS: `--nats-creds=FILE`.
    #[serde(default)]
    pub(crate) login: Vec<String>,
    /// The program that reads the directory by `fleet status`; this one by default.
    pub(crate) program: Option<PathBuf>,
    /// How long a node may take to give its players away; longer than its `serve --drain-limit`.
    #[serde(default = "ninety_seconds")]
    drain: String,
}

impl FleetPlan {
    pub(crate) fn drain(&self) -> Result<std::time::Duration, String> {
        span("fleet.drain", &self.drain)
    }

    fn check(&self) -> Result<(), String> {
        self.drain()?;
        match self.nats.starts_with("nats://") || self.nats.starts_with("tls://") {
            true => Ok(()),
            false => Err(format!("fleet.nats '{}': nats://HOST or tls://HOST", self.nats.escape_debug())),
        }
    }
}

/// One build.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BuildPlan {
    /// For `sh -c`, in its own clean clone.
    pub(crate) command: String,
    /// Files and folders of the clone that go into the release, by their last name.
    pub(crate) artifacts: Vec<String>,
}

/// One machine.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TargetPlan {
    /// As for ssh: `user@host`, or a name of its configuration.
    pub(crate) host: String,
    /// Further words for ssh.
    #[serde(default)]
    pub(crate) ssh: Vec<String>,
    /// A directory of its own.
    pub(crate) directory: String,
    /// The builds whose artifacts it gets; all if empty.
    #[serde(default)]
    pub(crate) builds: Vec<String>,
    /// Releases that stay, the current one among them.
    #[serde(default = "five")]
    pub(crate) keep: u32,
    /// A unit of systemd.
    pub(crate) service: Option<String>,
    /// The command of the unit; without it, the unit is managed elsewhere.
    pub(crate) unit: Option<UnitPlan>,
    /// A command in place of the service, in the target's directory.
    pub(crate) restart: Option<String>,
    /// A file that holds the server's process id, in place of asking systemd: the server must run from the new release.
    pub(crate) pid_file: Option<String>,
    /// Its name as a node of the fleet.
    pub(crate) node: Option<String>,
    #[serde(default)]
    pub(crate) health: HealthPlan,
}

/// The unit that is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UnitPlan {
    /// Program and words, below the target's directory: `current/game --port 7777`.
    pub(crate) exec: String,
    pub(crate) user: Option<String>,
}

/// How a release shows that it is well.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HealthPlan {
    /// Answered with 200, such as http://127.0.0.1:7777/healthz; asked from the target itself, through ssh.
    pub(crate) url: Option<String>,
    /// The address of a console that answers `stats`, likewise.
    pub(crate) console: Option<String>,
    /// A command on the target that succeeds.
    pub(crate) command: Option<String>,
    /// How long a release may take to become healthy.
    timeout: String,
    /// It must be well still after this time.
    settle: String,
}

impl Default for HealthPlan {
    fn default() -> Self {
        HealthPlan { url: None, console: None, command: None, timeout: "20s".into(), settle: "1s".into() }
    }
}

impl HealthPlan {
    pub(crate) fn timeout(&self) -> Result<std::time::Duration, String> {
        span("health.timeout", &self.timeout)
    }

    pub(crate) fn settle(&self) -> Result<std::time::Duration, String> {
        span("health.settle", &self.settle)
    }

    /// Host and port of a URL, and the path after them.
    pub(crate) fn url_parts(&self) -> Result<Option<(&str, &str)>, String> {
        let Some(url) = self.url.as_deref() else { return Ok(None) };
        let wrong =
            || format!("health.url '{}': http://HOST:PORT/PATH, as the target itself reaches it", url.escape_debug());
        let rest = url.strip_prefix("http://").ok_or_else(wrong)?;
        let (address, path) = rest.split_at(rest.find('/').ok_or_else(wrong)?);
        check_address("health.url", address)?;
        let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic());
        if is_plain { Ok(Some((address, path))) } else { Err(wrong()) }
    }
}

fn five() -> u32 {
    5
}

fn ninety_seconds() -> String {
    "90s".into()
}

fn span(what: &str, text: &str) -> Result<std::time::Duration, String> {
    text.parse::<Span>().map(|span| span.0).map_err(|error| format!("{what}: {error}"))
}

/// `HOST:PORT` for ssh's forwarding.
fn check_address(what: &str, address: &str) -> Result<(), String> {
    let parts = address.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok_and(|port| port > 0));
    let (host, _) = parts.ok_or_else(|| format!("{what} '{}': HOST:PORT", address.escape_debug()))?;
    check_name(what, host)
}

impl Plan {
    /// Reads and checks the file.
    pub(crate) fn read(file: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(file).map_err(|error| {
            format!("cannot read {}: {error}; `skipstone deploy --example` prints an example", file.display())
        })?;
        Plan::parse(&text).map_err(|error| format!("{}: {error}", file.display()))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let plan: Plan = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<(), String> {
        check_name("name", &self.name)?;
        for (name, build) in &self.builds {
            check_name("build", name)?;
            if build.artifacts.is_empty() {
                return Err(format!("build.{name}.artifacts is empty: name the files that the release consists of"));
            }
            build.artifacts.iter().try_for_each(|path| check_path("artifact", path, PathKind::Relative))?;
        }
        if self.builds.is_empty() || self.targets.is_empty() {
            return Err("at least one [build.NAME] and one [target.NAME] are required".into());
        }
        self.fleet.iter().try_for_each(FleetPlan::check)?;
        self.targets.iter().try_for_each(|(name, target)| {
            check_name("target", name)?;
            target.check(self).map_err(|error| format!("target.{name}: {error}"))
        })
    }
}

impl TargetPlan {
    fn check(&self, plan: &Plan) -> Result<(), String> {
        check_name("host", &self.host)?;
        check_path("directory", &self.directory, PathKind::Absolute)?;
        if let Some(word) = self.ssh.iter().find(|word| word.bytes().any(|byte| !byte.is_ascii_graphic())) {
            return Err(format!(
                "ssh '{}': words without spaces; put the rest into ssh's configuration",
                word.escape_debug()
            ));
        }
        if let Some(name) = self.builds.iter().find(|name| !plan.builds.contains_key(*name)) {
            return Err(format!("builds '{name}': there is no [build.{name}]"));
        }
        if self.keep < 2 {
            return Err(format!("keep = {}: at least 2, or no rollback is possible", self.keep));
        }
        if self.service.is_none() == self.restart.is_none() {
            return Err(
                "either `service` (a unit of systemd) or `restart` (a command) says how the server is restarted".into(),
            );
        }
        if self.unit.is_some() && self.service.is_none() {
            return Err("`unit` needs `service`, its name".into());
        }
        if self.node.is_some() && plan.fleet.is_none() {
            return Err("`node` needs [fleet] with `nats`, whose directory shows whether the node is well".into());
        }
        self.node.iter().try_for_each(|node| check_name("node", node))?;
        self.service.iter().try_for_each(|service| check_name("service", service))?;
        self.pid_file.iter().try_for_each(|file| check_path("pid_file", file, PathKind::Absolute))?;
        self.unit.iter().flat_map(|unit| &unit.user).try_for_each(|user| check_name("unit.user", user))?;
        self.health.timeout()?;
        self.health.settle()?;
        self.health.url_parts()?;
        let asks = &self.health;
        if asks.url.is_none() && asks.console.is_none() && asks.command.is_none() {
            return Err(
                "`health` has neither `url` nor `console` nor `command`: an unhealthy release would not be detected"
                    .into(),
            );
        }
        if self.restart.is_some() && self.pid_file.is_none() && asks.command.is_none() {
            return Err(
                "`restart` needs `pid_file` or `health.command`: the previous server would answer for a new one that \
                 did not start"
                    .into(),
            );
        }
        self.health.console.iter().try_for_each(|address| check_address("health.console", address))
    }

    /// The builds whose artifacts it gets.
    pub(crate) fn wants(&self, build: &str) -> bool {
        self.builds.is_empty() || self.builds.iter().any(|name| name == build)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_a_valid_plan() {
        Plan::parse(include_str!("example.toml")).expect("it is printed for people to begin with");
    }

    #[test]
    fn mistakes_are_named_with_a_remedy() {
        let example = include_str!("example.toml");
        for (from, to, expected) in [
            ("name = \"game\"", "name = \"my game\"", "name 'my game'"),
            ("[target.eu", "[target.\"..\"", "target '..'"),
            ("/srv/game\"", "/srv/../etc\"", "directory '/srv/../etc'"),
            ("root@eu1.example.org", "-oProxyCommand=x", "host '-oProxyCommand=x'"),
            ("target/release/game\"", "../game\"", "artifact '../game'"),
            ("keep = 5", "keep = 1", "at least 2"),
            ("keep = 5", "kept = 5", "unknown field"),
            ("service = \"game.service\"", "", "either `service`"),
            ("http://127.0.0.1:7777/healthz", "https://x/", "health.url"),
            ("20s", "soon", "health.timeout"),
            ("url = \"http://127.0.0.1:7777/healthz\"", "", "neither `url`"),
        ] {
            let text = example.replace(from, to);
            assert_ne!(text, example, "{from} stands in the example");
            let error = Plan::parse(&text).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
        let unit = example.find("# Written to").expect("its place")..example.find("# Asked from").expect("its place");
        let text =
            example.replace("service = \"game.service\"", "restart = \"pkill -HUP game\"").replace(&example[unit], "");
        assert!(Plan::parse(&text).expect_err("the process is unknown").contains("needs `pid_file`"));
    }

    #[test]
    fn each_field_of_a_target_is_checked() {
        let example = include_str!("example.toml");
        let with = |line: &str| example.replace("keep = 5", &format!("keep = 5\n{line}"));
        for (line, expected) in [
            ("ssh = [\"-o Port=22\"]", "ssh '-o Port=22': words without spaces"),
            ("builds = [\"client\"]", "builds 'client': there is no [build.client]"),
            ("restart = \"true\"", "either `service`"),
            ("pid_file = \"pid\"", "pid_file 'pid'"),
        ] {
            let error = Plan::parse(&with(line)).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
        Plan::parse(&with("ssh = [\"-p\", \"22\"]")).expect("plain words");
        Plan::parse(&example.replace("keep = 5", "keep = 2")).expect("one to go back to");
        let unit_alone = example.replace("service = \"game.service\"", "restart = \"true\"");
        assert!(Plan::parse(&unit_alone).expect_err("no name").contains("`unit` needs `service`"));
    }

    #[test]
    fn a_node_belongs_to_a_fleet_whose_nats_is_known() {
        let example = include_str!("example.toml");
        let (node, fleet) = (example.replace("# node = ", "node = "), "[fleet]\nnats = \"nats://n:4222\"\n");
        assert!(Plan::parse(&node).expect_err("there is none").contains("`node` needs [fleet]"));
        let plan = Plan::parse(&format!("{node}\n{fleet}")).expect("a fleet");
        assert_eq!(plan.targets["eu"].node.as_deref(), Some("n1"));
        assert_eq!(plan.fleet.expect("it has one").drain(), Ok(std::time::Duration::from_secs(90)));
        for (line, expected) in
            [("nats = \"n:4222\"", "fleet.nats"), ("nats = \"nats://n\"\ndrain = \"x\"", "fleet.drain")]
        {
            let error = Plan::parse(&format!("{node}\n[fleet]\n{line}\n")).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_url_and_a_console_are_addresses_that_ssh_can_forward_to() {
        let asks = |url: &str| HealthPlan { url: Some(url.into()), ..HealthPlan::default() };
        assert_eq!(asks("http://a:7777/x/y?z").url_parts(), Ok(Some(("a:7777", "/x/y?z"))));
        assert_eq!(HealthPlan::default().url_parts(), Ok(None));
        for wrong in [
            "https://a:1/",
            "http://a:1",
            "http://a:0/",
            "http://a/",
            "http://-a:1/",
            "http://a:1/ü",
            "http://a:70000/",
        ] {
            assert!(asks(wrong).url_parts().is_err(), "{wrong}");
        }
        let example = include_str!("example.toml");
        let console = |address: &str| {
            example.replace("url = \"http://127.0.0.1:7777/healthz\"", &format!("console = \"{address}\""))
        };
        Plan::parse(&console("127.0.0.1:7778")).expect("an address");
        assert!(Plan::parse(&console("127.0.0.1:0")).expect_err("no port").contains("health.console '127.0.0.1:0'"));
    }

    #[test]
    fn durations_come_from_the_plan_and_builds_from_the_target() {
        let plan = Plan::parse(include_str!("example.toml")).expect("a plan");
        let mut target = plan.targets["eu"].clone();
        let health = HealthPlan { timeout: "90s".into(), settle: "250ms".into(), ..HealthPlan::default() };
        assert_eq!(health.timeout(), Ok(std::time::Duration::from_secs(90)));
        assert_eq!(health.settle(), Ok(std::time::Duration::from_millis(250)));
        target.builds = Vec::new();
        assert!(target.wants("server") && target.wants("client"), "all, if none is named");
        target.builds = vec!["server".into()];
        assert!(target.wants("server") && !target.wants("client"));
    }
}
