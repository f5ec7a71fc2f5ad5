//! Agreement of raters.

use crate::{
    ConfidenceLevel, SeededRandom, UndefinedReason,
    agreement::{
        AgreementTable, AgreementWeights, AlphaMetric, ChanceAgreement, RatingScale, UnitRatings, alpha,
        coefficient, icc, kappa,
    },
    bootstrap,
};
use proptest::prelude::*;

use super::{assert_near, cases, near};

const METRICS: [AlphaMetric; 4] =
    [AlphaMetric::Nominal, AlphaMetric::Ordinal, AlphaMetric::Interval, AlphaMetric::Ratio];

fn ratings(rows: &[Vec<Option<f64>>]) -> UnitRatings {
    UnitRatings::from_rows(rows.iter().map(Vec::as_slice))
}

/// Krippendorff's own example: four observers and twelve units; rows are observers, 0 is missing.
fn canonical() -> UnitRatings {
    let observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ];
    let mut ratings = UnitRatings::new();
    for unit in 0..12 {
        ratings.push(observers.iter().map(|row| row[unit]).filter(|&given| given > 0).map(f64::from));
    }
    ratings
}

#[test]
fn alpha_of_the_canonical_example() {
    let published = [0.743, 0.815, 0.849, 0.797];
    for (metric, published) in METRICS.into_iter().zip(published) {
        let found = alpha(&canonical(), metric);
        assert_near(found.value.unwrap(), published, 5e-4);
        assert_eq!((found.units, found.ratings), (11, 40));
    }
}

#[test]
fn coefficients_of_the_canonical_example() {
    let scale = RatingScale::new((1..=5).map(f64::from)).unwrap();
    let of = |weights, chance| coefficient(&canonical(), &scale, weights, chance, ConfidenceLevel::P95);
    // irrCAC 0.4.4.
    let ac1 = of(AgreementWeights::Identity, ChanceAgreement::Gwet);
    assert_near(ac1.value.unwrap(), 0.775_444_068_126_995, 1e-12);
    assert_near(ac1.se.unwrap(), 0.142_949_950_640_765, 1e-12);
    let interval = ac1.interval.unwrap();
    assert_near(interval.low, 0.460_813_348_132_08, 1e-9);
    assert_eq!(interval.high, 1.0);
    assert_near(
        of(AgreementWeights::Quadratic, ChanceAgreement::Gwet).value.unwrap(),
        0.914_000_723_551_605,
        1e-12,
    );
    assert_near(
        of(AgreementWeights::Quadratic, ChanceAgreement::Fleiss).se.unwrap(),
        0.146_033_610_756_912,
        1e-12,
    );
    let krippendorff = of(AgreementWeights::Quadratic, ChanceAgreement::Krippendorff);
    assert_near(krippendorff.value.unwrap(), 0.849_107_142_857_142, 1e-12);
    assert_near(krippendorff.se.unwrap(), 0.129_129_965_714_889, 1e-12);
}

#[test]
fn kappa_of_a_square_table() {
    let table = AgreementTable::new(vec![vec![20, 5], vec![10, 15]]).unwrap();
    let found = kappa(&table, AgreementWeights::Identity, ConfidenceLevel::P95);
    assert_near(found.kappa.unwrap(), 0.4, 1e-15);
    assert_near(found.se.unwrap(), 0.126_996_062_931_1, 1e-12);
    assert_near(found.se_null.unwrap(), 0.138_564_064_605_51, 1e-12);
    assert_near(found.p.unwrap(), 0.003_892_417_122_779, 1e-10);
}

#[test]
fn high_agreement_with_a_lopsided_share_has_a_kappa_below_zero() {
    // 94 of 100 agree, all of them on a pass.
    let table = AgreementTable::new(vec![vec![0, 3], vec![3, 94]]).unwrap();
    let found = kappa(&table, AgreementWeights::Identity, ConfidenceLevel::P95);
    assert_near(found.observed.unwrap(), 0.94, 1e-15);
    assert_near(found.kappa.unwrap(), -0.030_927_835_051_546, 1e-12);
}

