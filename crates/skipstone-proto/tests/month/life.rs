//! The life of one connection, day by day, and the invariants at the end of each.

use crate::figures::{Holdings, IdleHour, has_only_grown};
use crate::simulation::{World, encrypted, link, ms};
use crate::traffic::{Direction, rules};
use allocation_counter::measure;
use skipstone_netsim::{LinkConfig, Loss};
use skipstone_proto::rng::Rng;
use skipstone_proto::{Carrier, Config, Duration, Event, Settings, Stats, Time};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(24 * 3_600);
const TICK: Duration = Duration::from_micros(16_667);
/// The longest cut. A client that receives nothing sends a PING after 25 s, and is forgotten after 30.
const BUSY_CUT_MS: u32 = 15_000;
const IDLE_CUT_MS: u32 = 4_000;
/// Moves of a month, at most, for which there is room.
const MOVES_MAX: usize = 10_000;
/// By how much the heap of both sides, including the model network's buffers, may differ from its size at the end of
/// the second day: a queue that a burst makes longer than ever before doubles its capacity once.
const HEAP_BYTES: i64 = 640 << 10;
/// Bytes that both sides free at the end of the connection, at most: queues keep the room that the storm made them
/// need.
const CONNECTION_BYTES: i64 = 1 << 20;
/// Bytes that the peer makes a side hold at rest, at most: packets for its next repairs.
const MEMORY_BYTES: u64 = 128 << 10;
/// Wakeups of each exchange of a PING and its answer, at most: each side is woken to send, and for the timer of its
/// acknowledgement.
const WAKES_OF_EXCHANGE: u64 = 10;
/// Exchanges per hour, one every 25 s.
const EXCHANGES: u64 = 144;

/// The protection of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seal {
    Plain,
    Encrypted,
}

pub(crate) struct Life {
    name: &'static str,
    world: World,
    rng: Rng,
    busy: Duration,
    up: Direction,
    down: Direction,
    /// Events of the handshake: the server's and the client's.
    first: [usize; 2],
    began: Time,
    /// Since the first day began.
    heap_bytes: i64,
    /// The heap at the end of the second day, when all buffers have reached their size.
    usual_heap_bytes: i64,
    /// The server's counters and the client's, when last checked.
    counters: [Stats; 2],
}

impl Life {
    pub(crate) fn new(name: &'static str, carrier: Carrier, seal: Seal, busy: Duration) -> Life {
        let config = Config::server(Settings { channels: rules(), ..Settings::default() });
        let config = Config { follows_server_time: true, ..config };
        let config = if seal == Seal::Encrypted { encrypted(config, 5) } else { config };
        let mut world = World::on(carrier, 28, config, &[link(20)]);
        world.reserve_moves(MOVES_MAX);
        world.connect();
        let mut life = Life {
            name,
            rng: Rng::new(28),
            busy,
            up: Direction::default(),
            down: Direction::default(),
            first: [world.server.events.len(), world.clients[0].events.len()],
            began: world.now,
            heap_bytes: 0,
            usual_heap_bytes: 0,
            counters: [Stats::default(); 2],
            world,
        };
        life.storm();
        life
    }

    /// Brings everything that grows with traffic to its size: full datagrams on a bad link that is cut again and again.
    fn storm(&mut self) {
        for round in 0..30 {
            let rough = self.rough();
            let is_reliable = self.world.carrier.is_reliable;
            self.relink(if is_reliable { rough } else { LinkConfig { loss: Loss::Random(0.15), ..rough } });
            for tick in 0..240 {
                (0..5).for_each(|channel| self.say(channel, 1_350));
                if tick == 100 {
                    self.say(0, 100_000);
                }
                self.world.run_for(TICK);
                self.take();
            }
            self.cut(1_000 + round * 400);
        }
        self.relink(link(20));
        self.rest_until(self.world.now + SECOND * 60);
        self.began = self.world.now;
        self.tidy(0);
    }

