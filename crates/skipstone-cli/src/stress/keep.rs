//! Writes evidence to this machine's disk, whole or not at all.

use super::generator::Generator;
use super::lead::{AgreedStart, Kept, PartOrder};
use super::outcome::Measured;
use skipstone_lab::report::stress::evidence::{ClockEvidence, FORMAT, PartEvidence};
use skipstone_lab::report::stress::result::StressResult;
use std::fs::File;
use std::io::Write;

/// The evidence of a part.
pub(super) fn evidence(
    order: &PartOrder,
    start: &AgreedStart,
    generator: &Generator<'_>,
    measured: &Measured,
    result: StressResult,
    is_interrupted: bool,
) -> PartEvidence {
    let micros = |span: std::time::Duration| span.as_micros() as u64;
    PartEvidence {
        format: FORMAT,
        roster: order.roster.clone(),
        agent: order.agent,
        is_interrupted,
        sent: generator.sent.clone(),
        absent: generator.absent(),
        connected_us: generator.clients.iter().map(|client| client.connected_in.map(micros)).collect(),
        elapsed_us: micros(measured.elapsed),
        carriers: generator.proof.evidence(),
        clock: ClockEvidence {
            by: start.by,
            error_us: micros(start.error_until(measured.server_clock)),
            epoch_unix_us: start.epoch_unix_us(),
        },
        result,
        qlog: None,
        chronicle: generator.proof.chronicle.clone(),
    }
}

/// Writes it under its name once all of it is on the disk. The error is one sentence.
pub(super) fn write(order: &PartOrder, evidence: &PartEvidence) -> Result<Kept, String> {
    let path = &order.evidence;
    let draft = path.with_extension("part");
    let written = || -> std::io::Result<u64> {
        let text = serde_json::to_vec(evidence)?;
        let mut file = File::create(&draft)?;
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&draft, path)?;
        Ok(text.len() as u64)
    };
    let told = |error: std::io::Error| format!("cannot write the evidence to {}: {error}", path.display());
    let PartEvidence { result, sent, .. } = evidence;
    let kept = |bytes| Kept {
        bytes,
        sent: sent.iter().map(|lines| u64::from(*lines)).sum(),
        received: evidence.carriers.iter().map(|carrier| carrier.latency.latency().count()).sum(),
        clients_dropped: result.clients.dropped,
        late_sends: result.generator.late_sends,
    };
    written().map(kept).map_err(told)
}