#[test]
fn constant_raters_are_told_apart() {
    let of =
        |cells| kappa(&AgreementTable::new(cells).unwrap(), AgreementWeights::Identity, ConfidenceLevel::P95);
    let both = of(vec![vec![0, 0], vec![0, 4]]);
    assert_eq!((both.kappa, both.observed), (Err(UndefinedReason::ChanceIsCertain), Ok(1.0)));
    assert_eq!(of(vec![vec![0, 0], vec![2, 2]]).kappa, Ok(0.0));
    assert_eq!(of(vec![vec![0, 0], vec![0, 0]]).kappa, Err(UndefinedReason::NoValues));
    let mut same = UnitRatings::new();
    same.push([1.0, 1.0]);
    same.push([1.0, 1.0]);
    let by = |chance| {
        coefficient(&same, &RatingScale::binary(), AgreementWeights::Identity, chance, ConfidenceLevel::P95)
    };
    assert_eq!(by(ChanceAgreement::Gwet).value, Ok(1.0));
    assert_eq!(by(ChanceAgreement::Fleiss).value, Err(UndefinedReason::ChanceIsCertain));
    assert_eq!(by(ChanceAgreement::Fleiss).observed, Ok(1.0));
    assert_eq!(alpha(&same, AlphaMetric::Interval).value, Err(UndefinedReason::ChanceIsCertain));
}

#[test]
fn the_declared_scale_sets_the_distances() {
    let (a, b) = ([0.0, 10.0, 7.0, 10.0, 0.0, 3.0], [0.0, 9.0, 7.0, 10.0, 1.0, 3.0]);
    let of = |scale: &RatingScale| {
        kappa(
            &AgreementTable::from_answers(&a, &b, scale).unwrap(),
            AgreementWeights::Quadratic,
            ConfidenceLevel::P95,
        )
        .kappa
        .unwrap()
    };
    assert_near(of(&RatingScale::new((0..=10).map(f64::from)).unwrap()), 0.989_898_989_898_99, 1e-12);
    assert_near(of(&RatingScale::new(a.into_iter().chain(b)).unwrap()), 0.953_488_372_093_023, 1e-12);
    assert_eq!(
        AgreementTable::from_answers(&a, &b, &RatingScale::binary()),
        Err(UndefinedReason::NotOnScale)
    );
    assert_eq!(RatingScale::new([]), Err(UndefinedReason::NoValues));
    assert_eq!(RatingScale::new([-0.0, 0.0, 1.0]).unwrap(), RatingScale::binary());
}

#[test]
fn what_has_no_answer_says_why() {
    let none = UnitRatings::new();
    assert_eq!(alpha(&none, AlphaMetric::Nominal).value, Err(UndefinedReason::NoPairs));
    let mut single = UnitRatings::new();
    single.push([1.0]);
    single.push([]);
    let found = coefficient(
        &single,
        &RatingScale::binary(),
        AgreementWeights::Identity,
        ChanceAgreement::Gwet,
        ConfidenceLevel::P95,
    );
    assert_eq!(found.value, Err(UndefinedReason::NoPairs));
    let mut one = UnitRatings::new();
    one.push([0.0, 1.0]);
    let found = coefficient(
        &one,
        &RatingScale::binary(),
        AgreementWeights::Identity,
        ChanceAgreement::Gwet,
        ConfidenceLevel::P95,
    );
    assert_eq!((found.value, found.se), (Ok(-1.0), Err(UndefinedReason::OneValue)));
    let narrow = RatingScale::new([1.0]).unwrap();
    let found =
        coefficient(&one, &narrow, AgreementWeights::Identity, ChanceAgreement::Gwet, ConfidenceLevel::P95);
    assert_eq!(found.value, Err(UndefinedReason::NotOnScale));
    assert_eq!(icc(&[]), Err(UndefinedReason::NoValues));
    assert_eq!(icc(&[vec![1.0, 2.0], vec![1.0]]), Err(UndefinedReason::MissingCells));
    assert_eq!(icc(&[vec![1.0, 2.0]]), Err(UndefinedReason::TooFew));
    assert_eq!(icc(&[vec![1.0, 1.0], vec![1.0, 1.0]]).unwrap().one_way, Err(UndefinedReason::NoSpread));
}

