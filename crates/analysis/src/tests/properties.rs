//! Properties that hold for any two runs.

use crate::calibrate::{
    CalibrationMaterial, CalibrationOptions, JudgeReadOptions, LabelInclusion, calibrate,
};
use crate::compare::{ComparisonOptions, Conclusion, MetricDifference, RunComparison, compare};
use crate::labels::{ColumnMapping, LabelReadOptions, read_rows};
use crate::{NameTable, ResamplingOptions};
use assize_stats::Interval;
use proptest::prelude::*;

use crate::tests::support::{Case, case, run};

fn side() -> impl Strategy<Value = Vec<Case>> {
    let one = (0u8..=10, any::<bool>(), prop::option::weighted(0.9, Just(())));
    prop::collection::vec(one, 1..24).prop_map(|cases| {
        cases
            .into_iter()
            .enumerate()
            .map(|(at, (tenths, met, decided))| {
                let case = case(format!("c{at}"), f64::from(tenths) / 10.0)
                    .criterion("k", "Is polite", Some(f64::from(u8::from(met))))
                    .with(|case| case.cluster = (at % 5 < 2).then(|| "shared".to_owned()));
                if decided.is_some() { case } else { case.undecided(0.2, 0.7) }
            })
            .collect()
    })
}

fn compared(base: &[Case], candidate: &[Case]) -> RunComparison {
    let mut names = NameTable::default();
    let (base, candidate) = (run("run", base, &mut names), run("run", candidate, &mut names));
    compare(&base, &candidate, &names, &ComparisonOptions::default())
}

fn mirrored(a: &MetricDifference, b: &MetricDifference) -> bool {
    let same = |a: Option<f64>, b: Option<f64>| match (a, b) {
        (Some(a), Some(b)) => (a + b).abs() < 1e-9,
        (None, None) => true,
        _ => false,
    };
    let call = match a.call {
        Conclusion::Better => Conclusion::Worse,
        Conclusion::Worse => Conclusion::Better,
        other => other,
    };
    same(a.difference, b.difference)
        && same(a.low, b.high)
        && same(a.high, b.low)
        && a.p.zip(b.p).is_none_or(|(a, b)| (a - b).abs() < 1e-6)
        && a.detectable.is_some() == b.detectable.is_some()
        && (a.base, a.higher, b.call) == (b.candidate, b.lower, call)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn swapping_the_sides_flips_the_signs(base in side(), candidate in side()) {
        let (there, back) = (compared(&base, &candidate), compared(&candidate, &base));
        prop_assert!(mirrored(&there.score, &back.score), "{:?}\n{:?}", there.score, back.score);
        prop_assert!(mirrored(&there.pass_rate, &back.pass_rate));
        prop_assert_eq!(there.regressions.len(), back.improvements.len());
        prop_assert_eq!(&there.new, &back.gone);
        // The bounds are over the cases of the base.
        if !there.new.is_empty() || !there.gone.is_empty() {
            return Ok(());
        }
        prop_assert_eq!(
            there.score_bounds.map(|[low, high]| ((low * 1e9).round(), (high * 1e9).round())),
            back.score_bounds.map(|[low, high]| ((-high * 1e9).round(), (-low * 1e9).round()))
        );
    }

    #[test]
    fn the_order_of_rows_changes_nothing(
        (base, shuffled) in side().prop_flat_map(|cases| (Just(cases.clone()), Just(cases).prop_shuffle())),
        candidate in side(),
    ) {
        prop_assert_eq!(compared(&base, &candidate), compared(&shuffled, &candidate));
        prop_assert_eq!(compared(&candidate, &base), compared(&candidate, &shuffled));
    }

    #[test]
    fn a_run_is_never_better_or_worse_than_itself(cases in side()) {
        let found = compared(&cases, &cases);
        for contrast in [&found.score, &found.pass_rate] {
            prop_assert!(matches!(contrast.call, Conclusion::NoDifference | Conclusion::Inconclusive), "{:?}", contrast);
            prop_assert_eq!((contrast.higher, contrast.lower), (0, 0));
        }
    }

    #[test]
    fn any_completion_lands_within_the_bounds(base in side(), candidate in side(), fill in 0.2f64..=0.7) {
        let open = compared(&base, &candidate);
        let complete = |cases: &[Case]| -> Vec<Case> {
            cases.iter().map(|one| if one.score.is_none() { case(one.id.clone(), fill) } else { one.clone() }).collect()
        };
        let closed = compared(&complete(&base), &complete(&candidate));
        if let (Some([low, high]), Some(difference)) = (open.score_bounds, closed.score.difference)
            && open.gone.is_empty()
        {
            prop_assert!(low - 1e-9 <= difference && difference <= high + 1e-9, "{low} {difference} {high}");
        }
    }
}

