//! What an agent is asked to do: a stress run of a server, and nothing else. It is no command line, so that an order
//! cannot name a file of the agent's machine.

use crate::stress::StressArguments;
use crate::stress::impairment::ImpairmentFlags;
use serde::{Deserialize, Serialize};
use skipstone::Target;
use skipstone_lab::units::Size;
use std::path::Path;

/// The flags of a stress run that make sense on another machine, as they are written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LoadOrder {
    url: String,
    rate: String,
    duration: String,
    size: String,
    ramp: String,
    seed: u64,
    merge: Option<String>,
    roam: Option<String>,
    congestion: Option<String>,
    dtls: Option<String>,
    plain: bool,
    browsers: Option<u32>,
    web_hash: Option<String>,
    network: ImpairmentFlags,
    /// The authorities that are trusted, as PEM.
    ca: Option<String>,
    trust_anyone: bool,
    /// Bytes at which the log of packets stops, if there is one.
    qlog_max: Option<String>,
}

impl LoadOrder {
    /// That of these flags, which have a URL. The error is one sentence.
    pub(super) fn of(flags: &StressArguments, seed: u64) -> Result<Self, String> {
        check(flags)?;
        let text = |value: &dyn std::fmt::Display| value.to_string();
        let ca = flags.protection.trust.ca.as_ref();
        let read = |file: &std::path::PathBuf| {
            std::fs::read_to_string(file).map_err(|error| format!("cannot read --ca {}: {error}", file.display()))
        };
        Ok(LoadOrder {
            url: flags.url.clone().unwrap_or_default(),
            rate: text(&flags.rate),
            duration: text(&flags.duration),
            size: text(&flags.size),
            ramp: text(&flags.ramp),
            seed,
            merge: flags.merge.map(|merge| text(&merge)),
            roam: flags.roam.map(|span| text(&span)),
            congestion: flags.resilience.congestion.map(|congestion| text(&congestion)),
            dtls: flags.protection.dtls.map(|dtls| dtls.text().to_owned()),
            plain: flags.protection.plain,
            browsers: flags.browsers,
            web_hash: flags.web_hash.clone(),
            network: flags.network.clone(),
            ca: ca.map(read).transpose()?,
            trust_anyone: flags.protection.trust.dangerously_trust_anyone,
            qlog_max: flags.agent_qlog.map(|bytes| text(&bytes)),
        })
    }

    /// The server's host and port. The error is one sentence.
    pub(super) fn server(&self) -> Result<(String, u16), String> {
        let target: Target = self.url.parse().map_err(|error: skipstone::UrlError| error.to_string())?;
        Ok((target.host, target.port))
    }

    /// The command line of the process that does it; `folder` takes the authorities and the log of packets.
    pub(super) fn words(&self, folder: &Path) -> std::io::Result<Vec<String>> {
        // Each value is one word with its flag, so that none is taken for another flag.
        let mut words = vec!["stress".to_owned(), "--piped".into()];
        let mut flag = |name: &str, value: &dyn std::fmt::Display| words.push(format!("--{name}={value}"));
        flag("rate", &self.rate);
        flag("duration", &self.duration);
        flag("size", &self.size);
        flag("ramp", &self.ramp);
        flag("seed", &self.seed);
        let optional = [("merge", &self.merge), ("roam", &self.roam), ("congestion", &self.congestion)];
        let optional = optional.into_iter().chain([("dtls", &self.dtls), ("web-hash", &self.web_hash)]);
        optional.for_each(|(name, value)| value.iter().for_each(|value| flag(name, value)));
        self.browsers.iter().for_each(|browsers| flag("browsers", browsers));
        self.network.settings().iter().for_each(|(name, value)| flag(&name.replace('_', "-"), value));
        if let Some(ca) = &self.ca {
            let file = folder.join("ca.pem");
            std::fs::write(&file, ca)?;
            flag("ca", &file.display());
        }
        if let Some(bytes) = &self.qlog_max {
            flag("qlog", &folder.join(PACKETS).display());
            flag("qlog-max", bytes);
        }
        words.extend(self.plain.then(|| "--plain".to_owned()));
        words.extend(self.trust_anyone.then(|| "--dangerously-trust-anyone".to_owned()));
        words.extend(["--".to_owned(), self.url.clone()]);
        Ok(words)
    }
}

/// Flags of one machine are refused, each with what to do instead.
fn check(flags: &StressArguments) -> Result<(), String> {
    let refused = [
        (
            flags.connects.is_some(),
            "--connects: each machine counts its own clients, and no line ties them together; run `skipstone stress URL \
             --connects RATE` on each machine without --fleet, and add up",
        ),
        (
            flags.wait,
            "--wait: agents start together at a moment that their coordinator chooses, not by a word at the server's \
             console; leave out --wait, and say by --duration how long lines are sent",
        ),
        (
            flags.reconnect,
            "--reconnect: which clients were there when a line was sent is known within one machine only; run `skipstone \
             stress URL --reconnect` on one machine, beside the fleet's run if the server needs the load",
        ),
        (
            flags.qlog.qlog.is_some(),
            "--qlog: the packets are those of the agents, and no order names a folder of theirs; --agent-qlog lets each \
             keep its log beside its evidence",
        ),
    ];
    if flags.url.is_none() {
        return Err("--fleet: agents need the URL of the server, which runs on its own: skipstone stress URL --fleet \
                    ..."
        .into());
    }
    if let Some((_, sentence)) = refused.iter().find(|(is_given, _)| *is_given) {
        return Err(format!("{sentence} (with --fleet)"));
    }
    match flags.agent_qlog {
        Some(Size::Sentence) => Err("--agent-qlog is a number of bytes, such as 256MiB".into()),
        _ => Ok(()),
    }
}

/// The folder of the log of packets, beside the evidence.
const PACKETS: &str = "qlog";
