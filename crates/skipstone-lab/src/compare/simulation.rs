//! One run in virtual time: a client, a server and the links between them. At each moment everything that is due is
//! delivered, then timers are run, then the application answers, then packets leave.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use skipstone::netsim::{Arrival, Duplex, Fate, Link, LinkConfig, LossCause};
use skipstone_proto::{Duration, Time};

use super::beside::{Neighbours, OWN_TAG};
use super::condition::Condition;
use super::contender::Contender;
use super::packet_logs::{NO_LOGS, PacketLogs};
use super::peers::ends;
use super::peers::ends::{Ends, EndsSetup};
use super::peers::peer::{Contents, Peer, Telemetry, Update};
use super::proof::{Moments, Proof, UpdateCounts};
use super::series::{LOST_MAX, LostPacket, RunSeries};
use crate::framing::HEADER_BYTES;
use crate::recording::schedule::Sender;

/// The findings of a run.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) counts: UpdateCounts,
    /// From the tick to the delivery of the echo, or of the update itself, in µs, sorted.
    pub(crate) latencies: Vec<u32>,
    /// The latencies by moments of the run.
    pub(crate) moments: Moments,
    /// From the first datagram until updates could be sent.
    pub(crate) connect: Option<Duration>,
    pub(crate) link: LinkFindings,
    /// Bytes that the link carried towards the server while shares were counted.
    pub(crate) carried: Carried,
    pub(crate) series: RunSeries,
    pub(crate) telemetry: Telemetry,
    /// The contender wanted more datagrams than a run may take, and was stopped.
    pub(crate) gave_up: bool,
}

/// The effect of a run on its link, in both directions.
#[derive(Debug, Clone, Default)]
pub(crate) struct LinkFindings {
    /// Datagrams and IP bytes that were sent, from the first of the handshake on.
    pub(crate) datagrams: u64,
    pub(crate) ip_bytes: u64,
    /// IP bytes that were sent from the third second after the first update on.
    pub(crate) ip_bytes_late: u64,
    /// Datagrams that were lost.
    pub(crate) lost: u64,
    /// Of those, the ones that found the queue full.
    pub(crate) overflowed: u64,
    /// By direction, to the server first: how long datagrams waited for the rate, in µs, sorted.
    pub(crate) queue_delays: [Vec<u32>; 2],
    /// Bytes that left before and were lost, with their share of the headers; `None` if the transport does not report
    /// it.
    pub(crate) resent_bytes: Option<u64>,
}

/// Bytes that came out of the link towards the server.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Carried {
    /// IP bytes of the contender's.
    pub(crate) own: u64,
    /// The part of the bytes that passed the rate, lost later or not, that are first copies of payload, with their
    /// headers. `None` if the transport does not report it.
    pub(crate) useful: Option<u64>,
    /// Payload of updates that came back.
    pub(crate) goodput: u64,
    /// IP bytes of all background flows, and their own data.
    pub(crate) beside: u64,
    pub(crate) beside_goodput: u64,
}

/// The run was asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped;

/// The number of datagrams per update, in both directions, after which a transport gives up. One datagram for each
/// update, echo and acknowledgement makes four.
const DATAGRAMS_PER_UPDATE_MAX: u64 = 12;
/// However few updates there are.
const DATAGRAMS_MAX_MIN: u64 = 100_000;
/// The assumed size of a bulk datagram.
const BULK_DATAGRAM_BYTES: u64 = 1_000;
/// A connection that takes longer to establish counts as failed.
const CONNECT_MAX: Duration = Duration::from_secs(60);
/// When the client begins to connect.
const BEGIN: Time = Time::from_micros(1_000_000);

const SERVER: ([u8; 4], u16) = ([198, 51, 100, 1], 7777);
const CLIENT: [u8; 4] = [192, 0, 2, 1];
/// The client's first port; the next addresses have the next ones.
const CLIENT_PORT: u16 = 20_000;

