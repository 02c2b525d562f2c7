//! The functions that the page calls, and the memory that both share. An invalid argument returns a negative number,
//! never a trap.
//!
//! Input bytes come through one buffer: the page asks for its address with `skip_input`, writes there, and states their
//! number in the next call. Results are at the addresses that `skip_outcome` and `skip_figures` return, until the next
//! call that polls. Any call may move the memory.
//!
//! The only state of the module is a thread-local, because WebAssembly has one thread; calls are never nested.
#![expect(unsafe_code, reason = "an exported name is unsafe to give: two functions of one program must not share it")]

use crate::core::{Core, submission};
use crate::figures;
use crate::options::Options;
use crate::outcome::Outcome;
use crate::refusal::Refusal;
use bytes::Bytes;
use skipstone_proto::Duration;
use std::cell::RefCell;
use std::mem::ManuallyDrop;

/// All state between calls.
#[derive(Default)]
struct State {
    /// Options of the next core.
    options: Options,
    /// Cores live as long as the module's memory, so no code to end them has to be downloaded.
    cores: Vec<ManuallyDrop<Core>>,
    /// The selected core.
    selected: usize,
    input: Vec<u8>,
    outcome: Outcome,
    /// Numbers of the last outcome, or those that were requested last.
    figures: Vec<f64>,
    text: String,
}

impl State {
    fn core(&mut self) -> Result<&mut Core, Refusal> {
        self.cores.get_mut(self.selected).map(|core| &mut **core).ok_or(Refusal::NotStarted)
    }
}

thread_local! {
    static STATE: RefCell<Option<ManuallyDrop<State>>> = const { RefCell::new(None) };
}

/// The version of these functions: the page refuses a module with another one.
const INTERFACE: u32 = 3;
/// Maximum number of cores in one memory.
const CORES_MAX: usize = 64;
/// The largest message is 64 MiB by default; a longer one is an error of the page.
const INPUT_BYTES_MAX: usize = 96 << 20;
/// A larger buffer is freed.
const INPUT_BYTES_KEPT: usize = 256 << 10;
/// Longer payloads take the buffer with them instead of being copied.
const COPIED_BYTES_MAX: usize = 16 << 10;

fn with_state<T>(act: impl FnOnce(&mut State) -> T) -> Option<T> {
    STATE.with(|state| {
        let mut state = state.try_borrow_mut().ok()?;
        let state = state.get_or_insert_with(|| ManuallyDrop::new(State::default()));
        Some(act(state))
    })
}

/// Calls the core at this time, with the first `bytes` of the input.
fn with_core(now_us: f64, bytes: u32, act: impl FnOnce(&mut Core, &mut [u8]) -> Result<i32, Refusal>) -> i32 {
    let done = with_state(|state| {
        let core = state.cores.get_mut(state.selected).ok_or(Refusal::NotStarted)?;
        let input = state.input.get_mut(..bytes as usize).ok_or(Refusal::BadArgument)?;
        core.advance(now_us);
        act(core, input)
    });
    done.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

fn text(bytes: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(bytes).map_err(|_| Refusal::BadArgument)
}

/// The version of this interface.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_interface() -> u32 {
    INTERFACE
}

/// The address at which to write `bytes` of input; 0 if these are too many.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_input(bytes: u32) -> usize {
    let bytes = bytes as usize;
    if bytes > INPUT_BYTES_MAX {
        return 0;
    }
    let place = with_state(|state| {
        if bytes <= INPUT_BYTES_KEPT && state.input.len() > INPUT_BYTES_KEPT {
            state.input = Vec::new();
        }
        if state.input.len() < bytes {
            state.input.resize(bytes, 0);
        }
        state.input.as_ptr() as usize
    });
    place.unwrap_or(0)
}

/// Sets an option of the next core. An invalid one resets all options set before.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_option(option: u32, value: f64) -> i32 {
    let is_set = with_state(|state| {
        let is_set = state.options.set(option, value);
        if !is_set {
            state.options = Options::default();
        }
        is_set
    });
    if is_set == Some(true) { 0 } else { Refusal::BadArgument as i32 }
}

