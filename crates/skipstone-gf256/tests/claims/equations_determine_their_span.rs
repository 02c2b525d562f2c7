//! The solver finds everything that the equations determine and nothing else, and handles every set of equations.

use crate::common::Seeded;
use skipstone_gf256::{Equation, UNKNOWNS_MAX, coefficient, mul_add, solve};

const SYMBOL_BYTES: usize = 41;

fn sources(random: &mut Seeded, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|_| random.bytes(SYMBOL_BYTES)).collect()
}

fn equation(coefficients: Vec<u8>, sources: &[Vec<u8>]) -> Equation {
    let mut symbol = vec![0; SYMBOL_BYTES];
    for (source, coefficient) in sources.iter().zip(&coefficients) {
        mul_add(&mut symbol, source, *coefficient);
    }
    Equation { coefficients, symbol }
}

fn repair(number: usize, sources: &[Vec<u8>]) -> Equation {
    equation((0..sources.len()).map(|source| coefficient(number as u8, source as u64)).collect(), sources)
}

/// The unknowns that were found; each of them is checked.
fn found(equations: &mut [Equation], sources: &[Vec<u8>]) -> Vec<usize> {
    let solved = solve(equations);
    assert_eq!(solved.len(), sources.len());
    let found: Vec<usize> = (0..sources.len()).filter(|unknown| solved[*unknown].is_some()).collect();
    for unknown in &found {
        assert_eq!(equations[solved[*unknown].expect("found")].symbol, sources[*unknown], "unknown {unknown}");
    }
    found
}

#[test]
fn n_repairs_determine_n_unknowns() {
    let mut random = Seeded::new(4);
    for count in 1..=UNKNOWNS_MAX {
        let sources = sources(&mut random, count);
        let mut equations: Vec<Equation> =
            random.choose(count, 64).into_iter().map(|number| repair(number, &sources)).collect();
        assert_eq!(found(&mut equations, &sources).len(), count);
    }
}

#[test]
fn one_repair_too_few_determines_none() {
    let mut random = Seeded::new(5);
    for count in 2..=20 {
        let sources = sources(&mut random, count);
        let mut equations: Vec<Equation> = (1..count).map(|number| repair(number, &sources)).collect();
        assert_eq!(found(&mut equations, &sources), []);
    }
}

#[test]
fn unknowns_determined_by_a_subset_are_found() {
    let mut random = Seeded::new(6);
    let sources = sources(&mut random, 6);
    let rows: [[u8; 6]; 4] = [
        [0, 0, 0, 9, 8, 7], // never determined
        [1, 2, 0, 0, 0, 0], // 0 and 1, together with the next
        [3, 4, 0, 0, 0, 0],
        [5, 6, 7, 0, 0, 0], // 2, once those are known
    ];
    let mut equations: Vec<Equation> = rows.iter().map(|row| equation(row.to_vec(), &sources)).collect();
    assert_eq!(found(&mut equations, &sources), [0, 1, 2]);
}

#[test]
fn equations_may_arrive_one_by_one() {
    let mut random = Seeded::new(7);
    let sources = sources(&mut random, 8);
    let mut kept = Vec::new();
    for number in 0..7 {
        kept.push(repair(number, &sources));
        assert_eq!(found(&mut kept, &sources), []);
    }
    kept.push(repair(7, &sources));
    assert_eq!(found(&mut kept, &sources).len(), 8);
    let reduced = kept.clone();
    assert_eq!(found(&mut kept, &sources).len(), 8);
    assert_eq!(kept, reduced, "what was reduced stays as it is");
}

#[test]
fn dependent_equations_change_nothing() {
    let mut random = Seeded::new(8);
    let sources = sources(&mut random, 4);
    let (first, second) = (repair(1, &sources), repair(2, &sources));
    let mut sum = first.clone();
    mul_add(&mut sum.coefficients, &second.coefficients, 17);
    mul_add(&mut sum.symbol, &second.symbol, 17);
    let nothing = equation(vec![0; 4], &sources);
    let mut equations = vec![nothing.clone(), first.clone(), first.clone(), sum, second.clone(), nothing];
    assert_eq!(found(&mut equations, &sources), []);
    equations.extend([first, repair(3, &sources), second, repair(4, &sources), repair(5, &sources)]);
    assert_eq!(found(&mut equations, &sources), [0, 1, 2, 3]);
}

#[test]
fn random_equations_of_any_rank_determine_exactly_their_span() {
    let mut random = Seeded::new(9);
    for _ in 0..2_000 {
        let sources = sources(&mut random, 5);
        let count = random.below(7);
        let mut equations: Vec<Equation> = (0..=count)
            .map(|_| {
                // Many zeros, so that part of the unknowns is often determined.
                let row = (0..5).map(|_| if random.below(3) == 0 { random.byte() } else { 0 }).collect();
                equation(row, &sources)
            })
            .collect();
        let rows: Vec<Vec<u8>> = equations.iter().map(|equation| equation.coefficients.clone()).collect();
        let determined: Vec<usize> = (0..5).filter(|unknown| is_in_span(&rows, *unknown)).collect();
        assert_eq!(found(&mut equations, &sources), determined, "{rows:?}");
    }
}

/// Whether a sum of `rows` has only the coefficient of `unknown`: adding that row does not raise their rank.
fn is_in_span(rows: &[Vec<u8>], unknown: usize) -> bool {
    let mut alone = vec![0; rows[0].len()];
    alone[unknown] = 1;
    let with_it: Vec<Vec<u8>> = rows.iter().cloned().chain([alone]).collect();
    rank(rows.to_vec()) == rank(with_it)
}

/// Elimination independent of the crate's own.
fn rank(mut rows: Vec<Vec<u8>>) -> usize {
    let mut rank = 0;
    for column in 0..rows[0].len() {
        let Some(found) = (rank..rows.len()).find(|row| rows[*row][column] != 0) else {
            continue;
        };
        rows.swap(rank, found);
        let pivot = rows[rank].clone();
        let scale = skipstone_gf256::inverse(pivot[column]).expect("not 0");
        for row in &mut rows[rank + 1..] {
            let factor = skipstone_gf256::mul(row[column], scale);
            mul_add(row, &pivot, factor);
        }
        rank += 1;
    }
    rank
}

#[test]
fn contradictions_leave_the_first_equations_valid() {
    let sources = [vec![1; SYMBOL_BYTES]];
    let lie = Equation { coefficients: vec![5], symbol: vec![77; SYMBOL_BYTES] };
    let mut equations = vec![equation(vec![3], &sources), lie];
    assert_eq!(found(&mut equations, &sources), [0]);
}

#[test]
fn an_empty_system_is_valid() {
    assert_eq!(solve(&mut []), []);
    assert_eq!(solve(&mut [Equation { coefficients: vec![], symbol: vec![1] }]), []);
    let mut without_bytes = [Equation { coefficients: vec![0, 9], symbol: vec![] }];
    assert_eq!(solve(&mut without_bytes), [None, Some(0)]);
}

#[test]
#[should_panic(expected = "equation 1 has another number of coefficients or of bytes")]
fn symbols_of_different_lengths_are_refused() {
    let equation = |bytes| Equation { coefficients: vec![1], symbol: vec![0; bytes] };
    solve(&mut [equation(4), equation(5)]);
}
