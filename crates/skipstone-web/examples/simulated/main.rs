//! The protocol's tests as WebAssembly, for Node: the swarm, whose digests equal the native build's, and a server
//! behind a simulated network, to which the tests of clients/web connect.
#![expect(unsafe_code, reason = "an exported name is unsafe to give: two functions of one program must not share it")]

mod far_end;
#[path = "../../../skipstone-proto/tests/swarm/plan.rs"]
mod plan;
#[allow(dead_code, reason = "the test that plays seeds natively uses the rest")]
#[path = "../../../skipstone-proto/tests/swarm/run/mod.rs"]
mod run;
#[path = "../../../skipstone-proto/tests/simulation/mod.rs"]
mod simulation;
#[path = "../../../skipstone-proto/tests/swarm/traffic.rs"]
mod traffic;

use far_end::FarEnd;
use skipstone_proto::{MoveId, MoveMessage, MoveStage, Stayed};
use std::cell::RefCell;

thread_local! {
    static FAR_END: RefCell<Option<FarEnd>> = const { RefCell::new(None) };
    static BYTES: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn with_far_end<T>(act: impl FnOnce(&mut FarEnd) -> T) -> T {
    FAR_END.with_borrow_mut(|far_end| act(far_end.as_mut().expect("it began")))
}

/// Plays a seed of the swarm and returns its digest; a broken promise is a trap.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn digest(seed: u64) -> u64 {
    run::digest(seed)
}

/// Starts a server behind a link with this loss (0 to 1) and this one-way delay. Carrier 0 is a stream, 1 a session.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn begin(seed: u64, carrier: u32, loss: f64, delay_us: f64) {
    FAR_END.set(Some(FarEnd::new(seed, carrier, loss, delay_us)));
}

/// The address at which to write a datagram of `bytes` bytes, or to read the last one that arrived.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn bytes(count: u32) -> usize {
    BYTES.with_borrow_mut(|bytes| {
        bytes.resize(count as usize, 0);
        bytes.as_ptr() as usize
    })
}

/// The client sends what was written.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn up(now_us: f64) {
    BYTES.with_borrow(|bytes| with_far_end(|far_end| far_end.send(now_us, bytes)));
}

/// Runs the server up to this time.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn step(now_us: f64) {
    with_far_end(|far_end| far_end.step(now_us));
}

/// The length of the next datagram that has arrived at the client, or -1.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn down(now_us: f64) -> i32 {
    BYTES
        .with_borrow_mut(|bytes| with_far_end(|far_end| far_end.receive(now_us, bytes)))
        .map_or(-1, |length| length as i32)
}

/// When the next event happens.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn due() -> f64 {
    with_far_end(|far_end| far_end.due())
}

/// The server closes all connections.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn close(now_us: f64, code: u32) {
    with_far_end(|far_end| far_end.close(now_us, code.into()));
}

/// The server moves its client, with the token `ticket`, to the server whose name was written.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn move_client(now_us: f64, id: u32) {
    BYTES.with_borrow(|bytes| {
        let destination = std::str::from_utf8(bytes).expect("a name");
        let message = MoveMessage::Move { id: MoveId(id.into()), destination, token: b"ticket" };
        with_far_end(|far_end| far_end.tell(now_us, message));
    });
}

/// The server has the player of a client that came by a move.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn welcome(now_us: f64, id: u32) {
    with_far_end(|far_end| far_end.tell(now_us, MoveMessage::Welcome(MoveId(id.into()))));
}

/// The server ends a move that it began.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cancel(now_us: f64, id: u32) {
    with_far_end(|far_end| far_end.tell(now_us, MoveMessage::Cancel(MoveId(id.into()))));
}

/// What the client said next about moves: 1 it can be moved, 2 ready, 3 arrived, 4 left, from 10 on why it stayed
/// (cancelled, refused, late, otherwise); 0 for nothing.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn stage() -> u32 {
    match with_far_end(FarEnd::stage) {
        None => 0,
        Some(MoveStage::Able) => 1,
        Some(MoveStage::Ready(_)) => 2,
        Some(MoveStage::Arrived(_)) => 3,
        Some(MoveStage::Left(_)) => 4,
        Some(MoveStage::Stayed(_, Stayed::Cancelled)) => 10,
        Some(MoveStage::Stayed(_, Stayed::Refused)) => 11,
        Some(MoveStage::Stayed(_, Stayed::Late)) => 12,
        Some(_) => 13,
    }
}

/// Whether the client came with the token of a move.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn has_ticket() -> u32 {
    with_far_end(|far_end| u32::from(far_end.has_ticket))
}

/// Sets the maximum datagram size of a session towards the client.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn size(bytes: u32) {
    with_far_end(|far_end| far_end.set_size(bytes as u16));
}
