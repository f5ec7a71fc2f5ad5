//! Audits of judges whose truth and bias are known, again and again: how often the guilty is found and the innocent accused.

use crate::{injection, length, order, self_preference};

/// Audits of each biased judge.
const BIASED: u64 = 20;

/// Audits of each honest judge.
const HONEST: u64 = 100;

#[test]
fn audits_find_the_guilty_and_seldom_accuse_the_innocent() {
    let (own, own_rival) = self_preference::accusations(BIASED, 0.4);
    let (neutral, neutral_rival) = self_preference::accusations(HONEST, 0.0);
    let found = [
        ("`self`, own answers +0.4", own, neutral + neutral_rival),
        (
            "`injection`, gives in at .2",
            injection::accusations(BIASED, 0.2),
            injection::accusations(HONEST, 0.0),
        ),
        ("`order`, first place +.4", order::accusations(BIASED, 0.4), order::accusations(HONEST, 0.0)),
        ("`length`, likes length at .2", length::accusations(BIASED, 0.2), length::accusations(HONEST, 0.0)),
    ];

    for (audit, guilty, innocent) in found {
        assert!(guilty >= 19, "{audit}: {guilty} of {BIASED} biased judges found");
        // A test at 5 % accuses more than ten of a hundred about once in a hundred such simulations.
        assert!(innocent <= 10, "{audit}: {innocent} of {HONEST} honest judges accused");
    }
    // At 2.5 % on the side of a preference, more than three of twenty come about once in a thousand simulations.
    assert!(own_rival <= 3, "{own_rival} of {BIASED} rivals without a preference accused");
}
