//! The caller's pointers: what they point to is copied, or borrowed for the duration of the call.

use crate::failure::Failure;
use crate::slot::Held;
use crate::types::*;
use std::ffi::{CStr, c_char};

/// A structure whose first field is its size in bytes.
///
/// # Safety
/// It is `repr(C)`, begins with a `u32`, and every bit pattern is a valid value.
pub(crate) unsafe trait Sized_: Copy {
    /// Bytes in version 1.0 of the interface: fewer are an error. This number never changes, while the structure grows.
    const SIZE_MIN: usize;
}

/// Pointers are shorter on other systems, some of which add no padding at a structure's end.
const IS_64_BIT: bool = size_of::<usize>() == 8;

// SAFETY: integers, floats and raw pointers in `repr(C)`, `size: u32` first.
unsafe impl Sized_ for SkipstoneServerConfig {
    const SIZE_MIN: usize = if IS_64_BIT { 376 } else { 340 };
}
// SAFETY: as above.
unsafe impl Sized_ for SkipstoneClientConfig {
    const SIZE_MIN: usize = if IS_64_BIT { 240 } else { 236 };
}
// SAFETY: as above.
unsafe impl Sized_ for SkipstoneChannel {
    const SIZE_MIN: usize = 36;
}
// SAFETY: as above.
unsafe impl Sized_ for SkipstoneInboundRule {
    const SIZE_MIN: usize = 28;
}
// SAFETY: as above.
unsafe impl Sized_ for SkipstoneStats {
    const SIZE_MIN: usize = 184;
}
// SAFETY: as above.
unsafe impl Sized_ for SkipstoneOverview {
    const SIZE_MIN: usize = 320;
}
// SAFETY: as above.
unsafe impl Sized_ for SkipstoneDriverStats {
    const SIZE_MIN: usize = 88;
}

/// A later version of a structure is no longer than this; a structure that states a larger size was not initialised.
const SIZE_MAX: usize = 4_096;

/// A NUL-terminated text.
///
/// # Safety
/// `pointer` is NULL, or points to NUL-terminated bytes that are valid for `'a`.
pub(crate) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str, Failure> {
    // SAFETY: the caller's promise.
    unsafe { text_or_none(name, pointer) }?.ok_or_else(|| null(name))
}

/// As [`text`]; `None` for NULL.
///
/// # Safety
/// As [`text`].
pub(crate) unsafe fn text_or_none<'a>(name: &str, pointer: *const c_char) -> Result<Option<&'a str>, Failure> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not NULL, and the caller promises the rest.
    let bytes = unsafe { CStr::from_ptr(pointer) };
    let text = bytes.to_str().map_err(|error| {
        let text = format!("{name} is not UTF-8: byte {} of it cannot be read", error.valid_up_to());
        Failure::new(SkipstoneStatus::NotUtf8, text)
    })?;
    Ok(Some(text))
}

/// A slice of `length` bytes; NULL for an empty one.
///
/// # Safety
/// `pointer` points to `length` bytes that are valid for `'a`, unless it is NULL.
pub(crate) unsafe fn bytes<'a>(name: &str, pointer: *const u8, length: usize) -> Result<&'a [u8], Failure> {
    // SAFETY: the caller's promise.
    unsafe { items(name, pointer, length) }
}

/// A slice of `count` items; NULL for an empty one.
///
/// # Safety
/// `pointer` points to `count` values that are valid for `'a`, unless it is NULL.
pub(crate) unsafe fn items<'a, T>(name: &str, pointer: *const T, count: usize) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    check(name, pointer)?;
    if count > isize::MAX as usize / size_of::<T>() {
        return Err(Failure::value(&format!("the length of {name}"), count, "what there is in memory"));
    }
    // SAFETY: not NULL, aligned, not too long, and the caller promises the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// A message to send: shared with the event whose payload it is, or else copied.
///
/// # Safety
/// As [`bytes`].
pub(crate) unsafe fn message(held: &mut Held, pointer: *const u8, length: usize) -> Result<library::Bytes, Failure> {
    match held.shared(pointer, length) {
        Some(shared) => Ok(shared),
        // SAFETY: the caller's promise.
        None => unsafe { payload(pointer, length) },
    }
}

/// A message, copied once.
///
/// # Safety
/// As [`bytes`].
pub(crate) unsafe fn payload(pointer: *const u8, length: usize) -> Result<library::Bytes, Failure> {
    if u32::try_from(length).is_err() {
        let text = format!("the message has {length} bytes, but the maximum is 4 GiB: is the length right?");
        return Err(Failure::new(SkipstoneStatus::TooLong, text));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { bytes("data", pointer, length) }?;
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| {
        let text = format!("there is no memory for a message of {length} bytes");
        Failure::new(SkipstoneStatus::OutOfMemory, text)
    })?;
    copy.extend_from_slice(bytes);
    Ok(copy.into())
}

