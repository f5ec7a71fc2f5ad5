//! Samples of any size: values are sorted by cluster, in a file if there are many.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use assize_stats::{
    BoundedMean, ClusteredMean, ConfidenceLevel, MeanAccumulator, PlannedMean, UndefinedReason, UnitList,
    UnitScale, UnitSums,
};
use assize_store::{SortedRecords, StoreError};

use crate::case_metrics::MetricSample;

/// Numbers in a record: the cluster, the position, and the value itself.
const RECORD_LEN: usize = 3;

/// Values from 0 to 1, each with its cluster. Clusters are ordered by their first value, so that equal values
/// in equal order give equal metrics, independent of the names of the clusters.
#[derive(Debug)]
pub(crate) struct StoredSample {
    /// Folder for the files.
    beside: PathBuf,
    values: SortedRecords<RECORD_LEN>,
    successes: u64,
    plain: MeanAccumulator,
}

/// Sums of the clusters of a stored sample, in the order of their first values.
#[derive(Debug)]
struct StoredUnits {
    units: RefCell<SortedRecords<RECORD_LEN>>,
    /// Error while reading the file. Everything computed after it is meaningless.
    failed: RefCell<Option<StoreError>>,
}

impl UnitList for StoredUnits {
    fn count(&self) -> usize {
        self.units.borrow().len()
    }

    fn visit(&self, mut see: impl FnMut(f64, f64)) {
        let mut units = self.units.borrow_mut();
        let read = units.in_order().and_then(|mut units| {
            units.try_for_each(|unit| {
                let [_, sum, size] = unit?;
                see(f64::from_bits(sum), f64::from_bits(size));
                Ok(())
            })
        });
        if let Err(error) = read {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }
}

/// A complete sample.
#[derive(Debug)]
pub(crate) struct SampleUnits {
    /// The values of the sample, which is complete.
    sample: StoredSample,
    units: Result<UnitSums<StoredUnits>, UndefinedReason>,
    clusters: usize,
}

impl StoredSample {
    /// Creates an empty sample with its files in this folder.
    pub(crate) fn new(beside: &Path) -> Self {
        Self {
            beside: beside.to_path_buf(),
            values: SortedRecords::new(beside),
            successes: 0,
            plain: MeanAccumulator::new(),
        }
    }

    pub(crate) fn push(&mut self, value: f64, cluster: u64) {
        let position = self.values.len() as u64;
        self.values.push([cluster, position, value.to_bits()]);
        self.successes += u64::from(value > 0.5);
        self.plain.push(value);
    }

    /// Sums `part` of the values of each cluster. A record has the position of the cluster's first value, the
    /// sum and the size.
    fn sum_clusters(
        &mut self,
        mut part: impl FnMut(f64) -> Result<f64, UndefinedReason>,
    ) -> Result<Result<SortedRecords<RECORD_LEN>, UndefinedReason>, StoreError> {
        let mut sums = SortedRecords::new(&self.beside);
        // Cluster, position of its first value, sum and size.
        let mut open: Option<(u64, u64, f64, u64)> = None;
        for found in self.values.in_order()? {
            let [cluster, position, value] = found?;
            let value = match part(f64::from_bits(value)) {
                Ok(value) => value,
                Err(reason) => return Ok(Err(reason)),
            };
            match &mut open {
                Some((of, _, sum, size)) if *of == cluster => {
                    *sum += value;
                    *size += 1;
                }
                _ => {
                    let before = open.replace((cluster, position, value, 1));
                    push_sum(&mut sums, before);
                }
            }
        }
        push_sum(&mut sums, open);
        sums.settle()?;

        Ok(Ok(sums))
    }

    /// Completes the sample.
    pub(crate) fn finish(mut self) -> Result<SampleUnits, StoreError> {
        let mut clusters = 0;
        let units = match UnitScale::new((0.0, 1.0)) {
            Err(reason) => Err(reason),
            Ok(mut scale) => self.sum_clusters(|value| scale.take(value))?.and_then(|units| {
                clusters = units.len();
                let units = StoredUnits { units: RefCell::new(units), failed: RefCell::default() };
                UnitSums::from_list(units, scale)
            }),
        };

        Ok(SampleUnits { sample: self, units, clusters })
    }
}

fn push_sum(sums: &mut SortedRecords<RECORD_LEN>, cluster: Option<(u64, u64, f64, u64)>) {
    if let Some((_, position, sum, size)) = cluster {
        sums.push([position, sum.to_bits(), (size as f64).to_bits()]);
    }
}

impl SampleUnits {
    /// The mean with its clustered error; `None` if no cluster has several values.
    pub(crate) fn clustered_mean(
        &mut self,
        level: ConfidenceLevel,
    ) -> Result<Option<ClusteredMean>, StoreError> {
        let plain = self.sample.plain.mean(level);
        let (Some(_), Ok(mean)) = (self.clusters(), plain.mean) else { return Ok(None) };
        let Ok(mut deviations) = self.sample.sum_clusters(|value| Ok(value - mean))? else { return Ok(None) };

        let mut squares = 0.0;
        for deviation in deviations.in_order()? {
            let [_, deviation, _] = deviation?;
            squares += f64::from_bits(deviation).powi(2);
        }

        Ok(ClusteredMean::from_squares(&plain, self.clusters, squares, level).ok())
    }

    /// Predicts the widths of intervals for other numbers of values.
    pub(crate) fn planned_mean(&self, level: ConfidenceLevel) -> Result<PlannedMean, UndefinedReason> {
        PlannedMean::from_units(self.units.as_ref().map_err(|reason| *reason)?, level)
    }

    /// Returns the error if reading the values failed. In that case, all values computed from the sample are
    /// meaningless.
    pub(crate) fn check(self) -> Result<(), StoreError> {
        let failed = self.units.ok().and_then(|units| units.into_list().failed.into_inner());
        failed.map_or(Ok(()), Err)
    }
}

impl MetricSample for SampleUnits {
    fn len(&self) -> usize {
        self.sample.values.len()
    }

    fn clusters(&self) -> Option<usize> {
        (self.clusters < self.len()).then_some(self.clusters)
    }

    fn successes(&self) -> u64 {
        self.sample.successes
    }

    fn bounded_mean(&self, level: ConfidenceLevel) -> Result<BoundedMean, UndefinedReason> {
        self.units.as_ref().map(|units| units.bounded_mean((0.0, 1.0), level)).map_err(|reason| *reason)
    }
}
