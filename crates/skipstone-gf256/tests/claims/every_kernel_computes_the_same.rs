//! All kernels of this machine agree with byte-by-byte multiplication for any length, alignment and factor, and touch
//! no byte beyond.

use crate::common::Seeded;
use skipstone_gf256::{Kernel, kernel, mul, mul_add, scale};

const LENGTH_MAX: usize = 200;
const ALIGNMENTS: usize = 32;
const BUFFER_BYTES: usize = LENGTH_MAX + 2 * ALIGNMENTS;

/// The offsets of the symbols in two buffers, and the factor.
#[derive(Clone, Copy, Debug)]
struct Case {
    length: usize,
    target_at: usize,
    source_at: usize,
    factor: u8,
}

fn check(kernels: &[Kernel], target: &[u8], source: &[u8], case: Case) {
    let range = case.target_at..case.target_at + case.length;
    let source = &source[case.source_at..case.source_at + case.length];
    let mut added = target.to_vec();
    let mut scaled = target.to_vec();
    for ((added, scaled), source) in added[range.clone()].iter_mut().zip(&mut scaled[range.clone()]).zip(source) {
        *added ^= mul(case.factor, *source);
        *scaled = mul(case.factor, *scaled);
    }
    for kernel in kernels {
        let mut computed = target.to_vec();
        kernel.mul_add(&mut computed[range.clone()], source, case.factor);
        assert_eq!(computed, added, "mul_add by {}, {case:?}", kernel.name());
        computed.copy_from_slice(target);
        kernel.scale(&mut computed[range.clone()], case.factor);
        assert_eq!(computed, scaled, "scale by {}, {case:?}", kernel.name());
    }
}

fn two_buffers(random: &mut Seeded) -> (Vec<u8>, Vec<u8>) {
    (random.bytes(BUFFER_BYTES), random.bytes(BUFFER_BYTES))
}

#[test]
fn for_every_length_and_factor() {
    let mut random = Seeded::new(1);
    let kernels = Kernel::all();
    let (target, source) = two_buffers(&mut random);
    for length in 0..=LENGTH_MAX {
        for factor in 0..=255 {
            let (target_at, source_at) = (random.below(ALIGNMENTS), random.below(ALIGNMENTS));
            check(&kernels, &target, &source, Case { length, target_at, source_at, factor });
        }
    }
}

#[test]
fn for_every_length_and_alignment() {
    let mut random = Seeded::new(2);
    let kernels = Kernel::all();
    let (target, source) = two_buffers(&mut random);
    for length in 0..=LENGTH_MAX {
        for (target_at, source_at) in (0..ALIGNMENTS * ALIGNMENTS).map(|at| (at / ALIGNMENTS, at % ALIGNMENTS)) {
            check(&kernels, &target, &source, Case { length, target_at, source_at, factor: random.byte() });
        }
    }
}

#[test]
fn for_every_product() {
    let all: Vec<u8> = (0..=255).collect();
    for kernel in Kernel::all() {
        for factor in 0..=255 {
            let mut products = all.clone();
            kernel.scale(&mut products, factor);
            assert!(products.iter().zip(0..=255).all(|(product, element)| *product == mul(factor, element)));
        }
    }
}

#[test]
fn the_tail_of_a_longer_target_is_unchanged() {
    for kernel in Kernel::all() {
        let mut target = [7; 100];
        kernel.mul_add(&mut target, &[1; 70], 9);
        assert_eq!(target[..70], [7 ^ 9; 70]);
        assert_eq!(target[70..], [7; 30]);
    }
}

#[test]
#[should_panic(expected = "a source of 3 bytes does not fit into a target of 2")]
fn a_shorter_target_is_refused() {
    mul_add(&mut [0; 2], &[0; 3], 0);
}

#[test]
fn the_best_kernel_is_one_of_all_and_runs() {
    let names: Vec<&str> = Kernel::all().into_iter().map(Kernel::name).collect();
    assert_eq!(names[0], "portable");
    assert_eq!(names.last(), Some(&kernel()));
    let mut target = [1; 50];
    scale(&mut target, 5);
    mul_add(&mut target, &[1; 50], 3);
    assert_eq!(target, [5 ^ 3; 50]);
}
