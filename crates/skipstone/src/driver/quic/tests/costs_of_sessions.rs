//! The cost of a session to a server: memory, and time for each datagram. Figures, not claims: run by hand and one by
//! one, with `--ignored --nocapture`.

use super::*;

/// KB of memory that are resident.
#[cfg(target_os = "linux")]
fn resident_kb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("it has one");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number")
}

/// KB per connection after `rounds` rounds of datagrams, measured in its own process.
#[cfg(target_os = "linux")]
fn held_kb(rounds: usize) -> f64 {
    let (mut host, mut before) = (Host::new(Config::server(Default::default())), 0);
    host.guests.places = Places::new(PlaceLimits { strangers: 10_000, proven: 10_000, network: 10_000 });
    for number in 0..1_200_u32 {
        if number == 200 {
            before = resident_kb();
        }
        let (now, from) = (START + MILLISECOND * number, address(number << 8 | 1));
        let mut client = page(now);
        exchange(&mut host, now, from, &mut client, rounds);
        assert_eq!(client.granted.is_some(), rounds > 1);
    }
    assert_eq!(host.guests.stats().open, 1_200);
    (resident_kb() - before) as f64 / 1_000.0
}

#[test]
#[ignore = "a figure"]
#[cfg(target_os = "linux")]
fn memory_of_an_unproven_client() {
    println!("{:.1} KB after the first flight", held_kb(1));
}

#[test]
#[ignore = "a figure"]
#[cfg(target_os = "linux")]
fn memory_of_a_session() {
    println!("{:.1} KB with a session", held_kb(8));
}

#[test]
#[ignore = "a figure"]
fn cpu_time_of_a_datagram() {
    for bytes in [60, 1_100] {
        let (mut host, mut client, mut now) = (Host::new(Config::server(Default::default())), page(START), START);
        exchange(&mut host, now, address(1), &mut client, 8);
        let number = *host.guests.guests.keys().next().expect("it is there");
        host.guests.guests.values_mut().for_each(|guest| (guest.stage, guest.until) = (Stage::Connected, Time::NEVER));
        let (mut up, mut down, mut acks, count) = (Duration::ZERO, Duration::ZERO, Duration::ZERO, 40_000_u32);
        for _ in 0..count / 10 {
            now += MILLISECOND;
            host.now = now;
            client.handle_timeout(instant(now));
            (0..10).for_each(|_| client.send(&vec![0xFF; bytes]));
            let sent = client.datagrams(instant(now));
            let began = Instant::now();
            for datagram in sent {
                host.guests.handle(now, (SOCKET, address(1).into()), &datagram, &mut host.endpoint, &mut |_, _, _| ());
            }
            host.guests.handle_timeout(now, &mut host.endpoint);
            let told = host.said();
            up += began.elapsed();
            told.iter().for_each(|(_, datagram)| client.handle(instant(now), SERVER, datagram));
            let content = vec![0xFF; bytes * 10];
            let began = Instant::now();
            host.guests.send(now, number, &content, bytes, &mut host.endpoint);
            let told = host.said();
            down += began.elapsed();
            told.iter().for_each(|(_, datagram)| client.handle(instant(now), SERVER, datagram));
            let told = client.datagrams(instant(now));
            let began = Instant::now();
            for datagram in told {
                host.guests.handle(now, (SOCKET, address(1).into()), &datagram, &mut host.endpoint, &mut |_, _, _| ());
            }
            let answers = host.said();
            acks += began.elapsed();
            answers.iter().for_each(|(_, datagram)| client.handle(instant(now), SERVER, datagram));
        }
        let each = |span: Duration| span.as_nanos() as u64 / u64::from(count);
        println!("{bytes} bytes: up {} ns, down {} ns, its acknowledgements {} ns", each(up), each(down), each(acks));
    }
}
