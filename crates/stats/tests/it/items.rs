//! Criteria: their correlation with the rest, and the two-parameter model.

use assize_stats::{
    ConfidenceLevel, UndefinedReason,
    items::{item_rest_correlation, two_parameter_model},
};

use super::{assert_near, uniform};

/// Number of answers for each pattern of six criteria.
const PATTERNS: [(&str, usize); 53] = [
    ("000000", 15),
    ("000001", 24),
    ("000100", 4),
    ("000101", 4),
    ("001000", 4),
    ("001001", 7),
    ("001010", 2),
    ("001011", 2),
    ("001100", 2),
    ("001101", 4),
    ("010000", 6),
    ("010001", 16),
    ("010011", 1),
    ("010100", 2),
    ("010101", 8),
    ("011000", 5),
    ("011001", 10),
    ("011010", 1),
    ("011011", 3),
    ("011100", 4),
    ("011101", 6),
    ("011110", 1),
    ("011111", 4),
    ("100000", 17),
    ("100001", 24),
    ("100010", 1),
    ("100011", 2),
    ("100100", 4),
    ("100101", 10),
    ("100110", 2),
    ("100111", 1),
    ("101000", 3),
    ("101001", 11),
    ("101011", 2),
    ("101100", 4),
    ("101101", 6),
    ("101110", 1),
    ("101111", 4),
    ("110000", 15),
    ("110001", 26),
    ("110011", 5),
    ("110100", 8),
    ("110101", 9),
    ("110110", 3),
    ("110111", 4),
    ("111000", 10),
    ("111001", 21),
    ("111010", 1),
    ("111011", 11),
    ("111100", 7),
    ("111101", 23),
    ("111110", 2),
    ("111111", 28),
];

fn answers() -> Vec<Vec<Option<bool>>> {
    let row = |pattern: &str| pattern.chars().map(|met| Some(met == '1')).collect::<Vec<_>>();
    PATTERNS.iter().flat_map(|(pattern, count)| vec![row(pattern); *count]).collect()
}

fn as_numbers(answers: &[Vec<Option<bool>>]) -> Vec<Vec<Option<f64>>> {
    let number = |met: &Option<bool>| met.map(|met| f64::from(u8::from(met)));
    answers.iter().map(|answer| answer.iter().map(number).collect()).collect()
}

#[test]
fn curves_are_those_of_other_implementations() {
    // scipy 1.17.1: maximum of the marginal likelihood over 61 abilities from -6 to 6, from the patterns
    // above. girth 0.8.0 (twopl_mml), which stops earlier, has 0.67182 1.05826 1.46494 1.02062 2.19552
    // 0.51666 and -1.10421 -0.47110 0.10514 0.54506 1.06304 -1.64199.
    let found = two_parameter_model(&answers(), 6).unwrap();
    let slopes = [0.671_872, 1.058_402, 1.465_190, 1.020_762, 2.195_695, 0.516_751];
    let difficulties = [-1.104_425, -0.471_884, 0.103_450, 0.543_914, 1.061_547, -1.641_774];
    let errors = [0.178_377, 0.224_038, 0.303_182, 0.209_715, 0.587_386, 0.177_158];
    for (at, curve) in found.curves.iter().enumerate() {
        assert_near(curve.discrimination, slopes[at], 1e-4);
        assert_near(curve.difficulty.unwrap(), difficulties[at], 1e-4);
        assert_near(curve.discrimination_se, errors[at], 1e-4);
    }
    // Abilities of the answers that meet nothing and everything.
    assert_near(found.abilities[0].0, -1.329_277, 1e-4);
    assert_near(found.abilities[0].1, 0.748_036, 1e-4);
    assert_near(found.abilities[399].0, 1.530_103, 1e-4);
    assert_near(found.abilities[399].1, 0.650_410, 1e-4);
    assert_near(found.reliability(&[0, 1, 2, 3, 4, 5]), 0.569_762, 1e-4);

    let short = found.short_form();
    assert_eq!(short.len(), 6);
    assert_eq!(short[0].0, 4, "the steepest");
    assert!(short.windows(2).all(|pair| pair[0].1 < pair[1].1));
    assert_near(short[5].1, 0.569_762, 1e-4);
}

