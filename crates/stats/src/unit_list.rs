//! Lists of units, in memory or in a file.

/// Sums and sizes of units. The units of a large sample may be in a file, so they are visited one after the
/// other.
pub trait UnitList {
    /// Number of units.
    fn count(&self) -> usize;

    /// Calls `see` with the sum and the size of each unit, always in the same order.
    fn visit(&self, see: impl FnMut(f64, f64));
}

/// Units in memory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UnitVec {
    pub(crate) sums: Vec<f64>,
    pub(crate) sizes: Vec<f64>,
}

impl UnitList for UnitVec {
    fn count(&self) -> usize {
        self.sums.len()
    }

    fn visit(&self, mut see: impl FnMut(f64, f64)) {
        for (sum, size) in self.sums.iter().zip(&self.sizes) {
            see(*sum, *size);
        }
    }
}

impl FromIterator<(f64, f64)> for UnitVec {
    fn from_iter<T: IntoIterator<Item = (f64, f64)>>(units: T) -> Self {
        let (sums, sizes) = units.into_iter().unzip();
        Self { sums, sizes }
    }
}
