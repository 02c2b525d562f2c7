//! What every protocol refuses to send, and what a message counts while it is in a queue.

use crate::protocol::{Delivery, Outgoing, QUEUE_BYTES_MAX, SendRefused};

/// Bytes that a message in a queue counts beside its own: about what its entry takes. Without it, a queue of empty
/// messages would have no bound.
pub(super) const MESSAGE_COST: usize = 64;

/// What a message counts while it is in a queue.
pub(super) fn queue_cost(data: &[u8]) -> usize {
    data.len() + MESSAGE_COST
}

/// What a connection takes now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) is_open: bool,
    /// The highest channel.
    pub(super) channel_max: u16,
    /// The only delivery; `None` if the protocol has several, and checks them itself.
    pub(super) delivery: Option<Delivery>,
    /// Bytes of the longest message.
    pub(super) message_bytes_max: usize,
    /// Bytes that are queued, with the cost of each message.
    pub(super) queued: usize,
}

impl Limits {
    /// Whether the message may be queued.
    pub(super) fn check(&self, message: &Outgoing<'_>) -> Result<(), SendRefused> {
        let (size, max, queued) = (message.data.len(), self.message_bytes_max, self.queued);
        let has_delivery = self.delivery.is_none() || message.delivery.is_none() || message.delivery == self.delivery;
        if !self.is_open {
            Err(SendRefused::NotConnected)
        } else if message.channel > self.channel_max {
            Err(SendRefused::NoChannel { channel: message.channel, max: self.channel_max })
        } else if !has_delivery {
            Err(SendRefused::NoDelivery(self.delivery.map_or("", Delivery::name)))
        } else if size > max {
            Err(SendRefused::TooLong { size, max })
        } else if queued + size > QUEUE_BYTES_MAX {
            Err(SendRefused::QueueFull { queued })
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        is_open: true,
        channel_max: 1,
        delivery: Some(Delivery::ReliableOrdered),
        message_bytes_max: 10,
        queued: QUEUE_BYTES_MAX - 5,
    };

    #[test]
    fn each_limit_refuses_with_its_own_reason() {
        let message = |channel, data| Outgoing { channel, delivery: None, data };
        let unreliable = Outgoing { delivery: Some(Delivery::Unreliable), ..message(0, b"") };
        assert_eq!(LIMITS.check(&message(1, b"12345")), Ok(()));
        for (limits, message, refused) in [
            (Limits { is_open: false, ..LIMITS }, message(0, b""), SendRefused::NotConnected),
            (LIMITS, message(2, b""), SendRefused::NoChannel { channel: 2, max: 1 }),
            (LIMITS, unreliable, SendRefused::NoDelivery("reliable")),
            (LIMITS, message(0, &[0; 11]), SendRefused::TooLong { size: 11, max: 10 }),
            (LIMITS, message(0, &[0; 6]), SendRefused::QueueFull { queued: QUEUE_BYTES_MAX - 5 }),
        ] {
            assert_eq!(limits.check(&message), Err(refused));
        }
        assert_eq!(Limits { delivery: None, ..LIMITS }.check(&unreliable), Ok(()));
    }
}
