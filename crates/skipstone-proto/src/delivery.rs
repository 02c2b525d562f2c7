//! The delivered bytes that a packet records when it is sent, from which the delivery rate is computed once the packet
//! is acknowledged (draft-cheng-iccrg-delivery-rate-estimation). The congestion controller makes the estimate itself.

/// Noted when a packet is sent, and returned with its acknowledgement. The default holds no measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStamp {
    /// Bytes delivered so far, modulo 2^32.
    pub delivered: u32,
    /// The time at which the last of them were delivered, in us modulo 2^32.
    pub delivered_at: u32,
    /// The time at which the first packet of this packet's flight left, likewise.
    pub first_sent_at: u32,
}