/// Runs a contender under a condition.
pub(crate) fn simulate(
    contender: Contender,
    condition: &Condition,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Measured, Stopped> {
    simulate_logged(contender, condition, seed, &NO_LOGS, stop)
}

/// Runs the simulation, with logs of packets.
pub(crate) fn simulate_logged(
    contender: Contender,
    condition: &Condition,
    seed: u64,
    logs: &PacketLogs,
    stop: &AtomicBool,
) -> Result<Measured, Stopped> {
    let mut world = World::new(contender, condition, seed, logs);
    world.connect(stop)?;
    world.play(stop)?;
    Ok(world.finish())
}

struct World<'a> {
    condition: &'a Condition,
    now: Time,
    ends: Ends,
    links: Duplex,
    neighbours: Neighbours,
    /// The client's present port.
    port: u16,
    roams_at: Time,
    /// When updates could be sent, and when the first was.
    connected: Option<Time>,
    first: Option<Time>,
    ticks_sent: u64,
    bulk_sent: u64,
    proof: Proof,
    /// Payload of updates that do not come back.
    arrived_up_bytes: u64,
    /// The counts before and after the time in which shares are counted.
    counted: [Option<Carried>; 2],
    traffic: Traffic,
    datagram: Vec<u8>,
}

#[derive(Debug, Default)]
struct Traffic {
    found: LinkFindings,
    /// The time from which the run counts as late, once known.
    late_from: Option<Time>,
    is_sending: bool,
    link_bytes: u64,
    useful_bytes: Option<u64>,
    /// First copies that found the queue full: what is sent again is the first that the link carries.
    owed: u64,
    /// By direction, to the server first: how many datagrams were sent.
    numbers: [u64; 2],
    /// The times of losses, by the simulation's clock.
    lost_packets: Vec<(Time, LostPacket)>,
}

