//! The four parts whose tests are tried: the place of their code, and the tests that run against a mutant of it.

/// One part, as data.
#[derive(Debug)]
pub(super) struct Subject {
    /// The name that `--of` accepts.
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    /// The files whose functions are changed: cargo-mutants' patterns, from the root.
    pub(super) files: &'static [&'static str],
    /// Features of the package, for the tests that need them.
    pub(super) features: &'static str,
    /// Test programs in addition to the unit tests, which run first.
    pub(super) programs: &'static [&'static str],
    /// Tests that are left out, by a part of their names: they take long and test something else.
    pub(super) left_out: Option<&'static str>,
    /// Tests at once. Tests over sockets wait more than they work.
    pub(super) threads: &'static str,
    /// Whether the tests start the tool.
    pub(super) needs_tool: bool,
}

pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "proto",
        package: "skipstone-proto",
        files: &["crates/skipstone-proto/src/**"],
        features: "",
        programs: &["claims"],
        left_out: None,
        threads: "2",
        needs_tool: false,
    },
    Subject {
        name: "driver",
        package: "skipstone",
        files: &[
            "crates/skipstone/src/driver/**",
            "crates/skipstone/src/net/**",
            "crates/skipstone/src/handle.rs",
            "crates/skipstone/src/gate.rs",
            "crates/skipstone/src/roster.rs",
            "crates/skipstone/src/shards.rs",
            "crates/skipstone/src/deadline.rs",
            "crates/skipstone/src/driver_stats.rs",
            "crates/skipstone/src/restart_notice.rs",
            "crates/skipstone/src/statistics.rs",
        ],
        features: "dtls,simulate,webtransport,websocket,qlog,unstable",
        programs: &["claims"],
        left_out: None,
        threads: "12",
        needs_tool: false,
    },
    Subject {
        name: "mailbox",
        package: "skipstone-mailbox",
        files: &["crates/skipstone-mailbox/src/**"],
        features: "",
        programs: &[],
        left_out: None,
        threads: "2",
        needs_tool: false,
    },
    Subject {
        name: "deploy",
        package: "skipstone-deploy",
        files: &["crates/skipstone-deploy/src/**"],
        features: "",
        programs: &["deploys"],
        left_out: Some("players_survive_releases"),
        threads: "12",
        needs_tool: true,
    },
];

/// Those that a list of names with commas between them has.
pub(super) fn named(list: Option<&str>) -> Result<Vec<&'static Subject>, String> {
    let Some(list) = list else { return Ok(SUBJECTS.iter().collect()) };
    let wanted: Vec<&str> = list.split(',').collect();
    if let Some(other) = wanted.iter().find(|name| SUBJECTS.iter().all(|subject| subject.name != **name)) {
        let names: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
        return Err(format!("`--of {other}`: mutants are of {}", names.join(", ")));
    }
    Ok(SUBJECTS.iter().filter(|subject| wanted.contains(&subject.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_that_there_are_can_be_asked_for() {
        let names = |list| named(list).map(|found| found.iter().map(|subject| subject.name).collect::<Vec<_>>());
        assert_eq!(names(None), Ok(vec!["proto", "driver", "mailbox", "deploy"]));
        assert_eq!(names(Some("deploy,proto")), Ok(vec!["proto", "deploy"]));
        assert!(names(Some("proto,cli")).unwrap_err().contains("`--of cli`"));
    }
}