/// Creates a core with a seed of 32 bytes in the input, and selects it; returns its number. If an option is out of
/// range, `skip_text` says which.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_begin(seed_bytes: u32) -> i32 {
    let begun = with_state(|state| {
        let options = std::mem::take(&mut state.options);
        let seed = state.input.get(..seed_bytes as usize).and_then(|seed| <[u8; 32]>::try_from(seed).ok());
        let seed = seed.ok_or(Refusal::BadArgument)?;
        if state.cores.len() >= CORES_MAX {
            return Err(Refusal::Full);
        }
        match Core::new(options, seed) {
            Ok(core) => state.cores.push(ManuallyDrop::new(core)),
            Err(error) => {
                state.text = error.to_string();
                return Err(Refusal::BadConfig);
            }
        }
        state.selected = state.cores.len() - 1;
        Ok(state.selected as i32)
    });
    begun.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

/// Selects the core of all later calls.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_select(core: u32) {
    with_state(|state| state.selected = core as usize);
}

/// Begins a connection over an open carrier (0 WebSocket, 1 WebTransport) with the token in the input; returns its
/// socket.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_connect(now_us: f64, carrier: u32, packet_bytes_max: u32, token_bytes: u32) -> i32 {
    with_core(now_us, token_bytes, |core, token| core.connect(carrier, packet_bytes_max, token).map(|it| it as i32))
}

/// Begins the connection to the server to which the client is moved, over an open carrier; returns its socket.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_connect_there(now_us: f64, carrier: u32, packet_bytes_max: u32) -> i32 {
    with_core(now_us, 0, |core, _| core.connect_there(carrier, packet_bytes_max).map(|it| it as i32))
}

/// No carrier to that server can be opened.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_move_failed(now_us: f64) -> i32 {
    with_core(now_us, 0, |core, _| {
        core.move_failed();
        Ok(0)
    })
}

/// Handles a datagram in the input.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_datagram(now_us: f64, socket: u32, bytes: u32) -> i32 {
    with_core(now_us, bytes, |core, datagram| core.handle_datagram(socket, datagram).map(|()| 0))
}

/// The carrier accepts no more bytes for now (0), or accepts bytes again (1).
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_writable(now_us: f64, socket: u32, is_writable: u32) -> i32 {
    with_core(now_us, 0, |core, _| {
        core.set_writable(socket, is_writable != 0);
        Ok(0)
    })
}

/// Sets the maximum datagram size of a session.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_packet_bytes_max(now_us: f64, socket: u32, bytes: u32) -> i32 {
    with_core(now_us, 0, |core, _| {
        core.set_packet_bytes_max(socket, bytes);
        Ok(0)
    })
}

/// Handles the loss of a carrier, for the reason in the input.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_carrier_lost(now_us: f64, socket: u32, reason_bytes: u32) -> i32 {
    with_core(now_us, reason_bytes, |core, reason| {
        core.handle_carrier_lost(socket, text(reason)?);
        Ok(0)
    })
}

/// Queues the message in the input. If `is_accepted`, errors are reported by an event.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_send(
    now_us: f64,
    socket: u32,
    channel: u32,
    id: f64,
    age_us: f64,
    bytes: u32,
    is_accepted: u32,
) -> i32 {
    let payload = with_state(|state| {
        let written = state.input.get(..bytes as usize).ok_or(Refusal::BadArgument)?;
        if written.len() <= COPIED_BYTES_MAX {
            return Ok(Bytes::copy_from_slice(written));
        }
        let mut taken = std::mem::take(&mut state.input);
        taken.truncate(bytes as usize);
        Ok(Bytes::from(taken))
    });
    let payload = match payload.unwrap_or(Err(Refusal::NotStarted)) {
        Ok(payload) => payload,
        Err(refusal) => return refusal as i32,
    };
    let message = submission(payload, id, age_us);
    with_core(now_us, 0, |core, _| {
        let sent = match is_accepted {
            0 => core.send(socket, channel, message),
            _ => core.send_accepted(socket, channel, message),
        };
        sent.map(|()| 0)
    })
}

/// Sends messages that wait for a flush.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_flush(now_us: f64) -> i32 {
    with_core(now_us, 0, |core, _| {
        core.flush();
        Ok(0)
    })
}

