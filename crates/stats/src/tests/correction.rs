//! Corrected rates, and p values adjusted for their number.

use crate::{
    ConfidenceLevel, UndefinedReason,
    correction::{
        JudgeRates, PoweredDifference, SideItem, prediction_powered, prediction_powered_clustered,
        prediction_powered_difference, rogan_gladen,
    },
    multiplicity::{PValueAdjustment, adjust_p_values, is_significant},
};
use proptest::prelude::*;

use super::{assert_near, cases, near, uniform};

const TYPICAL: JudgeRates =
    JudgeRates { pass_rate: 0.73, n: 1000, specificity: 0.85, n_fail: 100, sensitivity: 0.9, n_pass: 100 };

#[test]
fn a_typical_judge_is_corrected() {
    let found = rogan_gladen(TYPICAL, ConfidenceLevel::P95).unwrap();
    assert_near(found.raw, 0.58 / 0.75, 1e-12);
    assert_near(found.se.unwrap(), 0.037_732_312_510_73, 1e-12);
    let interval = found.interval.unwrap();
    assert_near(interval.low, 0.704_822_290_204_393, 1e-12);
    assert_near(interval.high, 0.858_579_571_297_137, 1e-12);
}

#[test]
fn a_judge_without_information_is_refused() {
    let useless = JudgeRates { specificity: 0.4, sensitivity: 0.6, ..TYPICAL };
    assert_eq!(rogan_gladen(useless, ConfidenceLevel::P95), Err(UndefinedReason::UninformativeJudge));
    let uncounted = rogan_gladen(JudgeRates { n_pass: 0, ..TYPICAL }, ConfidenceLevel::P95).unwrap();
    assert_eq!(
        (uncounted.se, uncounted.interval),
        (Err(UndefinedReason::NoValues), Err(UndefinedReason::NoValues))
    );
    let beyond = JudgeRates { pass_rate: 1.2, ..TYPICAL };
    assert_eq!(rogan_gladen(beyond, ConfidenceLevel::P95), Err(UndefinedReason::OutOfRange));
    // Barely informative in mathematics, and no longer after the adjustment.
    let slight = JudgeRates { specificity: 0.99, n_fail: 1, sensitivity: 0.02, n_pass: 1_000, ..TYPICAL };
    assert_eq!(
        rogan_gladen(slight, ConfidenceLevel::P95).unwrap().interval,
        Err(UndefinedReason::UninformativeJudge)
    );
}

#[test]
fn a_rate_that_the_error_rates_do_not_allow_has_no_interval() {
    // The judge finds 70% of the met cases met, so it can't find 85% of all cases met.
    let rates =
        JudgeRates { pass_rate: 0.85, n: 100, specificity: 0.9, n_fail: 100, sensitivity: 0.7, n_pass: 100 };
    let found = rogan_gladen(rates, ConfidenceLevel::P95).unwrap();
    assert_near(found.raw, 1.25, 1e-12);
    assert_eq!(found.interval, Err(UndefinedReason::IncompatibleRates));
    // A slightly too high pass rate may be chance: the interval keeps its part below 1.
    let near = rogan_gladen(JudgeRates { pass_rate: 0.72, ..rates }, ConfidenceLevel::P95).unwrap();
    let interval = near.interval.unwrap();
    assert!(near.raw > 1.0 && interval.width() > 0.05 && interval.high == 1.0, "{interval:?}");
}

const HUMAN: [f64; 8] = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
const JUDGE: [f64; 8] = [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];

#[test]
fn a_few_labels_tune_the_trust_in_a_judge() {
    let unlabelled: Vec<f64> = (0..20).map(|index| f64::from(index % 10 < 7)).collect();
    // ppi-python 0.2.3; the order of the unlabelled cases does not matter.
    let found = prediction_powered(&HUMAN, &JUDGE, &unlabelled, ConfidenceLevel::P95).unwrap();
    assert_near(found.weight, 0.345_394_736_842_105, 1e-12);
    assert_near(found.tuned.mean, 0.650_904_605_263_158, 1e-12);
    assert_near(found.tuned.interval.low, 0.343_495_289_362_046, 1e-9);
    assert_near(found.plain.interval.high, 1.100_475_849_164_44, 1e-9);
    assert!(found.few_labels() && found.gain.unwrap() > 1.0);
    // If every case is its own cluster, clustering changes nothing.
    let (names, others): (Vec<usize>, Vec<usize>) = ((0..8).collect(), (0..20).collect());
    let clustered =
        prediction_powered_clustered(&HUMAN, &JUDGE, &names, &unlabelled, &others, ConfidenceLevel::P95)
            .unwrap();
    assert_near(clustered.tuned.se, found.tuned.se, 1e-12);
}

