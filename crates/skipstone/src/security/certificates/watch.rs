//! The thread that checks for changed files, so that no driver waits for a disk. It checks each second: a change counts
//! at the second check that sees it, at most two seconds later.

use super::store::Certificates;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, SystemTime};

/// The thread's time between two checks.
const SPAN: Duration = Duration::from_secs(1);

/// A running thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct CertificateWatch {
    _ends_when_dropped: Sender<()>,
}

impl CertificateWatch {
    pub(crate) fn start(certificates: &Arc<Certificates>) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let certificates = Arc::clone(certificates);
        let run = move || {
            while let Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(SPAN) {
                certificates.look(SystemTime::now());
            }
        };
        std::thread::Builder::new().name("skipstone certificates".into()).spawn(run)?;
        Ok(CertificateWatch { _ends_when_dropped: sender })
    }
}
