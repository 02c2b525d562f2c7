//! A console with a token, over loopback.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::console::limits::Limits;
use crate::console::tests::client::{Client, Commands, TOKEN, config, console, limits, with_token};
use crate::console::{Console, ConsoleConfig};

#[test]
fn nothing_is_said_and_no_command_runs_before_the_token() {
    let console = console(with_token());
    let mut client = Client::connect(console.local_addr());
    client.send(format!("{TOKEN}\nwho\nquit\n"));
    assert_eq!(client.read_to_end(), "token: \r\nhello\r\nsession 1\r\nbye\r\n");
}

#[test]
fn a_first_line_that_is_no_token_ends_the_session() {
    let console = console(with_token());
    let mut client = Client::connect(console.local_addr());
    client.send(format!("{TOKEN}2\n{TOKEN}\nwho\n"));
    assert_eq!(client.read_to_end(), "token: \r\nwrong token: connect again\r\n");
}

#[test]
fn a_client_that_gives_no_token_in_time_is_closed() {
    let limits = Limits { login: Duration::from_millis(400), ..limits() };
    let console = Console::listen_within(limits, with_token(), Arc::new(Commands)).expect("bound");
    let mut client = Client::connect(console.local_addr());
    let heard = client.read_to_end();
    assert!(heard.ends_with("token: \r\nthe token took too long: connect again\r\n"), "{heard}");
}

#[test]
fn without_a_token_only_loopback_is_listened_on() {
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let config = ConsoleConfig { listen: everywhere, ..config() };
    let refused = Console::listen(config, Arc::new(Commands)).err().expect("refused").to_string();
    assert!(refused.contains("without a token") && refused.contains("set a token"), "{refused}");
    let config = ConsoleConfig { listen: everywhere, ..with_token() };
    assert!(Console::listen(config, Arc::new(Commands)).is_ok());
}
