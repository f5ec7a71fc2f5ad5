//! Combined decisions.

use crate::{
    UndefinedReason,
    combine::{
        AbPreference, PanelMajority, best_of, count_both_orders, expected_score, panel_scores, tally_panel,
    },
};

use super::assert_near;

#[test]
fn a_tie_is_its_own_outcome() {
    assert_eq!(tally_panel(&[Some(true), Some(false)]).verdict, Ok(PanelMajority::Tie));
    let found = tally_panel(&[Some(true), None, Some(false), Some(true)]);
    assert_eq!((found.passes, found.fails, found.verdict), (2, 1, Ok(PanelMajority::Pass)));
    assert_near(found.agreement.unwrap(), 2.0 / 3.0, 1e-15);
    assert!(!found.unanimous && tally_panel(&[Some(false)]).unanimous);
    let nobody = tally_panel(&[None]);
    assert_eq!((nobody.verdict, nobody.unanimous), (Err(UndefinedReason::NoValues), false));
}

#[test]
fn scores_of_a_panel() {
    let found = panel_scores(&[7.0, 8.0, 3.0]).unwrap();
    assert_eq!((found.mean, found.median, found.range()), (6.0, 7.0, 5.0));
    assert_near(found.sd.unwrap(), 7f64.sqrt(), 1e-15);
    assert_eq!(panel_scores(&[1.0, 2.0]).unwrap().median, 1.5);
    assert_eq!(panel_scores(&[1.0]).unwrap().sd, Err(UndefinedReason::OneValue));
    assert_eq!(panel_scores(&[]), Err(UndefinedReason::NoValues));
}

#[test]
fn expected_scores_are_normalised_by_what_was_seen() {
    let half = 0.5f64.ln();
    let found = expected_score(&[(1.0, Some(half)), (5.0, Some(half - 1.0)), (3.0, None)]).unwrap();
    let other = 0.5 * (-1f64).exp();
    assert_near(found.mass, 0.5 + other, 1e-15);
    assert_near(found.score, (0.5 + 5.0 * other) / (0.5 + other), 1e-15);
    assert_near(found.unnormalised, 0.5 + 5.0 * other, 1e-15);
    assert_eq!(found.likeliest, 1.0);
    assert_eq!(expected_score(&[(1.0, None)]), Err(UndefinedReason::NoMass));
    assert_eq!(expected_score(&[(1.0, Some(f64::NEG_INFINITY))]), Err(UndefinedReason::NoMass));
    assert_eq!(expected_score(&[(1.0, Some(f64::NAN))]), Err(UndefinedReason::NotFinite));
    // Its probability underflows, yet it is still a score.
    assert_eq!(expected_score(&[(4.0, Some(-2_000.0))]).unwrap().score, 4.0);
}

#[test]
fn a_win_needs_both_orders() {
    use AbPreference::{A, B, Tie};
    let found = count_both_orders(&[(A, A), (A, B), (B, B), (Tie, A), (A, A), (Tie, Tie)]);
    assert_eq!((found.n, found.consistent, found.wins_a, found.wins_b, found.undecided), (6, 4, 2, 1, 3));
    // Shown first and preferred: A in four pairs, B in two.
    assert_eq!((found.shown, found.twice), ((5, 4), (1, 0)));
    assert_eq!(count_both_orders(&[]).rate, Err(UndefinedReason::NoValues));
}

#[test]
fn the_two_showings_of_a_pair_are_one_piece_of_evidence() {
    use AbPreference::{A, B};
    let pairs = |ab: usize, ba: usize, both: usize| -> Vec<(AbPreference, AbPreference)> {
        let parts = [(A, B, ab), (B, A, ba), (A, A, both), (B, B, both)];
        parts.into_iter().flat_map(|(x, y, n)| std::iter::repeat_n((x, y), n)).collect()
    };
    // The first position won twice in 58 pairs and the second in 18: twice the lower tail of 18 of 76, in
    // integers.
    let found = count_both_orders(&pairs(58, 18, 137));
    assert_near(found.position_p().unwrap(), 4.713_242_239_575_171e-6, 1e-18);
    assert!(found.exchange_p() > 0.999);
    assert_eq!(count_both_orders(&pairs(0, 0, 9)).position_p(), Err(UndefinedReason::NothingDiffers));

    // If verdicts of the second order name positions, agreements look like disagreements.
    assert!(count_both_orders(&pairs(40, 40, 4)).exchange_p() < 1e-9);
    // Ten pairs that all contradict each other: one of the ways to choose four or six of them.
    assert_near(count_both_orders(&pairs(6, 4, 0)).exchange_p(), 1.0 / 210.0, 1e-15);
    // scipy 1.17.1, fisher_exact([[1, 13], [6, 0]], alternative="less").
    let mut twenty = pairs(13, 6, 0);
    twenty.push((A, A));
    assert_near(count_both_orders(&twenty).exchange_p(), 1.805_985_552_115_583e-4, 1e-15);
    // Preferring one position throughout is a bias, not an exchange of names.
    assert_near(count_both_orders(&pairs(80, 0, 0)).exchange_p(), 1.0, 0.0);
    assert!(count_both_orders(&pairs(80, 0, 1)).exchange_p() > 0.5);
    // Sums that overflow.
    assert_near(count_both_orders(&pairs(4000, 4000, 0)).exchange_p(), 0.0, 1e-300);
    assert_near(count_both_orders(&pairs(0, 0, 4000)).exchange_p(), 1.0, 1e-12);
}

#[test]
fn honest_judges_are_seldom_suspected_of_exchanged_names() {
    use rand_core::RngCore;

    let mut random = crate::SeededRandom::new(5);
    let mut draw = |share: f64| (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64 <= share;
    // Random verdicts with a preference for a position or for an answer; and a judge that is right three
    // times out of four.
    for (first, second) in [(0.5, 0.5), (0.8, 0.2), (0.95, 0.05), (0.8, 0.8)] {
        for n in [8, 12, 20, 60] {
            let mut suspected = 0;
            for _ in 0..2000 {
                let preference = |named_a: bool| if named_a { AbPreference::A } else { AbPreference::B };
                let pairs: Vec<_> =
                    (0..n).map(|_| (preference(draw(first)), preference(draw(second)))).collect();
                suspected += u32::from(count_both_orders(&pairs).exchange_p() < 0.01);
            }
            assert!(suspected <= 30, "{suspected} of 2000 with {n} pairs, {first} and {second}");
        }
    }
}

#[test]
fn ties_for_the_best_get_part_of_the_credit() {
    let found = best_of(&[0.1 + 0.2, 0.3, 0.1, 0.2], 0).unwrap();
    assert_eq!((found.strict, found.tied, found.credit), (false, true, 0.5));
    assert!(best_of(&[2.0, 1.0], 0).unwrap().strict);
    assert_eq!(best_of(&[2.0, 1.0], 1).unwrap().credit, 0.0);
    assert_eq!(best_of(&[2.0], 1), Err(UndefinedReason::NoValues));
}
