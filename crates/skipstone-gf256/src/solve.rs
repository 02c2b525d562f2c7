//! Linear equations over symbols: Gauss-Jordan elimination, one equation after the other.

use crate::field::inverse;
use crate::kernel::Kernel;

/// The maximum number of unknowns that [`solve`] takes at once.
pub const UNKNOWNS_MAX: usize = 64;

/// A sum of unknown symbols, each multiplied by its coefficient, and the resulting bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// One for each unknown.
    pub coefficients: Vec<u8>,
    /// The sum of the unknowns times their coefficients: a repair symbol minus all known symbols.
    pub symbol: Vec<u8>,
}

/// Finds unknown symbols, at most [`UNKNOWNS_MAX`], in place: for each unknown the index of the equation whose symbol
/// it now is, or `None` as long as the equations do not determine it. An unknown may be determined while others are
/// not.
///
/// The equations stay equivalent to the original ones, and equations that are already reduced cost almost nothing the
/// next time: keep them, add one, solve again. Linearly dependent equations are allowed and change nothing; of
/// contradictory equations, which only a broken or hostile sender produces, the first ones hold.
///
/// The work is at most equations × unknowns × symbol length.
///
/// ```
/// use skipstone_gf256::{Equation, coefficient, mul_add, solve};
///
/// // Two repairs of the symbols 7, 8 and 9, of which only 8 arrives.
/// let sources = [b"seven", b"eight", b"nine "];
/// let mut equations: Vec<Equation> = (0..2)
///     .map(|repair| {
///         let mut symbol = vec![0; 5];
///         for (source, bytes) in (7..).zip(sources) {
///             mul_add(&mut symbol, bytes, coefficient(repair, source));
///         }
///         mul_add(&mut symbol, sources[1], coefficient(repair, 8)); // adding is subtracting
///         Equation { coefficients: vec![coefficient(repair, 7), coefficient(repair, 9)], symbol }
///     })
///     .collect();
///
/// let solved = solve(&mut equations);
/// assert_eq!(equations[solved[0].expect("two equations, two unknowns")].symbol, sources[0]);
/// assert_eq!(equations[solved[1].expect("two equations, two unknowns")].symbol, sources[2]);
/// ```
///
/// # Panics
///
/// If the equations differ in their number of coefficients or in the length of their symbols, or have more than
/// [`UNKNOWNS_MAX`] coefficients.
pub fn solve(equations: &mut [Equation]) -> Vec<Option<usize>> {
    let Some(first) = equations.first() else {
        return Vec::new();
    };
    let unknowns = first.coefficients.len();
    assert_sizes(equations, unknowns, first.symbol.len());
    let kernel = Kernel::best();
    let mut pivots: Vec<Pivot> = Vec::with_capacity(unknowns);
    for row in 0..equations.len() {
        if pivots.len() == unknowns {
            break; // all are determined: the remaining equations follow from these
        }
        for pivot in &pivots {
            eliminate(kernel, equations, row, *pivot);
        }
        let Some(pivot) = normalise(kernel, &mut equations[row], row) else {
            continue; // follows from those before
        };
        for earlier in &pivots {
            eliminate(kernel, equations, earlier.row, pivot);
        }
        pivots.push(pivot);
    }
    let mut solved = vec![None; unknowns];
    // Each pivot's column is 0 in the equations of all other pivots. So an unknown that some sum of equations
    // determines is a pivot, and its own equation contains no other unknown.
    for pivot in pivots.iter().filter(|pivot| is_alone(&equations[pivot.row])) {
        solved[pivot.column] = Some(pivot.row);
    }
    solved
}

/// The equation in which the unknown of `column` has the coefficient 1; it has the coefficient 0 in all other reduced
/// equations.
#[derive(Clone, Copy)]
struct Pivot {
    row: usize,
    column: usize,
}

/// Eliminates the pivot's unknown from the equation at `row`.
fn eliminate(kernel: Kernel, equations: &mut [Equation], row: usize, pivot: Pivot) {
    let factor = equations[row].coefficients[pivot.column];
    if factor == 0 {
        return;
    }
    let [target, source] = equations.get_disjoint_mut([row, pivot.row]).expect("a pivot is not eliminated from itself");
    kernel.mul_add(&mut target.coefficients, &source.coefficients, factor);
    kernel.mul_add(&mut target.symbol, &source.symbol, factor);
}

/// Scales the first nonzero coefficient to 1. `None` if all are 0.
fn normalise(kernel: Kernel, equation: &mut Equation, row: usize) -> Option<Pivot> {
    let (column, factor) =
        equation.coefficients.iter().enumerate().find_map(|(column, first)| Some((column, inverse(*first)?)))?;
    kernel.scale(&mut equation.coefficients, factor);
    kernel.scale(&mut equation.symbol, factor);
    Some(Pivot { row, column })
}

fn is_alone(equation: &Equation) -> bool {
    equation.coefficients.iter().filter(|coefficient| **coefficient != 0).count() == 1
}

fn assert_sizes(equations: &[Equation], unknowns: usize, symbol_bytes: usize) {
    assert!(unknowns <= UNKNOWNS_MAX, "{unknowns} unknowns are more than {UNKNOWNS_MAX}: solve for the oldest first");
    for (row, equation) in equations.iter().enumerate() {
        assert_eq!(
            (equation.coefficients.len(), equation.symbol.len()),
            (unknowns, symbol_bytes),
            "equation {row} has another number of coefficients or of bytes than the first: fill up with zeros"
        );
    }
}
