//! Coverage and width of intervals, by simulation of cases with known truth.

mod claims;
mod draw;
mod measuring;
mod rows;

use assize_stats::{Interval, SeededRandom};

use super::SimulationOptions;
use super::parallel::in_parallel;
use super::table::FigureTable;

/// Numbers of cases, labels or clusters.
const SIZES: [usize; 4] = [10, 30, 100, 300];

/// A kind of data, its true value, and the intervals computed from it.
struct CoverageCell {
    what: &'static str,
    /// The value that intervals should contain.
    truth: f64,
    /// Names of the methods; commands use the first one.
    methods: &'static [&'static str],
    /// Number of simulated data sets, in hundreds.
    hundreds: u32,
    /// Draws data of a size and returns the interval of each method, or `None` if it is undefined.
    draw: fn(usize, &mut SeededRandom) -> Vec<Option<Interval>>,
}

/// Percentage of intervals that contain the truth, and their median width. Data with an undefined estimate do
/// not count.
#[derive(Debug, Clone, Copy, PartialEq)]
struct CoverageFigure {
    covered: f64,
    width: f64,
    /// True if an interval had no width.
    empty: bool,
}

impl CoverageCell {
    fn simulate(&self, size: usize, hundreds: u32) -> Vec<CoverageFigure> {
        let mut random = SeededRandom::new(size as u64);
        let mut found: Vec<Vec<Interval>> = vec![Vec::new(); self.methods.len()];
        for _ in 0..hundreds * 100 {
            for (list, interval) in found.iter_mut().zip((self.draw)(size, &mut random)) {
                list.extend(interval);
            }
        }

        found.iter().map(|intervals| summarize(intervals, self.truth)).collect()
    }
}

fn summarize(intervals: &[Interval], truth: f64) -> CoverageFigure {
    let slack = 1e-9;
    let held = intervals
        .iter()
        .filter(|interval| interval.low <= truth + slack && interval.high >= truth - slack)
        .count();
    let mut widths: Vec<f64> = intervals.iter().map(|interval| interval.width()).collect();
    widths.sort_by(f64::total_cmp);

    CoverageFigure {
        covered: 100.0 * held as f64 / intervals.len().max(1) as f64,
        width: widths.get(widths.len() / 2).copied().unwrap_or(f64::NAN),
        empty: widths.first().is_some_and(|width| *width <= 0.0),
    }
}

/// Simulates cells; `quick` uses a tenth of the data sets.
pub(super) fn tables(options: SimulationOptions<'_>) -> Vec<FigureTable> {
    let columns = ["figure", "interval", "10", "30", "100", "300"];
    let mut table = FigureTable::new("Coverage in percent, and median width, of intervals at 95 %", &columns);
    let cells: Vec<CoverageCell> =
        rows::cells().into_iter().filter(|cell| options.takes(cell.what)).collect();
    let figures = in_parallel(&cells, |cell| {
        let hundreds = if options.quick { cell.hundreds.div_ceil(10) } else { cell.hundreds };
        SIZES.map(|size| cell.simulate(size, hundreds))
    });

    for (cell, sizes) in cells.iter().zip(figures) {
        for (at, method) in cell.methods.iter().enumerate() {
            let shown = sizes.each_ref().map(|figures| format_figure(figures[at]));
            let name = if at == 0 { format!("**{method}**") } else { (*method).to_owned() };
            let [a, b, c, d] = shown;
            table.row([if at == 0 { cell.what } else { "" }, &name, &a, &b, &c, &d]);
        }
    }

    vec![table, false_positives(options), claims::drift(options)]
}

fn format_figure(figure: CoverageFigure) -> String {
    if figure.width.is_nan() {
        return "undefined".to_owned();
    }
    let mark = if figure.empty { "*" } else { "" };
    format!("{:.1} / {:.3}{mark}", figure.covered, figure.width)
}

/// Share of comparisons without a difference that are called better or worse.
fn false_positives(options: SimulationOptions<'_>) -> FigureTable {
    let mut table = FigureTable::new(
        "False positives of comparisons",
        &["without a true difference", "test", "20", "100", "400"],
    );
    let rows: Vec<ComparisonRow> =
        rows::comparisons().into_iter().filter(|row| options.takes(row.what)).collect();
    let hundreds = if options.quick { 2 } else { 100 };
    let figures = in_parallel(&rows, |row| [20, 100, 400].map(|size| row.simulate(size, hundreds)));
    for (row, sizes) in rows.iter().zip(figures) {
        for (at, test) in row.tests.iter().enumerate() {
            let name = if at == 0 { format!("**{test}**") } else { (*test).to_owned() };
            let [a, b, c] = sizes.each_ref().map(|shares| format!("{:.1}", shares[at]));
            table.row([if at == 0 { row.what } else { "" }, &name, &a, &b, &c]);
        }
    }

    table
}

/// A kind of paired data without a difference, and tests that should find none.
struct ComparisonRow {
    what: &'static str,
    /// Names of the tests; commands use the first one.
    tests: &'static [&'static str],
    /// Draws data of a size and returns the p value of each test.
    draw: fn(usize, &mut SeededRandom) -> Vec<f64>,
}

impl ComparisonRow {
    fn simulate(&self, size: usize, hundreds: u32) -> Vec<f64> {
        let mut random = SeededRandom::new(size as u64);
        let mut hits = vec![0u32; self.tests.len()];
        for _ in 0..hundreds * 100 {
            for (hits, p) in hits.iter_mut().zip((self.draw)(size, &mut random)) {
                *hits += u32::from(p <= 0.05);
            }
        }

        hits.into_iter().map(|hits| f64::from(hits) / f64::from(hundreds)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tenth of the simulation, over few cases, where formulas fail: four standard errors below the 93% that
    /// the documentation promises.
    #[test]
    fn intervals_of_few_cases_hold_the_truth_and_have_a_width() {
        let cells = rows::cells();
        for cell in &cells {
            let hundreds =
                if ["kappa", "AC1", "alpha", "without labels"].iter().any(|name| cell.what.contains(name)) {
                    2
                } else {
                    5
                };
            let figure = cell.simulate(10, hundreds)[0];
            if figure.width.is_nan() {
                continue;
            }
            let draws = f64::from(hundreds) * 100.0;
            let slack = 400.0 * (0.05 * 0.95 / draws).sqrt();
            assert!(figure.covered >= 93.0 - slack, "{}: {figure:?}", cell.what);
            assert!(!figure.empty, "{}: an interval without width", cell.what);
        }
    }

    #[test]
    fn skewed_differences_are_not_called_better() {
        for row in rows::comparisons() {
            let share = row.simulate(20, 4)[0];
            // Four standard errors above 5.5 %.
            assert!(share <= 5.5 + 400.0 * (0.05 * 0.95 / 400.0_f64).sqrt(), "{}: {share}", row.what);
        }
    }
}
