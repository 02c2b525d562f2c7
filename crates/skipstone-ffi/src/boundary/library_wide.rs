//! Functions for the library as a whole: its version, errors and log, and all handles at once.

use super::raw;
use crate::failure::{self, Failure, call, value};
use crate::types::*;
use crate::{kept, log, table};
use std::ffi::{CStr, c_char};

/// The library's version as text, "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_version() -> *const c_char {
    const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"?",
    };
    VERSION.as_ptr()
}

/// The interface version of the loaded library; SKIPSTONE_ABI_VERSION is that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_abi_version() -> u32 {
    SKIPSTONE_ABI_VERSION
}

/// Whether the loaded library can serve a program that was built with this version of the header: it has the same major
/// number, and no lower minor number. Call it first, with SKIPSTONE_ABI_VERSION.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_check_abi(header_version: u32) -> SkipstoneStatus {
    call(|| {
        let (major, minor) = (header_version >> 16, header_version & 0xFFFF);
        let (mine, my_minor) = (SKIPSTONE_ABI_VERSION >> 16, SKIPSTONE_ABI_VERSION & 0xFFFF);
        if major == mine && minor <= my_minor {
            return Ok(());
        }
        let text = format!(
            "the library that was found has version {mine}.{my_minor} of the interface, and this program was built for \
             {major}.{minor}: ship the library of the header's version"
        );
        Err(Failure::new(SkipstoneStatus::WrongAbi, text))
    })
}

/// The size in bytes of a structure in this library, by its SkipstoneStruct; 0 for an unknown one.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_struct_size(which: u32) -> u32 {
    let size = match which {
        1 => size_of::<SkipstoneEvent>(),
        2 => size_of::<SkipstoneChannel>(),
        3 => size_of::<SkipstoneInboundRule>(),
        4 => size_of::<SkipstoneLink>(),
        5 => size_of::<SkipstoneServerConfig>(),
        6 => size_of::<SkipstoneClientConfig>(),
        7 => size_of::<SkipstoneStats>(),
        8 => size_of::<SkipstoneOverview>(),
        9 => size_of::<SkipstoneDriverStats>(),
        10 => size_of::<SkipstoneServerTime>(),
        11 => size_of::<SkipstoneFlow>(),
        _ => 0,
    };
    size as u32
}

/// Writes the text of this thread's last error and a NUL, as much as fits into `capacity` bytes. Returns the length of
/// the whole text without the NUL; 0 if there was no error yet. The text says what is wrong and what to do about it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_last_error(buffer: *mut c_char, capacity: usize) -> usize {
    value(0, || {
        let text = failure::last();
        // SAFETY: the caller's buffer.
        unsafe { raw::copy_text(&text, buffer, capacity) };
        text.len()
    })
}

/// The name of a status, "SKIPSTONE_STATUS_BAD_HANDLE".
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_status_name(status: i32) -> *const c_char {
    let name = match status {
        0 => c"SKIPSTONE_STATUS_OK",
        -1 => c"SKIPSTONE_STATUS_BAD_POINTER",
        -2 => c"SKIPSTONE_STATUS_NOT_UTF8",
        -3 => c"SKIPSTONE_STATUS_BAD_SIZE",
        -4 => c"SKIPSTONE_STATUS_BAD_VALUE",
        -5 => c"SKIPSTONE_STATUS_BAD_HANDLE",
        -6 => c"SKIPSTONE_STATUS_WRONG_KIND",
        -7 => c"SKIPSTONE_STATUS_WRONG_THREAD",
        -8 => c"SKIPSTONE_STATUS_BUFFER_TOO_SMALL",
        -9 => c"SKIPSTONE_STATUS_OUT_OF_MEMORY",
        -10 => c"SKIPSTONE_STATUS_WRONG_ABI",
        -11 => c"SKIPSTONE_STATUS_NOT_BUILT",
        -12 => c"SKIPSTONE_STATUS_SYSTEM",
        -13 => c"SKIPSTONE_STATUS_BAD_URL",
        -14 => c"SKIPSTONE_STATUS_BAD_IDENTITY",
        -15 => c"SKIPSTONE_STATUS_BAD_TRUST",
        -16 => c"SKIPSTONE_STATUS_UNKNOWN_PEER",
        -17 => c"SKIPSTONE_STATUS_NOT_CONNECTED",
        -18 => c"SKIPSTONE_STATUS_NO_SUCH_CHANNEL",
        -19 => c"SKIPSTONE_STATUS_WRONG_DIRECTION",
        -20 => c"SKIPSTONE_STATUS_TOO_LONG",
        -21 => c"SKIPSTONE_STATUS_QUEUE_FULL",
        -22 => c"SKIPSTONE_STATUS_DRIVER_BUSY",
        -23 => c"SKIPSTONE_STATUS_DRIVER_GONE",
        -24 => c"SKIPSTONE_STATUS_NOT_WAITING",
        -25 => c"SKIPSTONE_STATUS_NOT_AVAILABLE",
        -26 => c"SKIPSTONE_STATUS_STILL_OPEN",
        -99 => c"SKIPSTONE_STATUS_INTERNAL",
        _ => c"an unknown status",
    };
    name.as_ptr()
}

/// Takes the oldest line of the library's log. The log reports what no call can return: renewed certificates, sockets
/// with small buffers, internal errors. SKIPSTONE_STATUS_NOT_AVAILABLE if there is none. A line that does not fit stays
/// in the queue.
///
/// `level` gets a SkipstoneLogLevel, `length` the length without the NUL; both may be NULL. Up to 256 lines of all
/// handles are queued; the library never calls back.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skipstone_next_log_line(
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    level: *mut u32,
) -> SkipstoneStatus {
    call(|| {
        let taken = log::next(|of_line, line| {
            // SAFETY: the caller's pointers.
            let put = unsafe { raw::put_if_wanted("level", level, of_line as u32) }
                // SAFETY: the caller's pointers.
                .and_then(|()| unsafe { raw::put_text(line, buffer, capacity, length) });
            let is_taken = put.is_ok();
            (put, is_taken)
        });
        taken.unwrap_or_else(|| Err(Failure::new(SkipstoneStatus::NotAvailable, "the log has no further line")))
    })
}

/// Ends every server and client of this process at once, without notifying their peers. It is for a host that unloads
/// the code which held their handles but keeps the library, such as a game engine's editor. No thread may read events
/// afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn skipstone_release_all() -> SkipstoneStatus {
    call(|| {
        for handle in table::all() {
            // Another thread may have ended it in the meantime.
            let _ = super::both::release(handle);
        }
        kept::clear();
        Ok(())
    })
}
