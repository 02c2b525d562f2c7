//! Connects, closes and drops as events of `tracing` (feature `tracing`). Nothing here runs for a message, a packet or
//! a datagram.

use skipstone_proto::{Drops, Event};

/// The target that subscribers' filters name.
const TARGET: &str = "skipstone";

/// The application takes an event. Its peer is the one that the application knows.
pub(crate) fn on_event(event: &Event) {
    match event {
        Event::Requested { peer, remote, .. } => {
            tracing::debug!(target: TARGET, %peer, %remote, "a client asks to connect")
        }
        Event::Connected { peer, .. } => tracing::info!(target: TARGET, %peer, "connected"),
        Event::PathChanged { peer, path } => {
            tracing::info!(target: TARGET, %peer, remote = %path.remote, "the address changed")
        }
        Event::Closed { peer, close } => {
            let reason = close.reason_text();
            tracing::info!(target: TARGET, %peer, by = ?close.by, code = close.code, %reason, "closed");
        }
        _ => {}
    }
}

/// The drops of a driver between two snapshots, which are at least 50 ms apart: an event for each reason.
pub(crate) fn on_drops(before: &Drops, now: &Drops) {
    for ((reason, before), (_, now)) in before.iter().zip(now.iter()) {
        if now > before {
            tracing::debug!(target: TARGET, reason = reason.name(), count = now - before, "dropped");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skipstone_proto::{Close, ClosedBy, DropReason, PeerId};
    use std::sync::{Arc, Mutex};
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Metadata, Subscriber};

    /// Keeps the fields of each event as text.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    struct Fields(String);

    impl Visit for Fields {
        fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
            self.0 += &format!("{}={value:?} ", field.name());
        }
    }

    impl Subscriber for Kept {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, event: &tracing::Event<'_>) {
            let mut fields = Fields(String::new());
            event.record(&mut fields);
            self.0.lock().expect("no panic holds it").push(fields.0);
        }
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn the_end_of_a_connection_is_logged_with_its_reason() {
        let kept = Kept::default();
        let peer = PeerId { index: 4, generation: 2 };
        let close = Close { by: ClosedBy::Peer, code: 7, reason: "enough".into() };
        tracing::subscriber::with_default(kept.clone(), || on_event(&Event::Closed { peer, close }));
        let told = kept.0.lock().expect("no panic holds it").clone();
        assert_eq!(told.len(), 1, "{told:?}");
        for part in ["peer=4.2", "by=Peer", "code=7", "reason=enough", "message=closed"] {
            assert!(told[0].contains(part), "{told:?}");
        }
    }

    #[test]
    fn each_drop_reason_is_logged_once_with_its_count_since_the_last() {
        let (kept, before) = (Kept::default(), drops(&[(DropReason::Replay, 2), (DropReason::Full, 5)]));
        let now = drops(&[(DropReason::Replay, 9), (DropReason::Full, 5), (DropReason::NotAuthentic, 1)]);
        tracing::subscriber::with_default(kept.clone(), || {
            on_drops(&before, &before);
            on_drops(&before, &now);
        });
        let told = kept.0.lock().expect("no panic holds it").clone();
        assert_eq!(told.len(), 2, "what has not grown is no news: {told:?}");
        for (reason, count) in [(DropReason::Replay, 7), (DropReason::NotAuthentic, 1)] {
            let parts = [format!("reason={:?} ", reason.name()), format!("count={count} "), "message=dropped ".into()];
            assert!(told.iter().any(|event| parts.iter().all(|part| event.contains(part))), "{parts:?} in {told:?}");
        }
    }

    fn drops(counts: &[(DropReason, u32)]) -> Drops {
        let mut drops = Drops::default();
        counts.iter().for_each(|(reason, count)| drops.count_many(*reason, *count));
        drops
    }
}
