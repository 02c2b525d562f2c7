//! The speed of each kernel on this machine, compared with `reed-solomon-erasure` without its C: `cargo bench -p
//! skipstone-gf256`.
//!
//! Measures source bytes per second of `mul_add` with 32 sources that fit into the first-level cache, as a window's
//! sources do; then the time to find 2, 6 and 20 lost symbols from the same number of repairs. The best of several
//! rounds counts: disturbances only make a machine slower.

use std::hint::black_box;
use std::time::{Duration, Instant};

use reed_solomon_erasure::galois_8;
use skipstone_gf256::{Equation, Kernel, coefficient, kernel, mul_add, solve};

const SYMBOLS_BYTES: [usize; 2] = [400, 1_200];
const SOURCES: usize = 20;
const ROUNDS: usize = 30;

fn main() {
    for symbol_bytes in SYMBOLS_BYTES {
        for kernel in Kernel::all() {
            row(kernel.name(), symbol_bytes, |target, source, factor| kernel.mul_add(target, source, factor));
        }
        row("any", symbol_bytes, mul_add);
        row("other", symbol_bytes, |target, source, factor| galois_8::mul_slice_xor(factor, source, target));
    }
    for symbol_bytes in SYMBOLS_BYTES {
        for lost in [2, 6, 20] {
            let equations = equations(lost, symbol_bytes);
            let took = best(|| {
                let mut equations = equations.clone();
                let started = Instant::now();
                black_box(solve(&mut equations));
                started.elapsed()
            });
            println!("solve {lost:2} unknowns of {symbol_bytes:5} bytes: {:6.2} µs ({})", micros(took), kernel());
        }
    }
}

fn row(name: &str, symbol_bytes: usize, mul_add: impl Fn(&mut [u8], &[u8], u8)) {
    let sources: Vec<Vec<u8>> = (0..SOURCES).map(|source| bytes(source, symbol_bytes)).collect();
    let mut target = vec![0; symbol_bytes];
    let took = best(|| {
        let started = Instant::now();
        for repair in 0..50 {
            for (number, source) in (0..).zip(&sources) {
                mul_add(black_box(&mut target), black_box(source), coefficient(repair, number));
            }
        }
        started.elapsed()
    });
    let calls = 50 * SOURCES;
    let rate = (calls * symbol_bytes) as f64 / took.as_secs_f64() / 1e9;
    let each = took.as_secs_f64() * 1e9 / calls as f64;
    println!("mul_add {name:8} {symbol_bytes:5} bytes: {rate:6.2} GB/s, {each:7.1} ns each");
}

fn equations(lost: usize, symbol_bytes: usize) -> Vec<Equation> {
    (0..lost)
        .map(|repair| Equation {
            coefficients: (0..lost).map(|source| coefficient(repair as u8, source as u64)).collect(),
            symbol: bytes(repair, symbol_bytes),
        })
        .collect()
}

fn bytes(seed: usize, count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 31 + seed * 7) as u8).collect()
}

fn best(mut round: impl FnMut() -> Duration) -> Duration {
    (0..ROUNDS).map(|_| round()).min().expect("there are rounds")
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
