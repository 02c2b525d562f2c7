//! The combinations of the library's features: those that compile code of their own do so without a warning, and each
//! has no more crates, and no other library of cryptography, than it states. `programs` checks the tool and the demonstration in the same way. And
//! an application's own rustls is not affected.

mod listing;
mod programs;
mod quick;

use std::collections::BTreeSet;

use self::listing::{crates, listed};
use self::quick::quickly_built;
use crate::machine::files::{self, File};
use crate::machine::process;
use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;

/// A set of features, and the crates that may be in its build.
struct Combination {
    /// The argument of `--features`; default features are off.
    features: &'static str,
    /// Crates, this one with them, build dependencies without.
    crates_max: usize,
    checks: Checks,
}

/// The part of the library that is compiled.
#[derive(Clone, Copy)]
enum Checks {
    /// Nothing: its crates are counted.
    Crates,
    Library,
    /// Its tests, examples and benchmarks, too. The features that they need are among the same switches, so that four
    /// combinations contain all of it.
    AllTargets,
}

const fn of(features: &'static str, crates_max: usize) -> Combination {
    Combination { features, crates_max, checks: Checks::Library }
}

const fn counted(features: &'static str, crates_max: usize) -> Combination {
    Combination { features, crates_max, checks: Checks::Crates }
}

const fn with_tests(features: &'static str, crates_max: usize) -> Combination {
    Combination { features, crates_max, checks: Checks::AllTargets }
}

/// No feature; each alone; both providers; the defaults; all of them. A feature is a switch of its own, so that further
/// pairs would compile nothing that these do not. Only one module knows of the providers,
/// which [`knows_no_provider`] checks: the other features compile with a provider as they do alone, unless a library of
/// their own depends on it. Of pairs that would compile nothing new, the crates are counted.
const COMBINATIONS: &[Combination] = &[
    with_tests("", 25),
    of("websocket", MANY),
    of("self-signed", MANY),
    of("native-roots", MANY),
    of("dtls", MANY),
    of("simulate", 25),
    of("webtransport", MANY),
    of("qlog", 40),
    counted("websocket,simulate", MANY),
    of("ring", 30),
    counted("ring,websocket", MANY),
    counted("ring,self-signed", MANY),
    counted("ring,native-roots", MANY),
    counted("ring,dtls", MANY),
    counted("ring,simulate", MANY),
    of("ring,webtransport", 90),
    of("aws-lc", 30),
    counted("aws-lc,websocket", MANY),
    counted("aws-lc,self-signed", MANY),
    counted("aws-lc,native-roots", MANY),
    counted("aws-lc,dtls", MANY),
    counted("aws-lc,simulate", MANY),
    counted("aws-lc,webtransport", 90),
    counted("aws-lc,websocket,self-signed,native-roots", 60),
    of("ring,aws-lc", MANY),
    with_tests("default", 60),
    counted("default,simulate", MANY),
    counted("default,webtransport", 110),
    with_tests("default,dtls,qlog,simulate,webtransport", MANY),
    with_tests("default,aws-lc,dtls,simulate,webtransport", MANY),
];

/// No limit of its own.
const MANY: usize = usize::MAX;

/// The features that bring a library of cryptography, and the crates of these libraries. RustCrypto's are many; every
/// one that does arithmetic for DTLS needs this one.
const LIBRARIES: &[(&str, &str)] = &[("ring", "ring"), ("aws-lc", "aws-lc-sys"), ("dtls", "aes")];

/// Checks every combination.
pub(crate) fn step(tree: &Tree) -> Verdict {
    if let Err(why) = files::files(tree).iter().try_for_each(knows_no_provider) {
        return Verdict::Failed(why);
    }
    let failed: Vec<String> = COMBINATIONS.iter().filter_map(|combination| combination.check(tree).err()).collect();
    for why in &failed {
        println!("{why}");
    }
    if !failed.is_empty() {
        return Verdict::Failed(format!("{} of {} combinations", failed.len(), COMBINATIONS.len()));
    }
    match programs::check(tree) {
        Ok(()) => names_what_is_missing(tree),
        Err(why) => Verdict::Failed(why),
    }
}

impl Combination {
    fn check(&self, tree: &Tree) -> Result<(), String> {
        let arguments = ["--package", "skipstone", "--no-default-features", "--features", self.features];
        let text = listed("normal", &arguments, tree).map_err(|why| format!("`{}`: {why}", self.features))?;
        self.judge(&crates(&text))?;
        let mut check = process::cargo(tree);
        let targets = match self.checks {
            Checks::Crates => return Ok(()),
            Checks::Library => "--lib",
            Checks::AllTargets => "--all-targets",
        };
        check.args(["clippy", "--quiet", targets]).args(arguments).args(["--", "--deny", "warnings"]);
        process::run(check).map_err(|why| format!("`{}`: {why}", self.features))
    }

    fn judge(&self, crates: &BTreeSet<&str>) -> Result<(), String> {
        if crates.len() > self.crates_max {
            return Err(format!("`{}`: {} crates, and {} at most", self.features, crates.len(), self.crates_max));
        }
        let features = self.features.replace("default", "ring");
        for (feature, name) in LIBRARIES {
            let is_wanted = features.split(',').any(|own| own == *feature);
            let is_there = crates.iter().any(|own| own.split(' ').next() == Some(name));
            if is_there && !is_wanted {
                return Err(format!("`{}`: {name} is in the build", self.features));
            }
        }
        Ok(())
    }
}

