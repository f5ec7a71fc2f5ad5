//! The kinds of data, and the intervals and tests computed from them.

use assize_stats::{
    ConfidenceLevel, DifferenceReach, Interval, MeanAccumulator, RateInterval, SeededRandom,
    agreement::{
        AlphaMetric, DrawnClasses, RaterVote, UnitRatings, alpha, alpha_interval, drawn_interval,
        latent_classes,
    },
    bootstrap, bounded_difference, bounded_mean, bounded_mean_clustered, clustered_mean,
    compare::{PairedVerdicts, sign_flip, sign_flip_clustered},
    correction::{prediction_powered, prediction_powered_within},
    judge_quality::{ConfusionTable, DrawnTables, area_interval, area_under_curve},
    proportion, proportion_by,
};

use super::draw::{beta_4_2, chance, checks, clusters, judged, list, mostly_zero, normal, number, uniform};
use super::{ComparisonRow, CoverageCell};

const LEVEL: ConfidenceLevel = ConfidenceLevel::P95;
const UNIT: (f64, f64) = (0.0, 1.0);

/// Number of tables drawn for a figure of a table; commands draw 2,000.
const DRAWN: usize = 1_000;

/// Number of samples drawn for alpha.
const DRAWN_ALPHAS: usize = 500;

/// The judge's sensitivity and specificity.
const JUDGE: (f64, f64) = (0.9, 0.85);
const GOOD_JUDGE: (f64, f64) = (0.98, 0.95);

/// Number of cases that only the judge decided.
const JUDGED: usize = 1_000;

const MEANS: &[&str] = &["Wilson, Gaffke or Blaker", "Student's t"];
const CLUSTERED: &[&str] = &["Wilson, Gaffke or Blaker", "cluster-robust t"];
const DIFFERENCES: &[&str] = &["Wilson, paired", "Student's t"];
const TABLES: &[&str] = &["posterior", "formula"];
const ALPHAS: &[&str] = &["posterior", "bootstrap"];
const POWERED: &[&str] = &["PPI, Wilson", "PPI++, normal", "people alone"];

type Draw = fn(usize, &mut SeededRandom) -> Vec<Option<Interval>>;

const fn cell(
    what: &'static str,
    truth: f64,
    methods: &'static [&'static str],
    hundreds: u32,
    draw: Draw,
) -> CoverageCell {
    CoverageCell { what, truth, methods, hundreds, draw }
}

pub(super) fn cells() -> Vec<CoverageCell> {
    let mut cells = independent();
    cells.extend(clustered());
    cells.extend(paired());
    cells.extend(against_people());
    cells.extend(super::measuring::cells());
    cells.extend(super::claims::cells());
    cells
}

fn rate(p: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let passed = (0..n).filter(|_| chance(p, random)).count();
    [RateInterval::Blaker, RateInterval::Wilson, RateInterval::ClopperPearson]
        .map(|kind| proportion_by(kind, passed as u64, n as u64, LEVEL).interval.ok())
        .to_vec()
}

/// Interval of the lowest of 20 rates.
fn worst_rate(n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let passed = |random: &mut SeededRandom| (0..n).filter(|_| chance(0.8, random)).count() as u64;
    let worst = list(20, random, passed).into_iter().min().unwrap_or_default();
    let all = ConfidenceLevel::new(1.0 - 0.05 / 20.0).unwrap_or(LEVEL);
    [all, LEVEL].map(|level| proportion(worst, n as u64, level).interval.ok()).to_vec()
}

/// Errors of scores of 0 to 10, of which a share is 8 and the others have a standard deviation of 1.
fn root_mean_square(large: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let squares = list(n, random, |random| {
        let error = if chance(large, random) { 8.0 } else { normal(random).clamp(-10.0, 10.0) };
        error * error
    });
    let plain = squares.iter().copied().collect::<MeanAccumulator>().mean(LEVEL).interval;
    let bounded = bounded_mean(&squares, (0.0, 100.0), LEVEL).and_then(|found| found.interval);
    let root = |interval: Interval| Interval {
        low: interval.low.max(0.0).sqrt(),
        high: interval.high.sqrt(),
        ..interval
    };
    vec![bounded.ok().map(root), plain.ok().map(root)]
}