#[test]
fn intraclass_correlations_of_shrout_and_fleiss() {
    let rows = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]];
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().copied().map(f64::from).collect()).collect();
    let found = icc(&rows).unwrap();
    let published = [0.17, 0.29, 0.71, 0.44, 0.62, 0.91];
    let figures = [
        found.one_way, found.agreement, found.consistency, found.one_way_mean, found.agreement_mean,
        found.consistency_mean,
    ];
    for (figure, published) in figures.into_iter().zip(published) {
        assert_near(figure.unwrap(), published, 5e-3);
    }
}

#[test]
fn alpha_gets_an_interval_by_resampling_units() {
    let ratings = canonical();
    let figure = |units: &[usize]| alpha(&ratings.select(units), AlphaMetric::Nominal).value;
    let found =
        bootstrap(ratings.len(), 500, ConfidenceLevel::P95, &mut SeededRandom::new(2), figure).unwrap();
    assert_near(found.estimate, 0.743_421_052_631_579, 1e-12);
    assert!(found.percentile.low > 0.2 && found.percentile.high <= 1.0, "{found:?}");
}

/// Alpha computed the long way, from the coincidence table.
fn by_coincidences(rows: &[Vec<Option<f64>>], metric: AlphaMetric) -> Option<f64> {
    let units: Vec<Vec<f64>> = rows
        .iter()
        .map(|row| row.iter().copied().flatten().collect::<Vec<f64>>())
        .filter(|unit| unit.len() > 1)
        .collect();
    let mut values: Vec<f64> = units.iter().flatten().copied().collect();
    let n = values.len() as f64;
    values.sort_by(f64::total_cmp);
    let all = values.clone();
    values.dedup();
    let often = |value: f64| all.iter().filter(|&&other| other == value).count() as f64;
    let distance = |a: f64, b: f64| match metric {
        AlphaMetric::Nominal => f64::from(a != b),
        AlphaMetric::Interval => (a - b).powi(2),
        AlphaMetric::Ratio if a + b == 0.0 => 0.0,
        AlphaMetric::Ratio => ((a - b) / (a + b)).powi(2),
        AlphaMetric::Ordinal => {
            let (low, high) = (a.min(b), a.max(b));
            let between: f64 = values.iter().filter(|&&g| low <= g && g <= high).map(|&g| often(g)).sum();
            if a == b { 0.0 } else { (between - f64::midpoint(often(a), often(b))).powi(2) }
        }
    };
    let mut observed = 0.0;
    for unit in &units {
        for (i, &a) in unit.iter().enumerate() {
            for (j, &b) in unit.iter().enumerate() {
                if i != j {
                    observed += distance(a, b) / (unit.len() as f64 - 1.0);
                }
            }
        }
    }
    let mut expected = 0.0;
    for &a in &values {
        for &b in &values {
            expected += often(a) * often(b) * distance(a, b);
        }
    }
    (expected > 0.0).then(|| 1.0 - (observed / n) / (expected / (n * (n - 1.0))))
}