/// A source of the library has no code for one provider, unless it is the one that has to.
fn knows_no_provider(file: &File) -> Result<(), String> {
    let is_free = !file.path.starts_with("crates/skipstone/src/") || file.path == BACKEND;
    let named = ["ring", "aws-lc"].into_iter().find(|name| file.text.contains(&format!("feature = \"{name}\"")));
    match named {
        Some(name) if !is_free => Err(format!("{}: has code for `{name}`, which belongs into {BACKEND}", file.path)),
        _ => Ok(()),
    }
}

const BACKEND: &str = "crates/skipstone/src/security/backend.rs";

/// A build without features refuses URLs and settings that need one by the feature's name.
fn names_what_is_missing(tree: &Tree) -> Verdict {
    for (package, features) in [("skipstone", ""), ("skipstone-proto", "server")] {
        let mut test = process::cargo(tree);
        test.args(["test", "--quiet", "--package", package, "--no-default-features", "--features", features, "--lib"]);
        test.args(quickly_built());
        test.args(["--", "without_its_feature_is_refused"]);
        match Verdict::of_tests(test) {
            Verdict::Tests(tally) if tally.failed == 0 && tally.passed > 0 => {}
            _ => return Verdict::Failed(format!("{package} without features does not name what is missing")),
        }
    }
    runs_beside_rustls(tree)
}

/// An application that has rustls itself, and leaves it to rustls which of its providers there is, runs when it is
/// linked with this library. The provider that it has is not ours: one that we gave rustls would be its second. Built
/// outside of the workspace, whose other members have providers of their own.
fn runs_beside_rustls(tree: &Tree) -> Verdict {
    let (theirs, ours) = ("aws_lc_rs", "ring");
    match run_application(tree, theirs, ours) {
        Ok(()) => Verdict::Passed,
        Err(why) => Verdict::Failed(format!("rustls with {theirs} beside skipstone with {ours}: {why}")),
    }
}

fn run_application(tree: &Tree, theirs: &str, ours: &str) -> Result<(), String> {
    let target = process::target_dir(tree);
    let folder = target.join("applications").join("beside-rustls");
    let library = tree.root().join("crates/skipstone");
    let manifest = format!(
        "[package]\nname = \"beside-rustls\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         skipstone = {{ path = {library:?}, default-features = false, features = [{ours:?}, \"self-signed\", \
         \"webtransport\"] }}\n\
         rustls = {{ version = \"0.23\", default-features = false, features = [\"std\", {theirs:?}] }}\n"
    );
    let write = || {
        std::fs::create_dir_all(folder.join("src"))?;
        std::fs::write(folder.join("Cargo.toml"), manifest)?;
        std::fs::write(folder.join("src/main.rs"), APPLICATION)?;
        // The versions that the workspace has.
        std::fs::copy(tree.root().join("Cargo.lock"), folder.join("Cargo.lock"))
    };
    write().map_err(|error| format!("cannot write to {}: {error}", folder.display()))?;
    let mut run = process::cargo(tree);
    run.args(["run", "--quiet", "--manifest-path"]).arg(folder.join("Cargo.toml")).arg("--target-dir").arg(target);
    run.args(quickly_built());
    process::run(run)
}

/// `ClientConfig::builder` panics if rustls has two providers or none, unless the application has named one.
const APPLICATION: &str = r#"
use skipstone::{Client, ClientConfig, Event, Server, ServerConfig};
use std::time::{Duration, Instant};

fn main() {
    let roots = rustls::RootCertStore::empty();
    rustls::ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let server = ServerConfig { websocket: false, ..ServerConfig::new("127.0.0.1:0".parse().expect("an address")) };
    let mut server = Server::start(server).expect("a port is free");
    let mut client = Client::connect(&server.url(), b"", ClientConfig::default()).expect("it may");
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        assert!(Instant::now() < end, "not within ten seconds");
        while let Some(event) = server.poll_event() {
            if let Event::Requested { peer, .. } = event {
                server.accept(peer).expect("it asked");
            }
        }
        client.wait(Duration::from_millis(1));
        while let Some(event) = client.poll_event() {
            match event {
                Event::Connected { .. } => return,
                Event::Closed { close, .. } => panic!("{}", close.reason_text()),
                _ => {}
            }
        }
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_for_one_provider_is_in_one_place() {
        let file = |path: &str| File { path: path.into(), text: "#[cfg(feature = \"aws-lc\")]".into() };
        assert!(
            knows_no_provider(&file("crates/skipstone/src/security/tls.rs")).is_err_and(|why| why.contains("aws-lc"))
        );
        assert_eq!(knows_no_provider(&file(BACKEND)), Ok(()));
        assert_eq!(knows_no_provider(&file("crates/skipstone/tests/claims/main.rs")), Ok(()));
    }

    #[test]
    fn a_library_that_no_feature_asks_for_is_a_breach_and_so_is_a_crate_too_many() {
        let crates = BTreeSet::from(["skipstone v0.1.0", "ring v0.17.14", "aws-lc-sys v0.47.0"]);
        assert!(of("ring,aws-lc", 3).judge(&crates).is_ok());
        assert!(of("default,aws-lc", 3).judge(&crates).is_ok());
        assert!(of("default", 3).judge(&crates).is_err_and(|why| why.contains("aws-lc-sys")));
        assert!(of("ring,aws-lc", 2).judge(&crates).is_err_and(|why| why.contains("3 crates")));
    }
}