fn mean(
    n: usize,
    random: &mut SeededRandom,
    draw: impl Fn(&mut SeededRandom) -> f64,
) -> Vec<Option<Interval>> {
    let values = list(n, random, draw);
    let plain = values.iter().copied().collect::<MeanAccumulator>().mean(LEVEL).interval;
    vec![bounded_mean(&values, UNIT, LEVEL).and_then(|found| found.interval).ok(), plain.ok()]
}

fn independent() -> Vec<CoverageCell> {
    const WILSON: &[&str] = &["Blaker", "Wilson", "Clopper-Pearson"];
    vec![
        cell("pass rate 0.5", 0.5, WILSON, 100, |n, random| rate(0.5, n, random)),
        cell("pass rate 0.8", 0.8, WILSON, 100, |n, random| rate(0.8, n, random)),
        cell("pass rate 0.95", 0.95, WILSON, 100, |n, random| rate(0.95, n, random)),
        cell("pass rate 0.98", 0.98, WILSON, 100, |n, random| rate(0.98, n, random)),
        cell("pass rate 0.02", 0.02, WILSON, 100, |n, random| rate(0.02, n, random)),
        cell("worst of 20 criteria, rates 0.8", 0.8, &["Blaker, all at once", "Blaker"], 40, worst_rate),
        cell("mean, Beta(4, 2)", 2.0 / 3.0, MEANS, 40, |n, random| mean(n, random, beta_4_2)),
        cell("mean, U-shaped", 0.5, MEANS, 40, |n, random| {
            mean(n, random, |random| (std::f64::consts::FRAC_PI_2 * uniform(random)).sin().powi(2))
        }),
        cell("mean, k of 5 at 0.9", 0.9, MEANS, 40, |n, random| {
            mean(n, random, |random| checks(0.9, random))
        }),
        cell("mean 0.965, mostly 1", 0.965, MEANS, 40, |n, random| {
            mean(n, random, |random| 1.0 - mostly_zero(0.049, random))
        }),
        cell("mean 0.021, mostly 0", 0.021, MEANS, 40, |n, random| {
            mean(n, random, |random| mostly_zero(0.0294, random))
        }),
        cell("mean, 0.8 or 0.75, and 1 in 20 is 0", 0.95 * 0.79, MEANS, 40, |n, random| {
            mean(n, random, |random| match (chance(0.05, random), chance(0.8, random)) {
                (true, _) => 0.0,
                (false, true) => 0.8,
                (false, false) => 0.75,
            })
        }),
        cell("mean, 0.999 or 1, and 22.5 % are 0", 0.775 * 0.9995, MEANS, 40, |n, random| {
            mean(n, random, |random| rare(0.225, 0.0, (0.999, 1.0), random))
        }),
        cell("mean, 0.001 or 0, and 22.5 % are 1", 1.0 - 0.775 * 0.9995, MEANS, 40, |n, random| {
            mean(n, random, |random| rare(0.225, 1.0, (0.001, 0.0), random))
        }),
        cell("mean, 0.8 or 1, and 1 in 5 is 0", 0.8 * 0.9, MEANS, 40, |n, random| {
            mean(n, random, |random| rare(0.2, 0.0, (0.8, 1.0), random))
        }),
        cell("mean, 0.95, and 12 % are 0.05", 0.88 * 0.95 + 0.12 * 0.05, MEANS, 40, |n, random| {
            mean(n, random, |random| rare(0.12, 0.05, (0.95, 0.95), random))
        }),
        cell("root mean squared error of scores, 0 to 10", 1.0, MEANS, 40, |n, random| {
            root_mean_square(0.0, n, random)
        }),
        cell("the same, and 1 in 30 is off by 8", (93.0_f64 / 30.0).sqrt(), MEANS, 40, |n, random| {
            root_mean_square(1.0 / 30.0, n, random)
        }),
        cell("mean, 0.1 or 0.15, and 1 in 100 is not 0", 0.01 * 0.125, MEANS, 40, |n, random| {
            mean(n, random, |random| rare(0.99, 0.0, (0.1, 0.15), random))
        }),
    ]
}

