//! The ways in which a lost message still arrives. There are five:
//!
//! | way | trigger | delay | cost | redundancy mode |
//! |---|---|---|---|---|
//! | retransmission | a later packet was acknowledged, and RTT + reorder window have passed (RACK) | at least one RTT | the lost messages once more | every |
//! | probe | the packet's own probe timeout (PTO) has passed without an acknowledgement: suspected lost | one PTO | the packet's messages once more; of no use if the suspicion was spurious | every |
//! | copy | a retransmission left, or a message that has an age | a fifth of the RTT, 1 to 5 ms | 1 to 4 more packets with the same content, from the budget | every but `Off` |
//! | repeat | the next packets of the channel's class leave | one tick | messages of earlier packets in front of new ones, from the budget | `Repeat` |
//! | repair | a burst (`Adaptive`) or a block (`Fixed`) has left | none, or a tenth of the RTT where losses come in bursts | packets as long as the longest that they cover, from the budget | `Adaptive`, `Fixed` |
//!
//! On a reliable carrier none of them is used. The code that decides and executes each of them:
//!
//! - **Retransmission**: `recovery::ledger` detects the loss (`ledger/loss.rs`), the channel queues the messages again
//!   (`channel/outgoing/fate.rs`).
//! - **Probe**: the same, from `recovery/ledger/probe.rs`.
//! - **Copy**: `connection/redundancy/copies.rs` decides their number; [`copies`] holds their times.
//! - **Repeat**: `connection/redundancy/repeats.rs`.
//! - **Repair**: [`policy`] divides bursts into packets and decides the number of repairs, [`fec`] is the erasure code;
//!   `connection/redundancy/class.rs` and `repairs.rs` send them, `recovered.rs` handles the recovered packets.
//!
//! [`budget`] bounds the cost of the last three, [`loss_estimate`] measures the path's losses. This folder has the
//! mechanisms, which are independent of a connection; `connection/redundancy` joins them to packets, since each needs
//! the path, the channels and the ledger at once. The modes are settings:
//! [`wire::redundancy`](crate::wire::redundancy).

pub mod budget;
pub mod copies;
pub mod fec;
pub mod loss_estimate;
pub mod policy;
