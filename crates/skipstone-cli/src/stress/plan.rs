//! The plan of a stress run, checked before anything starts.

use super::arguments::StressArguments;
use super::impairment::Impairments;
use super::lead::PartOrder;
use crate::left_out;
use skipstone::{Scheme, Target, Trust};
use skipstone_lab::measure::part::Part;
use skipstone_lab::measure::sentence::{CLIENT_MAX, RunId, SEQUENCE_MAX, Sentences};
use skipstone_lab::open_files::{self, Beside};
use skipstone_lab::report::stress::judge::check_thresholds;
use skipstone_lab::report::stress::result::StressPlan;
use skipstone_lab::report::{ReportFile, Sink};
use skipstone_lab::units::{Carrier, Span};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A run, ready to start.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The flags as they were given.
    pub(crate) flags: StressArguments,
    pub(crate) target: Option<Target>,
    /// How native clients connect: encrypted, by DTLS or in clear.
    pub(crate) native: Scheme,
    pub(crate) trust: Trust,
    /// Clients by carrier, in the order of their numbers.
    pub(crate) mix: Vec<(Carrier, u32)>,
    pub(crate) clients: u32,
    /// Which of the run's clients these are.
    pub(crate) part: Part,
    /// The run on several machines that they are of.
    pub(crate) order: Option<PartOrder>,
    pub(crate) sentences: Sentences,
    pub(crate) run: RunId,
    pub(crate) seed: u64,
    pub(crate) impairments: Option<Impairments>,
    pub(crate) sink: Sink,
    pub(crate) report: Option<ReportFile>,
    /// The plan as text, for the result.
    pub(crate) words: StressPlan,
}

/// A shorter time between two changes of the port is asked for by mistake.
const ROAM_MIN: Duration = Duration::from_millis(10);

impl Plan {
    /// Whether the run over time is kept, for a report here or elsewhere.
    pub(crate) fn has_report(&self) -> bool {
        self.report.is_some() || self.order.as_ref().is_some_and(|order| order.has_report)
    }

    /// Checks the flags. The error is one sentence with the remedy.
    pub(crate) fn from(arguments: &StressArguments) -> Result<Self, String> {
        let target: Option<Target> = arguments.url.as_ref().map(|url| url.parse()).transpose().map_err(text)?;
        let native = native(arguments, target.as_ref())?;
        if native == Scheme::Dtls && arguments.roam.is_some() {
            return Err(
                "--roam: a DTLS session stays at its address; leave out --dtls, or connect to a skip:// URL".into()
            );
        }
        let trust = arguments.protection.trust.trust()?;
        let order = arguments.part.as_deref().map(serde_json::from_str::<PartOrder>).transpose();
        let order = order.map_err(|error| format!("--part: {error}"))?;
        let place = order.as_ref().map(PartOrder::place).transpose()?;
        let mix = match place {
            Some(place) => place.mix.clone(),
            None => share_out(arguments, target.as_ref())?,
        };
        let part = place.map_or_else(|| Part::whole(&mix), |place| place.part.clone());
        if mix.iter().any(|(carrier, _)| matches!(carrier, Carrier::Dtls | Carrier::Wt)) {
            left_out::carriers()?;
        }
        let clients: u32 = mix.iter().map(|(_, count)| count).sum();
        if clients == 0 || clients > CLIENT_MAX {
            return Err(format!("-c {clients}: a run has 1 to {CLIENT_MAX} clients"));
        }
        let also = if target.is_none() { " (the server's process as well)" } else { "" };
        if !arguments.is_led_elsewhere() {
            open_files::check(clients, Beside { files: 32, also })?;
        }
        let per_client = arguments.rate.count_before(arguments.duration.0);
        if per_client > u64::from(SEQUENCE_MAX) {
            return Err(format!(
                "each client would send {per_client} lines; at most {SEQUENCE_MAX} can be distinguished"
            ));
        }
        let seed = arguments.seed.unwrap_or_else(fresh_seed);
        // Two runs on one server must not take each other's lines for their own, whatever their seeds.
        let run = RunId(order.as_ref().map_or_else(fresh_run, |order| order.lines));
        let sentences = Sentences::new(seed, run, arguments.size).map_err(text)?;
        let carriers: Vec<Carrier> = mix.iter().map(|(carrier, _)| *carrier).collect();
        check_thresholds(&arguments.threshold, &carriers).map_err(text)?;
        let impairments = Impairments::from(&arguments.network, seed)?;
        check_network(arguments, impairments.as_ref(), &carriers)?;
        check_resilience(arguments)?;
        check_pages(arguments, &carriers)?;
        if arguments.sharing.shards.is_some() && arguments.url.is_some() {
            return Err("--shards is a flag of the server: give it to `serve`, or leave out the URL".into());
        }
        let sink = Sink::open(arguments.json.as_deref())?;
        // Nothing else goes where the JSON goes.
        let quiet = arguments.quiet || matches!(sink, Sink::StandardOutput);
        let report = arguments.report.as_deref().map(ReportFile::open).transpose()?;
        let words = words(arguments, &mix);
        Ok(Plan {
            flags: StressArguments { quiet, ..arguments.clone() },
            target,
            native,
            trust,
            part,
            order,
            mix,
            clients,
            sentences,
            run,
            seed,
            impairments,
            sink,
            report,
            words,
        })
    }
}