#[test]
fn the_correlation_with_the_rest_leaves_the_criterion_out() {
    let answers = as_numbers(&answers());
    let places: Vec<usize> = (0..answers.len()).collect();
    // numpy 2.4: corrcoef of the first column and the mean of the others.
    let found = item_rest_correlation(&answers, &places, 0, ConfidenceLevel::P95);
    assert_near(found.correlation.unwrap(), 0.206_452_624_381_867_43, 1e-12);
    let alone = found.interval.unwrap();
    assert!(alone.low < 0.206 && alone.high > 0.207 && alone.width() > 0.18 && alone.width() < 0.2);

    // Four copies of each answer in one cluster are no additional evidence.
    let four: Vec<Vec<Option<f64>>> = answers.iter().flat_map(|answer| vec![answer.clone(); 4]).collect();
    let clusters: Vec<usize> = (0..four.len()).map(|at| at / 4).collect();
    let clustered = item_rest_correlation(&four, &clusters, 0, ConfidenceLevel::P95);
    assert_near(clustered.correlation.unwrap(), 0.206_452_624_381_867_43, 1e-12);
    assert_near(clustered.interval.unwrap().width(), alone.width(), 0.01);
}

#[test]
fn what_does_not_vary_has_no_figures() {
    let mut answers = answers();
    for answer in &mut answers {
        answer[3] = Some(true);
    }
    assert_eq!(two_parameter_model(&answers, 6), Err(UndefinedReason::NoSpread));
    let places: Vec<usize> = (0..answers.len()).collect();
    let numbers = as_numbers(&answers);
    let found = item_rest_correlation(&numbers, &places, 3, ConfidenceLevel::P95);
    assert_eq!(found.correlation, Err(UndefinedReason::NoSpread));
    assert_eq!(two_parameter_model(&answers[..99], 6), Err(UndefinedReason::TooFew));
    let few = item_rest_correlation(&numbers[..4], &places[..4], 0, ConfidenceLevel::P95);
    assert_eq!(few.correlation, Err(UndefinedReason::TooFew));

    // Three criteria that are always equal: the steeper the curves, the better the fit, without a limit.
    let same: Vec<Vec<Option<bool>>> = (0..200).map(|at| vec![Some(at % 2 == 0); 3]).collect();
    assert_eq!(two_parameter_model(&same, 3), Err(UndefinedReason::Unbounded));
}

#[test]
fn known_slopes_lie_within_two_standard_errors() {
    let truth = [(0.7, -1.0), (1.2, 0.0), (1.8, 0.5), (1.0, 1.0), (1.5, -0.5)];
    let (mut inside, mut all, mut unbounded) = (0, 0, 0);
    let mut state = 3;
    for _ in 0..10 {
        let answers: Vec<Vec<Option<bool>>> = (0..500)
            .map(|_| {
                // A sum of twelve uniform numbers is nearly normal.
                let ability = (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
                let met = |(slope, difficulty): &(f64, f64)| {
                    uniform(&mut state) < 1.0 / (1.0 + (-slope * (ability - difficulty)).exp())
                };
                truth.iter().map(met).map(Some).collect()
            })
            .collect();
        let Ok(found) = two_parameter_model(&answers, truth.len()) else {
            unbounded += 1;
            continue;
        };
        for (curve, (slope, _)) in found.curves.iter().zip(truth) {
            inside += usize::from((curve.discrimination - slope).abs() < 1.96 * curve.discrimination_se);
            all += 1;
        }
    }
    // Three standard errors below 95 %.
    assert!(unbounded <= 2 && inside * 100 >= all * 86, "{inside} of {all}, {unbounded} unbounded");
}
