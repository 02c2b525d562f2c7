//! The receiving side: repairs, the packets that they cover, and the packets that they recover.

use crate::connection::stats::DropReason;
use crate::connection::{Connection, ConnectionState, Context};
use crate::wire::repair::Repair;

impl Connection {
    /// The repair arrived in the packet with this number, and covers no packet below 0.
    pub(in crate::connection) fn on_repair(&mut self, number: u64, repair: &Repair<'_>) {
        let Ok(covers) = repair.covers(number) else { return };
        let received = &self.receiving.received;
        let decoder = self.redundancy.decoder.get_or_insert_default();
        decoder.on_repair(repair.index, covers, repair.symbol, |number| !received.is_new(number));
    }

    /// A packet arrived. A later repair may cover its frames, except acknowledgements.
    pub(in crate::connection) fn keep_for_repairs(&mut self, number: u64, content: &[u8]) {
        if let Some(decoder) = &mut self.redundancy.decoder {
            decoder.on_source(number, content);
            if decoder.is_idle() {
                self.redundancy.decoder = None;
            }
        }
    }

    /// Handles the packets that repairs recovered, as if they had arrived.
    pub(in crate::connection) fn take_recovered(&mut self, cx: &mut Context<'_>) {
        while let Some(repaired) = self.redundancy.decoder.as_mut().and_then(|decoder| decoder.poll_recovered()) {
            let is_open = matches!(self.state, ConnectionState::Established | ConnectionState::Lingering);
            if !is_open || !self.receiving.received.is_new(repaired.number) {
                continue;
            }
            let Ok(summary) = self.check(repaired.number, &repaired.content) else {
                self.stats.drops.count(DropReason::BadRepair);
                continue;
            };
            self.log_recovered(cx.now, repaired.number, &repaired.content);
            self.stats.redundancy.packets_recovered += 1;
            let age = self.receiving.received.on_repaired(cx.now, repaired.number).max(summary.age);
            self.apply(cx, repaired.number, &repaired.content, age);
        }
        if let Some(decoder) = &mut self.redundancy.decoder {
            self.stats.drops.count_many(DropReason::BadRepair, decoder.take_invalid() as u32);
        }
    }
}
