//! Confidence sequences, drift, partial pooling and bounds of selection.

use crate::{
    ConfidenceLevel, UndefinedReason,
    correction::{SelectionStratum, selection_bounds, selection_to_reach},
    pooling::partial_pooling,
    sequential::{BettingSequence, DriftTest},
};

use super::{assert_near, uniform};

const L: ConfidenceLevel = ConfidenceLevel::P95;

#[test]
fn the_confidence_sequence_is_that_of_another_implementation() {
    // confseq 0.0.11: betting_cs(x, [lambda x, m: lambda_predmix_eb(x, alpha = 0.025)], alpha = 0.05,
    // running_intersection = True).
    let expected = [
        (1, 0.0, 1.0),
        (5, 0.197, 0.908),
        (10, 0.328, 0.814),
        (30, 0.495, 0.737),
        (60, 0.555, 0.710),
        (120, 0.586, 0.691),
    ];
    let mut found = BettingSequence::new((0.0, 1.0), L).unwrap();
    for n in 1..=120 {
        let interval = found.add([0.5, 0.7, 0.5, 0.9, 0.6, 0.5, 0.5, 0.8, 0.4, 1.0][(n - 1) % 10]).unwrap();
        if let Some((_, low, high)) = expected.iter().find(|(at, ..)| *at == n) {
            assert_near(interval.low, *low, 1e-9);
            assert_near(interval.high, *high, 1e-9);
        }
    }
    assert_near(found.mean().unwrap(), 0.64, 1e-9);
    assert_eq!(found.add(1.5), Err(UndefinedReason::OutOfRange));
    assert!(BettingSequence::new((1.0, 1.0), L).is_err());
}

#[test]
fn looking_after_every_value_raises_no_false_alarm() {
    let (mut alarms, mut naive, mut found, mut state) = (0, 0, 0, 11);
    for set in 0..200 {
        let shift = if set < 100 { 0.0 } else { 0.35 };
        let mut sequence = BettingSequence::new((-1.0, 1.0), L).unwrap();
        let (mut decided, mut significant, mut sum, mut squares) = (false, false, 0.0, 0.0);
        for n in 1..=300 {
            let u = uniform(&mut state);
            let value = if u < 0.2 - shift / 2.0 {
                -1.0
            } else if u > 0.8 - shift / 2.0 {
                1.0
            } else {
                0.0
            };
            let interval = sequence.add(value).unwrap();
            decided |= interval.low > 0.0 || interval.high < 0.0;
            sum += value;
            squares += value * value;
            let n = f64::from(n);
            let error = ((squares / n - (sum / n).powi(2)) / n).sqrt();
            significant |= n >= 20.0 && (sum / n).abs() > 1.96 * error;
        }
        if set < 100 {
            alarms += u32::from(decided);
            naive += u32::from(significant);
        } else {
            found += u32::from(decided);
        }
    }
    assert!(alarms <= 8 && naive >= 15, "{alarms} of 100 with the sequence, {naive} with the t interval");
    assert!(found >= 70, "{found} of 100 differences of .35 were seen within 300 pairs");
}

#[test]
fn drift_is_seen_from_the_run_on_in_which_the_judge_changed() {
    // By counting all 64 outcomes: p of 1 and 8/81; evidence of ((0 + e) + 1) e p^(e - 1) for each e.
    let decisions = |run: [u8; 6]| run.map(|met| Some(met == 1));
    let mut test = DriftTest::new(vec![1; 6]);
    assert_eq!(test.add(&decisions([1, 1, 0, 0, 1, 1])).unwrap(), None);
    let second = test.add(&decisions([1, 0, 0, 1, 1, 1])).unwrap().unwrap();
    assert_near(second.p, 1.0, 1e-12);
    assert_near(second.evidence, 0.5, 1e-12);
    let third = test.add(&decisions([0, 0, 0, 0, 1, 0])).unwrap().unwrap();
    assert_near(third.p, 8.0 / 81.0, 1e-12);
    assert_near(third.evidence, 2.121_711_869_041_033, 1e-12);
    assert_near(third.shift, -0.5, 1e-12);
    assert_eq!((third.items, third.varied), (6, 4));
    assert_eq!(test.add(&[None; 6]).unwrap(), None);
    assert_eq!(test.add(&[None; 5]), Err(UndefinedReason::UnequalLengths));
}

