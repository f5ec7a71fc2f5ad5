//! Cross table of the answers of two raters.

use super::RatingScale;
use crate::{
    UndefinedReason,
    undefined::{check_lengths, check_not_empty},
};

/// Counts of answer pairs: rows are the first rater's answers, columns the second's, both in the order of the
/// scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreementTable {
    cells: Vec<Vec<u64>>,
}

impl AgreementTable {
    /// Creates a table from a square matrix of counts.
    pub fn new(cells: Vec<Vec<u64>>) -> Result<Self, UndefinedReason> {
        check_not_empty(cells.len())?;
        if cells.iter().any(|row| row.len() != cells.len()) {
            return Err(UndefinedReason::UnequalLengths);
        }

        Ok(Self { cells })
    }

    /// Counts the answers of two raters of the same units.
    pub fn from_answers(first: &[f64], second: &[f64], scale: &RatingScale) -> Result<Self, UndefinedReason> {
        check_lengths(first.len(), second.len())?;

        let mut cells = vec![vec![0; scale.len()]; scale.len()];
        for (&a, &b) in first.iter().zip(second) {
            cells[scale.position(a)?][scale.position(b)?] += 1;
        }

        Ok(Self { cells })
    }

    /// Returns the number of answers on the scale.
    pub const fn len(&self) -> usize {
        self.cells.len()
    }

    /// Always returns false: a table has at least one cell.
    pub const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Returns the counts, row by row.
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.cells
    }

    /// Returns the number of units that both rated.
    pub fn total(&self) -> u64 {
        self.cells.iter().flatten().fold(0u64, |sum, &count| sum.saturating_add(count))
    }

    /// Returns the count of each answer: for the first rater, and for the second.
    pub(crate) fn margins(&self) -> (Vec<f64>, Vec<f64>) {
        let rows = self.cells.iter().map(|row| row.iter().map(|&count| count as f64).sum()).collect();
        let columns = (0..self.len()).map(|j| self.cells.iter().map(|row| row[j] as f64).sum()).collect();
        (rows, columns)
    }
}