/// Draws `far` with a probability, otherwise one of two near values.
fn rare(p: f64, far: f64, near: (f64, f64), random: &mut SeededRandom) -> f64 {
    match (chance(p, random), chance(0.5, random)) {
        (true, _) => far,
        (false, true) => near.0,
        (false, false) => near.1,
    }
}

fn both_clustered(values: &[f64], names: &[usize]) -> Vec<Option<Interval>> {
    vec![
        bounded_mean_clustered(values, names, UNIT, LEVEL).and_then(|found| found.interval).ok(),
        clustered_mean(values, names, LEVEL).and_then(|found| found.interval).ok(),
    ]
}

fn clustered_rate(p: f64, correlation: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let (values, names) = clusters(n, 5, correlation, random, |random| number(chance(p, random)));
    both_clustered(&values, &names)
}

fn clustered() -> Vec<CoverageCell> {
    vec![
        cell("clusters of 5, rate 0.5", 0.5, CLUSTERED, 20, |n, random| clustered_rate(0.5, 0.3, n, random)),
        cell("clusters of 5, rate 0.8", 0.8, CLUSTERED, 20, |n, random| clustered_rate(0.8, 0.3, n, random)),
        cell("clusters of 5, rate 0.98", 0.98, CLUSTERED, 20, |n, random| {
            clustered_rate(0.98, 0.3, n, random)
        }),
        cell("the same, correlation 0.8", 0.98, CLUSTERED, 20, |n, random| {
            clustered_rate(0.98, 0.8, n, random)
        }),
        cell("clusters of 5, mean", 2.0 / 3.0, CLUSTERED, 20, |n, random| {
            let (values, names) = clusters(n, 5, 0.3, random, beta_4_2);
            both_clustered(&values, &names)
        }),
        cell("clusters of 5, 0.999 or 1, and 22.5 % are 0", 0.775 * 0.9995, CLUSTERED, 20, |n, random| {
            let whole = list(n, random, |random| rare(0.225, 0.0, (0.999, 1.0), random));
            let values: Vec<f64> = whole.iter().flat_map(|value| [*value; 5]).collect();
            let names: Vec<usize> = (0..values.len()).map(|at| at / 5).collect();
            both_clustered(&values, &names)
        }),
        cell(
            "a cluster of 50 and single cases, rate 0.8",
            0.8,
            &["Wilson, Gaffke or Blaker", "cluster-robust t", "single cases alone"],
            20,
            |n, random| {
                let (mut values, mut names) =
                    clusters(1, 50, 0.3, random, |random| number(chance(0.8, random)));
                let single = list(n, random, |random| number(chance(0.8, random)));
                names.extend(1..=n);
                values.extend(&single);
                let mut found = both_clustered(&values, &names);
                let passed = single.iter().sum::<f64>() as u64;
                found.push(proportion(passed, n as u64, LEVEL).interval.ok());
                found
            },
        ),
        cell("clusters of 1 to 9, mean", 2.0 / 3.0, CLUSTERED, 20, |n, random| {
            let (mut values, mut names) = (Vec::new(), Vec::new());
            for cluster in 0..n {
                let members = 1 + (uniform(random) * 9.0) as usize;
                let (own, _) = clusters(1, members, 0.3, random, beta_4_2);
                names.extend(own.iter().map(|_| cluster));
                values.extend(own);
            }

            both_clustered(&values, &names)
        }),
    ]
}

/// Reach of scores with a mean of `base` before, and these differences.
fn score_reach(base: f64, differences: &[f64]) -> DifferenceReach {
    let after: Vec<f64> = differences.iter().map(|difference| base + difference).collect();
    DifferenceReach::of_scores(&vec![base; after.len()], &after)
}

