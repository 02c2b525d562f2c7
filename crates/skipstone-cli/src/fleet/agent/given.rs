//! What a coordinator gives before a part, piece by piece: the bundle of a script.

/// The pieces so far, of one run.
#[derive(Debug, Default)]
pub(super) struct Given {
    run: String,
    bytes: Vec<u8>,
}

impl Given {
    /// Takes the piece that begins at this byte; each may come twice. The error is one sentence.
    #[cfg(feature = "bots")]
    pub(super) fn take(&mut self, run: &str, from: usize, piece: &[u8]) -> Result<(), String> {
        if self.run != run {
            *self = Given { run: run.to_owned(), bytes: Vec::new() };
        }
        let end = from.saturating_add(piece.len());
        if end > skipstone_bots::BUNDLE_BYTES_MAX {
            return Err(format!("the script of run {run} has more than {} bytes", skipstone_bots::BUNDLE_BYTES_MAX));
        }
        if from > self.bytes.len() {
            return Err(format!("a piece of the script of run {run} is missing; start the run again"));
        }
        self.bytes.truncate(from);
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// What was given for this run.
    pub(super) fn of(self, run: &str) -> Vec<u8> {
        if self.run == run { self.bytes } else { Vec::new() }
    }
}

#[cfg(all(test, feature = "bots"))]
mod tests {
    use super::*;

    #[test]
    fn pieces_join_in_order_each_once_and_belong_to_one_run() {
        let mut given = Given::default();
        assert!(given.take("r", 0, b"abc").is_ok() && given.take("r", 3, b"de").is_ok());
        // The answer to the last one was lost.
        assert!(given.take("r", 3, b"de").is_ok());
        assert!(given.take("r", 9, b"x").is_err_and(|why| why.contains("is missing")));
        assert!(given.take("r", usize::MAX, b"x").is_err_and(|why| why.contains("more than")));
        assert!(given.take("s", 0, b"other").is_ok());
        assert_eq!(given.of("r"), b"");
        let mut given = Given::default();
        assert!(given.take("r", 0, b"abc").is_ok() && given.take("r", 3, b"de").is_ok());
        assert_eq!(given.of("r"), b"abcde");
    }
}