/// Verdicts of a judge, some of them labelled, as a table: few, mostly equal and in clusters, so that
/// symmetric intervals would leave the range.
fn verdicts() -> impl Strategy<Value = String> {
    let label = prop::option::weighted(0.8, prop::bool::weighted(0.85));
    let one = (prop::bool::weighted(0.85), label, 0u8..100, 0u8..12);
    prop::collection::vec(one, 4..30).prop_map(|rows| {
        let word = |met: bool| if met { "met" } else { "unmet" };
        let line = |(at, (judge, label, percent, cluster)): (usize, &(bool, Option<bool>, u8, u8))| {
            let label = label.map_or("", word);
            format!("c{at},{label},{},{},k{cluster}\n", word(*judge), f64::from(*percent) / 100.0)
        };
        let rows: String = rows.iter().enumerate().map(line).collect();
        format!("case,label,judge,probability,cluster\n{rows}")
    })
}

fn is_within(interval: Interval, low: f64, high: f64) -> bool {
    low <= interval.low && interval.low <= interval.high && interval.high <= high
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_figure_of_verdicts_leaves_its_range(table in verdicts(), independent in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.csv");
        std::fs::write(&path, table).expect("written");
        let columns = ColumnMapping::default();
        let rows = read_rows(&[path], &LabelReadOptions { columns, ..LabelReadOptions::default() });
        let reading = JudgeReadOptions { threshold: 0.5, rater: None, likeliest: false };
        let material = CalibrationMaterial::from_rows(&rows.expect("sound"), &reading, |_| LabelInclusion::Included);
        let options = CalibrationOptions {
            resampling: ResamplingOptions { resamples: 50, ..ResamplingOptions::default() },
            assume_random: true,
            items_independent: independent,
            ..CalibrationOptions::default()
        };
        let report = calibrate(material.expect("sound"), &options).expect("verdicts");
        for section in &report.sections {
            let biases = section.biases.iter().filter_map(|bias| bias.measured.as_ref().ok());
            for figure in section.figures.iter().chain(&section.people).chain(biases) {
                // Differences between two differences of verdicts go up to 2.
                let most = if figure.id == "self_preference" { 2.0 } else { 1.0 };
                if let Ok(interval) = figure.interval {
                    prop_assert!(is_within(interval, -most, most), "{}: {interval:?}", figure.id);
                    let is_share = ["accuracy", "auroc", "brier", "ece", "sensitivity", "specificity"];
                    prop_assert!(!is_share.contains(&figure.id) || interval.low >= 0.0, "{}", figure.id);
                }
            }
        }
        for rates in &report.rates {
            for rate in rates.people.iter().chain(&rates.judge) {
                for interval in rate.mean.iter().filter_map(|mean| mean.interval.as_ref().ok()) {
                    prop_assert!(is_within(*interval, 0.0, 1.0), "{interval:?}");
                }
            }
            if let Ok(powered) = &rates.powered {
                for found in [powered.human, powered.plain, powered.tuned] {
                    prop_assert!(is_within(found.interval, 0.0, 1.0), "{found:?}");
                    prop_assert!((0.0..=1.0).contains(&found.mean), "{found:?}");
                }
            }
        }
    }
}