#[test]
fn corrections_without_an_answer_say_why() {
    let corrected = |human: &[f64], judge: &[f64], rest: &[f64]| {
        prediction_powered(human, judge, rest, ConfidenceLevel::P95)
    };
    assert_eq!(corrected(&[], &[], &[1.0, 0.0]), Err(UndefinedReason::NoValues));
    assert_eq!(corrected(&[1.0], &[1.0], &[1.0, 0.0]), Err(UndefinedReason::OneValue));
    assert_eq!(corrected(&[1.0, 0.0], &[1.0], &[1.0, 0.0]), Err(UndefinedReason::UnequalLengths));
    assert_eq!(corrected(&[1.0, 0.0], &[1.0, f64::NAN], &[1.0, 0.0]), Err(UndefinedReason::NotFinite));
    let constant = corrected(&[1.0, 0.0], &[1.0, 1.0], &[1.0, 1.0]).unwrap();
    assert_eq!((constant.weight, constant.tuned.mean), (0.0, 0.5));
    let same = corrected(&[1.0, 1.0], &[1.0, 1.0], &[1.0, 1.0]).unwrap();
    assert_eq!(same.gain, Err(UndefinedReason::NoSpread));
    let one =
        prediction_powered_clustered(&HUMAN, &JUDGE, &[1; 8], &[0.0, 1.0], &[1, 2], ConfidenceLevel::P95);
    assert_eq!(one, Err(UndefinedReason::OneCluster));
}

/// Cases of one of two sides, by a rule that other languages can follow.
fn side(side: u32, is_clustered: bool, is_weighted: bool) -> Vec<SideItem<u32>> {
    let one = |i: u32| {
        let high = |shift: u32, below: u32| f64::from(u8::from((i * 7 + 3 * side + shift) % 10 < below));
        let human = high(u32::from(i % 9 == 4), 6 + side - u32::from(i % 11 == 3));
        let drawn = match (is_weighted, i % 4) {
            (true, 0) => 0.8,
            (true, _) => 0.4,
            (false, _) => 0.5,
        };
        SideItem {
            cluster: if is_clustered { i / 2 } else { i },
            judge: high(0, 6 + side),
            label: (i * 11 + 5 * side).is_multiple_of(3).then_some((human, drawn)),
        }
    };
    (0..60).map(one).collect()
}

fn difference(sides: [&[SideItem<u32>]; 2]) -> Result<PoweredDifference, UndefinedReason> {
    prediction_powered_difference(sides, (0.0, 1.0), ConfidenceLevel::P95)
}

#[test]
fn a_corrected_difference_is_that_of_an_independent_implementation() {
    // numpy 2 with dense matrices, and the weights by numerical minimisation (Nelder and Mead) of the squared error.
    for (is_clustered, is_weighted, weights, means, se, low, high, p) in [
        (
            false,
            false,
            [0.714_285_714, 0.714_285_714],
            [0.6, 0.7],
            0.109_891_483_511_294,
            -0.130_005_518_363_752,
            0.330_005_518_363_752,
            0.374_228_561_460_449,
        ),
        (
            true,
            false,
            [0.714_285_716, 0.714_285_714],
            [0.6, 0.7],
            0.097_514_862_839_233,
            -0.104_100_953_584_842,
            0.304_100_953_584_842,
            0.318_014_204_450_825,
        ),
        (
            true,
            true,
            [0.753_575_764, 0.677_932_211],
            [0.6, 0.704_600_968_415],
            0.101_463_769_907_078,
            -0.107_765_142_650_983,
            0.316_967_079_481_946,
            0.315_523_990_750_714,
        ),
    ] {
        let side_of = |number| side(number, is_clustered, is_weighted);
        let found = difference([&side_of(0), &side_of(1)]).unwrap();
        for at in [0, 1] {
            assert_near(found.weights[at], weights[at], 1e-6);
            assert_near(found.means[at], means[at], 1e-8);
        }
        for (found, expected) in
            [(found.se, se), (found.interval.low, low), (found.interval.high, high), (found.p, p)]
        {
            assert_near(found, expected, 1e-7);
        }
        let turned = difference([&side_of(1), &side_of(0)]).unwrap();
        assert_near(turned.difference, -found.difference, 1e-12);
        assert_near(turned.se, found.se, 1e-9);
    }
}

