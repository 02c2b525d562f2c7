//! Flags of `stress`.

use super::impairment;
use super::merging::Merge;
use crate::qlog_flags::QlogFlags;
use crate::{sharing, trust};
use skipstone_lab::resilience;
use skipstone_lab::units::{Mix, Rate, Size, Span, Threshold};

/// Flags of `stress`.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StressArguments {
    /// The server, such as skip://127.0.0.1:7777#sha256=...; without one, a server is started in its own process
    pub(crate) url: Option<String>,
    /// Clients, each with its own socket
    #[arg(short, long, value_name = "N")]
    pub(crate) clients: Option<u32>,
    /// Lines that each client sends: 1/s, 1/10s, 30/min
    #[arg(short, long, value_name = "RATE", default_value = "1/s")]
    pub(crate) rate: Rate,
    /// How long lines are sent
    #[arg(short, long, value_name = "TIME", default_value = "10s")]
    pub(crate) duration: Span,
    /// Clients by carrier: udp=200,ws=100; a carrier without a number takes the rest. Carriers: udp, dtls, ws, wss,
    /// tcp; and in pages of headless Chromium browser (WebSocket) and wt (WebTransport)
    #[arg(long, value_name = "MIX")]
    pub(crate) mix: Option<Mix>,
    /// With browser= or wt= in the mix: headless browsers, each with its own profile, of at most 250 clients
    /// [default: one for each 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) browsers: Option<u32>,
    /// With wt= and a URL: SHA-256 of the server's certificate for pages, as printed by `serve`
    #[arg(long, value_name = "HEX", requires = "url")]
    pub(crate) web_hash: Option<String>,
    /// Length of a line: `sentence` (random, 20 to 115 bytes), or bytes: 100, 1KiB
    #[arg(long, value_name = "SIZE", default_value = "sentence")]
    pub(crate) size: Size,
    /// Time over which the clients connect; 0s: as fast as possible
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub(crate) ramp: Span,
    /// When clients send: `immediate`, or after collecting messages for this long, such as 5ms
    #[arg(long, value_name = "TIME")]
    pub(crate) merge: Option<Merge>,
    /// Each UDP client changes its port at this interval, as if its network changed: 2s
    #[arg(long, value_name = "TIME")]
    pub(crate) roam: Option<Span>,
    /// Clients reconnect for up to 20 s when their server restarts or is lost; a line that its sender received back
    /// must have reached every connected client
    #[arg(long, requires = "url", conflicts_with_all = ["wait", "roam"])]
    pub(crate) reconnect: bool,
    /// Measure connecting instead of lines: new clients connect at this rate, such as 300/s, and leave at once. None
    /// may be refused, or wait for an answer for 10 s, not even while the server restarts. Numbers of --mix are shares;
    /// its JSON is schema/connects.schema.json
    #[arg(long, value_name = "RATE", conflicts_with_all = ["clients", "rate", "ramp", "size", "merge", "roam",
        "reconnect", "wait", "threshold", "piped", "browsers", "qlog", "report"])]
    pub(crate) connects: Option<Rate>,
    /// Bots of this script instead of clients that send lines: the same as `skipstone bots FILE`, with its flags
    #[cfg(feature = "bots")]
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<String>,
    /// A condition on the result, such as 'latency.p99<50ms' or 'wire.overhead_percent<=20'; exit code 99 if missed
    #[arg(long, value_name = "CONDITION")]
    pub(crate) threshold: Vec<Threshold>,
    /// Write the result to this file (with --wait, that of the last run; with - to standard output, instead of the
    /// table); its schema is schema/stress.schema.json
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<String>,
    /// Write the report to this file (with --wait, that of the last run): one HTML file with curves, which needs no
    /// network
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<String>,
    #[command(flatten)]
    pub(crate) qlog: QlogFlags,
    /// Seed of random lines and of the simulated network; repeats a run's choices
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Connect, and send only between the server's console commands `stress on` and `stress off`; each such period is a
    /// run of its own
    #[arg(long, requires = "url")]
    pub(crate) wait: bool,
    #[command(flatten)]
    pub(crate) sharing: sharing::SharingFlags,
    #[command(flatten)]
    pub(crate) resilience: resilience::ResilienceFlags,
    #[command(flatten)]
    pub(crate) protection: Protection,
    /// Show the result only
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) network: impairment::ImpairmentFlags,
    #[cfg(feature = "fleet")]
    #[command(flatten)]
    pub(crate) fleet: crate::fleet_flags::FleetArguments,
    /// Each agent logs the packet events of its native connections, as --qlog does, beside its evidence; the result says
    /// where. Total size of an agent's files at which its log stops [default: 256MiB]
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "BYTES", requires = "fleet", num_args = 0..=1, require_equals = true, default_missing_value = "256MiB", help_heading = "A run on several machines, over NATS")]
    pub(crate) agent_qlog: Option<Size>,
    /// Communicate with a parent process over standard input and output
    #[arg(long, hide = true)]
    pub(crate) piped: bool,
    /// A part of a run on several machines, for the agent that is the parent process
    #[arg(long, hide = true, requires_all = ["piped", "url"])]
    pub(crate) part: Option<String>,
}

/// Encryption of native clients, and the servers that they trust.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct Protection {
    #[command(flatten)]
    pub(crate) trust: trust::TrustFlags,
    /// Native clients without encryption, for comparison; the run's own server accepts them
    #[arg(long)]
    pub(crate) plain: bool,
    /// Native clients in DTLS sessions of this version (skip+dtls://), for comparison
    #[arg(long, value_name = "VERSION", conflicts_with = "plain")]
    pub(crate) dtls: Option<trust::Dtls>,
}

impl StressArguments {
    /// Whether its clients are on other machines.
    pub(super) fn is_led_elsewhere(&self) -> bool {
        #[cfg(feature = "fleet")]
        return self.fleet.url().is_some();
        #[cfg(not(feature = "fleet"))]
        false
    }

    /// The flags of the run's own server.
    pub(super) fn server_words(&self, native: skipstone::Scheme) -> Vec<String> {
        let mut words = self.resilience.words();
        words.extend(self.sharing.words());
        words.extend(self.qlog.words());
        words.extend((native == skipstone::Scheme::Plain).then(|| "--allow-plain".to_owned()));
        words
    }
}