/// Returns the number of runs until the test reports a change of the judge, at most `most`. Each run has `cases` with
/// `criteria` each. In a case, `bound` of the criteria share their random outcome. From run `change` on, a fifth fewer
/// are met.
fn runs_until_alarm(
    state: &mut u64,
    (cases, criteria): (usize, usize),
    bound: f64,
    change: usize,
    most: usize,
) -> usize {
    let mut test = DriftTest::new(vec![criteria; cases]);
    for run in 0..most {
        let decisions: Vec<Option<bool>> = (0..cases)
            .flat_map(|case| {
                let rate = if case % 3 == 0 { 0.3 } else { 0.8 } - if run >= change { 0.2 } else { 0.0 };
                let shared = uniform(state) < rate;
                let of_case: Vec<Option<bool>> = (0..criteria)
                    .map(|_| Some(if uniform(state) < bound { shared } else { uniform(state) < rate }))
                    .collect();
                of_case
            })
            .collect();
        if test.add(&decisions).unwrap().is_some_and(|step| step.evidence >= 20.0) {
            return run;
        }
    }
    most
}

#[test]
fn an_unchanged_judge_is_rarely_accused_and_a_changed_one_is_found_soon_however_long_the_past() {
    let mut state = 3;
    for (cases, bound) in [((60, 1), 0.0), ((20, 5), 0.8), ((10, 10), 0.95)] {
        let runs: usize = (0..60).map(|_| runs_until_alarm(&mut state, cases, bound, usize::MAX, 100)).sum();
        let mean = runs as f64 / 60.0;
        assert!(mean >= 30.0, "{cases:?}, {bound} of the luck in common: accused after {mean} runs");
    }
    for past in [3, 15, 60] {
        let mut delay =
            || runs_until_alarm(&mut state, (20, 5), 0.3, past, past + 40).saturating_sub(past) + 1;
        let mean = (0..40).map(|_| delay()).sum::<usize>() as f64 / 40.0;
        assert!(mean <= 3.0, "after {past} runs, a change is found after {mean}");
    }
}

#[test]
fn pooled_groups_are_those_of_another_implementation() {
    let estimates = [0.12, -0.05, 0.30, 0.02, 0.18, -0.10, 0.25, 0.08];
    let errors = [0.08, 0.10, 0.15, 0.05, 0.12, 0.20, 0.09, 0.06];
    let found = partial_pooling(&estimates, &errors, L).unwrap();
    // R 4.2, metafor 3.8-1: rma(y, sei = s, method = "PM"), tau^2 = 0.00458241799681, mean 0.0946825640263.
    assert_near(found.spread.powi(2), 0.004_582_417_996_81, 1e-9);
    assert_near(found.mean, 0.094_682_564_026_3, 1e-8);
    // The intervals use the minimum spread, 2/7 of the mean error variance; without it, the first end of
    // blup() is 0.1052462736094.
    let precision = errors.iter().map(|error: &f64| error.powi(-2)).sum::<f64>() / 8.0;
    let used = 0.004_582_417_996_81_f64.max(2.0 / 7.0 / precision);
    for (group, (own, error)) in found.groups.iter().zip(estimates.iter().zip(errors)) {
        let weight = used / (used + error * error);
        assert_near(group.estimate, found.mean + weight * (own - found.mean), 1e-8);
    }
    assert_near(found.groups[0].estimate, 0.105_246_273_609_4, 1e-8);

    // R, ebci: cva(m, kappa = Inf) = 2.301442, 3.259199, 4.815362 for m = sqrt(.1), 1, 2, the square of the error here.
    for (error, cva) in [(0.1_f64.powf(0.25), 2.301_442), (1.0, 3.259_199), (2.0_f64.sqrt(), 4.815_362)] {
        // Two far groups on either side make the spread about 1; the last group has the error that is tested.
        let far =
            partial_pooling(&[-30.0, 30.0, -30.0, 30.0, 0.0], &[1e-3, 1e-3, 1e-3, 1e-3, error], L).unwrap();
        let spread = far.spread;
        let scaled = partial_pooling(
            &[-30.0 / spread, 30.0 / spread, -30.0 / spread, 30.0 / spread, 0.0],
            &[1e-6, 1e-6, 1e-6, 1e-6, error],
            L,
        )
        .unwrap();
        let group = scaled.groups[4];
        assert_near(group.interval.width() / 2.0 / group.shrinkage / error, cva, 1e-3);
    }
    assert_eq!(partial_pooling(&estimates[..3], &errors[..3], L), Err(UndefinedReason::TooFew));
    assert_eq!(partial_pooling(&[0.0; 4], &[0.0, 1.0, 1.0, 1.0], L), Err(UndefinedReason::NoSpread));
}

