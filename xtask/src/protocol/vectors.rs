//! `cargo xtask vectors`: the golden datagrams of WIRE.md against the decoder and the client that were written from
//! that page only.

use crate::machine::tree::Tree;
use crate::machine::verdict::Verdict;
use crate::machine::{process, system};

/// The command: `Ok(true)` if the decoder agrees with the vectors, and an error if it cannot be asked.
pub(crate) fn run(tree: &Tree) -> Result<bool, String> {
    match check(tree) {
        Verdict::Failed(why) => {
            println!("{why}");
            Ok(false)
        }
        Verdict::Skipped(why) => Err(why),
        Verdict::Passed | Verdict::Tests(_) => Ok(true),
    }
}

/// The step of `cargo xtask test`.
pub(crate) fn check(tree: &Tree) -> Verdict {
    if !tree.has(DECODER) {
        return Verdict::Skipped(format!("there is no {DECODER}"));
    }
    let Some(program) = system::python(tree) else {
        return Verdict::Skipped("no Python 3, in which the independent decoder is written: install it".into());
    };
    let mut python = process::command(program, tree);
    // No `__pycache__` next to the vectors.
    python.args(["-B", DECODER, "--check"]);
    let decoded = process::run(python);
    let mut python = process::command(program, tree);
    python.args(["-B", "-m", "unittest", "discover", "--start-directory", CLIENT, "--top-level-directory", CLIENT]);
    decoded.and_then(|()| process::run(python)).map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

const DECODER: &str = "vectors/decode.py";
const CLIENT: &str = "interop/python";