/// Interval of differences of scores with a mean of `base` before.
fn difference(values: &[f64], names: &[usize], base: f64) -> Vec<Option<Interval>> {
    let reach = score_reach(base, values);
    vec![
        bounded_difference(values, names, reach).and_then(|found| found.interval(LEVEL)).ok(),
        clustered_mean(values, names, LEVEL).and_then(|found| found.interval).ok(),
    ]
}

fn independent_difference(
    base: f64,
    n: usize,
    random: &mut SeededRandom,
    draw: impl Fn(&mut SeededRandom) -> f64,
) -> Vec<Option<Interval>> {
    let names: Vec<usize> = (0..n).collect();
    difference(&list(n, random, draw), &names, base)
}

/// Pairs of verdicts: a share `better` improves, a share `worse` gets worse.
fn verdict_pairs(better: f64, worse: f64, n: usize, random: &mut SeededRandom) -> PairedVerdicts {
    let mut pairs = PairedVerdicts::default();
    for _ in 0..n {
        let place = uniform(random);
        if place < better {
            pairs.only_first += 1;
        } else if place < better + worse {
            pairs.only_second += 1;
        } else {
            pairs.both += 1;
        }
    }

    pairs
}

fn paired_rate(better: f64, worse: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    vec![verdict_pairs(better, worse, n, random).mcnemar(LEVEL).interval.ok()]
}

/// Differences of verdicts of cases repeated five times; each case has its own probability.
fn repeated_differences(
    base: f64,
    candidate: f64,
    n: usize,
    random: &mut SeededRandom,
) -> (Vec<f64>, Vec<usize>) {
    let (mut values, mut names) = (Vec::new(), Vec::new());
    for case in 0..n {
        let place = uniform(random);
        let verdict = |p: f64, random: &mut SeededRandom| {
            let common = chance(0.3_f64.sqrt(), random);
            number(if common { place < p } else { chance(p, random) })
        };
        for _ in 0..5 {
            values.push(verdict(candidate, random) - verdict(base, random));
            names.push(case);
        }
    }

    (values, names)
}

fn paired() -> Vec<CoverageCell> {
    const BONETT: &[&str] = &["Bonett-Price or exact bound"];
    vec![
        cell("paired rates 0.8, 0.9", 0.1, BONETT, 40, |n, random| paired_rate(0.15, 0.05, n, random)),
        cell("paired rates 0.98, 0.98", 0.0, BONETT, 40, |n, random| paired_rate(0.015, 0.015, n, random)),
        cell("paired rates 0.98, 0.94", -0.04, BONETT, 40, |n, random| paired_rate(0.005, 0.045, n, random)),
        cell("paired means, normal", 0.02, DIFFERENCES, 40, |n, random| {
            independent_difference(0.5, n, random, |random| (0.02 + 0.15 * normal(random)).clamp(-1.0, 1.0))
        }),
        cell("paired means, 0.1 with a deviation of 0.1", 0.1, DIFFERENCES, 40, |n, random| {
            independent_difference(0.5, n, random, |random| 0.1 + 0.1 * normal(random))
        }),
        cell("paired means, 1 in 20 falls by 0.6", -0.03, DIFFERENCES, 40, |n, random| {
            independent_difference(0.8, n, random, |random| -0.6 * number(chance(0.05, random)))
        }),
        cell("paired means, 9 in 10 up 0.05, 1 down 0.45", 0.0, DIFFERENCES, 40, |n, random| {
            independent_difference(SKEWED_BASE, n, random, skewed)
        }),
        cell("paired rates, 5 repeats, 0.8, 0.9", 0.1, DIFFERENCES, 20, |n, random| {
            let (values, names) = repeated_differences(0.8, 0.9, n, random);
            difference(&values, &names, 0.8)
        }),
        cell("paired rates, 5 repeats, 0.98, 0.94", -0.04, DIFFERENCES, 20, |n, random| {
            let (values, names) = repeated_differences(0.98, 0.94, n, random);
            difference(&values, &names, 0.98)
        }),
    ]
}