/// Ends a connection for the reason in the input; reliable messages have `linger_us` to arrive first.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_close(now_us: f64, socket: u32, code: f64, linger_us: f64, reason_bytes: u32) -> i32 {
    with_core(now_us, reason_bytes, |core, reason| {
        core.close(socket, code as u64, text(reason)?, Duration::from_micros(linger_us as u64)).map(|()| 0)
    })
}

/// Handles due timers.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_timeout(now_us: f64) -> i32 {
    with_core(now_us, 0, |core, _| {
        core.handle_timeout();
        Ok(0)
    })
}

/// When `skip_timeout` is due, in µs of the page's clock; infinity if never.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_poll_timeout() -> f64 {
    with_state(|state| state.core().ok().map(|core| core.poll_timeout())).flatten().unwrap_or(f64::INFINITY)
}

/// 1 if there are datagrams to send. The figures are: socket, address, bytes, bytes of each datagram but the last.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_poll_transmit(now_us: f64) -> i32 {
    let polled = with_state(|state| {
        let core = state.cores.get_mut(state.selected).ok_or(Refusal::NotStarted)?;
        core.advance(now_us);
        let Some((transmit, written)) = core.poll_transmit() else { return Ok(0) };
        state.figures.clear();
        let place = written.as_ptr() as usize;
        state
            .figures
            .extend([transmit.path.socket as usize, place, transmit.bytes, transmit.segment_bytes].map(|it| it as f64));
        Ok(1)
    });
    polled.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

/// The kind of the next event, 0 if there is none. The figures are: socket, address and length of its bytes, three
/// numbers.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_poll_event(now_us: f64) -> i32 {
    let polled = with_state(|state| {
        let core = state.core()?;
        core.advance(now_us);
        state.outcome = core.poll_event().unwrap_or_default();
        let Outcome { kind, socket, numbers, bytes } = &state.outcome;
        state.figures.clear();
        state.figures.extend([*socket as usize, bytes.as_ptr() as usize, bytes.len()].map(|it| it as f64));
        state.figures.extend(numbers);
        Ok(*kind as i32)
    });
    polled.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

/// A socket whose carrier can be closed; negative if there is none.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_poll_released() -> i32 {
    let released = with_state(|state| state.core().ok().and_then(|core| core.poll_released())).flatten();
    released.map_or(-1, |socket| socket as i32)
}

/// Fills the figures with the requested ones: 0 the settings, 1 the statistics, 2 the server's time. Returns their
/// number.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_ask(now_us: f64, socket: u32, question: u32) -> i32 {
    let answered = with_state(|state| {
        let core = state.core()?;
        core.advance(now_us);
        let answer = match question {
            0 => core.settings(socket).map(|settings| figures::of_settings(&settings)),
            1 => core.overview(socket).map(|overview| figures::of_overview(&overview)),
            2 => core.server_time(socket).map(|time| figures::of_server_time(&time)),
            _ => return Err(Refusal::BadArgument),
        };
        state.figures = answer.ok_or(Refusal::UnknownConnection)?;
        Ok(state.figures.len() as i32)
    });
    answered.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

/// Fills the figures with the number and bytes of the messages that are queued on a channel or in flight.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_queued(socket: u32, channel: u32) -> i32 {
    let answered = with_state(|state| {
        let core = state.core()?;
        let (messages, bytes) = core.queued(socket, channel).ok_or(Refusal::UnknownConnection)?;
        state.figures = vec![messages as f64, bytes as f64];
        Ok(2)
    });
    answered.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

/// Stores the names of the statistics as the text, separated by spaces, and returns its length.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_statistics_names(socket: u32) -> i32 {
    let answered = with_state(|state| {
        let core = state.core()?;
        let overview = core.overview(socket).ok_or(Refusal::UnknownConnection)?;
        state.text = figures::statistics_names(&overview);
        Ok(state.text.len() as i32)
    });
    answered.unwrap_or(Err(Refusal::NotStarted)).unwrap_or_else(|refusal| refusal as i32)
}

/// The address of the figures.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_figures() -> usize {
    with_state(|state| state.figures.as_ptr() as usize).unwrap_or(0)
}

/// The address of the text.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_text() -> usize {
    with_state(|state| state.text.as_ptr() as usize).unwrap_or(0)
}

/// The length of the text.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn skip_text_bytes() -> usize {
    with_state(|state| state.text.len()).unwrap_or(0)
}
