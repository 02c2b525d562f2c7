//! The packet loss of all clients as one figure.

use crate::client_figures::PacketLoss;

/// The mean of several clients' losses, by direction.
pub(super) fn mean_loss(clients: impl Iterator<Item = PacketLoss> + Clone) -> PacketLoss {
    let of = |direction: fn(PacketLoss) -> Option<f64>| {
        let (sum, count) =
            clients.clone().filter_map(direction).fold((0.0, 0), |(sum, count), loss| (sum + loss, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    PacketLoss { sent: of(|loss| loss.sent), received: of(|loss| loss.received) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_clients_do_not_lower_the_mean_loss() {
        let loss = |sent, received| PacketLoss { sent, received };
        let clients = [loss(Some(1.0), Some(0.0)), loss(Some(3.0), None), loss(None, None)];
        assert_eq!(mean_loss(clients.into_iter()), loss(Some(2.0), Some(0.0)));
        assert_eq!(mean_loss([].into_iter()), loss(None, None));
    }
}