impl<'a> World<'a> {
    fn new(contender: Contender, condition: &'a Condition, seed: u64, logs: &PacketLogs) -> World<'a> {
        let server = SocketAddr::from(SERVER);
        let setup = EndsSetup { now: BEGIN, server, seed, condition, logs };
        // Outages count from the first update.
        let without = |link: &LinkConfig| LinkConfig { outages: Vec::new(), ..link.clone() };
        let (there, back) = (without(&condition.link), without(&condition.back));
        World {
            condition,
            now: BEGIN,
            ends: ends(contender, setup),
            links: Duplex::new(there, back, seed).expect("it was checked"),
            neighbours: Neighbours::default(),
            port: CLIENT_PORT,
            roams_at: Time::NEVER,
            connected: None,
            first: None,
            ticks_sent: 0,
            bulk_sent: 0,
            proof: Proof::of(condition),
            arrived_up_bytes: 0,
            counted: [None; 2],
            traffic: Traffic::default(),
            datagram: Vec::new(),
        }
    }

    /// Runs until updates can be sent, or connecting takes too long.
    fn connect(&mut self, stop: &AtomicBool) -> Result<(), Stopped> {
        let give_up = BEGIN + CONNECT_MAX;
        while !self.ends.client.is_connected() && self.now < give_up {
            check(stop)?;
            self.settle();
            if !self.ends.client.is_connected() {
                self.now = self.next_time().min(give_up);
            }
        }
        Ok(())
    }

    /// Sends all updates, and waits for the last of them.
    fn play(&mut self, stop: &AtomicBool) -> Result<(), Stopped> {
        if !self.ends.client.is_connected() {
            return Ok(());
        }
        self.connected = Some(self.now);
        let first = self.now + self.condition.ahead();
        self.first = Some(first);
        self.traffic.late_from = Some(first + LATE);
        self.set_outages(first);
        self.neighbours = Neighbours::new(&self.condition.beside, &self.condition.link, first);
        self.roams_at = self.condition.roam_every.map_or(Time::NEVER, |every| first + every);
        let end = self.tick_at(self.condition.ticks());
        let counted = self.condition.counted();
        let counted = [first + counted.start, (first + counted.end).min(end)];
        let deadline = end + self.condition.patience;
        // The moments at which a different count begins; all are distinct.
        let marks = [counted[0], counted[1], end, deadline];
        let mut turns = 0_u64;
        while self.now < deadline && !self.has_given_up() {
            self.traffic.is_sending = (first..end).contains(&self.now);
            for (at, counted) in counted.into_iter().zip(0..) {
                if self.now >= at && self.counted[counted].is_none() {
                    self.counted[counted] = Some(self.carried());
                }
            }
            if self.now >= end && self.proof.is_complete() {
                break;
            }
            self.settle();
            turns += 1;
            if turns.is_multiple_of(1_024) {
                check(stop)?;
            }
            let mark = marks.into_iter().filter(|at| *at > self.now).min().unwrap_or(deadline);
            self.now = self.next_time().min(mark);
        }
        Ok(())
    }

    fn has_given_up(&self) -> bool {
        let updates = self.condition.updates();
        let bulk = self.condition.bulk.map_or(0, |bulk| bulk.bytes as u64 / BULK_DATAGRAM_BYTES + 1);
        let updates = updates + self.condition.bulk_messages() * bulk;
        self.traffic.found.datagrams > (updates * DATAGRAMS_PER_UPDATE_MAX).max(DATAGRAMS_MAX_MIN)
    }

    /// Bytes that the link has carried so far.
    fn carried(&self) -> Carried {
        Carried {
            own: self.traffic.link_bytes,
            useful: self.traffic.useful_bytes,
            goodput: if self.condition.is_echoed() { self.proof.delivered_bytes } else { self.arrived_up_bytes },
            beside: self.neighbours.bytes(),
            beside_goodput: self.neighbours.delivered(),
        }
    }

    fn set_outages(&mut self, first: Time) {
        let (there, back) = (self.condition.link.clone(), self.condition.back.clone());
        for (direction, mut link) in [(&mut self.links.up, there), (&mut self.links.down, back)] {
            link.outages.iter_mut().for_each(|outage| outage.start += since_epoch(first));
            direction.set_config(link).expect("it was checked");
        }
    }

    /// When a tick is due; they do not drift.
    fn tick_at(&self, tick: u64) -> Time {
        self.first.unwrap_or(Time::NEVER) + self.condition.tick_at(tick)
    }

    fn next_tick(&self) -> Time {
        if self.first.is_some() && self.ticks_sent < self.condition.ticks() {
            self.tick_at(self.ticks_sent)
        } else {
            Time::NEVER
        }
    }

    /// When a bulk message is due, as a number.
    fn next_bulk(&self) -> Time {
        match (self.condition.bulk, self.first) {
            (Some(bulk), Some(first)) if self.bulk_sent < self.condition.bulk_messages() => {
                first + Duration::from_micros(bulk.every.0.as_micros() as u64 * self.bulk_sent)
            }
            _ => Time::NEVER,
        }
    }

    fn next_time(&mut self) -> Time {
        let arrival = self.links.next_arrival();
        let arrival = arrival.map_or(Time::NEVER, |at| Time::from_micros(at.as_nanos().div_ceil(1_000) as u64));
        let timers =
            [self.ends.client.poll_timeout(), self.ends.server.poll_timeout(), self.neighbours.poll_timeout(self.now)];
        let next = timers
            .into_iter()
            .chain([arrival, self.next_tick(), self.next_bulk(), self.roams_at])
            .min()
            .unwrap_or(Time::NEVER);
        // A timer may name a moment that turns out to be early; time moves on all the same.
        next.max(self.now + Duration::from_micros(1))
    }

    /// Everything that can happen at this moment.
    fn settle(&mut self) {
        if self.now >= self.roams_at {
            self.port += 1;
            self.roams_at += self.condition.roam_every.expect("it roams");
        }
        loop {
            self.deliver();
            self.ends.server.handle_timeout(self.now);
            self.ends.client.handle_timeout(self.now);
            self.neighbours.handle_timeout(self.now);
            self.answer();
            self.send_tick();
            self.send_bulk();
            self.transmit();
            let now = since_epoch(self.now);
            if self.links.next_arrival().is_none_or(|at| at > now) {
                return;
            }
        }
    }

    fn deliver(&mut self) {
        let now = since_epoch(self.now);
        while let Some(arrival) = self.links.up.receive(now, &mut self.datagram) {
            let ip_bytes = (self.datagram.len() + HEADER_BYTES) as u64;
            if self.neighbours.take(arrival.tag, &self.datagram) {
                continue;
            }
            let from = SocketAddr::from((CLIENT, tag_port(arrival.tag)));
            self.traffic.link_bytes += ip_bytes;
            self.traffic.note_wait(0, &arrival);
            self.ends.server.handle_datagram(self.now, from, &mut self.datagram);
        }
        while let Some(arrival) = self.links.down.receive(now, &mut self.datagram) {
            if self.neighbours.take_answer(arrival.tag, self.now, &self.datagram) {
                continue;
            }
            // Datagrams to an address that the client has left are dropped.
            if tag_port(arrival.tag) == self.port {
                self.traffic.note_wait(1, &arrival);
                self.ends.client.handle_datagram(self.now, SERVER.into(), &mut self.datagram);
            }
        }
    }

    /// The server echoes, or takes note; the client takes note.
    fn answer(&mut self) {
        let now = since_epoch(self.now);
        while let Some(update) = self.ends.server.poll_message(self.now) {
            if !self.condition.is_echoed() {
                self.arrived_up_bytes += update.payload.len() as u64;
                self.proof.on_echo(now, update.entity, &update.payload);
                continue;
            }
            let entity = update.entity;
            if !self.ends.server.send(self.now, update) {
                self.proof.on_refused(entity);
            }
        }
        while let Some(update) = self.ends.client.poll_message(self.now) {
            self.proof.on_echo(now, update.entity, &update.payload);
        }
    }

    fn send_tick(&mut self) {
        while self.now >= self.next_tick() {
            let (condition, tick) = (self.condition, self.ticks_sent);
            self.ticks_sent += 1;
            self.proof.on_tick(since_epoch(self.tick_at(tick)));
            condition.updates_at(tick).for_each(|(entity, bytes)| self.send(entity, bytes));
        }
    }

    fn send_bulk(&mut self) {
        while self.now >= self.next_bulk() {
            self.bulk_sent += 1;
            self.send(self.condition.entities, self.condition.bulk.expect("it is due").bytes);
        }
    }

    fn send(&mut self, entity: u16, bytes: usize) {
        let stamp = self.proof.send(entity);
        let update = Update { entity, payload: stamp.encode(bytes), age: Duration::ZERO };
        let end = match self.condition.sender_of(entity) {
            Sender::Client => &mut self.ends.client,
            Sender::Server => &mut self.ends.server,
        };
        if end.send(self.now, update) {
            self.proof.on_accepted(stamp);
        } else {
            self.proof.on_refused(entity);
        }
    }

    fn transmit(&mut self) {
        let (now, port) = (self.now, self.port);
        let Ends { client, server } = &mut self.ends;
        let (traffic, datagram) = (&mut self.traffic, &mut self.datagram);
        traffic.transmit(&mut **client, now, &mut self.links.up, datagram, |_| port, true);
        traffic.transmit(&mut **server, now, &mut self.links.down, datagram, |to| to.port(), false);
        self.neighbours.transmit(now, &mut self.links);
    }

    fn finish(mut self) -> Measured {
        let gave_up = self.has_given_up();
        let last = self.carried();
        let [before, after] = self.counted.map(|carried| carried.unwrap_or(last));
        let telemetry = self.ends.client.telemetry().with(self.ends.server.telemetry());
        let mut series = self.proof.series();
        series.take_lost(&self.traffic.lost_since(self.first.unwrap_or(Time::NEVER)));
        let (counts, latencies, moments) = self.proof.finish();
        self.traffic.found.queue_delays.iter_mut().for_each(|delays| delays.sort_unstable());
        Measured {
            counts,
            latencies,
            moments,
            connect: self.connected.map(|at| at.since(BEGIN)),
            link: self.traffic.found,
            carried: after.since(before),
            series,
            gave_up,
            telemetry,
        }
    }
}

impl Carried {
    fn since(self, before: Self) -> Self {
        let useful = self.useful.map(|useful| useful - before.useful.unwrap_or(0));
        Self {
            own: self.own - before.own,
            useful,
            goodput: self.goodput - before.goodput,
            beside: self.beside - before.beside,
            beside_goodput: self.beside_goodput - before.beside_goodput,
        }
    }
}

impl Traffic {
    fn transmit(
        &mut self,
        peer: &mut dyn Peer,
        now: Time,
        link: &mut Link,
        datagram: &mut Vec<u8>,
        port: impl Fn(SocketAddr) -> u16,
        is_to_server: bool,
    ) {
        while let Some(to) = peer.poll_transmit(now, datagram) {
            let ip_bytes = (datagram.len() + HEADER_BYTES) as u64;
            let fate = link.send(since_epoch(now), datagram, OWN_TAG | u64::from(port(to)));
            let is_late = self.late_from.is_some_and(|late| now >= late);
            self.found.datagrams += 1;
            self.found.ip_bytes += ip_bytes;
            self.found.ip_bytes_late += if is_late { ip_bytes } else { 0 };
            self.found.lost += u64::from(fate != Fate::Queued);
            self.found.overflowed += u64::from(fate == Fate::Lost(LossCause::Queue));
            self.note_number(now, is_to_server, fate);
            if let Some(contents) = peer.contents() {
                *self.found.resent_bytes.get_or_insert(0) += contents.again as u64;
                if is_to_server {
                    self.count_useful(contents, fate);
                }
            }
        }
    }

