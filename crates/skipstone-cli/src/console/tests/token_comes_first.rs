//! A console with a token, over loopback.

use std::sync::Arc;
use std::time::Duration;

use crate::console::Console;
use crate::console::limits::Limits;
use crate::console::tests::client::{Client, Commands, TOKEN, console, limits, with_token};

#[test]
fn no_reply_is_sent_and_no_command_runs_before_the_token() {
    let console = console(with_token());
    let mut client = Client::connect(console.local_addr());
    client.send(format!("{TOKEN}\nwho\nquit\n"));
    assert_eq!(client.read_to_end(), "token: \r\nhello\r\nsession 1\r\nbye\r\n");
}

#[test]
fn a_first_line_without_the_token_ends_the_session() {
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
fn a_thousand_wrong_tokens_do_not_block_the_right_one() {
    let limits = Limits { wrong_told_after: Duration::from_secs(3600), ..limits() };
    let console = Console::listen_within(limits, with_token(), Arc::new(Commands)).expect("bound");
    let guesses: Vec<Client> = (0..1000)
        .map(|guess| {
            let mut client = Client::connect(console.local_addr());
            client.send(format!("guess {guess}\n"));
            client
        })
        .collect();
    for _ in 0..5 {
        let mut operator = Client::connect(console.local_addr());
        operator.send(format!("{TOKEN}\nquit\n"));
        assert_eq!(operator.read_to_end(), "token: \r\nhello\r\nbye\r\n");
    }
    drop(guesses);
}
