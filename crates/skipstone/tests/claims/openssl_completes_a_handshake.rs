//! OpenSSL's own client shakes hands with a server of ours, on the port of its players.
#![cfg(unix)]

use skipstone::{Server, ServerConfig};
use std::process::{Command, Stdio};

#[test]
fn by_dtls_1_2() {
    if Command::new("openssl").arg("version").stdout(Stdio::null()).status().is_err() {
        eprintln!("there is no openssl here: nothing was tested");
        return;
    }
    let server = Server::start(ServerConfig::new("127.0.0.1:0".parse().expect("an address"))).expect("a port is free");
    let address = server.local_addr().to_string();
    let mut openssl = Command::new("openssl");
    openssl.args(["s_client", "-dtls1_2", "-brief", "-connect", &address]);
    let ended = openssl.stdin(Stdio::null()).output().expect("it runs");
    let said = format!("{}{}", String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert!(said.contains("CONNECTION ESTABLISHED") && said.contains("DTLSv1.2"), "{said}");
    assert!(said.contains("ECDSA"), "{said}");
    let counts = || (server.driver_stats().dtls.begun, server.driver_stats().dtls.established);
    assert!(crate::eventually(|| counts() == (1, 1)), "{:?}", counts());
}
