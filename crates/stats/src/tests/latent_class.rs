//! Error rates of raters without known truth.

use crate::{
    ConfidenceLevel, SeededRandom, UndefinedReason,
    agreement::{DrawnClasses, RaterErrorRates, RaterVote, drawn_interval, latent_classes},
};

use super::{assert_near, uniform};

/// Votes of four raters on sixty items; `-` for none.
const RATERS: [&str; 4] = [
    "110111111011100000001111011110101011000111110101001101011001",
    "110111000011010000001111111101010011100011110111010101011001",
    "010010110010111100001111110010111000000011100001001001001001",
    "-11-10-11-01-00-11-10-10-11-11-00-00-01-10-00-01-00-01-01-10",
];

fn votes(raters: &[&str]) -> Vec<RaterVote> {
    let one = |(rater, text): (usize, &&str)| -> Vec<RaterVote> {
        let voted = text.chars().enumerate().filter(|(_, vote)| *vote != '-');
        voted.map(|(item, vote)| RaterVote { item, rater, met: vote == '1' }).collect()
    };
    raters.iter().enumerate().flat_map(one).collect()
}

#[test]
fn rates_are_those_of_another_implementation() {
    // crowd-kit 1.4.2, DawidSkene with 2,000 steps and a tolerance of 1e-14, from the votes above.
    let found = latent_classes(&votes(&RATERS), 60, 4, 0.0).unwrap();
    assert_near(found.prevalence, 0.732_542, 1e-6);
    let expected = [
        (0.819_065_124, 1.0),
        (0.741_703_141, 0.912_742_755),
        (0.603_540_694, 0.970_534_380),
        (0.455_545_214, 0.361_801_113),
    ];
    for (rater, (sensitivity, specificity)) in found.raters.iter().zip(expected) {
        assert_near(rater.sensitivity, sensitivity, 1e-6);
        assert_near(rater.specificity, specificity, 1e-6);
    }
    assert_near(found.posterior[2], 0.039_285_172, 1e-6);
    assert_near(found.posterior[9], 0.054_183_329, 1e-6);
    assert_near(found.posterior.iter().sum(), 43.952_549_003, 1e-5);
    assert_eq!(found.raters[3].votes, 40);
}

/// Probability of each rater of a panel to be right.
const RIGHT: [f64; 7] = [0.9, 0.85, 0.85, 0.8, 0.8, 0.75, 0.7];

/// Votes on 300 items with known truth. The last rater copies the previous one with this probability.
fn panel(seed: u64, copies: f64) -> Vec<RaterVote> {
    let mut state = seed;
    let mut found = Vec::new();
    for item in 0..300 {
        let truth = uniform(&mut state) < 0.6;
        let mut before = truth;
        for (rater, right) in RIGHT.into_iter().enumerate() {
            let own = if uniform(&mut state) < right { truth } else { !truth };
            let met = if rater == 6 && uniform(&mut state) < copies { before } else { own };
            before = met;
            found.push(RaterVote { item, rater, met });
        }
    }

    found
}

#[test]
fn known_error_rates_are_found_and_a_copying_rater_is_flagged() {
    let (mut off, mut flagged, mut accused) = (0.0, 0, 0);
    for seed in 1..=20 {
        let votes = panel(seed, 0.0);
        let found = latent_classes(&votes, 300, 7, 0.5).unwrap();
        for (rater, right) in found.raters.iter().zip(RIGHT) {
            off += rater.sensitivity + rater.specificity - 2.0 * right;
        }
        accused += usize::from(found.dependences(&votes).iter().any(|pair| pair.p_adjusted < 0.05));

        let votes = panel(seed, 0.9);
        let found = latent_classes(&votes, 300, 7, 0.5).unwrap();
        let pairs = found.dependences(&votes);
        flagged += usize::from(pairs.iter().any(|pair| pair.raters == (5, 6) && pair.p_adjusted < 0.05));
    }
    assert!((off / 280.0).abs() < 0.02, "off by {} on average", off / 280.0);
    assert!(flagged >= 19 && accused <= 1, "{flagged} of 20 that copy, {accused} of 20 that do not");
}

#[test]
fn two_raters_say_nothing_of_each_other() {
    assert_eq!(latent_classes(&votes(&RATERS[..2]), 60, 2, 0.5), Err(UndefinedReason::TooFew));
    assert_eq!(latent_classes(&[], 0, 3, 0.5), Err(UndefinedReason::NoValues));
    let outside = [RaterVote { item: 1, rater: 0, met: true }];
    assert_eq!(latent_classes(&outside, 1, 3, 0.5), Err(UndefinedReason::OutOfRange));
    // If all raters agree, they are estimated to be right, except for the smoothing.
    let same = votes(&["110", "110", "110"]);
    let found = latent_classes(&same, 3, 3, 0.5).unwrap();
    assert!(found.posterior[0] > 0.9 && found.posterior[2] < 0.1, "{found:?}");
    assert!(found.dependences(&same).is_empty());
}