#[test]
fn a_difference_without_labels_says_why() {
    let whole = side(0, false, false);
    let bare: Vec<SideItem<u32>> = whole.iter().map(|item| SideItem { label: None, ..*item }).collect();
    assert_eq!(difference([&whole, &bare]), Err(UndefinedReason::NoValues));
    let one: Vec<SideItem<u32>> = whole.iter().map(|item| SideItem { cluster: 1, ..*item }).collect();
    assert_eq!(difference([&whole, &one]), Err(UndefinedReason::OneCluster));
    let wild: Vec<SideItem<u32>> = whole.iter().map(|item| SideItem { judge: 2.0, ..*item }).collect();
    assert_eq!(difference([&whole, &wild]), Err(UndefinedReason::OutOfRange));
    // A judge that decides met every time has no information: only the labels remain.
    let constant: Vec<SideItem<u32>> = whole.iter().map(|item| SideItem { judge: 1.0, ..*item }).collect();
    let found = difference([&constant, &constant]).unwrap();
    assert_eq!((found.weights, found.difference, found.people), ([0.0; 2], 0.0, 0.0));
    assert!(found.se > 0.0 && found.p > 0.99);
}

#[test]
fn a_lenient_judge_does_not_make_an_equal_system_better() {
    const SETS: u32 = 600;
    let mut state = 7;
    let (mut called, mut by_judges) = (0, 0);
    for _ in 0..SETS {
        let mut sides = [Vec::new(), Vec::new()];
        for (at, specificity) in [0.88, 0.70].into_iter().enumerate() {
            let mut labelled = 0;
            for case in 0..500 {
                let met = uniform(&mut state) < 0.6;
                let judged = if met { uniform(&mut state) < 0.9 } else { uniform(&mut state) > specificity };
                // 100 of 500, each case with the same probability.
                let is_drawn = uniform(&mut state) * f64::from(500 - case) < f64::from(100 - labelled);
                labelled += i32::from(is_drawn);
                let [judge, human] = [judged, met].map(|flag| f64::from(u8::from(flag)));
                sides[at].push(SideItem { cluster: case, judge, label: is_drawn.then_some((human, 0.2)) });
            }
        }
        let found =
            prediction_powered_difference([&sides[0], &sides[1]], (0.0, 1.0), ConfidenceLevel::P95).unwrap();
        called += u32::from(is_significant(found.p, 0.05));
        let mean = |side: &[SideItem<i32>]| side.iter().map(|item| item.judge).sum::<f64>() / 500.0;
        by_judges += u32::from(mean(&sides[1]) - mean(&sides[0]) > 1.96 * (2.0 * 0.24 / 500.0_f64).sqrt());
    }
    // 6 % and three standard errors of the simulation.
    assert!(
        f64::from(called) / f64::from(SETS) <= 0.06 + 3.0 * (0.06 * 0.94 / f64::from(SETS)).sqrt(),
        "{called}"
    );
    assert!(by_judges > SETS / 2, "the judges alone say better in {by_judges}");
}