/// Mean score before skewed differences. A lower score could not fall by the largest difference.
const SKEWED_BASE: f64 = 0.45;

fn skewed(random: &mut SeededRandom) -> f64 {
    if chance(0.1, random) { -0.45 } else { 0.05 }
}

fn powered(truth: f64, judge: (f64, f64), n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let draw = |n: usize, random: &mut SeededRandom| -> (Vec<f64>, Vec<f64>) {
        (0..n)
            .map(|_| judged(truth, judge, random))
            .map(|(people, judge)| (number(people), number(judge)))
            .unzip()
    };
    let (people, machine) = draw(n, random);
    let (_, others) = draw(JUDGED, random);
    let passed = people.iter().filter(|value| **value > 0.5).count();
    let within = prediction_powered_within::<usize>(&people, &machine, &others, None, UNIT, LEVEL);
    let normal = prediction_powered(&people, &machine, &others, LEVEL);
    vec![
        within.ok().map(|found| found.tuned.interval),
        normal.ok().map(|found| found.tuned.interval),
        proportion(passed as u64, n as u64, LEVEL).interval.ok(),
    ]
}

/// A figure of a table, and its interval by formula.
type TableFigure = fn(ConfusionTable) -> Option<f64>;

fn drawn(
    tables: &[ConfusionTable],
    random: &mut SeededRandom,
    figure: TableFigure,
    formula: impl Fn(ConfusionTable) -> Option<Interval>,
) -> Vec<Option<Interval>> {
    let mut sum = ConfusionTable::default();
    for table in tables {
        sum.true_pass += table.true_pass;
        sum.false_pass += table.false_pass;
        sum.false_fail += table.false_fail;
        sum.true_fail += table.true_fail;
    }

    let Some(estimate) = figure(sum) else { return vec![None, None] };
    let undefined = assize_stats::UndefinedReason::ChanceIsCertain;
    let interval = DrawnTables::draw(tables, DRAWN, random)
        .and_then(|found| found.interval(estimate, LEVEL, |table| figure(table).ok_or(undefined)));
    vec![interval.ok(), formula(sum)]
}

fn single(people: bool, judge: bool) -> ConfusionTable {
    ConfusionTable {
        true_pass: u64::from(people && judge),
        false_pass: u64::from(!people && judge),
        false_fail: u64::from(people && !judge),
        true_fail: u64::from(!people && !judge),
    }
}

fn verdicts(base: f64, n: usize, random: &mut SeededRandom) -> Vec<ConfusionTable> {
    list(n, random, |random| {
        let (people, judge) = judged(base, JUDGE, random);
        single(people, judge)
    })
}

fn kappa_figure(table: ConfusionTable) -> Option<f64> {
    table.kappa(LEVEL).ok()?.kappa.ok()
}

fn kappa(base: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let tables = verdicts(base, n, random);
    drawn(&tables, random, kappa_figure, |table| table.kappa(LEVEL).ok()?.interval.ok())
}

fn gwet(base: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let tables = verdicts(base, n, random);
    let mut found = drawn(&tables, random, |table| table.gwet().ok(), |_| None);
    found.truncate(1);
    found
}

/// Cases with 5 criteria, with correlated verdicts and correlated mistakes of the judge.
fn clustered_kappa(base: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let tables = list(n, random, |random| {
        let (place, slip) = (uniform(random), uniform(random));
        let mut table = ConfusionTable::default();
        for _ in 0..5 {
            let common = chance(0.3_f64.sqrt(), random);
            let people = if common { place < base } else { chance(base, random) };
            let right = if people { JUDGE.0 } else { JUDGE.1 };
            let is_right = if common { slip < right } else { chance(right, random) };
            let one = single(people, if is_right { people } else { !people });
            table.true_pass += one.true_pass;
            table.false_pass += one.false_pass;
            table.false_fail += one.false_fail;
            table.true_fail += one.true_fail;
        }

        table
    });
    let mut found = drawn(&tables, random, kappa_figure, |_| None);
    found.truncate(1);
    found
}

