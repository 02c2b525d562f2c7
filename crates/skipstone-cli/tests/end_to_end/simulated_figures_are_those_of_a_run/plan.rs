//! Plans and the commands in their comments: a command is a line `#   skipstone …`, which continues after a `\`. The
//! first is run here, exactly as it is written; those behind it judge for longer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::time::Duration;

use crate::common::{Running, SKIPSTONE};

/// A plan's file.
pub(super) struct DocumentedPlan {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) text: String,
}

/// The outcome of a command.
pub(super) struct Outcome {
    pub(super) code: Option<i32>,
    /// The table.
    pub(super) out: String,
    /// The reasons of its verdict.
    pub(super) err: String,
}

impl DocumentedPlan {
    /// All, by name.
    pub(super) fn all() -> Vec<Self> {
        let entries = std::fs::read_dir(root().join("plans")).expect("there are plans");
        let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
        paths.sort();
        paths.into_iter().map(Self::read).collect()
    }

    /// The plan of this name.
    pub(super) fn of(name: &str) -> Self {
        Self::read(root().join(format!("plans/{name}.toml")))
    }

    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        Self { name, path, text }
    }

    /// The words of each command of the tool in its comment.
    pub(super) fn commands(&self) -> Vec<Vec<String>> {
        let mut lines = self.text.lines().map_while(|line| line.strip_prefix('#'));
        let mut commands = Vec::new();
        while let Some(line) = lines.next() {
            if !line.starts_with("   skipstone ") {
                continue;
            }
            let mut command = line.to_owned();
            while let Some(begun) = command.strip_suffix('\\') {
                command = begun.to_owned() + lines.next().expect("a line that goes on has another behind it");
            }
            // A shell's quotes hold no blanks here.
            commands.push(command.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect());
        }
        commands
    }

    /// Its first command as a page shows it that has the table, too.
    pub(super) fn command_without_thresholds(&self) -> String {
        let words = self.commands().swap_remove(0);
        let end = words.iter().position(|word| word == "--threshold").unwrap_or(words.len());
        words[..end].join(" ")
    }

    /// The result of its first command, run at the root of the repository. It runs once for all tests.
    pub(super) fn outcome(&self) -> Arc<Outcome> {
        type Cell = Arc<OnceLock<Arc<Outcome>>>;
        static OUTCOMES: LazyLock<Mutex<BTreeMap<String, Cell>>> = LazyLock::new(Mutex::default);
        let cell = OUTCOMES.lock().expect("the lock is not poisoned").entry(self.name.clone()).or_default().clone();
        cell.get_or_init(|| Arc::new(self.play())).clone()
    }

    fn play(&self) -> Outcome {
        let commands = self.commands();
        let mut tool = tool();
        tool.args(&commands[0][1..]).current_dir(root());
        let ended = Running::start(tool).wait_for(LONGEST);
        Outcome { code: ended.status.code(), out: ended.out, err: ended.err }
    }
}

/// The root of the repository.
pub(super) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("a crate lies in the folder of the crates").to_owned()
}

/// The tool at low priority: virtual time is unaffected, and the clocks of other tests are.
fn tool() -> Command {
    if cfg!(not(unix)) {
        return Command::new(SKIPSTONE);
    }
    let mut nice = Command::new("nice");
    nice.args(["-n", "19", SKIPSTONE]);
    nice
}

/// No command takes longer, without optimisation on a busy machine.
const LONGEST: Duration = Duration::from_secs(900);
