//! Each attack of the siege at the game, the console and the dashboard, for a moment: players lose nothing. How late
//! their lines are is measured by `cargo xtask siege`, where nothing else runs.

use crate::common::result::{assert_all_delivered, read};
use crate::common::{Running, Served, fresh_file};
use skipstone_siege::attack::list::attacks;
use skipstone_siege::attack::{Access, Attack, Door};
use skipstone_siege::attacker::{Victim, attack};
use std::time::Duration;

const EACH: Duration = Duration::from_millis(250);

/// Whether an attack is at servers as they are by default.
fn is_common(attack: &Attack) -> bool {
    let server = attack.server;
    server.flags.is_empty() && server.certificate.is_none() && server.access == Access::Token
}

#[test]
fn no_attack_of_the_siege_costs_a_client_a_line() {
    let all: Vec<Attack> = attacks().into_iter().filter(is_common).collect();
    let served = Served::start(&["--dashboard", "127.0.0.1:0", "--console-token", "0123456789abcdef0123456789abcdef"]);
    let file = fresh_file("stress.json");
    let json = file.to_str().expect("text");
    let seconds = 3 + u64::try_from(EACH.as_millis()).expect("it is short") * all.len() as u64 / 1_000;
    let flags = ["-c", "5", "--mix", "udp=2,tcp=1,ws=1,wss=1", "-d", &format!("{seconds}s"), "--json", json];
    let mut run = Running::tool(&[&["stress", &served.url][..], &flags].concat());
    run.until(" running");
    let mut bytes = 0;
    for one in &all {
        let door = match one.door {
            Door::Game => served.address,
            Door::Console => served.console,
            Door::Dashboard => served.dashboard.expect("it was asked for one"),
        };
        let sent = attack(one, Victim::At(door), EACH).expect("it is a loopback address");
        // Its budgets may throw a crowd out before it says a word.
        assert!(sent.openings > 0, "{}: {sent:?}", one.name);
        bytes += sent.bytes;
    }
    assert!(bytes > 10_000_000, "{bytes}");
    assert_all_delivered(&run.wait(), &read(&file), 5, seconds);
    served.stop();
}