    /// Frees everything on the heap that grew with traffic, except the connection's own memory.
    fn tidy(&mut self, seed: u32) {
        self.world.renew_links(seed.into());
        self.world.strays.shrink_to_fit();
        for node in [&mut self.world.server, &mut self.world.clients[0]] {
            node.events.shrink_to_fit();
        }
    }

    /// A busy part, a night, hours with an occasional message, an idle rest.
    pub(crate) fn day(&mut self, number: u32) {
        let (begin, mut idle) = (self.began + DAY * (number - 1), IdleHour::default());
        let heap = measure(|| {
            self.talk(self.busy / 2);
            self.change(BUSY_CUT_MS);
            self.talk(self.busy / 2);
            self.rest_until(begin + HOUR * 6);
            for _ in 0..24 {
                self.say(0, 200);
                let pause = SECOND * (300 + self.rng.below(600));
                self.rest_until(self.world.now + pause);
                self.change(IDLE_CUT_MS);
            }
            self.rest_until(begin + HOUR * 20);
            self.relink(link(20));
            self.rest_until(begin + HOUR * 22);
            let before = self.idle_so_far();
            self.rest_until(begin + HOUR * 23);
            idle = self.idle_so_far().since(before);
            self.rest_until(begin + DAY);
            self.tidy(number);
        });
        self.heap_bytes += heap.bytes_current;
        if number == 2 {
            self.usual_heap_bytes = self.heap_bytes;
        }
        self.check(number, idle);
    }

    fn check(&mut self, number: u32, idle: IdleHour) {
        self.up.check();
        self.down.check();
        if self.world.server.overview().bytes_in_flight + self.world.clients[0].overview().bytes_in_flight > 0 {
            // The day ends between a PING and its answer.
            self.world.run_for(SECOND);
        }
        let holdings = Holdings::of(&mut self.world.server, &mut self.world.clients[0]);
        self.print(number, &holdings, idle);
        assert_eq!((holdings.timers, holdings.waiting), ([1, 1], [0, 0]), "everything is at rest");
        assert!(holdings.memory_bytes.iter().all(|bytes| *bytes <= MEMORY_BYTES), "{holdings:?}");
        let grown = self.heap_bytes - self.usual_heap_bytes;
        assert!(number < 3 || grown <= HEAP_BYTES, "{grown} bytes of the heap more than on the second day");
        assert!(idle.wakes <= WAKES_OF_EXCHANGE * EXCHANGES + EXCHANGES / 10, "{idle:?}");
        assert!(idle.datagrams.abs_diff(2 * EXCHANGES) <= EXCHANGES / 20, "{idle:?}");
        let (now, peer) = (self.world.now, self.world.clients[0].peer());
        let time = self.world.clients[0].endpoint.server_time(now, peer).expect("it was asked");
        let off = now.since(time.at).max(time.at.since(now));
        assert!(off <= time.error && time.error < DAY / 4_000, "{time:?} at {now:?}");
    }

    /// The connection ends like any other.
    pub(crate) fn end(mut self) {
        let (peer, now) = (self.world.clients[0].peer(), self.world.now);
        let heap = measure(|| {
            self.world.clients[0].endpoint.close(now, peer, 7, "enough", SECOND);
            self.world.run_for(SECOND * 60);
        });
        println!("{} ends, and gives {} bytes back", self.name, -heap.bytes_current);
        assert!(-heap.bytes_current <= CONNECTION_BYTES, "{heap:?}");
        assert_eq!(self.world.server.closes().len(), 1);
        let count = self.world.server.endpoint.connection_count() + self.world.clients[0].endpoint.connection_count();
        assert_eq!((count, self.world.server.endpoint.work().timers), (0, 0), "nothing is left of it");
    }

    /// Both send messages at each tick, on the ordered channel and in turn on the others, and occasionally long ones.
    fn talk(&mut self, span: Duration) {
        self.relink(self.rough());
        let end = self.world.now + span;
        let mut tick = 0_u16;
        while self.world.now < end {
            self.say(0, 40);
            self.say(1 + tick % 4, 60);
            match tick % 6_000 {
                1_000 => self.say(1, 20_000),
                3_000 => self.change(BUSY_CUT_MS),
                _ => {}
            }
            self.world.run_for(TICK);
            self.take();
            tick = tick.wrapping_add(1);
        }
    }

