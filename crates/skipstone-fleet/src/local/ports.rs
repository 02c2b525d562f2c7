//! Ports of servers: the file in which a server says its own, and those that servers of a cluster must know of each other
//! before they start.

use std::net::TcpListener;
use std::path::Path;

/// The port for clients, once the server has written the file.
pub(super) fn client_port(folder: &Path) -> Option<u16> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "ports")).find_map(|path| {
        let ports: serde_json::Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        ports["nats"][0].as_str()?.rsplit_once(':')?.1.parse().ok()
    })
}

/// Ports that are free now.
pub(super) fn free(count: usize) -> std::io::Result<Vec<u16>> {
    let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}
