//! Messages per second and round trips through a local NATS server, of the bus and of NATS' own client beside it.

use bytes::Bytes;
use futures_util::StreamExt;
use skipstone_fleet::bus::{Bus, BusEvent, BusSettings};
use skipstone_fleet::local::{LocalNats, LocalSettings};
use std::time::{Duration, Instant};

const MESSAGES: u64 = 400_000;

fn main() {
    let server = LocalNats::start(LocalSettings::default()).expect("a server");
    for round in 0..3 {
        println!("round {round}: bus {:.0}/s, client {:.0}/s", of_bus(&server.url()), of_client(server.url()));
    }
    let (p50, p99) = round_trips(&server.url());
    println!("publish to subscribe through two buses: p50 {p50:?}, p99 {p99:?}");
}

fn of_bus(url: &str) -> f64 {
    let settings =
        BusSettings { events_max: 1 << 20, event_bytes_max: 1 << 30, ..BusSettings::new(url.parse().unwrap()) };
    let (from, to) = (Bus::connect(settings.clone()).unwrap(), Bus::connect(settings).unwrap());
    to.subscribe("rate").unwrap();
    to.flush(Duration::from_secs(5)).unwrap();
    let payload = Bytes::from(vec![7; 100]);
    let began = Instant::now();
    let sending = std::thread::spawn(move || {
        for _ in 0..MESSAGES {
            while from.publish("rate", payload.clone()).is_err() {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        from.flush(Duration::from_secs(20)).unwrap();
    });
    let mut received = 0;
    while received < MESSAGES {
        match to.wait(Duration::from_secs(5)) {
            Some(BusEvent::Message(_)) => received += 1,
            other => panic!("{other:?} after {received}"),
        }
    }
    let rate = MESSAGES as f64 / began.elapsed().as_secs_f64();
    sending.join().unwrap();
    rate
}

fn of_client(url: String) -> f64 {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let at = url.clone();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let receiving = std::thread::spawn(move || {
        runtime().block_on(async {
            let options = async_nats::ConnectOptions::new().subscription_capacity(1 << 22);
            let client = options.connect(at).await.unwrap();
            let mut messages = client.subscribe("rate").await.unwrap();
            client.flush().await.unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
            ready.send(()).unwrap();
            for _ in 0..MESSAGES {
                messages.next().await.unwrap();
            }
        });
    });
    is_ready.recv().unwrap();
    let payload = Bytes::from(vec![7; 100]);
    let began = Instant::now();
    runtime().block_on(async {
        let client = async_nats::connect(url).await.unwrap();
        for _ in 0..MESSAGES {
            client.publish("rate", payload.clone()).await.unwrap();
        }
        client.flush().await.unwrap();
    });
    receiving.join().unwrap();
    MESSAGES as f64 / began.elapsed().as_secs_f64()
}

fn round_trips(url: &str) -> (Duration, Duration) {
    let settings = BusSettings::new(url.parse().unwrap());
    let (from, to) = (Bus::connect(settings.clone()).unwrap(), Bus::connect(settings).unwrap());
    to.subscribe("ping").unwrap();
    to.flush(Duration::from_secs(5)).unwrap();
    let mut times: Vec<Duration> = (0..2_000)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            let began = Instant::now();
            from.publish("ping", "x").unwrap();
            to.wait(Duration::from_secs(1)).unwrap();
            began.elapsed()
        })
        .collect();
    times.sort();
    (times[times.len() / 2], times[times.len() * 99 / 100])
}
