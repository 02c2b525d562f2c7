//! Packets that are lost, or suspected lost, and the retransmission of their content. `recovery` decides which packets
//! these are; a message that is to be retransmitted waits in its channel (`channel/outgoing/fate.rs`), and
//! `transmit/decide.rs` lets it leave.

use super::packet_log::{LossTrigger, PacketEvent};
use super::redundancy::CopyCount;
use super::{Connection, Context};
use crate::channel::channels::Channels;
use crate::channel::outgoing::Receipt;
use crate::congestion::LossSample;
use crate::recovery::{Control, Record, Resolved};

impl Connection {
    /// Detects lost packets and lets their content be retransmitted.
    pub(super) fn detect_losses(&mut self, cx: &mut Context<'_>) {
        let lost = self.sending.ledger.detect_losses(cx.now, &self.path.rtt, &mut cx.scratch.resolved);
        if lost.packets > 0 {
            self.log_lost(cx.now, LossTrigger::Time);
            self.stats.packets_lost += u64::from(lost.packets);
            if lost.packets > self.note_sizes_lost(cx.now, &cx.scratch.resolved) {
                self.path.congestion.on_loss(cx.now, LossSample { bytes: lost.bytes, sent_at: lost.last_sent });
            }
            self.requeue_resolved(cx, CopyCount::ByLoss, Channels::on_lost);
        }
    }

    /// Handles a probe timeout: the content of the packets that are suspected lost is sent again.
    pub(super) fn on_probe_timeout(&mut self, cx: &mut Context<'_>) {
        let resolved = &mut cx.scratch.resolved;
        let delay = self.peers_delay();
        let suspected =
            self.sending.ledger.on_probe_timeout(cx.now, &self.path.rtt, delay, self.sending.is_limited, resolved);
        self.stats.probes += u64::from(suspected.packets.max(1));
        let (packets, is_silent) = (suspected.packets, suspected.is_silent);
        self.log(cx.now, || PacketEvent::ProbeTimeout { packets, is_silent });
        if self.sending.is_limited {
            // One packet more than the window, as everything in it may be lost.
            self.sending.pending.probes = self.sending.pending.probes.max(1);
        }
        if suspected.is_silent {
            self.sending.pending.probes = 2;
            self.path.mtu.on_silence();
            self.sending.ledger.copies().clear();
            // Before the first RTT sample, the path may just be long.
            if self.path.rtt.is_measured() {
                self.path.congestion.on_silence(cx.now);
            }
        }
        let copies = if suspected.is_silent { CopyCount::Exactly(0) } else { CopyCount::ByLoss };
        self.requeue_resolved(cx, copies, Channels::on_suspected);
        // No PING is written if the packet is ack-eliciting anyway; suspected content may have arrived in another copy.
        self.sending.pending.ping = true;
    }

    /// Lets everything resolved as lost, or suspected lost, be retransmitted. `copies` is the number of copies of each
    /// retransmission.
    pub(super) fn requeue_resolved(
        &mut self,
        cx: &mut Context<'_>,
        copies: CopyCount,
        take: impl Fn(&mut Channels, Resolved, &mut Vec<Receipt>),
    ) {
        let mut is_window_news_lost = false;
        for resolved in cx.scratch.resolved.drain(..) {
            match resolved.record {
                Record::Control(Control::Accept) => self.sending.pending.accept = !self.timers.is_confirmed,
                Record::Control(Control::AckUpTo(_)) => {
                    is_window_news_lost |= self.receiving.window.news_from.is_some()
                }
                Record::Control(Control::Connect) => {}
                Record::Control(Control::NewId(sequence)) => self.on_new_id_lost(sequence),
                _ => {
                    let class = self.channels.class_of(resolved.record);
                    take(&mut self.channels, resolved, &mut cx.scratch.receipts);
                    if let Some(class) = class.filter(|_| self.channels.has_lost()) {
                        self.note_retransmission(class, resolved.born, copies);
                    }
                }
            }
        }
        if is_window_news_lost {
            self.tell_window(cx.now);
        }
        self.push_receipts(cx);
    }
}
