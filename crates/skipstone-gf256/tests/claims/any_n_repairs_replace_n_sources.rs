//! Square submatrices of the coefficient matrix are regular: n repairs always replace n sources.

use crate::common::Seeded;
use skipstone_gf256::{coefficient, inverse, mul};

#[test]
fn coefficients_are_never_0_and_periodic() {
    for repair in 0..=255 {
        for source in 0..192 {
            let element = coefficient(repair, source);
            assert_ne!(element, 0);
            assert_eq!(inverse(element), Some((repair % 64) ^ (64 + source as u8)));
            assert_eq!(element, coefficient(repair % 64, source + 192 * 1_000_000_007));
        }
    }
    assert_ne!(coefficient(63, u64::MAX), 0);
}

#[test]
fn every_two_by_two_submatrix_is_regular() {
    for (x1, x2) in pairs(64) {
        for (y1, y2) in pairs(192) {
            let determinant = mul(coefficient(x1 as u8, y1), coefficient(x2 as u8, y2))
                ^ mul(coefficient(x1 as u8, y2), coefficient(x2 as u8, y1));
            assert_ne!(determinant, 0, "repairs {x1} and {x2}, sources {y1} and {y2}");
        }
    }
}

fn pairs(end: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..end).flat_map(|first| (0..first).map(move |second| (first, second)))
}

#[test]
fn submatrices_of_other_sizes_are_regular() {
    let mut random = Seeded::new(3);
    for size in [3, 4, 5, 6, 20, 64] {
        for _ in 0..1_000 / size {
            let (repairs, sources) = (random.choose(size, 64), random.choose(size, 192));
            let first_source = random.next() >> 1;
            let mut matrix: Vec<Vec<u8>> = repairs
                .iter()
                .map(|repair| {
                    sources.iter().map(|source| coefficient(*repair as u8, first_source + *source as u64)).collect()
                })
                .collect();
            assert_eq!(rank(&mut matrix), size, "repairs {repairs:?}, sources {first_source} + {sources:?}");
        }
    }
}

/// Elimination independent of the crate's own.
fn rank(matrix: &mut [Vec<u8>]) -> usize {
    let mut rank = 0;
    for column in 0..matrix[0].len() {
        let Some(found) = (rank..matrix.len()).find(|row| matrix[*row][column] != 0) else {
            continue;
        };
        matrix.swap(rank, found);
        let pivot = matrix[rank].clone();
        let scale = inverse(pivot[column]).expect("not 0");
        for row in &mut matrix[rank + 1..] {
            let factor = mul(row[column], scale);
            row.iter_mut().zip(&pivot).for_each(|(element, above)| *element ^= mul(factor, *above));
        }
        rank += 1;
    }
    rank
}
