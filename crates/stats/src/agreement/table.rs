//! Two raters' answers crossed.

use super::Scale;
use crate::Undefined;

/// How often the first rater gave one answer where the second gave another: rows are the first rater's
/// answers, columns the second's, both in the order of the scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    cells: Vec<Vec<u64>>,
}

impl Table {
    /// A square table of counts.
    pub fn new(cells: Vec<Vec<u64>>) -> Result<Self, Undefined> {
        if cells.is_empty() {
            return Err(Undefined::NoValues);
        }
        if cells.iter().any(|row| row.len() != cells.len()) {
            return Err(Undefined::UnequalLengths);
        }
        Ok(Self { cells })
    }

    /// Counts the answers of two raters of the same units.
    pub fn of(first: &[f64], second: &[f64], scale: &Scale) -> Result<Self, Undefined> {
        if first.len() != second.len() {
            return Err(Undefined::UnequalLengths);
        }
        let mut cells = vec![vec![0; scale.len()]; scale.len()];
        for (&a, &b) in first.iter().zip(second) {
            cells[scale.position(a)?][scale.position(b)?] += 1;
        }
        Ok(Self { cells })
    }

    /// How many answers there are to choose from.
    pub const fn len(&self) -> usize {
        self.cells.len()
    }

    /// Never: a table has at least one cell.
    pub const fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The counts, row by row.
    pub fn rows(&self) -> &[Vec<u64>] {
        &self.cells
    }

    /// How many units both rated.
    pub fn total(&self) -> u64 {
        self.cells.iter().flatten().fold(0u64, |sum, &count| sum.saturating_add(count))
    }

    /// How often each rater gave each answer: of the first, and of the second.
    pub(crate) fn margins(&self) -> (Vec<f64>, Vec<f64>) {
        let rows = self.cells.iter().map(|row| row.iter().map(|&count| count as f64).sum()).collect();
        let columns = (0..self.len()).map(|j| self.cells.iter().map(|row| row[j] as f64).sum()).collect();
        (rows, columns)
    }
}
