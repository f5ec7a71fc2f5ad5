//! Repeated attempts and repeated verdicts.

use crate::{
    ConfidenceLevel, UndefinedReason,
    agreement::icc,
    repeats::{mean_pass_k, nested_variance, pass_k, repeat_variance, stability},
};
use proptest::prelude::*;

use super::{assert_near, cases, near};

#[test]
fn draws_from_ten_attempts() {
    let estimate = |n, c, k| pass_k(n, c, k).unwrap();
    assert_near(estimate(10, 3, 5).any, 11.0 / 12.0, 1e-14);
    assert_eq!(estimate(10, 3, 5).all, 0.0);
    assert_near(estimate(10, 8, 3).all, 7.0 / 15.0, 1e-14);
    assert_eq!(estimate(10, 8, 3).any, 1.0);
    assert_near(estimate(200, 13, 100).any, 0.999_919_497_198_806, 1e-14);
    assert_near(estimate(1_000_000_000, 1, 1).any, 1e-9, 1e-22);
    assert_eq!((estimate(5, 0, 2).any, estimate(5, 5, 2).all), (0.0, 1.0));
}

#[test]
fn impossible_draws_say_why() {
    assert_eq!(pass_k(3, 1, 4), Err(UndefinedReason::MoreDrawsThanAttempts));
    assert_eq!(pass_k(3, 4, 1), Err(UndefinedReason::MoreSuccessesThanTrials));
    assert_eq!(pass_k(0, 0, 1), Err(UndefinedReason::NoValues));
    assert_eq!(pass_k(3, 1, 0), Err(UndefinedReason::NoValues));
    assert_eq!(mean_pass_k(&[], 1, ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
    assert_eq!(
        mean_pass_k(&[(5, 1), (1, 1)], 2, ConfidenceLevel::P95),
        Err(UndefinedReason::MoreDrawsThanAttempts)
    );
}

#[test]
fn judge_noise_by_hand() {
    // Cases 1, 3 and 5, 5: within (2 + 0) / 2 = 1; the case means are 2 and 5 and the grand mean is 3.5, so
    // the mean square between cases is 2 (1.5^2 + 1.5^2) / 1 = 9, and the variance between them (9 - 1) / 2 =
    // 4.
    let found = repeat_variance(&[vec![1.0, 3.0], vec![5.0, 5.0]]).unwrap();
    assert_eq!((found.within, found.between_square, found.between, found.repeats), (1.0, 9.0, 4.0, 2.0));
    assert_eq!((found.icc, found.icc_mean), (Ok(0.8), Ok(8.0 / 9.0)));
    assert_near(found.se, 1.5, 1e-12);
    assert!(!found.negative);
    let noise = repeat_variance(&[vec![0.0, 1.0], vec![1.0, 0.0]]).unwrap();
    assert!(noise.negative);
    assert_eq!(noise.between, 0.0);
}

#[test]
fn answers_and_verdicts_by_hand() {
    // Two cases, two answers each, two verdicts each.
    let cases = [vec![vec![1.0, 3.0], vec![5.0, 7.0]], vec![vec![9.0, 11.0], vec![9.0, 11.0]]];
    // Verdicts: 4 answers with squares of 2 each over 4 degrees of freedom = 2. Answers: 2 (4 + 4) over 2
    // degrees = 8, so (8 - 2) / 2 = 3. Cases: 4 (9 + 9) = 72 over 1, so (72 - 8) / 4 = 16.
    let found = nested_variance(&cases).unwrap();
    assert_eq!((found.between_verdicts, found.between_answers, found.between_cases), (2.0, 3.0, 16.0));
    assert_eq!((found.cases, found.answers, found.verdicts), (2, 4, 8));
    assert_near(found.standard_error_with(2, 2, 2).unwrap(), 3.0, 1e-12);
    assert_eq!(found.standard_error_with(0, 2, 2), Err(UndefinedReason::NoValues));
}

#[test]
fn repeats_without_an_answer_say_why() {
    assert_eq!(repeat_variance(&[]), Err(UndefinedReason::NoValues));
    assert_eq!(repeat_variance(&[vec![1.0, 2.0], vec![]]), Err(UndefinedReason::OneCluster));
    assert_eq!(repeat_variance(&[vec![1.0], vec![2.0]]), Err(UndefinedReason::OneValue));
    assert_eq!(
        repeat_variance(&[vec![1.0, 1.0], vec![1.0, 1.0]]).unwrap().icc,
        Err(UndefinedReason::NoSpread)
    );
    assert_eq!(nested_variance(&[]), Err(UndefinedReason::NoValues));
    assert_eq!(
        nested_variance(&[vec![vec![1.0, 2.0]], vec![vec![1.0, 2.0]]]),
        Err(UndefinedReason::OneValue)
    );
}

#[test]
fn verdicts_flip() {
    let items = [vec![true, true, true], vec![true, false, true], vec![false], vec![]];
    let found = stability(&items, ConfidenceLevel::P95);
    assert_eq!((found.flipped.successes, found.flipped.n), (1, 2));
    assert_near(found.pair_flips.unwrap(), 1.0 / 3.0, 1e-12);
    assert_eq!(stability(&[vec![true]], ConfidenceLevel::P95).pair_flips, Err(UndefinedReason::NoPairs));
}

/// C(n, k) for small n.
fn choose(n: u64, k: u64) -> f64 {
    if k > n { 0.0 } else { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn draws_are_counted(
        (n, c, k) in (1u64..40).prop_flat_map(|n| (Just(n), 0..=n, 1..=n)),
    ) {
        let found = pass_k(n, c, k).unwrap();
        prop_assert!(near(found.any, 1.0 - choose(n - c, k) / choose(n, k), 1e-10));
        prop_assert!(near(found.all, choose(c, k) / choose(n, k), 1e-10));
        prop_assert!(found.all <= found.any + 1e-12);
        // "At least one failure" is the complement of "all pass".
        prop_assert!(near(pass_k(n, n - c, k).unwrap().any, 1.0 - found.all, 1e-12));
        if k < n {
            let more = pass_k(n, c, k + 1).unwrap();
            prop_assert!(more.any >= found.any - 1e-12 && more.all <= found.all + 1e-12);
        }
    }

    #[test]
    fn with_equal_repeats_it_is_the_intraclass_correlation(
        rows in prop::collection::vec(prop::collection::vec(0.0..9.0, 3), 2..15),
    ) {
        let (one, other) = (repeat_variance(&rows).unwrap(), icc(&rows).unwrap());
        prop_assert!(near(one.icc.unwrap(), other.one_way.unwrap(), 1e-9));
        prop_assert!(near(one.icc_mean.unwrap(), other.one_way_mean.unwrap(), 1e-9));
    }
}