fn tables() -> impl Strategy<Value = Vec<Vec<Option<f64>>>> {
    let cell = prop::option::weighted(0.7, (1u8..=5).prop_map(f64::from));
    (2usize..6).prop_flat_map(move |raters| {
        prop::collection::vec(prop::collection::vec(cell.clone(), raters), 1..20)
    })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn alpha_is_that_of_the_coincidences(rows in tables()) {
        for metric in METRICS {
            let (found, expected) = (alpha(&ratings(&rows), metric).value, by_coincidences(&rows, metric));
            match (found, expected) {
                (Ok(found), Some(expected)) => prop_assert!(near(found, expected, 1e-9), "{metric:?} {found} {expected}"),
                (found, expected) => prop_assert!(found.is_err() && expected.is_none(), "{found:?} {expected:?}"),
            }
        }
    }

    #[test]
    fn neither_the_order_of_units_nor_of_raters_matters(rows in tables(), turn in any::<prop::sample::Index>()) {
        let mut turned = rows.clone();
        turned.rotate_left(turn.index(rows.len()));
        for row in &mut turned {
            row.reverse();
        }
        let scale = RatingScale::new((1..=5).map(f64::from)).unwrap();
        for chance in [ChanceAgreement::Gwet, ChanceAgreement::Fleiss, ChanceAgreement::Krippendorff, ChanceAgreement::Uniform] {
            let of = |rows: &[Vec<Option<f64>>]| {
                coefficient(&ratings(rows), &scale, AgreementWeights::Linear, chance, ConfidenceLevel::P95)
            };
            let (one, two) = (of(&rows), of(&turned));
            match (one.value, two.value) {
                (Ok(one), Ok(two)) => prop_assert!(near(one, two, 1e-9) && one <= 1.0 + 1e-12),
                (one, two) => prop_assert_eq!(one, two),
            }
            if let (Ok(one), Ok(two)) = (one.se, two.se) {
                prop_assert!(near(one, two, 1e-9));
            }
        }
    }

    #[test]
    fn weighted_coefficients_meet_the_metrics(rows in tables()) {
        let scale = RatingScale::new((1..=5).map(f64::from)).unwrap();
        for (weights, metric) in [(AgreementWeights::Identity, AlphaMetric::Nominal), (AgreementWeights::Quadratic, AlphaMetric::Interval)] {
            let one = coefficient(&ratings(&rows), &scale, weights, ChanceAgreement::Krippendorff, ConfidenceLevel::P95).value;
            if let (Ok(one), Ok(two)) = (one, alpha(&ratings(&rows), metric).value) {
                prop_assert!(near(one, two, 1e-9), "{one} {two}");
            }
        }
    }

    #[test]
    fn metrics_ignore_what_they_should(rows in tables()) {
        let bent = |bend: fn(f64) -> f64| -> Vec<Vec<Option<f64>>> {
            rows.iter().map(|row| row.iter().map(|cell| cell.map(bend)).collect()).collect()
        };
        let same = |one: Result<f64, UndefinedReason>, two: Result<f64, UndefinedReason>| match (one, two) {
            (Ok(one), Ok(two)) => near(one, two, 1e-9),
            (one, two) => one == two,
        };
        let of = |rows: &[Vec<Option<f64>>], metric| alpha(&ratings(rows), metric).value;
        prop_assert!(same(of(&rows, AlphaMetric::Ordinal), of(&bent(f64::exp), AlphaMetric::Ordinal)));
        prop_assert!(same(of(&rows, AlphaMetric::Nominal), of(&bent(|x| -x), AlphaMetric::Nominal)));
        prop_assert!(same(of(&rows, AlphaMetric::Interval), of(&bent(|x| 3.0 - 2.0 * x), AlphaMetric::Interval)));
        prop_assert!(same(of(&rows, AlphaMetric::Ratio), of(&bent(|x| 7.0 * x), AlphaMetric::Ratio)));
    }

    #[test]
    fn kappa_does_not_care_who_is_first(cells in prop::collection::vec(0u64..30, 9)) {
        let rows: Vec<Vec<u64>> = cells.chunks(3).map(<[u64]>::to_vec).collect();
        let turned: Vec<Vec<u64>> = (0..3).map(|j| rows.iter().map(|row| row[j]).collect()).collect();
        for weights in [AgreementWeights::Identity, AgreementWeights::Linear, AgreementWeights::Quadratic, AgreementWeights::Ordinal] {
            let of = |rows: &Vec<Vec<u64>>| kappa(&AgreementTable::new(rows.clone()).unwrap(), weights, ConfidenceLevel::P95);
            let (one, two) = (of(&rows), of(&turned));
            match (one.kappa, two.kappa) {
                (Ok(one), Ok(two)) => prop_assert!(near(one, two, 1e-12) && (-1.0 - 1e-9..=1.0).contains(&one)),
                (one, two) => prop_assert_eq!(one, two),
            }
            if let (Ok(one), Ok(two)) = (one.se, two.se) {
                prop_assert!(near(one, two, 1e-9));
            }
        }
    }

    #[test]
    fn two_answers_leave_nothing_to_weigh(cells in prop::collection::vec(0u64..30, 4)) {
        let table = AgreementTable::new(cells.chunks(2).map(<[u64]>::to_vec).collect()).unwrap();
        let of = |weights| kappa(&table, weights, ConfidenceLevel::P95).kappa;
        for weights in [AgreementWeights::Linear, AgreementWeights::Quadratic, AgreementWeights::Ordinal, AgreementWeights::Radical] {
            prop_assert_eq!(of(AgreementWeights::Identity), of(weights));
        }
    }
}
