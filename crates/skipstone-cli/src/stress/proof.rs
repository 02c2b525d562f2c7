//! The proof of a run: which client received which line, and its delay, by carrier.

use skipstone_lab::measure::latency::Latency;
use skipstone_lab::measure::ledger::{Ledger, LineOutcome, Tally};
use skipstone_lab::measure::sentence::{Parsed, RunId, parse};
use skipstone_lab::report::stress::chronicle::Chronicle;
use skipstone_lab::report::stress::evidence::CarrierEvidence;
use std::ops::Range;

/// The evidence of one run.
pub(crate) struct Proof {
    run: RunId,
    /// Numbers of this process's clients, by carrier.
    own: Vec<Range<u32>>,
    carriers: Vec<Evidence>,
    /// Lines received in order or late, each counted once: for the live view, not for the verdict.
    pub(crate) delivered: u64,
    /// Of these, lines that reached a client other than their sender.
    pub(crate) from_others: u64,
    /// Latencies since the live view last looked.
    pub(crate) recent: Latency,
    /// The data of a report, if one is requested.
    pub(crate) chronicle: Option<Chronicle>,
}

/// The evidence of the clients of one carrier.
struct Evidence {
    /// The number of its first client in the run.
    first: u32,
    ledger: Ledger,
    latency: Latency,
    /// Of lines of this process's own clients, if others have more.
    latency_same_agent: Option<Latency>,
}

impl Proof {
    /// For these receivers of each carrier, by their numbers in the run, and this number of senders in all.
    pub(crate) fn new(run: RunId, receivers: &[Range<u32>], senders: u32, chronicle: Option<Chronicle>) -> Self {
        let own: u32 = receivers.iter().map(|numbers| numbers.len() as u32).sum();
        let evidence = |numbers: &Range<u32>| {
            let ledger = Ledger::new(numbers.len(), senders as usize);
            let latency_same_agent = (own < senders).then(Latency::default);
            Evidence { first: numbers.start, ledger, latency: Latency::default(), latency_same_agent }
        };
        let carriers = receivers.iter().map(evidence).collect();
        Self {
            run,
            own: receivers.into(),
            carriers,
            delivered: 0,
            from_others: 0,
            recent: Latency::default(),
            chronicle,
        }
    }

    /// A client (number `receiver` of its carrier) received a line, this long after the run began.
    pub(crate) fn on_line(&mut self, carrier: usize, receiver: u32, payload: &[u8], now_us: u64) {
        self.on_parsed(carrier, receiver, parse(payload, self.run), now_us);
    }

    /// The same for a line that was parsed elsewhere.
    pub(crate) fn on_parsed(&mut self, carrier: usize, receiver: u32, parsed: Parsed, now_us: u64) {
        let Evidence { first, ledger, latency, latency_same_agent } = &mut self.carriers[carrier];
        match parsed {
            Parsed::Line { client, sequence, scheduled_us } => {
                if matches!(ledger.on_line(receiver, client, sequence), LineOutcome::InOrder | LineOutcome::Reordered) {
                    let took = now_us.saturating_sub(scheduled_us);
                    latency.record(took);
                    if let Some(latency) = latency_same_agent
                        && self.own.iter().any(|numbers| numbers.contains(&client))
                    {
                        latency.record(took);
                    }
                    self.recent.record(took);
                    self.delivered += 1;
                    self.from_others += u64::from(*first + receiver != client);
                    if let Some(chronicle) = &mut self.chronicle {
                        chronicle.on_line(carrier, receiver, scheduled_us, took);
                    }
                }
            }
            Parsed::Foreign => ledger.on_foreign(receiver),
            Parsed::Corrupt => ledger.on_corrupt(receiver),
        }
    }

    /// A client left: it need not receive anything, and none of its lines need arrive.
    pub(crate) fn exclude(&mut self, carrier: usize, receiver: u32, sender: u32) {
        self.carriers[carrier].ledger.exclude_receiver(receiver);
        self.carriers.iter_mut().for_each(|evidence| evidence.ledger.exclude_sender(sender));
    }

    /// The tally of one carrier's clients, or of all, given how many lines were sent.
    pub(crate) fn tally(&self, carrier: Option<usize>, sent: &[u32]) -> Tally {
        self.of(carrier).map(|evidence| evidence.ledger.finish(sent)).sum()
    }

    /// Deliveries that later lines have overtaken: missing, unless they still come.
    pub(crate) fn overtaken(&self) -> u64 {
        self.carriers.iter().map(|evidence| evidence.ledger.overtaken()).sum()
    }

    /// Latencies at one carrier's clients, or at all.
    pub(crate) fn latency(&self, carrier: Option<usize>) -> Latency {
        let mut sum = Latency::default();
        self.of(carrier).for_each(|evidence| sum.merge(&evidence.latency));
        sum
    }

    /// All of it, for another process.
    pub(crate) fn evidence(&self) -> Vec<CarrierEvidence> {
        let of = |Evidence { ledger, latency, latency_same_agent, .. }: &Evidence| CarrierEvidence {
            ledger: ledger.record(),
            latency: latency.counts(),
            latency_same_agent: latency_same_agent.as_ref().unwrap_or(latency).counts(),
        };
        self.carriers.iter().map(of).collect()
    }

    fn of(&self, carrier: Option<usize>) -> impl Iterator<Item = &Evidence> {
        let all = (0..).zip(&self.carriers);
        all.filter(move |(of, _)| carrier.is_none_or(|carrier| *of == carrier)).map(|(_, evidence)| evidence)
    }
}
