//! A stress run counts exactly: every line once, in order, unchanged, over any carrier and any network
//! is.

use crate::common::Served;
use crate::common::guest::Guest;
use crate::common::result::{assert_all_delivered, is_noise, number, stress};

#[test]
fn native_and_websocket_clients_exchange_messages() {
    let (ended, result) = stress(&["-c", "12", "--mix", "udp=8,ws=4", "-r", "5/s", "-d", "2s", "--seed", "7"]);
    assert_all_delivered(&ended, &result, 12, 10);
    assert_eq!((&result["transport"], &result["seed"]), (&"mixed".into(), &7.into()));
    assert_eq!(result["plan"]["mix"], "udp=8,ws=4");
    let carriers = result["carriers"].as_array().expect("a list");
    assert_eq!(carriers.len(), 2, "{result:#}");
    for (carrier, clients) in carriers.iter().zip([8, 4]) {
        assert_eq!(number(carrier, "clients.connected"), clients);
        assert_eq!(number(carrier, "messages.delivered"), clients * 12 * 10);
        assert!(carrier["wire"]["overhead_percent"].as_f64().expect("a number") > 0.0);
    }
    assert!(result["server"]["cpu_percent"].is_number() || cfg!(not(target_os = "linux")), "{result:#}");
    for unasked in ["impairment", "roaming", "returns"] {
        assert!(result[unasked].is_null(), "{unasked} was not requested: {result:#}");
    }
}

#[test]
fn a_bad_network_loses_datagrams_but_no_lines() {
    let network = ["--loss", "5%", "--jitter", "10ms", "--reorder", "2%", "--duplicate", "2%", "--corrupt", "1%"];
    let (ended, result) = stress(&[&["-c", "6", "-r", "10/s", "-d", "2s", "--delay", "10ms"], &network[..]].concat());
    assert_all_delivered(&ended, &result, 6, 20);
    let link = &result["impairment"]["to_clients"];
    assert!(number(link, "lost_random") > 0 && number(link, "duplicated") > 0, "{link:#}");
    assert_eq!(result["impairment"]["settings"]["loss"], "5%");
}

#[test]
fn losses_in_bursts_and_a_narrow_link_lose_no_lines() {
    let network = ["--burst", "3%:3", "--link-rate", "2Mbit/s", "--up", "delay=30ms,loss=1%", "--down", "delay=5ms"];
    let (ended, result) = stress(&[&["-c", "4", "-r", "5/s", "-d", "1s"], &network[..]].concat());
    assert_all_delivered(&ended, &result, 4, 5);
}

#[test]
fn clients_whose_ports_change_lose_no_lines() {
    let (ended, result) = stress(&["-c", "6", "-r", "20/s", "-d", "3s", "--roam", "300ms"]);
    assert_all_delivered(&ended, &result, 6, 60);
    let roaming = &result["roaming"];
    assert!(number(roaming, "moves") >= 45, "{roaming:#}");
    assert!(number(roaming, "path_changes") >= 40, "{roaming:#}");
    assert_eq!((number(roaming, "reconnects"), number(&result, "clients.dropped")), (0, 0));
}

#[cfg(target_os = "linux")]
#[test]
fn shards_share_the_clients_and_lose_no_lines_when_ports_change() {
    let flags = ["-c", "60", "--mix", "udp=40,ws=20", "-r", "4/s", "-d", "2s", "--shards", "2", "--roam", "500ms"];
    let (ended, result) = stress(&flags);
    assert_all_delivered(&ended, &result, 60, 8);
    let shards = result["server"]["shards"].as_array().expect("a list");
    let clients: Vec<u64> = shards.iter().map(|shard| number(shard, "clients")).collect();
    // By chance: the kernel hashes addresses. One in ten million runs has all of them on one side of this.
    assert!(clients.len() == 2 && clients.iter().all(|clients| *clients >= 10), "{clients:?}");
    assert_eq!(clients.iter().sum::<u64>(), 60);
    assert!(shards.iter().map(|shard| number(shard, "handed_on")).sum::<u64>() > 0, "{shards:#?}");
    assert!(shards.iter().all(|shard| number(shard, "hand_over_drops") == 0), "{shards:#?}");
    assert!(ended.out.contains("2 shards of "), "{}", ended.out);
    let (_, result) = stress(&["-c", "2", "-d", "1s"]);
    assert_eq!(number(&result["server"]["shards"][0], "clients"), 2, "a server without shards is one");
}

#[test]
fn one_client_and_one_line_suffice() {
    let (ended, result) = stress(&["-c", "1", "-r", "1/s", "-d", "1s"]);
    assert_all_delivered(&ended, &result, 1, 1);
}

#[test]
fn lines_have_the_requested_length() {
    let (ended, result) = stress(&["-c", "3", "--size", "100", "-r", "5/s", "-d", "1s", "--merge", "20ms"]);
    assert_all_delivered(&ended, &result, 3, 5);
    // Sent by 3 clients, delivered to 3: each time 100 bytes.
    assert_eq!(number(&result, "wire.bytes_payload"), 100 * (15 + 45));
    assert_eq!(result["plan"]["merge"], "20ms");
    let (ended, result) = stress(&["-c", "2", "--size", "20KiB", "-r", "2/s", "-d", "1s", "--mix", "udp=1,ws=1"]);
    assert_all_delivered(&ended, &result, 2, 2);
    assert_eq!(number(&result, "wire.bytes_payload"), 20 * 1024 * (4 + 8));
}

#[test]
fn met_thresholds_are_listed_in_the_result() {
    let thresholds = ["--threshold", "messages.lost==0", "--threshold", "latency.p99<30s"];
    let (ended, result) = stress(&[&["-c", "2", "-d", "1s"], &thresholds[..]].concat());
    assert_all_delivered(&ended, &result, 2, 1);
    let all = result["thresholds"].as_array().expect("a list");
    assert!(all.len() == 2 && all.iter().all(|threshold| threshold["passed"] == true), "{result:#}");
}

#[test]
fn a_missed_threshold_fails_the_run() {
    let (ended, result) = stress(&["-c", "2", "-d", "1s", "--threshold", "latency.p50<1us"]);
    assert_eq!((number(&result, "messages.lost"), &result["thresholds"][0]["passed"]), (0, &false.into()));
    let reasons = crate::common::result::reasons(&result);
    assert!(reasons.contains("The threshold latency.p50<1us was missed"), "{reasons}");
    let was_late = reasons.contains("The generator");
    ended.expect(if was_late { &[98] } else { &[99] });
    assert!(was_late || !is_noise(&result));
}

/// The lines of a run with this seed as received by an observer, without their heads, which name the run.
fn words_of(served: &Served, onlooker: &mut Guest, seed: &str) -> Vec<Vec<u8>> {
    onlooker.lines.clear();
    let (ended, result) = stress(&[&served.url, "-c", "3", "-r", "4/s", "-d", "1s", "--seed", seed]);
    assert_all_delivered(&ended, &result, 3, 4);
    onlooker.listen_until("12 lines arrive", |guest| guest.lines.len() >= 12);
    let mut words: Vec<Vec<u8>> = onlooker.lines.iter().map(|line| line[20..].to_vec()).collect();
    words.sort();
    words
}

#[test]
fn the_same_seed_sends_the_same_lines() {
    let served = Served::start(&[]);
    let mut onlooker = Guest::connect(&served.url, "onlooker");
    let once = words_of(&served, &mut onlooker, "42");
    assert_eq!(once, words_of(&served, &mut onlooker, "42"));
    assert_ne!(once, words_of(&served, &mut onlooker, "43"));
    served.stop();
}
