//! Where clients connect to, and which of them run in which page.

use super::pages::{CLIENTS, CLIENTS_MAX, Share};
use super::plan::Plan;
use skipstone::{Scheme, Target};
use skipstone_lab::units::Carrier;
use std::net::SocketAddr;

/// The URL that a carrier's clients use: the known one's host, port and fingerprint with the carrier's scheme.
pub(super) fn target(native: Scheme, carrier: Carrier, address: SocketAddr, known: Option<&Target>) -> Target {
    let scheme = match carrier {
        // A page's URL is made of the host and the port.
        Carrier::Udp | Carrier::Wt => native,
        Carrier::Dtls => Scheme::Dtls,
        Carrier::Ws | Carrier::Browser => Scheme::WebSocket,
        Carrier::Wss => Scheme::SecureWebSocket,
        Carrier::Tcp => Scheme::Tcp,
    };
    match known {
        Some(known) if known.scheme == scheme => known.clone(),
        Some(known) => {
            let other = Target::new(scheme, &known.host, known.port);
            match known.pin.filter(|_| matches!(scheme, Scheme::Encrypted | Scheme::Dtls | Scheme::SecureWebSocket)) {
                Some(pin) => other.pinned(pin),
                None => other,
            }
        }
        None => Target::new(scheme, &address.ip().to_string(), address.port()),
    }
}

/// The clients that live in pages, page by page.
pub(super) fn shares(plan: &Plan, targets: &[Target], web_hash: Option<&str>) -> Vec<Share> {
    let in_pages: u32 = plan.mix.iter().filter(|(carrier, _)| carrier.is_page()).map(|(_, count)| count).sum();
    let per_page = per_page(in_pages as usize, plan.flags.browsers);
    let mut shares = Vec::new();
    for (carrier, (of, _)) in plan.mix.iter().enumerate() {
        let numbers: Vec<u32> = plan.part.numbers(&plan.mix, carrier).collect();
        if !of.is_page() {
            continue;
        }
        let url = page_url(*of, &targets[carrier], plan.flags.web_hash.as_deref().or(web_hash));
        shares.extend(numbers.chunks(per_page).map(|numbers| Share {
            carrier,
            url: url.clone(),
            numbers: numbers.into(),
        }));
    }
    shares
}

fn page_url(carrier: Carrier, target: &Target, web_hash: Option<&str>) -> String {
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    let place = format!("{host}:{}", target.port);
    match (carrier, web_hash) {
        (Carrier::Wt, Some(hash)) => format!("https://{place}#sha256={hash}"),
        // A server that a public authority has signed needs no hash.
        (Carrier::Wt, None) => format!("https://{place}"),
        _ => format!("ws://{place}"),
    }
}

/// Clients of one page: as many as it takes, unless there are to be more browsers.
fn per_page(clients: usize, browsers: Option<u32>) -> usize {
    browsers.map_or(CLIENTS, |browsers| clients.div_ceil(browsers.max(1) as usize).clamp(1, CLIENTS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_maximum_of_clients_unless_more_browsers_are_requested() {
        let cases = [
            (1, None, 100),
            (100, None, 100),
            (500, None, 100),
            (500, Some(10), 50),
            (200, Some(1), 200),
            (500, Some(1), 250),
        ];
        for (clients, browsers, expected) in cases {
            assert_eq!(per_page(clients, browsers), expected, "{clients} clients, {browsers:?} browsers");
        }
    }
}
