//! However few pieces the kernel takes at a time, and whether it splits them or we do, the same datagrams leave.

use super::*;

#[test]
fn any_sequence_of_partial_sends_equals_the_plain_list() {
    for seed in 0..500 {
        let mut random = Random(seed);
        let mut batch = SendBatch::with_capacity(20, 64 << 10);
        let mut expected = Vec::new();
        while !batch.is_full() {
            let bytes_max = random.below(3_000);
            let len = random.below(bytes_max + 1);
            let bytes = random.bytes(len);
            let segment = [None, Some(len / 50 + 1 + random.below(500))][random.below(2)];
            batch.space(bytes_max).unwrap()[..len].copy_from_slice(&bytes);
            batch.commit(len, loopback_v4(), segment);
            match segment {
                Some(segment) if len > 0 => expected.extend(bytes.chunks(segment).map(<[u8]>::to_vec)),
                _ => expected.push(bytes),
            }
        }
        let mut sent = Vec::new();
        let mut with_gso = true;
        while !batch.is_empty() {
            match random.below(20) {
                0 => with_gso = false,
                1 => batch.split_front(),
                _ => {}
            }
            let piece = batch.pieces(with_gso).next().unwrap();
            let segment = piece.segment_bytes.map_or(usize::MAX, usize::from);
            let datagrams: Vec<_> = match piece.bytes.is_empty() {
                true => vec![Vec::new()],
                false => piece.bytes.chunks(segment).map(<[u8]>::to_vec).collect(),
            };
            assert_eq!(datagrams.len() as u64, piece.datagrams(), "seed {seed}");
            sent.extend(datagrams);
            let len = piece.bytes.len();
            batch.advance(len);
        }
        assert!(sent == expected, "seed {seed}");
        assert!(batch.space(64 << 10).is_some(), "an empty batch has all its space again");
    }
}

#[test]
fn space_is_limited_by_slots_and_by_bytes() {
    let mut batch = SendBatch::with_capacity(2, 100);
    assert!(batch.space(101).is_none());
    assert!(batch.push(&[1; 60], loopback_v4(), None));
    assert!(!batch.push(&[2; 60], loopback_v4(), None), "40 bytes are left");
    assert!(batch.push(&[3; 10], loopback_v4(), None));
    assert!(batch.is_full() && batch.space(1).is_none(), "both places are taken");
    assert_eq!(batch.len(), 2);
    batch.clear();
    assert!(batch.is_empty() && batch.space(100).is_some());
}

#[test]
fn uncommitted_space_is_reused() {
    let mut batch = SendBatch::with_capacity(2, 100);
    batch.space(100).unwrap().fill(9);
    assert!(batch.is_empty());
    assert!(batch.push(&[1; 100], loopback_v4(), None));
}
