//! Variance components of crossed facets: cases, judges, prompts and their interactions.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    ConfidenceLevel, UndefinedReason,
    distribution::normal_critical_value,
    undefined::{check_all_finite, check_not_empty},
};

/// Maximum number of facets.
const MAX_FACETS: usize = 4;

/// Variance components of crossed facets.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossedVariance {
    /// Number of values.
    pub n: usize,
    /// Number of levels of each facet.
    pub levels: Vec<usize>,
    /// Mean of all values.
    pub mean: f64,
    /// Component of each set of facets, by the set's bit mask: 1 for the first facet, 3 for the interaction
    /// of the first and the second. 0 if the estimate is negative.
    pub components: BTreeMap<usize, f64>,
    /// Variance of repeats; `None` without repeats, in which case it is part of the component of all facets
    /// together.
    pub repeats: Option<f64>,
    /// True if an estimate was negative.
    pub negative: bool,
}

/// Splits the variance of values into components of crossed facets and all their interactions. Each facet has
/// a level for each value. The sums of squares of the means for every set of facets are equated with their
/// expectations. Values may be missing or repeated. For a complete table these are the ANOVA estimates.
/// Undefined if a facet has a single level. Sources: C. Henderson, Biometrics 9 (1953), 226-252, method I; R.
/// Brennan, Generalizability Theory (2001), chapter 7.
pub fn crossed_variance(values: &[f64], facets: &[Vec<usize>]) -> Result<CrossedVariance, UndefinedReason> {
    check_all_finite(values)?;
    if facets.is_empty() || facets.len() > MAX_FACETS {
        return Err(UndefinedReason::OutOfRange);
    }
    if facets.iter().any(|facet| facet.len() != values.len()) {
        return Err(UndefinedReason::UnequalLengths);
    }
    check_not_empty(values.len())?;
    let levels: Vec<usize> = facets.iter().map(|facet| facet.iter().collect::<BTreeSet<_>>().len()).collect();
    if levels.iter().any(|levels| *levels < 2) {
        return Err(UndefinedReason::OneValue);
    }

    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let sets = 1usize << facets.len();
    let cells: Vec<Vec<usize>> = (0..sets).map(|set| cells_of(facets, set, values.len())).collect();
    let is_repeated = cells[sets - 1].iter().max().is_some_and(|last| last + 1 < values.len());

    // There is one unknown for each non-empty set of facets and one for repeats, and one equation for each sum of
    // squares.
    let unknowns: Vec<Option<usize>> = (1..sets).map(Some).chain(is_repeated.then_some(None)).collect();
    let squares = |set: Option<usize>| match set {
        Some(set) => sum_of_squares(&centred, &cells[set]),
        None => centred.iter().map(|value| value * value).sum(),
    };
    let expected = |set: Option<usize>, of: Option<usize>| match (set, of) {
        (None, _) => n,
        (Some(set), None) => count(&cells[set]) as f64,
        (Some(set), Some(of)) => shared_weight(&cells[set], &cells[set | of]),
    };
    let of_mean = |of: Option<usize>| expected(Some(0), of);

    let mut system: Vec<Vec<f64>> = unknowns
        .iter()
        .map(|&set| {
            let mut row: Vec<f64> = unknowns.iter().map(|&of| expected(set, of) - of_mean(of)).collect();
            row.push(squares(set));
            row
        })
        .collect();
    let solved = solve(&mut system).ok_or(UndefinedReason::TooFew)?;

    let tolerance = 1e-12 * centred.iter().map(|value| value * value).sum::<f64>() / n;
    let negative = solved.iter().any(|component| *component < -tolerance);
    let bounded = |at: usize| if solved[at] > tolerance { solved[at] } else { 0.0 };
    Ok(CrossedVariance {
        n: values.len(),
        levels,
        mean,
        components: (1..sets).map(|set| (set, bounded(set - 1))).collect(),
        repeats: is_repeated.then(|| bounded(sets - 1)),
        negative,
    })
}

/// Returns the cell number of each value. Cells are the combinations of levels of a set of facets.
fn cells_of(facets: &[Vec<usize>], set: usize, n: usize) -> Vec<usize> {
    let mut numbers: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    (0..n)
        .map(|at| {
            let key: Vec<usize> = facets
                .iter()
                .enumerate()
                .filter(|(facet, _)| set >> facet & 1 == 1)
                .map(|(_, levels)| levels[at])
                .collect();
            let next = numbers.len();
            *numbers.entry(key).or_insert(next)
        })
        .collect()
}

fn count(cells: &[usize]) -> usize {
    cells.iter().max().map_or(0, |last| last + 1)
}

/// Sum over cells of the number of values times the square of their mean.
fn sum_of_squares(values: &[f64], cells: &[usize]) -> f64 {
    let mut sums = vec![(0.0, 0.0); count(cells)];
    for (value, &cell) in values.iter().zip(cells) {
        sums[cell].0 += value;
        sums[cell].1 += 1.0;
    }
    sums.into_iter().map(|(sum, n)| sum * sum / n).sum()
}