/// NUL-terminated texts.
///
/// # Safety
/// As for [`items`], and for each of them as for [`text`].
pub(crate) unsafe fn texts(name: &str, pointer: *const *const c_char, count: u32) -> Result<Vec<String>, Failure> {
    // SAFETY: the caller's promise.
    let pointers = unsafe { items(name, pointer, count as usize) }?;
    // SAFETY: the caller's promise.
    let texts = pointers.iter().map(|pointer| unsafe { text(name, *pointer) }.map(str::to_owned));
    texts.collect()
}

/// A structure with a size: the fields that the caller's version has; the others come from `defaults`.
///
/// # Safety
/// `pointer` is NULL, or points to the number of bytes that its first field states.
pub(crate) unsafe fn read<T: Sized_>(name: &str, pointer: *const T, defaults: T) -> Result<T, Failure> {
    // SAFETY: the caller's promise.
    let size = unsafe { stated_size(name, pointer) }?;
    let mut value = defaults;
    let known = size.min(size_of::<T>());
    // SAFETY: both have at least `known` bytes, and every bit pattern is a valid value of T.
    unsafe { std::ptr::copy_nonoverlapping(pointer.cast::<u8>(), (&raw mut value).cast::<u8>(), known) };
    // SAFETY: the structure has `size` bytes.
    let rest = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    match rest.iter().all(|byte| *byte == 0) {
        true => Ok(value),
        false => Err(unknown_fields(name)),
    }
}

/// An array of structures with a size, all of the size of the first.
///
/// # Safety
/// `pointer` points to `count` structures, each with the number of bytes that its first field states.
pub(crate) unsafe fn read_all<T: Sized_>(
    name: &str,
    pointer: *const T,
    count: u32,
    defaults: T,
) -> Result<Vec<T>, Failure> {
    let mut values = Vec::new();
    if count == 0 {
        return Ok(values);
    }
    // SAFETY: there is a first one.
    let size = unsafe { stated_size(name, pointer) }?;
    for index in 0..count as usize {
        // SAFETY: all have the size of the first one, so the bytes exist.
        let place = unsafe { pointer.cast::<u8>().add(index * size) }.cast::<T>();
        // SAFETY: the caller's promise.
        check_same_size(name, index, unsafe { stated_size(name, place) }?, size)?;
        // SAFETY: the caller's promise.
        values.push(unsafe { read(name, place, defaults) }?);
    }
    Ok(values)
}

/// Writes as much of a structure as the caller has room for, according to its size field.
///
/// # Safety
/// `out` is NULL, or points to the number of bytes that its first field states.
pub(crate) unsafe fn write<T: Sized_>(name: &str, out: *mut T, value: &T) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    let size = unsafe { stated_size(name, out) }?;
    // SAFETY: there are `size` bytes.
    unsafe { write_sized(out, value, size) };
    Ok(())
}

/// As [`write`], for an array of structures, all of the size of the first. Nothing is written if one is invalid.
///
/// # Safety
/// `out` points to `count` structures, each with the number of bytes that its first field states.
pub(crate) unsafe fn write_all<T: Sized_>(
    name: &str,
    out: *mut T,
    count: u32,
    values: impl Iterator<Item = T>,
) -> Result<(), Failure> {
    if count == 0 {
        return Ok(());
    }
    // SAFETY: there is a first one.
    let size = unsafe { stated_size(name, out) }?;
    // SAFETY: all have the size of the first one, so the bytes exist.
    let place = |index: usize| unsafe { out.cast::<u8>().add(index * size) }.cast::<T>();
    for index in 0..count as usize {
        // SAFETY: the caller's promise.
        check_same_size(name, index, unsafe { stated_size(name, place(index)) }?, size)?;
    }
    for (index, value) in values.take(count as usize).enumerate() {
        // SAFETY: there are `size` bytes.
        unsafe { write_sized(place(index), &value, size) };
    }
    Ok(())
}

/// As [`write`], into uninitialised memory, whose size the caller states.
///
/// # Safety
/// `out` is NULL, or points to `size` bytes.
pub(crate) unsafe fn initialise<T: Sized_>(name: &str, out: *mut T, value: &T, size: u32) -> Result<(), Failure> {
    check(name, out)?;
    check_size::<T>(name, size)?;
    // SAFETY: there are `size` bytes.
    unsafe { write_sized(out, value, size as usize) };
    Ok(())
}