#[test]
fn pooled_intervals_cover_on_average_and_are_closer() {
    let (mut inside, mut all, mut own_error, mut pooled_error, mut state) = (0, 0, 0.0, 0.0, 9);
    for _ in 0..40 {
        // A fifth of the groups are .3 better, and the errors differ.
        let mut draw = || (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
        let truths: Vec<f64> = (0..10).map(|group| if group % 5 == 0 { 0.3 } else { 0.0 }).collect();
        let errors: Vec<f64> = (0..10).map(|group| 0.05 + 0.02 * f64::from(group)).collect();
        let estimates: Vec<f64> =
            truths.iter().zip(&errors).map(|(truth, error)| truth + error * draw()).collect();
        let found = partial_pooling(&estimates, &errors, L).unwrap();
        for ((truth, own), group) in truths.iter().zip(&estimates).zip(found.groups) {
            inside += usize::from(group.interval.low <= *truth && *truth <= group.interval.high);
            all += 1;
            own_error += (own - truth).powi(2);
            pooled_error += (group.estimate - truth).powi(2);
        }
    }
    assert!(inside * 100 >= all * 92, "{inside} of {all}");
    assert!(pooled_error < 0.75 * own_error, "{pooled_error} against {own_error}");
}

#[test]
fn bounds_of_selection_are_those_of_a_linear_program() {
    let strata = [
        SelectionStratum { rate: 0.9, labelled: 20.0, unlabelled: 180.0 },
        SelectionStratum { rate: 0.2, labelled: 15.0, unlabelled: 85.0 },
    ];
    // scipy 1.17.1, linprog over weights of labels that differ by at most a factor.
    for (factor, low, high) in [
        (1.0, 0.666_666_666_7, 0.666_666_666_7),
        (1.5, 0.624_761_904_8, 0.705_893_416_9),
        (3.0, 0.541_794_871_8, 0.77),
    ] {
        let found = selection_bounds(&strata, factor).unwrap();
        assert_near(found.0, low, 1e-9);
        assert_near(found.1, high, 1e-9);
    }
    // Without an assumption: the 21 met labels, and all 265 others.
    let open = selection_bounds(&strata, f64::INFINITY).unwrap();
    assert_near(open.0, 21.0 / 300.0, 1e-12);
    assert_near(open.1, 286.0 / 300.0, 1e-12);
    assert_near(selection_to_reach(&strata, 0.77).unwrap(), 3.0, 1e-6);
    assert_eq!(selection_to_reach(&strata, 0.97), Err(UndefinedReason::Unreachable));
    // All labels of one stratum are met, so its others are met too at any finite factor, but not without an
    // assumption.
    let alike = [
        SelectionStratum { rate: 1.0, labelled: 34.0, unlabelled: 136.0 },
        SelectionStratum { rate: 4.0 / 6.0, labelled: 6.0, unlabelled: 24.0 },
    ];
    assert_eq!(selection_to_reach(&alike, 0.85), Ok(f64::INFINITY));
    assert_eq!(selection_to_reach(&alike, 0.15), Err(UndefinedReason::Unreachable));
    assert_near(selection_to_reach(&strata, 2.0 / 3.0 + 1e-12).unwrap(), 1.0, 1e-6);
    assert_eq!(selection_bounds(&strata, 0.5), Err(UndefinedReason::OutOfRange));
    assert_eq!(selection_bounds(&[], 2.0), Err(UndefinedReason::NoValues));
}

#[test]
fn twelve_anchors_that_change_at_once_are_enough_evidence() {
    for (changed, p, evidence) in
        [(12, 2.0 * 0.5f64.powi(12), 36.072_458), (10, 2.0 * 0.5f64.powi(10), 14.089_395)]
    {
        let mut test = DriftTest::new(vec![1; changed + 5]);
        let met = |share: bool| {
            vec![Some(share); changed].into_iter().chain(vec![Some(true); 5]).collect::<Vec<_>>()
        };
        assert!(test.add(&met(true)).unwrap().is_none());
        let step = test.add(&met(false)).unwrap().unwrap();
        assert!((step.p - p).abs() < 1e-9 && (step.evidence - evidence).abs() < 1e-3, "{step:?}");
    }
}
