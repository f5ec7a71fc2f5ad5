//! Values that differ only by rounding.

use crate::{
    ConfidenceLevel, UndefinedReason,
    agreement::{AgreementTable, AgreementWeights, RatingScale, kappa, quadratic_kappa},
    judge_quality::{IsotonicFit, choose_threshold, fit_line, pearson},
    repeats::repeat_variance,
};

/// A difference so small that only rounding can cause it.
const ROUNDING: f64 = 1e-12;

#[test]
fn isotonic_fits_have_one_point_for_tied_scores() {
    let x = [2.3 - ROUNDING, 2.3, 2.3 + ROUNDING, 4.0];
    let fit = IsotonicFit::fit(&x, &[1.0, 2.0, 3.0, 5.0], None).unwrap();
    assert_eq!(fit.points(), [(2.3 - ROUNDING, 2.0), (4.0, 5.0)]);
    for score in x {
        assert_eq!(fit.predict(score).unwrap(), if score < 3.0 { 2.0 } else { 5.0 });
    }
}

#[test]
fn dust_is_no_spread() {
    let (dusty, y) = ([4.0, 4.0 + ROUNDING, 4.0], [2.0, 3.0, 4.0]);
    assert_eq!(pearson(&dusty, &y), Err(UndefinedReason::NoSpread));
    assert_eq!(pearson(&y, &dusty), Err(UndefinedReason::NoSpread));
    assert_eq!(fit_line(&dusty, &y, ConfidenceLevel::P95), Err(UndefinedReason::NoSpread));
    // Small numbers that really differ keep their correlation.
    assert!(pearson(&[1e-12, 2e-12, 3e-12], &y).unwrap() > 0.999);

    // There is no threshold between equal scores.
    let found = choose_threshold(&[4.0, 4.0 + ROUNDING], &[false, true]).unwrap();
    assert_eq!(found.balanced_accuracy, 0.5);

    let repeats = repeat_variance(&vec![vec![3.0, 3.0 + ROUNDING, 3.0]; 20]).unwrap();
    assert_eq!((repeats.within, repeats.between), (0.0, 0.0));
    assert_eq!(repeats.icc, Err(UndefinedReason::NoSpread));
}

#[test]
fn quadratic_kappa_takes_numbers_between_the_points_of_a_scale() {
    let scale = RatingScale::new((1..=5).map(f64::from)).unwrap();
    let (judge, people) = ([1.0, 2.0, 3.0, 5.0, 4.0, 2.0], [1.0, 3.0, 3.0, 4.0, 5.0, 2.0]);
    let table = AgreementTable::from_answers(&judge, &people, &scale).unwrap();
    let expected = kappa(&table, AgreementWeights::Quadratic, ConfidenceLevel::P95).kappa.unwrap();
    assert!((quadratic_kappa(&judge, &people, &scale).unwrap() - expected).abs() < 1e-12);

    // 1 - 0.25 n / (sum over all pairs of their squared distances / n) for 1, 2, 3 and 1.5, 2, 3.
    let found = quadratic_kappa(&[1.0, 2.0, 3.0], &[1.5, 2.0, 3.0], &scale).unwrap();
    let all = 0.25 + 1.0 + 4.0 + 0.25 + 0.0 + 1.0 + 2.25 + 1.0 + 0.0;
    assert!((found - (1.0 - 0.25 * 3.0 / all)).abs() < 1e-12, "{found}");

    assert_eq!(quadratic_kappa(&[5.5], &[5.0], &scale), Err(UndefinedReason::NotOnScale));
    let same = quadratic_kappa(&[3.0, 3.0], &[3.0, 3.0 + ROUNDING], &scale);
    assert_eq!(same, Err(UndefinedReason::ChanceIsCertain));
}
