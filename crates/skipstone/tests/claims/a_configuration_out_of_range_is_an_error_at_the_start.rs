//! A field that is out of its range, and rules that contradict each other, are found when a server, a client or a pool
//! starts. The error names the field, its value and its range.

use skipstone::{ChannelRule, Client, ClientConfig, DeliveryMode, Pool, PoolConfig, Server, ServerConfig, Settings};
use skipstone::{QueryBatch, QueryConfig};
use skipstone::{Scheme, StartError, Target};
use std::net::SocketAddr;
use std::time::Duration;

fn address() -> SocketAddr {
    "127.0.0.1:0".parse().expect("an address")
}

fn refused(change: impl FnOnce(&mut ServerConfig)) -> String {
    let mut config = ServerConfig::offline();
    change(&mut config);
    Server::start(config).expect_err("it is out of range").to_string()
}

#[test]
fn a_server_names_the_field_its_value_and_its_range() {
    assert_eq!(refused(|config| config.connections_max = 0), "connections_max is 0: set it to 1 to 8,388,608");
    let error = refused(|config| config.connections_max = 8_388_609);
    assert_eq!(error, "connections_max is 8388609: set it to 1 to 8,388,608");
    // With shards, half of it would be each shard's.
    let shards = if cfg!(target_os = "linux") { 2 } else { 1 };
    let least = if cfg!(target_os = "linux") { "2000" } else { "1000" };
    let error = refused(|config| (config.shards, config.bandwidth_max) = (shards, Some(999)));
    assert_eq!(error, format!("bandwidth_max is 999: set it to {least} bytes per second or more, or leave it out"));
    let error = refused(|config| config.listener_rules.newcomers.timeout = Duration::MAX);
    assert!(error.starts_with("listener_rules.newcomers.timeout is"), "{error}");
    let error = refused(|config| config.queue_bytes_max = (1 << 20) - 1);
    assert_eq!(error, "queue_bytes_max is 1048575: set it to 1,048,576 bytes (1 MiB) or more");
    let error = refused(|config| config.settings.keepalive = Duration::ZERO);
    assert_eq!(error, "settings.keepalive is 0ns: set it to 100 ms to 24 h");
    let error = refused(|config| config.settings.channels.clear());
    assert!(error.contains("settings.channels is empty"), "{error}");
    let rules = [0..=9, 9..=20].map(|channels| ChannelRule::new(channels, DeliveryMode::ReliableOrdered));
    let error = refused(|config| config.settings = Settings { channels: rules.to_vec(), ..Settings::default() });
    assert!(error.contains("settings.channels[0] (channels 0 to 9)") && error.contains("overlap"), "{error}");
}

#[test]
fn a_client_names_an_invalid_token_and_queue() {
    let start = |token: &[u8], config| Client::connect("skip+plain://127.0.0.1:9", token, config);
    let error = start(&[0; 1_025], ClientConfig::default()).expect_err("it is too long");
    assert!(matches!(error, StartError::TokenTooLong { bytes: 1_025 }));
    assert!(error.to_string().contains("1025 bytes, of at most 1024"), "{error}");
    let short = ClientConfig { queue_bytes_max: 1_000, ..ClientConfig::default() };
    assert!(start(b"", short).is_err_and(|error| error.to_string().contains("queue_bytes_max is 1000")));
    let slow = ClientConfig { bandwidth_max: Some(999), ..ClientConfig::default() };
    let range = "set it to 1000 bytes per second or more, or leave it out";
    assert_eq!(start(b"", slow).expect_err("it is too slow").to_string(), format!("bandwidth_max is 999: {range}"));
    let server = Server::start(ServerConfig::offline()).expect("it may");
    let error = server.connect_local(&[0; 1_025], ClientConfig::default()).expect_err("it is too long");
    assert!(matches!(error, StartError::TokenTooLong { .. }));
    assert!(server.connect_local(&[0; 1_024], ClientConfig::default()).is_ok());
}

#[test]
fn a_pool_needs_one_socket_at_least_and_checks_tokens() {
    for sockets_at_once in [0, 65_537, usize::MAX] {
        let error = Pool::new(PoolConfig { sockets_at_once, ..PoolConfig::default() }).expect_err("it makes no sense");
        assert_eq!(error.to_string(), format!("sockets_at_once is {sockets_at_once}: set it to 1 to 65,536"));
    }
    let slow = PoolConfig { bandwidth_max_per_client: Some(999), ..PoolConfig::default() };
    let error = Pool::new(slow).expect_err("it is too slow").to_string();
    assert!(error.starts_with("bandwidth_max_per_client is 999"), "{error}");
    let mut pool = Pool::new(PoolConfig::default()).expect("it may");
    let target = Target::new(Scheme::Plain, "127.0.0.1", 9);
    let added = pool.add(&target, address(), &[0; 1_025], None);
    assert!(matches!(added, Err(StartError::TokenTooLong { bytes: 1_025 })));
}

#[test]
fn a_query_names_the_field_its_value_and_its_range() {
    let refused = |config| QueryBatch::new(config).expect_err("it is out of range").to_string();
    let default = QueryConfig::default;
    assert_eq!(refused(QueryConfig { tries: 5, ..default() }), "tries is 5: set it to 1 to 4");
    assert_eq!(refused(QueryConfig { tries: 0, ..default() }), "tries is 0: set it to 1 to 4");
    assert_eq!(refused(QueryConfig { question_bytes: 63, ..default() }), "question_bytes is 63: set it to 64 to 1,200");
    let error = refused(QueryConfig { servers_at_once: 0, ..default() });
    assert_eq!(error, "servers_at_once is 0: set it to 1 or more");
    assert_eq!(refused(QueryConfig { timeout: Duration::ZERO, ..default() }), "timeout is 0ns: set it to above 0");
    for timeout in [Duration::MAX, Duration::from_secs(u64::MAX)] {
        assert!(QueryBatch::new(QueryConfig { timeout, ..default() }).is_ok());
    }
}
