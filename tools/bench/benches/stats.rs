//! The expensive methods at the sizes they are built for.

use assize_stats::{
    ConfidenceLevel, SeededRandom,
    agreement::{AlphaMetric, UnitRatings, alpha},
    bootstrap_mean,
    compare::{PairedVerdicts, fair_coin},
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Scores on a scale of 0 to 10, equal in every run.
fn scores(n: usize) -> Vec<f64> {
    (0..n).map(|index| f64::from((index as u32).wrapping_mul(2_654_435_761) >> 16) % 11.0).collect()
}

#[divan::bench(sample_count = 5)]
fn bootstrap_10_000_resamples_of_10_000_cases(bencher: Bencher<'_, '_>) {
    let values = scores(10_000);
    bencher.bench_local(|| {
        bootstrap_mean(black_box(&values), 10_000, ConfidenceLevel::P95, &mut SeededRandom::new(1))
    });
}

#[divan::bench(args = [(500_000, 500_000), (499_000, 501_000), (400_000, 600_000)])]
fn mcnemar_exact_of_a_million(bencher: Bencher<'_, '_>, (heads, tails): (u64, u64)) {
    // Equal halves return without computing a sum, so one side is one larger.
    bencher.bench_local(|| fair_coin(black_box(heads), black_box(tails + 1)));
}

#[divan::bench]
fn mcnemar_with_interval_of_a_million(bencher: Bencher<'_, '_>) {
    let pairs = PairedVerdicts { both: 400_000, only_first: 101_000, only_second: 99_000, neither: 400_000 };
    bencher.bench_local(|| black_box(pairs).mcnemar(ConfidenceLevel::P95));
}

#[divan::bench(args = [AlphaMetric::Nominal, AlphaMetric::Ordinal, AlphaMetric::Interval, AlphaMetric::Ratio])]
fn alpha_of_126_000_ratings(bencher: Bencher<'_, '_>, metric: AlphaMetric) {
    let mut ratings = UnitRatings::new();
    for unit in scores(126_000).chunks(3) {
        ratings.push(unit.iter().copied());
    }
    bencher.bench_local(|| alpha(black_box(&ratings), metric));
}