    fn note_number(&mut self, now: Time, is_up: bool, fate: Fate) {
        let number = &mut self.numbers[usize::from(!is_up)];
        if fate != Fate::Queued && self.lost_packets.len() < 2 * LOST_MAX {
            self.lost_packets.push((now, LostPacket { at: Duration::ZERO, is_up, number: *number }));
        }
        *number += 1;
    }

    /// The packets that were lost, by the time since the first update.
    fn lost_since(&self, first: Time) -> Vec<LostPacket> {
        let later = self.lost_packets.iter().filter(|(at, _)| *at >= first);
        later.map(|(at, packet)| LostPacket { at: at.since(first), ..*packet }).collect()
    }

    /// Counts datagrams that passed the rate. A datagram lost afterwards has used its share of the rate, and is not
    /// counted again.
    fn count_useful(&mut self, contents: Contents, fate: Fate) {
        let (first, again) = (contents.first as u64, contents.again as u64);
        let useful = self.useful_bytes.get_or_insert(0);
        match fate {
            Fate::Queued | Fate::Lost(LossCause::Random | LossCause::Burst | LossCause::Fade) => {
                let paid = again.min(self.owed);
                self.owed -= paid;
                *useful += first + paid;
            }
            Fate::Lost(_) => self.owed += first,
        }
    }

    fn note_wait(&mut self, direction: usize, arrival: &Arrival) {
        if self.is_sending {
            self.found.queue_delays[direction].push(arrival.waited.as_micros() as u32);
        }
    }
}

/// By then the path is known, and initial guesses no longer matter.
const LATE: Duration = Duration::from_secs(3);

fn tag_port(tag: u64) -> u16 {
    tag as u16
}

fn since_epoch(time: Time) -> Duration {
    Duration::from_micros(time.as_micros())
}

fn check(stop: &AtomicBool) -> Result<(), Stopped> {
    if stop.load(Ordering::Relaxed) { Err(Stopped) } else { Ok(()) }
}