/// Sum over cells, and over the finer cells within each, of the squared size of the finer cell divided by the
/// size of the cell.
fn shared_weight(cells: &[usize], finer: &[usize]) -> f64 {
    let mut sizes = vec![0.0; count(cells)];
    let mut within: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    for (&cell, &fine) in cells.iter().zip(finer) {
        sizes[cell] += 1.0;
        *within.entry((cell, fine)).or_default() += 1.0;
    }
    within.into_iter().map(|((cell, _), n)| n * n / sizes[cell]).sum()
}

/// Solves a linear system by elimination with pivoting; each row ends with its right side. `None` if it is
/// singular.
fn solve(rows: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let size = rows.len();
    let scale = rows.iter().flat_map(|row| &row[..size]).fold(0.0f64, |most, value| most.max(value.abs()));
    for column in 0..size {
        let pivot =
            (column..size).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        if rows[pivot][column].abs() <= 1e-10 * scale {
            return None;
        }
        rows.swap(column, pivot);
        for row in 0..size {
            if row != column {
                let factor = rows[row][column] / rows[column][column];
                let pivot_row = rows[column].clone();
                for (value, eliminated) in rows[row].iter_mut().zip(&pivot_row).skip(column) {
                    *value -= factor * eliminated;
                }
            }
        }
    }

    Some((0..size).map(|row| rows[row][size] / rows[row][row]).collect())
}

impl CrossedVariance {
    /// Variance of the mean over a design with `numbers` levels of each facet and this many repeats: each
    /// component is divided by the product of the numbers of its facets. Facets in `fixed`, a bit mask, are
    /// the same for both sides of a comparison, so that their own component cancels. Source: Brennan (2001),
    /// chapter 4.
    pub fn error_variance(&self, numbers: &[usize], repeats: usize, fixed: usize) -> f64 {
        let size = |set: usize| -> f64 {
            numbers
                .iter()
                .enumerate()
                .filter(|(facet, _)| set >> facet & 1 == 1)
                .map(|(_, n)| *n as f64)
                .product()
        };
        let parts = self
            .components
            .iter()
            .filter(|(set, _)| **set & !fixed != 0)
            .map(|(set, part)| part / size(*set));
        let all = (1usize << numbers.len()) - 1;
        parts.sum::<f64>() + self.repeats.unwrap_or(0.0) / size(all) / repeats as f64
    }

    /// Finds the design with the fewest calls whose mean has a normal interval of at most this half-width.
    /// The number of cases, which is the first facet, may be up to `most_cases`, all other numbers up to 10.
    /// A case costs `case_cost` calls in addition to those for judging it. Fails if no design is enough.
    pub fn cheapest_design(
        &self,
        half_width: f64,
        level: ConfidenceLevel,
        case_cost: f64,
        most_cases: usize,
        fixed: usize,
    ) -> Result<CrossedDesign, UndefinedReason> {
        let error = half_width / normal_critical_value(level)?;
        let others = self.levels.len() - 1;
        let can_repeat = self.repeats.is_some();
        let mut best: Option<CrossedDesign> = None;
        let choices = MAX_LEVELS.pow(others as u32) * if can_repeat { MAX_LEVELS } else { 1 };
        for choice in 0..choices {
            let mut numbers = vec![1];
            let mut left = choice;
            for _ in 0..others {
                numbers.push(left % MAX_LEVELS + 1);
                left /= MAX_LEVELS;
            }
            let repeats = left + 1;

            // The error is a + b / cases.
            let at = |cases: usize, numbers: &mut Vec<usize>| {
                numbers[0] = cases;
                self.error_variance(numbers, repeats, fixed)
            };
            let (one, two) = (at(1, &mut numbers), at(2, &mut numbers));
            let slope = 2.0 * (one - two);
            let rest = one - slope;
            let room = error * error - rest;
            if room <= 0.0 {
                continue;
            }
            let cases = (slope / room - 1e-9).ceil().max(2.0);
            if cases > most_cases as f64 {
                continue;
            }

            numbers[0] = cases as usize;
            let judgements: usize = numbers.iter().product::<usize>() * repeats;
            let calls = judgements as f64 + case_cost * cases;
            if best.as_ref().is_none_or(|best| calls < best.calls) {
                let error = self.error_variance(&numbers, repeats, fixed).sqrt();
                best = Some(CrossedDesign { numbers, repeats, calls, error });
            }
        }

        best.ok_or(UndefinedReason::Unreachable)
    }
}

/// Maximum number of repeats, and of levels of a facet other than cases, in a design.
const MAX_LEVELS: usize = 10;

/// A design.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossedDesign {
    /// Number of levels of each facet, cases first.
    pub numbers: Vec<usize>,
    /// Number of repeats of each combination.
    pub repeats: usize,
    /// Cost, in judge calls.
    pub calls: f64,
    /// Standard error of its mean.
    pub error: f64,
}
