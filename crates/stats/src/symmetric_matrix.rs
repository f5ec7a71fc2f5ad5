//! Small symmetric matrices.

/// A square matrix, row by row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SymmetricMatrix {
    pub(crate) size: usize,
    values: Vec<f64>,
}

impl SymmetricMatrix {
    pub(crate) fn zero(size: usize) -> Self {
        Self { size, values: vec![0.0; size * size] }
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.size + column]
    }

    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.size + column] += value;
    }

    /// Adds `factor v v^T`.
    pub(crate) fn add_outer_product(&mut self, vector: &[f64], factor: f64) {
        for (row, a) in vector.iter().enumerate() {
            for (column, b) in vector.iter().enumerate() {
                self.add(row, column, factor * a * b);
            }
        }
    }

    pub(crate) fn multiply(&self, vector: &[f64]) -> Vec<f64> {
        self.values
            .chunks(self.size.max(1))
            .map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
            .collect()
    }

    /// Returns `self other self`, for a symmetric `self`.
    pub(crate) fn sandwich(&self, other: &Self) -> Self {
        let mut result = Self::zero(self.size);
        for column in 0..self.size {
            let of_self: Vec<f64> = (0..self.size).map(|row| self.get(row, column)).collect();
            for (row, value) in self.multiply(&other.multiply(&of_self)).into_iter().enumerate() {
                result.add(row, column, value);
            }
        }

        result
    }

    /// Returns the inverse of a symmetric positive definite matrix, by Cholesky decomposition; `None` if it
    /// is not positive definite.
    pub(crate) fn inverse(&self) -> Option<Self> {
        let n = self.size;
        let mut lower = Self::zero(n);
        for row in 0..n {
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| lower.get(row, k) * lower.get(column, k)).sum();
                let left = self.get(row, column) - known;
                if row == column {
                    if left.is_nan() || left <= f64::EPSILON * self.get(row, row).abs() {
                        return None;
                    }
                    lower.add(row, column, left.sqrt());
                } else {
                    lower.add(row, column, left / lower.get(column, column));
                }
            }
        }

        let mut inverse = Self::zero(n);
        for column in 0..n {
            let mut solved = vec![0.0; n];
            for row in 0..n {
                let unit = if row == column { 1.0 } else { 0.0 };
                let known: f64 = (0..row).map(|k| lower.get(row, k) * solved[k]).sum();
                solved[row] = (unit - known) / lower.get(row, row);
            }

            for row in (0..n).rev() {
                let known: f64 = (row + 1..n).map(|k| lower.get(k, row) * solved[k]).sum();
                solved[row] = (solved[row] - known) / lower.get(row, row);
            }

            for (row, value) in solved.into_iter().enumerate() {
                inverse.add(row, column, value);
            }
        }

        Some(inverse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_times_its_inverse_is_one() {
        let mut matrix = SymmetricMatrix::zero(3);
        for (row, values) in [[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]].iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                matrix.add(row, column, *value);
            }
        }
        let inverse = matrix.inverse().expect("it is positive definite");
        for column in 0..3 {
            let of_inverse: Vec<f64> = (0..3).map(|row| inverse.get(row, column)).collect();
            for (row, value) in matrix.multiply(&of_inverse).into_iter().enumerate() {
                let expected = if row == column { 1.0 } else { 0.0 };
                assert!((value - expected).abs() < 1e-12, "{row} {column}: {value}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_inverse() {
        let mut matrix = SymmetricMatrix::zero(2);
        matrix.add_outer_product(&[1.0, 2.0], 1.0);
        assert_eq!(matrix.inverse(), None);
    }
}