    fn say(&mut self, channel: u16, more: usize) {
        let now = self.world.now;
        let (up, down) = (self.up.next(channel, more), self.down.next(channel, more));
        self.world.clients[0].send(now, channel, up);
        self.world.server.send(now, channel, down);
    }

    /// A change of a player's network: another port, another network, no network for a while.
    fn change(&mut self, cut_ms_max: u32) {
        match self.rng.below(4) {
            0 if !self.world.carrier.is_bound => self.world.rebind(0),
            1 if !self.world.carrier.is_bound => self.world.wander(0),
            2 if !self.world.carrier.is_bound => assert!(self.world.roam(0), "it stands"),
            _ => {
                let length_ms = 500 + self.rng.below(cut_ms_max - 500);
                self.cut(length_ms);
            }
        }
    }

    /// No datagram passes for a while. A stream loses nothing.
    fn cut(&mut self, length_ms: u32) {
        let end = self.world.now + ms(length_ms.into());
        if self.world.carrier.is_reliable {
            self.set_writable(false);
            self.rest_until(end);
            self.set_writable(true);
            return;
        }
        let before = self.world.links[0].up.config().clone();
        self.relink(LinkConfig { loss: Loss::Random(1.0), ..link(20) });
        self.rest_until(end);
        self.relink(before);
    }

    fn set_writable(&mut self, is_writable: bool) {
        self.world.server.endpoint.set_writable(0, is_writable);
        self.world.clients[0].endpoint.set_writable(0, is_writable);
    }

    /// A link that loses, delays, duplicates and damages datagrams; a stream's only gets slower.
    fn rough(&self) -> LinkConfig {
        let jittery = LinkConfig { jitter: ms(8), ..link(20) };
        if self.world.carrier.is_reliable {
            return jittery;
        }
        LinkConfig { loss: Loss::Random(0.02), reorder: 0.01, duplicate: 0.01, corrupt: 0.002, ..jittery }
    }

    fn relink(&mut self, link: LinkConfig) {
        self.world.relink(&link);
    }

    fn rest_until(&mut self, end: Time) {
        while self.world.now < end {
            self.world.run_until(end.min(self.world.now + HOUR));
            self.take();
        }
    }

    /// Takes the new events, and checks the counters.
    fn take(&mut self) {
        self.world.strays.clear();
        let (up, down) = (&mut self.up, &mut self.down);
        for (at, node) in [&mut self.world.server, &mut self.world.clients[0]].into_iter().enumerate() {
            let (arrives, leaves) = if at == 0 { (&mut *up, &mut *down) } else { (&mut *down, &mut *up) };
            for (_, event) in node.events.drain(self.first[at]..) {
                match event {
                    Event::Message { channel, payload, .. } => arrives.on_message(channel, &payload),
                    other => leaves.on_event(&other),
                }
            }
            let counters = node.endpoint.totals();
            assert!(has_only_grown(&counters, &self.counters[at]), "{counters:?} after {:?}", self.counters[at]);
            self.counters[at] = counters;
        }
    }

    fn idle_so_far(&self) -> IdleHour {
        IdleHour::so_far([&self.world.server.endpoint, &self.world.clients[0].endpoint], self.world.sent[0])
    }

    fn print(&self, number: u32, holdings: &Holdings, idle: IdleHour) {
        let [server, client] = &self.counters;
        println!(
            "{} day {number}: {} messages, {} moves, {}+{} lost, {}+{} resent; heap {:+} B, {holdings:?}, {idle:?}",
            self.name,
            self.up.sent() + self.down.sent(),
            server.paths_changed,
            server.packets_lost,
            client.packets_lost,
            server.resent,
            client.resent,
            self.heap_bytes,
        );
    }
}
