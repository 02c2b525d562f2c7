//! Why a run ended without a verdict.

use skipstone_lab::report::Exit;

/// An exit code, and one sentence.
pub(in super::super) type NoVerdict = (Exit, String);
