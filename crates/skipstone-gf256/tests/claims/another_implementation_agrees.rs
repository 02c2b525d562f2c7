//! `reed-solomon-erasure` has the same field and a different code: it decodes symbols that we encoded, and we decode
//! symbols that it encoded.

use crate::common::Seeded;
use reed_solomon_erasure::galois_8::{self, ReedSolomon};
use skipstone_gf256::{Equation, inverse, mul, mul_add, scale, solve};

const DATA: usize = 10;
const PARITY: usize = 6;
const SYMBOL_BYTES: usize = 300;

#[test]
fn on_every_product_and_inverse() {
    for a in 0..=255 {
        assert_eq!(inverse(a), (a != 0).then(|| galois_8::div(1, a)));
        for b in 0..=255 {
            assert_eq!(mul(a, b), galois_8::mul(a, b), "{a} times {b}");
        }
    }
}

#[test]
fn on_whole_symbols() {
    let mut random = Seeded::new(10);
    for factor in 0..=255 {
        let (source, target) = (random.bytes(SYMBOL_BYTES), random.bytes(SYMBOL_BYTES));
        let (mut ours, mut theirs) = (target.clone(), target);
        mul_add(&mut ours, &source, factor);
        galois_8::mul_slice_xor(factor, &source, &mut theirs);
        assert_eq!(ours, theirs, "factor {factor}");
        scale(&mut ours, factor);
        let before = theirs.clone();
        galois_8::mul_slice(factor, &before, &mut theirs);
        assert_eq!(ours, theirs, "factor {factor}");
    }
}

#[test]
fn it_decodes_our_repairs() {
    let mut random = Seeded::new(11);
    let code = ReedSolomon::new(DATA, PARITY).expect("a code of 16 symbols exists");
    let rows = rows(&code);
    for _ in 0..100 {
        let sources: Vec<Vec<u8>> = (0..DATA).map(|_| random.bytes(SYMBOL_BYTES)).collect();
        let repairs = rows.iter().map(|row| combine(row, &sources));
        let whole: Vec<Vec<u8>> = sources.iter().cloned().chain(repairs).collect();
        let mut parts: Vec<Option<Vec<u8>>> = whole.iter().cloned().map(Some).collect();
        for lost in random.choose(PARITY, DATA + PARITY) {
            parts[lost] = None;
        }
        code.reconstruct(&mut parts).expect("ten of sixteen are left");
        assert!(parts.into_iter().eq(whole.into_iter().map(Some)));
    }
}

#[test]
fn we_decode_its_repairs() {
    let mut random = Seeded::new(12);
    let code = ReedSolomon::new(DATA, PARITY).expect("a code of 16 symbols exists");
    let rows = rows(&code);
    for lost_count in 1..=PARITY {
        let sources: Vec<Vec<u8>> = (0..DATA).map(|_| random.bytes(SYMBOL_BYTES)).collect();
        let mut repairs = vec![vec![0; SYMBOL_BYTES]; PARITY];
        code.encode_sep(&sources, &mut repairs).expect("all have one length");
        let lost = random.choose(lost_count, DATA);
        let mut equations: Vec<Equation> = random
            .choose(lost_count, PARITY)
            .into_iter()
            .map(|repair| {
                let mut symbol = repairs[repair].clone();
                for known in (0..DATA).filter(|source| !lost.contains(source)) {
                    mul_add(&mut symbol, &sources[known], rows[repair][known]);
                }
                Equation { coefficients: lost.iter().map(|source| rows[repair][*source]).collect(), symbol }
            })
            .collect();
        let solved = solve(&mut equations);
        for (unknown, source) in lost.iter().enumerate() {
            let row = solved[unknown].expect("as many equations as unknowns, of a code that is MDS");
            assert_eq!(equations[row].symbol, sources[*source]);
        }
    }
}

/// Its coding matrix, read from its output for unit vectors.
fn rows(code: &ReedSolomon) -> Vec<Vec<u8>> {
    let mut rows = vec![vec![0; DATA]; PARITY];
    for source in 0..DATA {
        let ones: Vec<[u8; 1]> = (0..DATA).map(|other| [u8::from(other == source)]).collect();
        let mut parity = [[0; 1]; PARITY];
        code.encode_sep(&ones, &mut parity).expect("all have one length");
        for (row, coefficient) in rows.iter_mut().zip(parity) {
            row[source] = coefficient[0];
        }
    }
    rows
}

fn combine(row: &[u8], sources: &[Vec<u8>]) -> Vec<u8> {
    let mut symbol = vec![0; SYMBOL_BYTES];
    for (coefficient, source) in row.iter().zip(sources) {
        mul_add(&mut symbol, source, *coefficient);
    }
    symbol
}