/// Ratings of items by raters who see the truth with the judge's error rates.
fn rated_verdicts(raters: usize, base: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let mut ratings = UnitRatings::new();
    for _ in 0..n {
        let truth = chance(base, random);
        let seen = list(raters, random, |random| {
            let right = if truth { JUDGE.0 } else { JUDGE.1 };
            number(chance(right, random) == truth)
        });
        ratings.push(seen);
    }

    alpha_intervals(&ratings, AlphaMetric::Nominal, random)
}

/// Scores of 1 to 5 by raters whose noise is 0.7 of the spread of items around `centre`.
fn rated_scores(raters: usize, centre: f64, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let mut ratings = UnitRatings::new();
    for _ in 0..n {
        let item = centre + normal(random);
        ratings.push(list(raters, random, |random| (item + 0.7 * normal(random)).round().clamp(1.0, 5.0)));
    }

    alpha_intervals(&ratings, AlphaMetric::Interval, random)
}

fn alpha_intervals(
    ratings: &UnitRatings,
    metric: AlphaMetric,
    random: &mut SeededRandom,
) -> Vec<Option<Interval>> {
    let units: Vec<usize> = (0..ratings.len()).collect();
    let drawn = alpha_interval(ratings, &units, metric, DRAWN_ALPHAS, LEVEL, random);
    let resampled = bootstrap(ratings.len(), DRAWN_ALPHAS, LEVEL, random, |chosen| {
        alpha(&ratings.select(chosen), metric).value
    });
    // If alpha itself is undefined, neither counts.
    let is_defined = alpha(ratings, metric).value.is_ok();
    vec![drawn.ok(), resampled.ok().filter(|_| is_defined).map(|found| found.percentile)]
}

/// Sensitivity and specificity of the raters of a panel.
const PANEL: [(f64, f64); 3] = [(0.95, 0.9), (0.9, 0.8), (0.8, 0.7)];

/// Sensitivity of the second rater, or specificity of the third, from votes alone, if a share `met` of items is
/// truly met.
fn panel_rate(met: f64, is_sensitivity: bool, n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    let mut votes = Vec::new();
    for item in 0..n {
        let truth = chance(met, random);
        for (rater, (sensitivity, specificity)) in PANEL.into_iter().enumerate() {
            let is_right = chance(if truth { sensitivity } else { specificity }, random);
            votes.push(RaterVote { item, rater, met: truth == is_right });
        }
    }

    let Ok(fit) = latent_classes(&votes, n, PANEL.len(), 0.5) else { return vec![None] };
    let drawn = DrawnClasses::draw(&votes, n, PANEL.len(), 400, random);
    let (shares, estimate) = if is_sensitivity {
        (&drawn.sensitivity[1], fit.raters[1].sensitivity)
    } else {
        (&drawn.specificity[2], fit.raters[2].specificity)
    };
    vec![drawn_interval(shares, estimate, LEVEL).ok()]
}

fn area(n: usize, random: &mut SeededRandom) -> Vec<Option<Interval>> {
    // Normally distributed scores; positives are 1.5 higher.
    let outcomes = list(n, random, |random| chance(0.3, random));
    let scores: Vec<f64> = outcomes.iter().map(|came| normal(random) + 1.5 * number(*came)).collect();
    let names: Vec<usize> = (0..n).collect();
    vec![
        area_interval(&scores, &outcomes, &names, LEVEL).ok(),
        area_under_curve(&scores, &outcomes, LEVEL).ok().and_then(|found| found.interval.ok()),
    ]
}

/// The true kappa of judge and people.
fn true_kappa(base: f64) -> f64 {
    let judged = base * JUDGE.0 + (1.0 - base) * (1.0 - JUDGE.1);
    let agreed = base * JUDGE.0 + (1.0 - base) * JUDGE.1;
    let chance = base * judged + (1.0 - base) * (1.0 - judged);
    (agreed - chance) / (1.0 - chance)
}

