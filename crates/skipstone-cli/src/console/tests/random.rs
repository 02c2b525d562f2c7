//! Seeded random input: a failing test names the seed, which gives the same bytes again.

use skipstone_lab::measure::splitmix::splitmix;

/// Random choices of a seed.
pub(in crate::console) struct Random {
    state: u64,
}

impl Random {
    pub(in crate::console) fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    pub(in crate::console) fn below(&mut self, limit: usize) -> usize {
        (splitmix(&mut self.state) % limit as u64) as usize
    }

    /// Up to `pieces` pieces of telnet commands, lines and noise.
    pub(in crate::console) fn telnet_bytes(&mut self, pieces: usize) -> Vec<u8> {
        self.pick(pieces, &[b"\xff", b"\xff\xfa\x1f", b"\xff\xf0", b"\xff\xfd", b"\xff\xfb\x1f", b"\r", b"\n", b"\0"])
    }

    /// Up to `pieces` pieces of what a terminal's keys send, and noise.
    pub(in crate::console) fn terminal_bytes(&mut self, pieces: usize) -> Vec<u8> {
        self.pick(
            pieces,
            &[
                b"word ",
                b"\x1b[A",
                b"\x1b[B",
                b"\x1b[C",
                b"\x1b[D",
                b"\x1b[3~",
                b"\x1b[1;5D",
                b"\x1b[1;5C",
                b"\x01",
                b"\x05",
                b"\x0b",
                b"\x15",
                b"\x17",
                b"\x7f",
                b"\r",
                b"\x03",
                b"\x0c",
                "ü€😀".as_bytes(),
                b"kick zoe",
            ],
        )
    }

    fn pick(&mut self, pieces: usize, choices: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..self.below(pieces + 1) {
            match self.below(4) {
                0 => out.push(self.below(256) as u8),
                _ => out.extend_from_slice(choices[self.below(choices.len())]),
            }
        }
        out
    }
}