#[test]
fn five_p_values_by_hand() {
    let p = [0.01, 0.04, 0.03, 0.005, 0.2];
    let adjusted = |adjustment| adjust_p_values(&p, adjustment).unwrap();
    for (adjustment, expected) in [
        (PValueAdjustment::Bonferroni, [0.05, 0.2, 0.15, 0.025, 1.0]),
        (PValueAdjustment::Holm, [0.04, 0.09, 0.09, 0.025, 0.2]),
        (PValueAdjustment::Hochberg, [0.04, 0.08, 0.08, 0.025, 0.2]),
        (PValueAdjustment::BenjaminiHochberg, [0.025, 0.05, 0.05, 0.025, 0.2]),
    ] {
        for (found, expected) in adjusted(adjustment).into_iter().zip(expected) {
            assert_near(found, expected, 1e-12);
        }
    }
    assert!(adjusted(PValueAdjustment::BenjaminiHochberg)[1] != 0.05 || is_significant(0.05, 0.05));
    assert!(is_significant(0.04 * 5.0 / 4.0, 0.05) && !is_significant(0.051, 0.05));
    assert_eq!(adjust_p_values(&[], PValueAdjustment::Holm), Ok(vec![]));
    assert_eq!(
        adjust_p_values(&[0.3], PValueAdjustment::HolmSidak).map(|p| near(p[0], 0.3, 1e-12)),
        Ok(true)
    );
    assert_eq!(adjust_p_values(&[f64::NAN], PValueAdjustment::Holm), Err(UndefinedReason::OutOfRange));
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_perfect_judge_is_believed(p in 0.0..=1.0, n in 1u64..500) {
        let rates = JudgeRates { pass_rate: p, n, specificity: 1.0, n_fail: 50, sensitivity: 1.0, n_pass: 50 };
        let found = rogan_gladen(rates, ConfidenceLevel::P95).unwrap();
        prop_assert!(near(found.raw, p, 1e-12));
        let interval = found.interval.unwrap();
        prop_assert!(0.0 <= interval.low && interval.low <= interval.high && interval.high <= 1.0);
    }

    #[test]
    fn trust_lies_between_none_and_full(
        rows in prop::collection::vec((0.0..1.0, 0.0..1.0), 2..30),
        rest in prop::collection::vec(0.0..1.0, 2..60), shift in -3.0..3.0,
    ) {
        let (human, judge): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        let found = prediction_powered(&human, &judge, &rest, ConfidenceLevel::P95).unwrap();
        prop_assert!((0.0..=1.0).contains(&found.weight));
        // A judge that is off by a constant is as good as one that is not.
        let moved = |list: &[f64]| list.iter().map(|value| value + shift).collect::<Vec<f64>>();
        let other = prediction_powered(&human, &moved(&judge), &moved(&rest), ConfidenceLevel::P95).unwrap();
        prop_assert!(near(found.tuned.mean, other.tuned.mean, 1e-9));
        prop_assert!(near(found.plain.se, other.plain.se, 1e-9));
    }

    #[test]
    fn adjusting_keeps_order_and_caution(p in prop::collection::vec(0.0..=1.0, 1..25)) {
        let adjusted_by = |adjustment| adjust_p_values(&p, adjustment).unwrap();
        let (bonferroni, holm, sidak) =
            (adjusted_by(PValueAdjustment::Bonferroni), adjusted_by(PValueAdjustment::Holm), adjusted_by(PValueAdjustment::HolmSidak));
        let (hochberg, bh, by) =
            (adjusted_by(PValueAdjustment::Hochberg), adjusted_by(PValueAdjustment::BenjaminiHochberg), adjusted_by(PValueAdjustment::BenjaminiYekutieli));
        for i in 0..p.len() {
            let rising = [p[i], bh[i], hochberg[i], holm[i], bonferroni[i]];
            prop_assert!(rising.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "{rising:?}");
            prop_assert!(sidak[i] <= holm[i] + 1e-12 && bh[i] <= by[i] + 1e-12);
            for j in 0..p.len() {
                prop_assert!(p[i] > p[j] || holm[i] <= holm[j] + 1e-12);
            }
        }
        let backwards: Vec<f64> = p.iter().rev().copied().collect();
        let mut turned = adjust_p_values(&backwards, PValueAdjustment::Holm).unwrap();
        turned.reverse();
        prop_assert_eq!(turned, holm);
    }
}
