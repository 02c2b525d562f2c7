//! A connection is charged for the memory that it really takes: the account and the allocator agree to within a
//! quarter, whatever a peer makes a server hold.

use crate::simulation::stranger::Stranger;
use crate::simulation::{BEGINNING, seed_bytes};
use allocation_counter::measure;
use skipstone_proto::wire::message::{FragmentHeader, MessageEncoder};
use skipstone_proto::wire::number::Truncated;
use skipstone_proto::{Carrier, ChannelRule, Config, DeliveryMode, Endpoint, MemoryBudget, Path, Settings};

/// The kind of memory that an untrusted peer makes a server hold.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Messages of this many bytes that wait for the first.
    Early(usize),
    /// One fragment of this many bytes of each message.
    Begun(usize),
    /// Fragments of one message with gaps between them.
    Pieces,
    /// Every second message of an unordered channel.
    Gaps,
    /// One early message on each channel.
    Channels,
    /// Messages of this many bytes that the application does not take.
    Unread(usize),
    /// The same, with this number of messages in each packet.
    Runs(usize),
}

/// Bytes that an allocation takes in addition to its requested size: glibc's header, and half of the step to which it
/// rounds.
const BESIDE: i64 = 16;
const UNORDERED: u16 = 1;

fn server() -> Endpoint {
    let ordered = |channels| ChannelRule::new(channels, DeliveryMode::ReliableOrdered);
    let unordered = ChannelRule::new(UNORDERED..=UNORDERED, DeliveryMode::ReliableUnordered);
    let channels = vec![ordered(0..=0), unordered, ordered(2..=60_000)];
    let settings = Settings { window_bytes: 128 << 20, message_bytes_max: 1 << 20, channels, ..Settings::default() };
    let memory = MemoryBudget { connection: 1 << 30, network: 1 << 30, endpoint: 1 << 30 };
    Endpoint::new(Config { memory, ..Config::server(settings) }, seed_bytes(1)).expect("a good configuration")
}

fn hold(kind: Kind, stranger: &mut Stranger, server: &mut Endpoint) {
    let now = BEGINNING;
    let mut say = |place, fragment, bytes: usize| stranger.message(server, now, place, fragment, &vec![7; bytes]);
    match kind {
        Kind::Early(bytes) => (1..5_000).for_each(|at| say((0, at), None, bytes)),
        Kind::Begun(bytes) => {
            (1..5_000).for_each(|at| say((0, at), Some(FragmentHeader { offset: 0, total: 9_000 }), bytes))
        }
        Kind::Pieces => {
            (0..9_000).for_each(|at| say((0, 0), Some(FragmentHeader { offset: 100 * at, total: 1 << 20 }), 90))
        }
        Kind::Gaps => (1..32_500).for_each(|at| say((UNORDERED, 2 * at), None, 1)),
        Kind::Channels => (2..4_000).for_each(|channel| say((channel, 1), None, 20)),
        // Nearly as many as the queue has places, before its length doubles.
        Kind::Unread(bytes) => (0..8_100).for_each(|at| say((0, at), None, bytes)),
        Kind::Runs(count) => (0..8_100).for_each(|at| {
            stranger.packet(server, now, |writer| {
                let mut encoder = MessageEncoder::default();
                for number in 0..count as u32 {
                    let sequence = Truncated { value: at * count as u32 + number, bits: 32 };
                    encoder.encode_header(writer, 0, Some((sequence.value, sequence)), None, 12);
                    writer.bytes(&[7; 12]);
                }
            });
        }),
    }
}

#[test]
fn charges_are_within_a_quarter_for_every_kind_of_state() {
    let kinds = [
        Kind::Early(1_000),
        Kind::Early(100),
        Kind::Early(8),
        Kind::Begun(1_000),
        Kind::Begun(1),
        Kind::Pieces,
        Kind::Gaps,
        Kind::Channels,
        Kind::Unread(1_000),
        Kind::Unread(40),
        Kind::Runs(40),
    ];
    for kind in kinds {
        let mut server = server();
        let path = Path { socket: 0, local: None, remote: ([203, 0, 113, 1], 5_000).into(), carrier: Carrier::UDP };
        let mut stranger = Stranger::join(&mut server, BEGINNING, path);
        let info = measure(|| hold(kind, &mut stranger, &mut server));
        let held = (info.bytes_current + BESIDE * info.count_current) as f64;
        let ratio = server.memory_bytes() as f64 / held;
        println!("{kind:?}: {held} bytes held, {} charged: {ratio:.2}", server.memory_bytes());
        assert!(held > 500_000.0, "{kind:?}: {held} bytes are held");
        assert!((0.8..=1.25).contains(&ratio), "{kind:?}: {held} bytes are held, {} charged", server.memory_bytes());
    }
}
