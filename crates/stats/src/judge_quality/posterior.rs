//! Intervals for metrics of a table of verdicts, from random tables that are likely given the verdicts.

use rand_core::RngCore;

use super::ConfusionTable;
use crate::{
    ConfidenceLevel, Interval, IntervalMethod, UndefinedReason,
    rank::quantile,
    undefined::check_finite,
    variates::{exponential, gamma},
};

/// Pseudo counts of each of the four cells in the weaker prior. The stronger prior has twice as many: one half, like
/// Jeffreys'.
const WEAK_PRIOR: f64 = 0.25;

/// Drawn cells, which sum to the number of verdicts, are multiplied by this before they are rounded to
/// integers.
const CELL_SCALE: f64 = 1e6;

/// Up to one in this many drawn tables may leave a metric undefined. If there are more, the other tables are not a fair
/// sample.
const UNDEFINED_ONE_IN: usize = 20;

/// Random tables, drawn around the tables of clusters.
///
/// Each table is the sum of all clusters, each weighted by a random number from the exponential distribution,
/// and of pseudo counts in the four cells (D. Rubin, "The Bayesian Bootstrap", Annals of Statistics 9 (1981),
/// 130-134). If every verdict is its own cluster, this is the Dirichlet distribution of the four shares given
/// the counts. Unlike resampled tables, the drawn ones allow for outcomes that the data happen not to
/// contain. One prior works well if agreement is high and the other if one verdict is rare, so tables are
/// drawn with both, and intervals cover both.
#[derive(Debug, Clone)]
pub struct DrawnTables {
    weak: Vec<ConfusionTable>,
    strong: Vec<ConfusionTable>,
}

impl DrawnTables {
    /// Draws tables. Undefined without verdicts and for a single cluster.
    pub fn draw<R: RngCore + ?Sized>(
        clusters: &[ConfusionTable],
        draws: usize,
        random: &mut R,
    ) -> Result<Self, UndefinedReason> {
        let clusters: Vec<ConfusionTable> = clusters.iter().copied().filter(|table| table.n() > 0).collect();
        match clusters.len() {
            0 => return Err(UndefinedReason::NoValues),
            1 => return Err(UndefinedReason::OneCluster),
            _ => {}
        }

        let counts: Vec<[f64; 4]> = clusters.iter().map(|table| cells(*table)).collect();
        let n = counts.iter().flatten().sum::<f64>();
        // A pseudo count is as large as a cluster.
        let size = n / counts.len() as f64;
        let independent = clusters.iter().all(|table| table.n() == 1);
        let total = std::array::from_fn(|cell| counts.iter().map(|table| table[cell]).sum::<f64>());

        let (mut weak, mut strong) = (Vec::with_capacity(draws), Vec::with_capacity(draws));
        for _ in 0..draws {
            let data = if independent { gamma_cells(total, random) } else { weighted_sum(&counts, random) };
            let [first, second] = [(); 2].map(|()| gamma_cells([WEAK_PRIOR; 4], random));
            // The sum of two independent gamma variates is one with the sum of their shapes.
            weak.push(rounded(std::array::from_fn(|cell| data[cell] + size * first[cell]), n));
            strong.push(rounded(
                std::array::from_fn(|cell| data[cell] + size * (first[cell] + second[cell])),
                n,
            ));
        }

        Ok(Self { weak, strong })
    }

    /// Returns the interval of a metric whose largest possible value is 1: equal tails of the drawn values. Each end is
    /// the outer one of the two priors, and the interval always includes the estimate. If the estimate is 1, the true
    /// value may be 1 too, so the interval ends there (as L. Brown, T. Cai and A. DasGupta, Statistical Science 16
    /// (2001), 101-133, do for Jeffreys' interval).
    pub fn interval(
        &self,
        estimate: f64,
        level: ConfidenceLevel,
        figure: impl Fn(ConfusionTable) -> Result<f64, UndefinedReason>,
    ) -> Result<Interval, UndefinedReason> {
        check_finite(estimate)?;
        let (mut low, mut high) = (estimate, if estimate >= 1.0 { 1.0 } else { estimate });
        for tables in [&self.weak, &self.strong] {
            let mut figures: Vec<f64> = tables.iter().filter_map(|table| figure(*table).ok()).collect();
            if (tables.len() - figures.len()) * UNDEFINED_ONE_IN > tables.len() {
                return Err(UndefinedReason::TooFew);
            }

            figures.sort_by(f64::total_cmp);
            let at = |share| quantile(&figures, share).ok_or(UndefinedReason::TooFew);
            low = low.min(at(level.tail())?);
            high = high.max(at(1.0 - level.tail())?);
        }

        Ok(Interval { low, high, level, method: IntervalMethod::Posterior })
    }
}

fn cells(table: ConfusionTable) -> [f64; 4] {
    [table.true_pass, table.false_pass, table.false_fail, table.true_fail].map(|count| count as f64)
}

fn gamma_cells<R: RngCore + ?Sized>(shapes: [f64; 4], random: &mut R) -> [f64; 4] {
    shapes.map(|shape| if shape > 0.0 { gamma(shape, random) } else { 0.0 })
}

fn weighted_sum<R: RngCore + ?Sized>(tables: &[[f64; 4]], random: &mut R) -> [f64; 4] {
    let mut sum = [0.0; 4];
    for table in tables {
        let weight = exponential(random);
        for (sum, count) in sum.iter_mut().zip(table) {
            *sum += weight * count;
        }
    }

    sum
}

/// Converts the cells to a table in millionths of a verdict, scaled to n verdicts, so that functions of
/// integer counts apply.
fn rounded(cells: [f64; 4], n: f64) -> ConfusionTable {
    let scale = CELL_SCALE * n / cells.iter().sum::<f64>();
    let [true_pass, false_pass, false_fail, true_fail] = cells.map(|cell| (cell * scale).round() as u64);
    ConfusionTable { true_pass, false_pass, false_fail, true_fail }
}
