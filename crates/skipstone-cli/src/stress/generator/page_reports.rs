//! What pages tell of their clients, and what they are told.

use super::Generator;
use super::client::ClientState;
use crate::stress::client_drop::{ClientDrop, told};
use crate::stress::pages::{Order, Pages, Report};
use crate::stress::plan::Plan;
use skipstone_lab::measure::sentence::Parsed;
use skipstone_lab::units::{Rate, Size};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

impl Generator<'_> {
    /// Tells pages when lines are due at this rate.
    pub(super) fn begin_pages(&mut self, rate: Rate) {
        if let Some(pages) = &mut self.pages {
            pages.begin(&order_to_start(self.plan, rate, self.epoch));
        }
    }

    /// Handles what pages have reported.
    pub(super) fn hear_pages(&mut self) {
        while let Some((carrier, report)) = self.pages.as_mut().and_then(Pages::poll) {
            self.on_report(carrier, &report);
        }
        while let Some((numbers, why)) = self.pages.as_mut().and_then(Pages::poll_deserted) {
            for number in numbers {
                let place = self.plan.part.place(&self.plan.mix, number);
                self.on_closed(place as u32, ClientDrop::Ended, why.clone());
            }
        }
    }

    fn on_report(&mut self, carrier: usize, report: &Report) {
        for (number, took_ms) in report.connected() {
            let client = &mut self.clients[self.plan.part.place(&self.plan.mix, number)];
            client.state = ClientState::Connected;
            client.connected_in = Some(Duration::from_secs_f64(took_ms / 1e3));
        }
        for (number, due, sent) in report.sent() {
            self.schedule.plan(1, Duration::from_micros(due));
            self.sent[self.plan.part.place(&self.plan.mix, number)] += 1;
            self.schedule.note(Duration::from_micros(due), Duration::from_micros(sent.max(due)));
        }
        self.schedule.plan(report.refused, self.epoch.elapsed());
        if report.refused > 0 {
            *self.refused_sends.entry("the page's connection did not take it".into()).or_default() += report.refused;
        }
        for line in report.lines() {
            let parsed = Parsed::Line { client: line.client, sequence: line.sequence, scheduled_us: line.scheduled_us };
            self.heard = Instant::now();
            let place = self.plan.part.place(&self.plan.mix, line.number);
            self.proof.on_parsed(carrier, self.clients[place].place, parsed, line.received_us);
        }
        for (numbers, parsed) in [(&report.corrupt, Parsed::Corrupt), (&report.foreign, Parsed::Foreign)] {
            for number in numbers {
                let place = self.plan.part.place(&self.plan.mix, *number);
                self.proof.on_parsed(carrier, self.clients[place].place, parsed, 0);
            }
        }
        for closed in report.closed() {
            let drop = ClientDrop::of(closed.by, closed.code);
            let place = self.plan.part.place(&self.plan.mix, closed.number);
            self.on_closed(place as u32, drop, told(closed.by, closed.code, &closed.reason));
        }
    }
}

fn order_to_start(plan: &Plan, rate: Rate, epoch: Instant) -> Order {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let epoch = now + epoch.saturating_duration_since(Instant::now());
    Order::Start {
        epoch_ms: epoch.as_secs_f64() * 1e3,
        interval_ms: rate.interval().as_secs_f64() * 1e3,
        until_ms: plan.flags.duration.0.as_secs_f64() * 1e3,
        clients: plan.part.total,
        run: plan.run.0,
        bytes: match plan.flags.size {
            Size::Bytes(bytes) => Some(bytes),
            Size::Sentence => None,
        },
    }
}
