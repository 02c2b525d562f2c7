//! Ends calls of a script that take too long. An interrupt at each loop's end would cost more than most scripts, so it
//! is off; this thread switches it on for a VM whose call has lasted too long, as Luau allows at any time.
#![expect(unsafe_code, reason = "Luau's interrupt is set from another thread through a pointer into its state")]

use mlua::{Error, Lua, VmState, ffi};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The thread, for all VMs of a run.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    epoch: Instant,
    stopping: AtomicBool,
    watched: Mutex<Vec<Arc<Watched>>>,
}

/// A VM. Its place is emptied before the VM ends.
#[derive(Debug)]
struct Watched {
    /// When the running call began, in microseconds since the epoch; 0 while none runs.
    began_us: AtomicU64,
    /// Whether the interrupt is on.
    is_on: AtomicBool,
    switch: Mutex<Option<Switch>>,
}

/// Where Luau looks for its interrupt, and what it finds there when it is on.
#[derive(Debug)]
struct Switch {
    place: *mut *mut c_void,
    interrupt: *mut c_void,
}

// SAFETY: the place is part of a VM that lives as long as the switch is in its mutex, and is only accessed as an
// atomic; Luau's header states that the interrupt may be set from any thread. The interrupt is a function.
unsafe impl Send for Switch {}

/// Watches the calls of one VM; dropped before the VM is.
#[derive(Debug)]
pub(crate) struct Watch {
    shared: Arc<Shared>,
    watched: Arc<Watched>,
    /// Calls so far, by which the limit knows one from the next.
    calls: Rc<Cell<u64>>,
}

impl Watchdog {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system has no thread.
    pub(crate) fn start() -> Result<Self, String> {
        let shared =
            Arc::new(Shared { epoch: Instant::now(), stopping: AtomicBool::new(false), watched: Mutex::default() });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("script-watchdog".into()).spawn(move || own.watch());
        Ok(Watchdog { shared, thread: Some(thread.map_err(|error| format!("cannot start a thread: {error}"))?) })
    }

    /// Watches a VM, whose calls are told by `begin` and `end`.
    pub(crate) fn watch(&self, lua: &Lua) -> Watch {
        let calls = Rc::new(Cell::new(0));
        let limit = Limit { calls: Rc::clone(&calls), since: Cell::default() };
        lua.set_interrupt(move |lua| limit.check(lua));
        // SAFETY: the state is alive, and its callbacks are a structure that lives as long as it does.
        let place = unsafe { &raw mut (*ffi::lua_callbacks(lua.state())).interrupt }.cast::<*mut c_void>();
        // SAFETY: the place is aligned and valid, as above; the interrupt is a nullable function pointer.
        let interrupt = unsafe { AtomicPtr::from_ptr(place) }.swap(ptr::null_mut(), Ordering::AcqRel);
        let watched = Arc::new(Watched {
            began_us: AtomicU64::new(0),
            is_on: AtomicBool::new(false),
            switch: Mutex::new(Some(Switch { place, interrupt })),
        });
        locked(&self.shared.watched).push(Arc::clone(&watched));
        Watch { shared: Arc::clone(&self.shared), watched, calls }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It has no result, and does not panic.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Never 0, which is no time.
    fn micros(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.epoch).as_micros() as u64 + 1
    }

    fn watch(&self) {
        while !self.stopping.load(Ordering::Relaxed) {
            thread::sleep(STEP);
            let now = self.micros(Instant::now());
            for watched in locked(&self.watched).iter() {
                let began = watched.began_us.load(Ordering::Acquire);
                if began != 0 && now.saturating_sub(began) > SUSPICIOUS.as_micros() as u64 {
                    watched.set(true);
                }
            }
        }
    }
}

impl Watched {
    fn set(&self, on: bool) {
        // Under the lock: the thread and the end of a call may both be here, and the state must be that of the switch.
        let switch = locked(&self.switch);
        if self.is_on.swap(on, Ordering::AcqRel) == on {
            return;
        }
        if let Some(switch) = &*switch {
            let interrupt = if on { switch.interrupt } else { ptr::null_mut() };
            // SAFETY: the VM lives as long as the switch is there, see `Watch::drop`.
            unsafe { AtomicPtr::from_ptr(switch.place) }.store(interrupt, Ordering::Release);
        }
    }
}

impl Watch {
    /// A call of the script begins.
    pub(crate) fn begin(&self, at: Instant) {
        self.calls.set(self.calls.get() + 1);
        self.watched.began_us.store(self.shared.micros(at), Ordering::Release);
    }

    /// It has ended.
    pub(crate) fn end(&self) {
        self.watched.began_us.store(0, Ordering::Release);
        if self.watched.is_on.load(Ordering::Acquire) {
            self.watched.set(false);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.watched.set(false);
        *locked(&self.watched.switch) = None;
        locked(&self.shared.watched).retain(|other| !Arc::ptr_eq(other, &self.watched));
    }
}

/// How much CPU time a suspicious call has used since the first interrupt. Wall time alone would end calls that a
/// stalled machine delayed.
#[derive(Debug)]
struct Limit {
    calls: Rc<Cell<u64>>,
    /// The suspicious call, and the CPU time at its first interrupt.
    since: Cell<Option<(u64, Duration)>>,
}

impl Limit {
    fn check(&self, lua: &Lua) -> mlua::Result<VmState> {
        let (now, call) = (cpu_time(), self.calls.get());
        // Interrupts of one call may be far apart: functions of the libraries have none.
        let first = self.since.get().filter(|(of, _)| *of == call).map_or(now, |(_, first)| first);
        self.since.set(Some((call, first)));
        if now.saturating_sub(first) > CPU_MAX {
            return Err(Error::runtime(format!("{}{TOO_LONG}", place(lua))));
        }
        Ok(VmState::Continue)
    }
}

/// Where the script is: file and line, as its other errors begin.
fn place(lua: &Lua) -> String {
    let told = |level| {
        lua.inspect_stack(level, |at| {
            // The prelude calls functions of the libraries for the script.
            let file = at.source().short_src.filter(|file| file != "skipstone").map(|file| file.into_owned());
            Some(format!("{}:{}: ", file?, at.current_line()?))
        })?
    };
    (0..LEVELS_MAX).find_map(told).unwrap_or_default()
}

/// CPU time of this thread.
#[cfg(unix)]
fn cpu_time() -> Duration {
    use nix::time::{ClockId, clock_gettime};
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}

#[cfg(not(unix))]
fn cpu_time() -> Duration {
    thread_local!(static EPOCH: Instant = Instant::now());
    EPOCH.with(Instant::elapsed)
}

/// A mutex whose data a panic elsewhere leaves usable.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const STEP: Duration = Duration::from_millis(5);
/// A call takes some microseconds; this long it is suspicious.
const SUSPICIOUS: Duration = Duration::from_millis(20);
/// CPU time of a suspicious call.
const CPU_MAX: Duration = Duration::from_millis(20);
/// Calls that are looked through for a line of a script.
const LEVELS_MAX: usize = 8;
/// The sentence of the error.
const TOO_LONG: &str = "the call has used 20 ms of CPU time: is it an endless loop? A call that takes longer delays \
                        all other bots; put what is expensive into a data file, which all bots share";
