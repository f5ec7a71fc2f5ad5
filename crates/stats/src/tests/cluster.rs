//! Clustered means.

use crate::{ConfidenceLevel, MeanAccumulator, UndefinedReason, clustered_mean};
use proptest::prelude::*;

use super::{assert_near, cases, near};

#[test]
fn three_pairs_by_hand() {
    // Mean 0.5; the clusters' sums of deviations are 1, 0 and -1, so CR0 = sqrt(2) / 6 and CR1 = CR0
    // sqrt(3/2).
    let found =
        clustered_mean(&[1.0, 1.0, 0.0, 1.0, 0.0, 0.0], &[1, 1, 2, 2, 3, 3], ConfidenceLevel::P95).unwrap();
    assert_eq!((found.n, found.clusters, found.mean), (6, 3, 0.5));
    assert_near(found.se_cr0.unwrap(), 2f64.sqrt() / 6.0, 1e-15);
    assert_near(found.se_cr1.unwrap(), 3f64.sqrt() / 6.0, 1e-15);
    // t with 2 degrees of freedom.
    assert_near(found.interval.unwrap().high, 0.5 + 4.302_652_729_9 * 3f64.sqrt() / 6.0, 1e-9);
    assert!(found.few_clusters() && !found.is_balanced_within());
}

#[test]
fn values_that_balance_within_clusters_leave_no_clustered_error() {
    let found = clustered_mean(&[1.0, 0.0, 0.0, 1.0], &["a", "a", "b", "b"], ConfidenceLevel::P95).unwrap();
    assert_eq!((found.se_cr0, found.design_effect), (Ok(0.0), Ok(0.0)));
    assert_eq!(found.effective_n, Err(UndefinedReason::NoSpread));
    assert!(found.is_balanced_within());

    // The only cluster is two cases that agree. CR0 is below the independent error, CR1 is not.
    let agree = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0];
    let found = clustered_mean(&agree, &[0, 0, 1, 2, 3, 4, 5, 6, 7, 8], ConfidenceLevel::P95).unwrap();
    assert!(found.design_effect.unwrap() < 1.0 && !found.is_balanced_within());
}

#[test]
fn what_has_no_answer_says_why() {
    assert_eq!(clustered_mean::<u8>(&[], &[], ConfidenceLevel::P95), Err(UndefinedReason::NoValues));
    assert_eq!(clustered_mean(&[1.0], &[1, 2], ConfidenceLevel::P95), Err(UndefinedReason::UnequalLengths));
    let one = clustered_mean(&[0.0, 1.0], &[1, 1], ConfidenceLevel::P95).unwrap();
    assert_eq!(
        (one.se_cr0, one.interval),
        (Err(UndefinedReason::OneCluster), Err(UndefinedReason::OneCluster))
    );
    let same = clustered_mean(&[0.5; 4], &[1, 1, 2, 2], ConfidenceLevel::P95).unwrap();
    assert_eq!(same.design_effect, Err(UndefinedReason::NoSpread));
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn single_clusters_are_independent_values(values in prop::collection::vec(0.0..1.0, 2..40)) {
        let names: Vec<usize> = (0..values.len()).collect();
        let found = clustered_mean(&values, &names, ConfidenceLevel::P95).unwrap();
        let plain = values.iter().copied().collect::<MeanAccumulator>().mean(ConfidenceLevel::P95);
        prop_assert!(near(found.se_cr1.unwrap(), plain.se.unwrap(), 1e-12));
    }

    #[test]
    fn neither_order_nor_names_matter(
        rows in prop::collection::vec((0.0..1.0, 0u8..5), 2..40), offset in 0u8..100,
    ) {
        let result_of = |rows: &[(f64, u8)]| {
            let (values, names): (Vec<f64>, Vec<u8>) = rows.iter().copied().unzip();
            clustered_mean(&values, &names, ConfidenceLevel::P95).unwrap()
        };
        let mut turned: Vec<(f64, u8)> = rows.iter().map(|&(value, name)| (value, name + offset)).collect();
        turned.reverse();
        let (a, b) = (result_of(&rows), result_of(&turned));
        prop_assert_eq!(a.clusters, b.clusters);
        if let (Ok(a), Ok(b)) = (a.se_cr0, b.se_cr0) {
            prop_assert!(near(a, b, 1e-12));
        }
    }
}
