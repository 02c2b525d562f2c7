//! Varints and truncated numbers in their wire format.

use crate::wire::Malformed;
use crate::wire::cursor::{Reader, Writer};
use crate::wire::number::Truncated;
use crate::wire::varint;

#[test]
fn varints_of_every_length_round_trip_in_the_shortest_form() {
    let limits =
        [(0, 1), (0x3f, 1), (0x40, 2), (0x3fff, 2), (0x4000, 4), (0x3fff_ffff, 4), (0x4000_0000, 8), (varint::MAX, 8)];
    for (value, bytes) in limits {
        let mut buffer = [0; 8];
        let mut writer = Writer::new(&mut buffer);
        writer.varint(value);
        assert_eq!(writer.len(), bytes);
        assert_eq!(varint::len(value), bytes);
        let mut reader = Reader::new(writer.written());
        assert_eq!(reader.varint(), Ok(value));
        assert!(reader.is_empty());
    }
}

#[test]
fn varints_match_rfc_9000_appendix_a() {
    let samples: [(&[u8], u64); 5] = [
        (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c], 151_288_809_941_952_652),
        (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
        (&[0x7b, 0xbd], 15_293),
        (&[0x25], 37),
        (&[0x40, 0x25], 37),
    ];
    for (bytes, value) in samples {
        assert_eq!(Reader::new(bytes).varint(), Ok(value));
    }
}

#[test]
fn a_truncated_varint_is_malformed() {
    for cut in [&[][..], &[0x40], &[0x80, 0, 0], &[0xc0, 0, 0, 0, 0, 0, 0]] {
        assert_eq!(Reader::new(cut).varint(), Err(Malformed));
    }
}

#[test]
fn every_width_round_trips_at_its_limits() {
    for (bits, bytes) in [7, 14, 21, 28, 32].into_iter().zip(1..) {
        for value in [0, 1, (u32::MAX >> (32 - bits))] {
            let number = Truncated { value, bits };
            let mut buffer = [0; 5];
            let mut writer = Writer::new(&mut buffer);
            writer.truncated(number);
            assert_eq!((writer.len(), number.len()), (bytes, bytes));
            assert_eq!(Reader::new(writer.written()).truncated(), Ok(number));
            assert_eq!(Reader::new(&writer.written()[..bytes - 1]).truncated(), Err(Malformed));
        }
    }
}

#[test]
fn first_bytes_above_f0_are_malformed() {
    for first in 0xf1..=0xff {
        assert_eq!(Reader::new(&[first, 0, 0, 0, 0, 0, 0, 0]).truncated(), Err(Malformed));
    }
}