#[test]
fn votes_that_tell_nothing_are_refused() {
    // Each item has one vote, so the fit would return its starting values.
    let apart = ["10101---------", "-----01010----", "----------1010"];
    assert_eq!(latent_classes(&votes(&apart), 14, 3, 0.5), Err(UndefinedReason::NoOverlap));
    // Three pairs of raters, and no item with three votes.
    let pairs = ["1010----0101", "10100101----", "----01010101"];
    assert_eq!(latent_classes(&votes(&pairs), 12, 3, 0.5), Err(UndefinedReason::NoOverlap));
    // The fourth rater has no item in common with the others.
    let alone = ["10101010----", "10101011----", "10001010----", "--------1010"];
    assert_eq!(latent_classes(&votes(&alone), 12, 4, 0.5), Err(UndefinedReason::NoOverlap));
    assert!(latent_classes(&votes(&alone[..3]), 12, 3, 0.5).is_ok());
    assert_eq!(latent_classes(&votes(&["1111"; 3]), 4, 3, 0.5), Err(UndefinedReason::OneClass));
}

#[test]
fn drawn_rates_lie_around_the_fit_and_few_items_leave_them_open() {
    let all = votes(&RATERS);
    let fit = latent_classes(&all, 60, 4, 0.5).unwrap();
    let drawn = DrawnClasses::draw(&all, 60, 4, 800, &mut SeededRandom::new(1));
    for (rater, rates) in fit.raters.iter().enumerate() {
        for (shares, estimate) in
            [(&drawn.sensitivity[rater], rates.sensitivity), (&drawn.specificity[rater], rates.specificity)]
        {
            let interval = drawn_interval(shares, estimate, ConfidenceLevel::P95).unwrap();
            assert!(interval.low > 0.0 && interval.high < 1.0 && interval.width() > 0.1, "{interval:?}");
            assert!(interval.low <= estimate && estimate <= interval.high, "{interval:?}");
        }
    }

    // With two items, one of them met, there is almost no information about any rater.
    let few = votes(&["10", "10", "10"]);
    let drawn = DrawnClasses::draw(&few, 2, 3, 800, &mut SeededRandom::new(1));
    let interval = drawn_interval(&drawn.sensitivity[0], 0.75, ConfidenceLevel::P95).unwrap();
    assert!(interval.width() > 0.5, "{interval:?}");
}

#[test]
fn drawn_rates_hold_the_truth_as_often_as_they_say() {
    let truth = [(0.95, 0.9), (0.9, 0.8), (0.8, 0.7)];
    let (mut held, mut all) = (0, 0);
    let mut state = 11;
    for seed in 0..60 {
        let mut votes = Vec::new();
        for item in 0..30 {
            let is_met = uniform(&mut state) < 0.7;
            for (rater, (sensitivity, specificity)) in truth.iter().enumerate() {
                let right = if is_met { *sensitivity } else { *specificity };
                votes.push(RaterVote { item, rater, met: is_met == (uniform(&mut state) < right) });
            }
        }

        let drawn = DrawnClasses::draw(&votes, 30, 3, 400, &mut SeededRandom::new(seed));
        for (rater, (sensitivity, specificity)) in truth.iter().enumerate() {
            for (shares, rate) in
                [(&drawn.sensitivity[rater], sensitivity), (&drawn.specificity[rater], specificity)]
            {
                let middle = shares.iter().sum::<f64>() / shares.len() as f64;
                let interval = drawn_interval(shares, middle, ConfidenceLevel::P95).unwrap();
                held += usize::from(interval.low <= *rate && *rate <= interval.high);
                all += 1;
            }
        }
    }
    assert!(held * 100 >= all * 93, "{held} of {all}");
}

#[test]
fn the_weight_of_a_vote_is_that_of_its_odds() {
    let rates = |sensitivity, specificity| RaterErrorRates { sensitivity, specificity, votes: 1 };
    assert_near(rates(0.5, 0.5).vote_weight(), 0.0, 1e-12);
    assert_near(rates(0.9, 0.8).vote_weight(), f64::midpoint(9.0_f64.ln(), 4.0_f64.ln()), 1e-12);
    assert!(rates(0.2, 0.3).vote_weight() < 0.0);
}