/// The plan as text, for the result.
fn words(arguments: &StressArguments, mix: &[(Carrier, u32)]) -> StressPlan {
    let mix_text: Vec<String> = mix.iter().map(|(carrier, count)| format!("{carrier}={count}")).collect();
    StressPlan {
        url: arguments.url.clone(),
        rate: arguments.rate.to_string(),
        size: arguments.size.to_string(),
        mix: mix_text.join(","),
        duration_s: arguments.duration.0.as_secs_f64(),
        ramp_s: arguments.ramp.0.as_secs_f64(),
        merge: arguments.merge.map(|merge| merge.to_string()),
        redundancy: arguments.resilience.redundancy.map(|mode| mode.to_string()),
        redundancy_budget: arguments.resilience.redundancy_budget.map(|budget| budget.to_string()),
        congestion: arguments.resilience.congestion.map(|congestion| congestion.to_string()),
    }
}

/// A bad network and changes of the port are for UDP alone.
fn check_network(
    arguments: &StressArguments,
    impairments: Option<&Impairments>,
    carriers: &[Carrier],
) -> Result<(), String> {
    if impairments.is_some() && carriers.iter().any(|carrier| carrier.is_page()) {
        return Err("a bad network is simulated around the tool's own sockets: use --mix udp, without browsers".into());
    }
    if impairments.is_some() && carriers.iter().any(|carrier| carrier.is_stream()) {
        return Err("a bad network is simulated around UDP sockets only, since TCP would need it below its own \
                    retransmission: use --mix udp"
            .into());
    }
    if arguments.roam.is_some_and(|span| span.0 < ROAM_MIN) {
        return Err(
            "--roam: a client can change its port every 10ms at most, since the new one must prove itself".into()
        );
    }
    let is_over = |span: Span| !arguments.wait && span.0 >= arguments.duration.0;
    if let Some(span) = arguments.roam.filter(|span| is_over(*span)) {
        let duration = arguments.duration;
        return Err(format!("--roam {span}: the run is over after {duration}, before any client changes its port"));
    }
    if arguments.roam.is_some() && !carriers.contains(&Carrier::Udp) {
        return Err("--roam: a WebSocket cannot change its address and live; use --mix udp".into());
    }
    Ok(())
}

/// Pages are driven by the tool alone, and say how many browsers they need.
fn check_pages(arguments: &StressArguments, carriers: &[Carrier]) -> Result<(), String> {
    let has_pages = carriers.iter().any(|carrier| carrier.is_page());
    if has_pages && arguments.reconnect {
        return Err("--reconnect: pages do not reconnect; leave browser= and wt= out of --mix".into());
    }
    if has_pages && arguments.wait {
        return Err("--wait: clients in browsers begin at once; leave browser= and wt= out of --mix".into());
    }
    if !has_pages && (arguments.browsers.is_some() || arguments.web_hash.is_some()) {
        return Err("--browsers and --web-hash are for clients in browsers: --mix browser=100,wt=100".into());
    }
    let is_hash = |text: &String| text.len() == 64 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    match &arguments.web_hash {
        Some(text) if !is_hash(text) => Err(format!("--web-hash {text}: a hash has 64 hexadecimal digits")),
        _ => Ok(()),
    }
}

fn native(arguments: &StressArguments, target: Option<&Target>) -> Result<Scheme, String> {
    match target.map(|target| target.scheme) {
        Some(Scheme::Encrypted) if arguments.protection.plain => {
            Err("--plain contradicts a URL that begins with skip://: write skip+plain://".into())
        }
        Some(Scheme::Dtls) if arguments.protection.plain => {
            Err("--plain contradicts a URL that begins with skip+dtls://: write skip+plain://".into())
        }
        Some(Scheme::Plain) if arguments.protection.dtls.is_some() => {
            Err("--dtls contradicts a URL that begins with skip+plain://: write skip+dtls://".into())
        }
        Some(Scheme::Plain) => Ok(Scheme::Plain),
        Some(Scheme::Dtls) => Ok(Scheme::Dtls),
        _ if arguments.protection.dtls.is_some() => Ok(Scheme::Dtls),
        _ if arguments.protection.plain => Ok(Scheme::Plain),
        _ => Ok(Scheme::Encrypted),
    }
}

/// Redundancy is the server's to say; congestion control is each side's own.
fn check_resilience(arguments: &StressArguments) -> Result<(), String> {
    let flags = &arguments.resilience;
    let given =
        [("--redundancy", flags.redundancy.is_some()), ("--redundancy-budget", flags.redundancy_budget.is_some())];
    match given.iter().find(|(_, is_given)| *is_given && arguments.url.is_some()) {
        Some((name, _)) => Err(format!(
            "{name} is a setting of the server, which tells its clients: give it to `serve`, or leave out the URL"
        )),
        None => Ok(()),
    }
}

fn share_out(arguments: &StressArguments, target: Option<&Target>) -> Result<Vec<(Carrier, u32)>, String> {
    let from_url = target.map_or(Carrier::Udp, |target| match target.scheme {
        Scheme::WebSocket => Carrier::Ws,
        Scheme::SecureWebSocket => Carrier::Wss,
        Scheme::Tcp => Carrier::Tcp,
        _ => Carrier::Udp,
    });
    let shares = match &arguments.mix {
        Some(mix) => mix.share_out(arguments.clients).map_err(text)?,
        None => vec![(from_url, arguments.clients.unwrap_or(CLIENTS_DEFAULT))],
    };
    Ok(shares.into_iter().filter(|(_, count)| *count > 0).collect())
}

const CLIENTS_DEFAULT: u32 = 300;

fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // 48 bits, so that the seed survives programs that read JSON numbers as floating point.
    (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 20) & ((1 << 48) - 1)
}

/// A name for the lines of a run.
pub(crate) fn fresh_run() -> u16 {
    fresh_seed().wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(16) as u16
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}
