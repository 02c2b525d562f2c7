//! What a packet remembers of how much had been delivered when it left, from which the delivery rate follows once it is
//! acknowledged (draft-cheng-iccrg-delivery-rate-estimation). The estimate itself is the congestion controller's.

/// Taken when a packet leaves, given back with its acknowledgement. The default says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryStamp {
    /// Bytes delivered so far, modulo 2^32.
    pub delivered: u32,
    /// When the last of them were, in us modulo 2^32.
    pub delivered_at: u32,
    /// When the first packet of the flight left that this one belongs to, likewise.
    pub first_sent_at: u32,
}
