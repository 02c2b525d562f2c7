//! Packet protection after the keys are established: one AEAD call in place, followed by a counter. WIRE.md section 3.

use super::pieces::TAG_BYTES;
use rustls::quic::{Keys, PacketKey, PacketKeySet, Secrets};
use skipstone_prefetch::prefetch;

/// Seals outgoing packets, opens incoming packets.
pub(super) struct PacketKeys {
    sealing: Direction,
    opening: Direction,
    /// Gives the keys of the generation after `base`, which is the earlier of the two above.
    next: Secrets,
    base: u64,
    /// Packets sealed: the next one's counter.
    sealed: u64,
    /// The greatest counter opened, and one more.
    opened: u64,
    /// Bit n: counter `opened - 1 - n` was opened. Packet numbers alone do not detect a replay: they are truncated, so
    /// that an old packet would be taken for a new one when its low bits occur again.
    seen: u128,
    /// The packet that was refused last bears the number of one that was opened, or one before the window.
    was_replay: bool,
    /// Packets that no key opened.
    forged: u64,
    /// The opening key of the next generation, if a packet has claimed to use it.
    coming: Option<Box<dyn PacketKey>>,
}

struct Direction {
    key: Box<dyn PacketKey>,
    generation: u64,
}

/// Bytes by which a sealed packet is longer: the tag, and 32 bits of the counter.
pub(super) const OVERHEAD: usize = TAG_BYTES + COUNTER_BYTES;
const COUNTER_BYTES: usize = 4;
/// Packets of one key: half of what AES-GCM may seal if packets are as long as they can be (RFC 9001, section 6.6).
pub(super) const GENERATION: u64 = 1 << 22;
/// Packets that may overtake one before it counts as a replay.
pub(super) const WINDOW: u64 = u128::BITS as u64;

impl PacketKeys {
    pub(super) fn new(keys: Keys, next: Secrets) -> Self {
        let first = |key: Box<dyn PacketKey>| Direction { key, generation: 0 };
        let (sealing, opening) = (first(keys.local.packet), first(keys.remote.packet));
        assert!(sealing.key.confidentiality_limit() >= GENERATION, "keys change before they are worn out");
        PacketKeys {
            sealing,
            opening,
            next,
            base: 0,
            sealed: 0,
            opened: 0,
            seen: 0,
            was_replay: false,
            forged: 0,
            coming: None,
        }
    }

    /// Begins to fetch both keys into the processor's caches.
    pub(super) fn prefetch(&self) {
        prefetch(&*self.sealing.key);
        prefetch(&*self.opening.key);
    }

    /// Seals `payload`, which is followed by room for `trailer`. False if the cipher does not accept such a payload.
    pub(super) fn seal(&mut self, header: &[u8], payload: &mut [u8], trailer: &mut [u8]) -> bool {
        let counter = self.sealed;
        let generation = counter / GENERATION;
        if generation != self.sealing.generation {
            self.sealing = Direction { key: self.keys_of(generation).local, generation };
            self.forget();
        }
        let Ok(tag) = self.sealing.key.encrypt_in_place(counter, header, payload) else { return false };
        self.sealed += 1;
        let (tag_at, counter_at) = trailer.split_at_mut(TAG_BYTES);
        tag_at.copy_from_slice(tag.as_ref());
        counter_at.copy_from_slice(&(counter as u32).to_be_bytes());
        true
    }

    /// Whether the packet that was refused last bears the number of one that was opened before.
    pub(super) fn was_replay(&self) -> bool {
        self.was_replay
    }

    /// Opens the bytes between header and end of the datagram; the plaintext is then at the same place, shorter by
    /// [`OVERHEAD`].
    pub(super) fn open(&mut self, header: &[u8], sealed: &mut [u8]) -> bool {
        let Some((sealed, short)) = sealed.split_last_chunk_mut::<COUNTER_BYTES>() else { return false };
        let counter = self.restore(u32::from_be_bytes(*short));
        self.was_replay = !self.is_new(counter);
        if self.was_replay {
            return false;
        }
        let generation = counter / GENERATION;
        let is_coming = generation == self.opening.generation + 1;
        if is_coming && self.coming.is_none() {
            self.coming = Some(self.keys_of(generation).remote);
        }
        let key = match &self.coming {
            Some(coming) if is_coming => coming,
            // The keys of earlier generations have been erased: packets sealed with them are late, and count as lost.
            _ if generation == self.opening.generation => &self.opening.key,
            _ => return false,
        };
        if key.decrypt_in_place(counter, header, sealed).is_err() {
            self.forged += 1;
            return false;
        }
        if is_coming && let Some(key) = self.coming.take() {
            self.opening = Direction { key, generation };
            self.forget();
        }
        self.note(counter);
        true
    }

    /// Whether this counter was not opened yet. Counters that have left the window count as opened.
    fn is_new(&self, counter: u64) -> bool {
        match self.opened.checked_sub(counter + 1) {
            None => true,
            Some(age) => age < WINDOW && self.seen >> age & 1 == 0,
        }
    }

    fn note(&mut self, counter: u64) {
        if counter >= self.opened {
            let step = counter + 1 - self.opened;
            self.seen = if step < WINDOW { self.seen << step } else { 0 } | 1;
            self.opened = counter + 1;
        } else {
            self.seen |= 1 << (self.opened - 1 - counter);
        }
    }

    /// Whether the number of forged packets has reached the integrity limit of the key (RFC 9001, section 6.6).
    pub(super) fn are_worn_out(&self) -> bool {
        self.forged >= self.opening.key.integrity_limit()
    }

    /// The counter nearest to the next one with these low bits.
    fn restore(&self, short: u32) -> u64 {
        let ahead = short.wrapping_sub(self.opened as u32);
        let above = self.opened + u64::from(ahead);
        if ahead < 1 << 31 { above } else { above.checked_sub(1 << 32).unwrap_or(above) }
    }

    fn keys_of(&self, generation: u64) -> PacketKeySet {
        let mut secrets = self.next.clone();
        for _ in self.base + 1..generation {
            secrets.next_packet_keys();
        }
        secrets.next_packet_keys()
    }

    /// Drops the secrets from which keys could be derived that both directions no longer need.
    fn forget(&mut self) {
        while self.base < self.sealing.generation.min(self.opening.generation) {
            self.next.next_packet_keys();
            self.base += 1;
        }
    }

    /// For tests: as if this many packets had been sealed, or opened.
    #[cfg(all(test, feature = "self-signed"))]
    pub(super) fn skip(&mut self, sealed: u64, opened: u64) {
        (self.sealed, self.opened, self.seen) = (sealed, opened, 0);
    }
}