/// The true alpha (Krippendorff) of two raters with the judge's error rates.
fn true_alpha(base: f64) -> f64 {
    let met = base * JUDGE.0 + (1.0 - base) * (1.0 - JUDGE.1);
    let differ = 2.0 * (base * JUDGE.0 * (1.0 - JUDGE.0) + (1.0 - base) * JUDGE.1 * (1.0 - JUDGE.1));
    1.0 - differ / (2.0 * met * (1.0 - met))
}

fn true_gwet(base: f64) -> f64 {
    let judged = base * JUDGE.0 + (1.0 - base) * (1.0 - JUDGE.1);
    let agreed = base * JUDGE.0 + (1.0 - base) * JUDGE.1;
    let share = f64::midpoint(base, judged);
    let chance = 2.0 * share * (1.0 - share);
    (agreed - chance) / (1.0 - chance)
}

fn against_people() -> Vec<CoverageCell> {
    vec![
        cell("labels and a judge, truth 0.5", 0.5, POWERED, 20, |n, random| powered(0.5, JUDGE, n, random)),
        cell("labels and a judge, truth 0.8", 0.8, POWERED, 20, |n, random| powered(0.8, JUDGE, n, random)),
        cell("labels and a judge, truth 0.02", 0.02, POWERED, 20, |n, random| {
            powered(0.02, JUDGE, n, random)
        }),
        cell("labels and a judge, truth 0.98", 0.98, POWERED, 20, |n, random| {
            powered(0.98, JUDGE, n, random)
        }),
        cell("the same, a better judge", 0.98, POWERED, 20, |n, random| powered(0.98, GOOD_JUDGE, n, random)),
        cell("kappa, base rate 0.5", true_kappa(0.5), TABLES, 40, |n, random| kappa(0.5, n, random)),
        cell("kappa, base rate 0.9", true_kappa(0.9), TABLES, 40, |n, random| kappa(0.9, n, random)),
        cell("kappa, base rate 0.97", true_kappa(0.97), TABLES, 40, |n, random| kappa(0.97, n, random)),
        cell("AC1, base rate 0.5", true_gwet(0.5), &["posterior"], 40, |n, random| gwet(0.5, n, random)),
        cell("AC1, base rate 0.9", true_gwet(0.9), &["posterior"], 40, |n, random| gwet(0.9, n, random)),
        cell("AC1, base rate 0.97", true_gwet(0.97), &["posterior"], 40, |n, random| gwet(0.97, n, random)),
        cell("kappa, cases of 5, base rate 0.5", true_kappa(0.5), &["posterior"], 40, |n, random| {
            clustered_kappa(0.5, n, random)
        }),
        cell("kappa, cases of 5, base rate 0.9", true_kappa(0.9), &["posterior"], 40, |n, random| {
            clustered_kappa(0.9, n, random)
        }),
        cell("alpha, 2 raters, base rate 0.5", true_alpha(0.5), ALPHAS, 10, |n, random| {
            rated_verdicts(2, 0.5, n, random)
        }),
        cell("alpha, 2 raters, base rate 0.9", true_alpha(0.9), ALPHAS, 10, |n, random| {
            rated_verdicts(2, 0.9, n, random)
        }),
        cell("alpha, 2 raters, base rate 0.97", true_alpha(0.97), ALPHAS, 10, |n, random| {
            rated_verdicts(2, 0.97, n, random)
        }),
        cell("alpha, 5 raters, base rate 0.9", true_alpha(0.9), ALPHAS, 10, |n, random| {
            rated_verdicts(5, 0.9, n, random)
        }),
        // From 10 million simulated items.
        cell("alpha of scores, 3 raters", 0.5833, ALPHAS, 10, |n, random| rated_scores(3, 4.5, n, random)),
        cell("sensitivity without labels, 7 of 10 met", 0.9, &["posterior"], 5, |n, random| {
            panel_rate(0.7, true, n, random)
        }),
        cell("specificity without labels, 7 of 10 met", 0.7, &["posterior"], 5, |n, random| {
            panel_rate(0.7, false, n, random)
        }),
        cell("specificity without labels, 9 of 10 met", 0.7, &["posterior"], 5, |n, random| {
            panel_rate(0.9, false, n, random)
        }),
        // Of two normal scores 1.5 apart, the higher one wins with the probability that a normal variable is
        // below 1.5 / sqrt 2.
        cell("area under the curve", 0.855_578, &["Newcombe", "DeLong"], 20, area),
    ]
}

