//! The bound beside a count of no failures.

use assize_stats::{Level, Undefined, no_failure_bound};

#[test]
fn the_bound_solves_its_own_equation() {
    // With p the bound, n trials pass without a failure with probability (1 - p)^n = 1 - level.
    for n in [1u64, 2, 20, 60, 300, 1_000_000] {
        for level in [0.9, 0.95, 0.99] {
            let p = no_failure_bound(n, Level::new(level).expect("a level")).expect("trials");
            let chance = ((-p).ln_1p() * n as f64).exp();
            assert!((chance - (1.0 - level)).abs() < 1e-12, "{n} {level} {p}");
        }
    }
}

#[test]
fn known_values_and_the_rule_of_three() {
    let bound = |n| no_failure_bound(n, Level::P95).expect("trials");
    assert!((bound(1) - 0.95).abs() < 1e-12);
    assert!((bound(20) - 0.139_108_340_668_265_16).abs() < 1e-12);
    assert!((bound(1000) - 0.003).abs() < 1e-5);
    assert_eq!(no_failure_bound(0, Level::P95), Err(Undefined::NoValues));
}