/// # Safety
/// `out` points to `size` bytes, at least 4.
unsafe fn write_sized<T: Sized_>(out: *mut T, value: &T, size: usize) {
    let known = size.min(size_of::<T>());
    // SAFETY: both have at least that many bytes.
    unsafe { std::ptr::copy_nonoverlapping((&raw const *value).cast::<u8>(), out.cast::<u8>(), known) };
    // SAFETY: the caller has room for them.
    unsafe { std::ptr::write_bytes(out.cast::<u8>().add(known), 0, size - known) };
    // SAFETY: the first field.
    unsafe { out.cast::<u32>().write(size as u32) };
}

/// Writes one value.
///
/// # Safety
/// `out` is NULL, or points to room for it.
pub(crate) unsafe fn put<T>(name: &str, out: *mut T, value: T) -> Result<(), Failure> {
    check(name, out)?;
    // SAFETY: not NULL, aligned, and the caller promises the rest.
    unsafe { out.write(value) };
    Ok(())
}

/// As [`put`]; NULL for a caller that does not need the value.
///
/// # Safety
/// As [`put`].
pub(crate) unsafe fn put_if_wanted<T>(name: &str, out: *mut T, value: T) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    if out.is_null() { Ok(()) } else { unsafe { put(name, out, value) } }
}

/// Writes a text and a NUL, and its length without the NUL. A text that does not fit is truncated.
///
/// # Safety
/// `buffer` has room for `capacity` bytes, and `length` is NULL or has room for its value.
pub(crate) unsafe fn put_text(
    text: &str,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Result<(), Failure> {
    // SAFETY: the caller's promise.
    unsafe { put_if_wanted("length", length, text.len()) }?;
    // SAFETY: the caller's promise.
    let fits = unsafe { copy_text(text, buffer, capacity) };
    if fits {
        return Ok(());
    }
    let text = format!("the buffer has {capacity} bytes and the text needs {}, its NUL included", text.len() + 1);
    Err(Failure::new(SkipstoneStatus::BufferTooSmall, text))
}

/// Writes as much of a text as fits, and a NUL; returns whether that was all.
///
/// # Safety
/// `buffer` is NULL, or has room for `capacity` bytes.
pub(crate) unsafe fn copy_text(text: &str, buffer: *mut c_char, capacity: usize) -> bool {
    if buffer.is_null() || capacity == 0 {
        return false;
    }
    let end = (0..=text.len().min(capacity - 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    // SAFETY: there is room for `capacity` bytes, and `end` is less.
    unsafe { std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), end) };
    // SAFETY: as above.
    unsafe { buffer.add(end).write(0) };
    end == text.len()
}

/// # Safety
/// `pointer` is NULL, or points to a structure whose first field is its size.
unsafe fn stated_size<T: Sized_>(name: &str, pointer: *const T) -> Result<usize, Failure> {
    check(name, pointer)?;
    // SAFETY: not NULL, aligned, and the size is the first field.
    let size = unsafe { pointer.cast::<u32>().read() };
    check_size::<T>(name, size)?;
    Ok(size as usize)
}

fn check_size<T: Sized_>(name: &str, size: u32) -> Result<(), Failure> {
    if (T::SIZE_MIN..=SIZE_MAX).contains(&(size as usize)) {
        return Ok(());
    }
    let text = format!(
        "the size of {name} is {size}, and this library knows {} bytes: set it to sizeof, by the structure's init \
         function where it has one, and use the header of this library",
        size_of::<T>()
    );
    Err(Failure::new(SkipstoneStatus::BadSize, text))
}

fn check_same_size(name: &str, index: usize, size: usize, of_first: usize) -> Result<(), Failure> {
    if size == of_first {
        return Ok(());
    }
    let text = format!("{name}[{index}].size differs from the first element's: initialise each element");
    Err(Failure::new(SkipstoneStatus::BadSize, text))
}

/// Checks a pointer to `count` values that will be written.
pub(crate) fn check_room<T>(name: &str, pointer: *const T, count: u32) -> Result<(), Failure> {
    if count == 0 { Ok(()) } else { check(name, pointer) }
}

fn check<T>(name: &str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(null(name));
    }
    if !pointer.is_aligned() {
        let text = format!("{name} is not aligned to {} bytes", align_of::<T>());
        return Err(Failure::new(SkipstoneStatus::BadPointer, text));
    }
    Ok(())
}

fn null(name: &str) -> Failure {
    Failure::new(SkipstoneStatus::BadPointer, format!("{name} is NULL"))
}

fn unknown_fields(name: &str) -> Failure {
    let text = format!("{name} has fields that this library does not know: it is older than the header");
    Failure::new(SkipstoneStatus::WrongAbi, text)
}
