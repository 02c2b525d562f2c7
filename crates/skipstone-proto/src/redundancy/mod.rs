//! The ways in which a lost message still arrives. There are five:
//!
//! - **Retransmission**, in every mode: a later packet was acknowledged, and RTT + reorder window have passed (RACK).
//!   It takes at least one RTT and costs the lost messages once more. `recovery::ledger` detects the loss
//!   (`ledger/loss.rs`), the channel queues the messages again (`channel/outgoing/fate.rs`).
//! - **Probe**, in every mode: the packet's own probe timeout (PTO) has passed without an acknowledgement, so it is
//!   suspected lost. It takes one PTO and sends the packet's messages once more, which is wasted if the suspicion was
//!   spurious. From `recovery/ledger/probe.rs`.
//! - **Copy**, in every mode but `Off`: a retransmission was sent, or a message with an age. It takes a fifth of the
//!   RTT, 1 to 5 ms, and costs 1 to 4 more packets with the same content, from the budget.
//!   `connection/redundancy/copies.rs` decides their number; [`copies`] holds their times.
//! - **Repeat**, in `Repeat`: the next packets of the channel's class are sent. It takes one tick and costs the
//!   messages of earlier packets in front of the new ones, from the budget. `connection/redundancy/repeats.rs`.
//! - **Repair**, in `Adaptive` and `Fixed`: a burst (`Adaptive`) or a block (`Fixed`) was sent. It takes no time, or a
//!   tenth of the RTT if losses are bursty, and costs packets as long as the longest that they cover, from the budget.
//!   [`policy`] divides bursts into packets and decides the number of repairs, [`fec`] is the erasure code;
//!   `connection/redundancy/class.rs` and `repairs.rs` send them, `recovered.rs` handles the recovered packets.
//!
//! On a reliable carrier none of them is used.
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
