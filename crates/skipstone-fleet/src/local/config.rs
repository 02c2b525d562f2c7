//! The configuration of a server of one's own.

use std::path::Path;

/// How a server of one's own is set up.
#[derive(Clone, Debug)]
pub struct LocalSettings {
    /// Its name, which is unique in a cluster.
    pub name: String,
    /// Whether it has JetStream, which key-value stores need.
    pub jetstream: LocalJetStream,
    /// Further lines of its configuration.
    pub extra: String,
}

/// Whether a server has JetStream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalJetStream {
    /// It has.
    On,
    /// It has not.
    Off,
}

impl Default for LocalSettings {
    fn default() -> LocalSettings {
        LocalSettings { name: "local".into(), jetstream: LocalJetStream::On, extra: String::new() }
    }
}

impl LocalSettings {
    /// The configuration file. Port -1 is any free one.
    pub(super) fn config(&self, folder: &Path, port: Option<u16>) -> String {
        let port = port.map_or(-1, i32::from);
        let path = |name: &str| serde_json::json!(folder.join(name).display().to_string()).to_string();
        let jetstream = match self.jetstream {
            LocalJetStream::On => format!("jetstream {{ store_dir: {} }}\n", path("store")),
            LocalJetStream::Off => String::new(),
        };
        format!(
            "server_name: {}\nlisten: \"127.0.0.1:{port}\"\nports_file_dir: {}\nlog_file: {}\n{jetstream}{}\n",
            serde_json::json!(self.name),
            path("ports"),
            path("log"),
            self.extra
        )
    }
}

/// The settings of servers that form a cluster by these ports of loopback.
pub(super) fn cluster(route_ports: &[u16]) -> impl Iterator<Item = LocalSettings> {
    let routes: Vec<String> = route_ports.iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
    let routes = routes.join(", ");
    route_ports.iter().enumerate().map(move |(index, port)| LocalSettings {
        name: format!("local-{index}"),
        extra: format!("cluster {{ name: local, listen: \"127.0.0.1:{port}\", routes: [{routes}] }}"),
        ..LocalSettings::default()
    })
}
