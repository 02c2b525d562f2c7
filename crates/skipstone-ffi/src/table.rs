//! Maps handles to servers and clients. A handle consists of an index and a use count of that index, so an ended or
//! invalid handle is detected.

use crate::failure::Failure;
use crate::slot::Slot;
use crate::types::SkipstoneStatus;
use std::sync::{Arc, PoisonError, RwLock};

/// Servers and clients of this process.
static TABLE: RwLock<Table> = RwLock::new(Table { places: Vec::new(), free: Vec::new() });

/// Maximum number of handles at once.
const HANDLES_MAX: usize = 1 << 20;

struct Table {
    places: Vec<Place>,
    free: Vec<u32>,
}

struct Place {
    generation: u32,
    slot: Option<Arc<Slot>>,
}

/// A new handle for this slot.
pub(crate) fn add(slot: Slot) -> Result<u64, Failure> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let index = match table.free.pop() {
        Some(index) => index,
        None if table.places.len() >= HANDLES_MAX => {
            let text = "there are 1,048,576 servers and clients: stop or release those that are not needed";
            return Err(Failure::new(SkipstoneStatus::OutOfMemory, text));
        }
        None => {
            table.places.push(Place { generation: 0, slot: None });
            table.places.len() as u32 - 1
        }
    };
    let place = &mut table.places[index as usize];
    place.generation += 1;
    place.slot = Some(Arc::new(slot));
    Ok(u64::from(place.generation) << 32 | u64::from(index))
}

/// The slot of this handle.
pub(crate) fn find(handle: u64) -> Result<Arc<Slot>, Failure> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let (index, generation) = split(handle);
    let place = table.places.get(index).filter(|place| place.generation == generation);
    place.and_then(|place| place.slot.clone()).ok_or_else(|| unknown(handle))
}

/// Ends a handle: later calls do not find it.
pub(crate) fn remove(handle: u64) -> Result<Arc<Slot>, Failure> {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    let (index, generation) = split(handle);
    let place = table.places.get_mut(index).filter(|place| place.generation == generation);
    let slot = place.and_then(|place| place.slot.take()).ok_or_else(|| unknown(handle))?;
    // An index with an exhausted use count stays unused.
    if generation < u32::MAX {
        table.free.push(index as u32);
    }
    Ok(slot)
}

/// Every valid handle.
pub(crate) fn all() -> Vec<u64> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    let used = (0_u64..).zip(&table.places).filter(|(_, place)| place.slot.is_some());
    used.map(|(index, place)| u64::from(place.generation) << 32 | index).collect()
}

fn split(handle: u64) -> (usize, u32) {
    (handle as u32 as usize, (handle >> 32) as u32)
}

fn unknown(handle: u64) -> Failure {
    let text = match handle {
        0 => "the handle is 0: it was never set, or what should have made it failed".into(),
        _ => format!(
            "no server or client has the handle {handle:#x}: it was stopped, closed or released, or never existed"
        ),
    };
    Failure::new(SkipstoneStatus::BadHandle, text)
}