/// Tests of a mean difference; `compare` uses the first one.
const MEAN_TESTS: &[&str] = &["inverted interval", "sign-flip"];

/// Number of random sign flips; commands draw 10,000.
const FLIPS: u32 = 499;

/// p values of differences of scores with a mean of `base` before.
fn mean_tests(values: &[f64], names: Option<&[usize]>, base: f64, random: &mut SeededRandom) -> Vec<f64> {
    let flipped = match names {
        None => sign_flip(values, FLIPS, random),
        Some(names) => sign_flip_clustered(values, names, FLIPS, random),
    };
    let positions: Vec<usize> = (0..values.len()).collect();
    let reach = score_reach(base, values);
    let bounded = bounded_difference(values, names.unwrap_or(&positions), reach).and_then(|found| found.p());
    vec![bounded.unwrap_or(1.0), flipped.map_or(1.0, |found| found.p)]
}

fn rate_tests(p: f64, n: usize, random: &mut SeededRandom) -> Vec<f64> {
    let mut pairs = PairedVerdicts::default();
    for _ in 0..n {
        match (chance(p, random), chance(p, random)) {
            (true, false) => pairs.only_first += 1,
            (false, true) => pairs.only_second += 1,
            _ => pairs.both += 1,
        }
    }

    let test = pairs.mcnemar(LEVEL);
    vec![test.p_exact, test.p_mid]
}

pub(super) fn comparisons() -> Vec<ComparisonRow> {
    const MCNEMAR: &[&str] = &["McNemar, exact", "McNemar, mid-p"];
    let mut rows = vec![
        ComparisonRow { what: "pass rate 0.8", tests: MCNEMAR, draw: |n, random| rate_tests(0.8, n, random) },
        ComparisonRow {
            what: "pass rate 0.98",
            tests: MCNEMAR,
            draw: |n, random| rate_tests(0.98, n, random),
        },
        ComparisonRow {
            what: "score of 5 checks",
            tests: MEAN_TESTS,
            draw: |n, random| {
                let values = list(n, random, |random| checks(0.8, random) - checks(0.8, random));
                mean_tests(&values, None, 0.8, random)
            },
        },
        ComparisonRow {
            what: "pass rate 0.8, 5 repeats",
            tests: MEAN_TESTS,
            draw: |n, random| {
                let (values, names) = repeated_differences(0.8, 0.8, n, random);
                mean_tests(&values, Some(&names), 0.8, random)
            },
        },
        ComparisonRow {
            what: "pass rate 0.98, 5 repeats",
            tests: MEAN_TESTS,
            draw: |n, random| {
                let (values, names) = repeated_differences(0.98, 0.98, n, random);
                mean_tests(&values, Some(&names), 0.98, random)
            },
        },
        ComparisonRow {
            what: "score in conversations of 5",
            tests: MEAN_TESTS,
            draw: |n, random| {
                let (values, names) =
                    clusters(n / 5, 5, 0.3, random, |random| checks(0.8, random) - checks(0.8, random));
                mean_tests(&values, Some(&names), 0.8, random)
            },
        },
        ComparisonRow {
            what: "score, 9 in 10 up 0.05, 1 down 0.45",
            tests: MEAN_TESTS,
            draw: |n, random| {
                let values = list(n, random, skewed);
                mean_tests(&values, None, SKEWED_BASE, random)
            },
        },
    ];
    rows.extend(super::claims::comparisons());
    rows
}
