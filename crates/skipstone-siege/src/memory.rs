//! The memory of the server's process during an attack (Linux: proc(5)).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Resident bytes of a process; 0 where the system does not report it.
pub(crate) fn resident_bytes(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib: Option<u64> = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.unwrap_or(0) << 10
}

/// The most that a process holds while this lives.
pub(crate) struct Peak {
    bytes: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Peak {
    pub(crate) fn watch(pid: u32) -> Peak {
        let (bytes, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (peak, ends) = (bytes.clone(), is_over.clone());
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::Relaxed) {
                peak.fetch_max(resident_bytes(pid), Ordering::Relaxed);
                std::thread::sleep(SAMPLE);
            }
        });
        Peak { bytes, is_over, thread: Some(thread) }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// How long until a process holds no more than this; `None` if it still does after `patience`.
pub(crate) fn back_to(bytes: u64, pid: u32, patience: Duration) -> Option<Duration> {
    let began = Instant::now();
    while resident_bytes(pid) > bytes {
        if began.elapsed() > patience {
            return None;
        }
        std::thread::sleep(SAMPLE);
    }
    Some(began.elapsed())
}

const SAMPLE: Duration = Duration::from_millis(50);
