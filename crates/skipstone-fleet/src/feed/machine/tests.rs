use super::super::followers::Followers;
use super::*;
use skipstone::PeerId;
use std::collections::BTreeSet;

const NODES: usize = 3;
const PLAYERS: usize = 8;

fn name(index: usize) -> NodeName {
    NodeName::new(&format!("n{index}")).unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn feed(index: usize, process: u64) -> Feed {
    Feed::new(FeedSettings::new(name(index), process))
}

#[test]
fn a_message_waits_for_the_one_that_it_follows_and_not_longer_than_its_limit() {
    let mut feeds = [feed(0, 1), feed(1, 1), feed(2, 1)];
    let first = feeds[0].publish("first".into(), None, ms(0));
    let after = Some(feeds[0].last());
    let second = feeds[1].publish("second".into(), after, ms(0));
    let third = feeds[1].publish("third".into(), None, ms(0));
    let heard = |messages: &[(usize, &Bytes)], at: u64| {
        let mut feed = feed(2, 2);
        messages.iter().for_each(|(from, message)| feed.hear(&name(*from), message, ms(0)));
        let texts: Vec<_> = std::iter::from_fn(|| feed.poll(ms(at)).map(|entry| entry.payload)).collect();
        (texts, feed.stats().unordered)
    };
    assert_eq!(heard(&[(1, &second), (1, &third)], 1_999).0.len(), 0);
    let all = ["first", "second", "third"].map(Bytes::from);
    assert_eq!(heard(&[(1, &second), (1, &third), (0, &first)], 0), (all.to_vec(), 0));
    assert_eq!(heard(&[(1, &second), (1, &third)], 2_000), (all[1..].to_vec(), 1));
}

#[test]
fn what_no_longer_is_kept_is_known_to_be_missing() {
    let settings = FeedSettings { kept_bytes_max: 3 * (ENTRY_BYTES + 1), ..FeedSettings::new(name(0), 1) };
    let mut feed = Feed::new(settings);
    let mut positions = Vec::new();
    for number in 0..5 {
        let said = feed.publish(number.to_string().into(), None, ms(0));
        feed.hear(&name(0), &said, ms(number));
        assert_eq!(feed.poll(ms(number)).map(|entry| entry.position), Some(feed.last()));
        positions.push(feed.positions());
    }
    assert!(feed.has_forgotten(&positions[0]) && !feed.has_forgotten(&positions[1]));
    assert_eq!(feed.since(&positions[1], ms(9), ms(9)).count(), 3);
    assert_eq!(feed.since(&Positions::default(), ms(6), ms(9)).count(), 2, "of an unknown node, what came meanwhile");
    assert_eq!(feed.stats().kept_bytes, 3 * (ENTRY_BYTES + 1));
    feed.hear(&name(1), &Bytes::from_static(b"no message"), ms(9));
    assert_eq!(feed.stats().ignored, 1);
}

#[test]
fn names_of_nodes_that_have_ended_do_not_add_up() {
    let mut own = Feed::new(FeedSettings { nodes_max: 4, ..FeedSettings::new(name(0), 1) });
    let mut heard = 0;
    // Each day's deployment brings three nodes of new names, as pods have them.
    for day in 0..50 {
        let now = ms(86_400_000 * day as u64);
        while own.poll(now).is_some() {}
        for index in 1..=3 {
            let index = 3 * day + index;
            let said = feed(index, 1).publish("hello".into(), None, now);
            own.hear(&name(index), &said, now);
        }
        heard += std::iter::from_fn(|| own.poll(now)).count();
        assert!(own.positions().0.len() <= 4, "{:?}", own.positions());
    }
    assert_eq!((heard, own.stats().ignored), (150, 0));
}

#[test]
fn a_player_that_has_heard_a_node_that_has_ended_does_not_wait_for_it_for_good() {
    let (own, mut followers) = (feed(0, 1), Followers::default());
    let peer = PeerId { index: 1, generation: 0 };
    let ended = Positions([(name(7), (3, 40))].into());
    followers.arrive(peer, ended, ms(0), &own, ms(1_000));
    assert_eq!(followers.settled(&own, ms(600_999)), []);
    assert_eq!(followers.settled(&own, ms(601_000)), [peer]);
    assert_eq!(followers.leave(peer, &own), own.positions(), "it does not take that along");
}

#[test]
fn players_that_move_hear_everything_once_and_each_speaker_in_order() {
    for seed in 0..400 {
        let mut world = World::new(seed);
        (0..3_000).for_each(|_| world.step());
        world.settle();
        world.judge();
    }
}

/// Nodes, the group's messages on their way, and players.
struct World {
    seed: u64,
    random: u64,
    now: Duration,
    nodes: Vec<Node>,
    /// From node to node, in order.
    links: BTreeMap<(usize, usize), VecDeque<Bytes>>,
    players: Vec<Player>,
    moves: usize,
    restarts: u64,
}

struct Node {
    feed: Feed,
    followers: Followers,
    audience: BTreeSet<usize>,
}

struct Player {
    at: usize,
    on_the_way: Option<Move>,
    after: Option<Position>,
    said: u32,
    heard: Vec<(usize, u32)>,
}

struct Move {
    to: usize,
    positions: Positions,
}

impl World {
    fn new(seed: u64) -> World {
        let nodes: Vec<Node> = (0..NODES)
            .map(|index| Node { feed: feed(index, 1), followers: Followers::default(), audience: BTreeSet::new() })
            .collect();
        let player =
            |index: usize| Player { at: index % NODES, on_the_way: None, after: None, said: 0, heard: Vec::new() };
        let players: Vec<Player> = (0..PLAYERS).map(player).collect();
        let mut world = World {
            seed,
            random: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            now: ms(0),
            nodes,
            links: BTreeMap::new(),
            players,
            moves: 0,
            restarts: 0,
        };
        for index in 0..PLAYERS {
            world.nodes[index % NODES].audience.insert(index);
        }
        world
    }

    /// xorshift64: below `end`.
    fn below(&mut self, end: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as usize % end
    }

    fn step(&mut self) {
        self.now += ms(1);
        let (node, player) = (self.below(NODES), self.below(PLAYERS));
        match self.below(24) {
            0..=2 => self.say(player),
            3 => self.begin_move(player),
            4..=5 => self.end_move(player),
            6 => self.restart(node),
            7 => self.beat(node),
            _ => {
                let to = self.below(NODES);
                self.deliver(node, to);
            }
        }
    }

    fn say(&mut self, player: usize) {
        let Player { at, on_the_way: None, after, said, .. } = &mut self.players[player] else { return };
        *said += 1;
        let text = format!("{player} {said}");
        let at = *at;
        let message = self.nodes[at].feed.publish(text.into(), after.take(), self.now);
        self.send(at, &message);
    }

    fn send(&mut self, node: usize, message: &Bytes) {
        for to in (0..NODES).filter(|to| *to != node) {
            self.links.entry((node, to)).or_default().push_back(message.clone());
        }
        let now = self.now;
        self.nodes[node].feed.hear(&name(node), message, now);
        self.tick(node);
    }

    fn deliver(&mut self, from: usize, to: usize) {
        let Some(message) = self.links.get_mut(&(from, to)).and_then(VecDeque::pop_front) else { return };
        let now = self.now;
        self.nodes[to].feed.hear(&name(from), &message, now);
        self.tick(to);
    }

    /// Everything that a node has heard goes to its players.
    fn tick(&mut self, at: usize) {
        let Node { feed, followers, audience } = &mut self.nodes[at];
        while let Some(entry) = feed.poll(self.now) {
            let wanting: Vec<usize> = followers.wanting(&entry, feed).map(|peer| peer.index as usize).collect();
            wanting.iter().chain(audience.iter()).for_each(|player| self.players[*player].hear(&entry.payload));
            audience.extend(followers.settled(feed, self.now).iter().map(|peer| peer.index as usize));
        }
    }

    fn beat(&mut self, node: usize) {
        if let Some(beat) = self.nodes[node].feed.beat(self.now) {
            self.send(node, &beat);
        }
    }

    fn begin_move(&mut self, player: usize) {
        let to = self.below(NODES);
        if self.players[player].on_the_way.is_some() || self.players[player].at == to {
            return;
        }
        let at = self.players[player].at;
        let Node { feed, followers, audience } = &mut self.nodes[at];
        audience.remove(&player);
        let positions = followers.leave(peer(player), feed);
        self.players[player].after.get_or_insert(feed.last());
        self.players[player].on_the_way = Some(Move { to, positions });
    }

    /// It arrives, or stays.
    fn end_move(&mut self, player: usize) {
        let stays = self.below(4) == 0;
        let now = self.now;
        let Some(Move { to, positions }) = self.players[player].on_the_way.take() else { return };
        if !stays {
            self.players[player].at = to;
            self.moves += 1;
        }
        let Node { feed, followers, audience } = &mut self.nodes[self.players[player].at];
        assert!(!feed.has_forgotten(&positions));
        let missed = followers.arrive(peer(player), positions, now, feed, now);
        audience.extend(followers.settled(feed, now).iter().map(|peer| peer.index as usize));
        missed.iter().for_each(|payload| self.players[player].hear(payload));
    }

    /// A node without players ends and starts again knowing nothing. A start takes longer than a message.
    fn restart(&mut self, node: usize) {
        let has_players = self
            .players
            .iter()
            .any(|player| player.at == node || player.on_the_way.as_ref().is_some_and(|way| way.to == node));
        if has_players || self.links.values().any(|link| !link.is_empty()) {
            return;
        }
        self.restarts += 1;
        self.nodes[node].feed = feed(node, 1 + self.restarts);
        self.beat(node);
    }

    fn settle(&mut self) {
        (0..PLAYERS).for_each(|player| self.end_move(player));
        self.deliver_all();
        // By then each node says how far it is.
        self.now += ms(6_000);
        (0..NODES).for_each(|node| self.beat(node));
        self.deliver_all();
    }

    fn deliver_all(&mut self) {
        while self.links.values().any(|link| !link.is_empty()) {
            (0..NODES * NODES).for_each(|link| self.deliver(link / NODES, link % NODES));
        }
    }

    fn judge(&self) {
        for (index, player) in self.players.iter().enumerate() {
            for (speaker, said) in self.players.iter().map(|player| player.said).enumerate() {
                let of: Vec<u32> = player.heard.iter().filter(|line| line.0 == speaker).map(|line| line.1).collect();
                let all: Vec<u32> = (1..=said).collect();
                assert_eq!(of, all, "seed {}: player {index} of speaker {speaker}", self.seed);
            }
        }
        let audience: usize = self.nodes.iter().map(|node| node.audience.len()).sum();
        assert_eq!(audience, PLAYERS, "seed {}: nodes have caught up with all", self.seed);
        assert!(self.nodes.iter().all(|node| node.feed.stats().unordered == 0), "seed {}", self.seed);
    }
}

impl Player {
    fn hear(&mut self, payload: &[u8]) {
        let text = std::str::from_utf8(payload).expect("a text");
        let (speaker, number) = text.split_once(' ').expect("two words");
        self.heard.push((speaker.parse().expect("a number"), number.parse().expect("a number")));
    }
}

fn peer(player: usize) -> PeerId {
    PeerId { index: player as u32, generation: 0 }
}
