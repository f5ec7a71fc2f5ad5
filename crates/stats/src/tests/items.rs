//! Criteria: their correlation with the rest, and the graded response model.

use crate::{
    ConfidenceLevel, UndefinedReason,
    items::{graded_response_model, item_rest_correlation},
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

/// Steps of an answer; `-` was not decided.
fn row(pattern: &str) -> Vec<Option<usize>> {
    pattern.chars().map(|step| step.to_digit(10).map(|step| step as usize)).collect()
}

fn answers() -> Vec<Vec<Option<usize>>> {
    PATTERNS.iter().flat_map(|(pattern, count)| vec![row(pattern); *count]).collect()
}

fn as_numbers(answers: &[Vec<Option<usize>>]) -> Vec<Vec<Option<f64>>> {
    answers.iter().map(|answer| answer.iter().map(|step| step.map(|step| step as f64)).collect()).collect()
}

#[test]
fn curves_are_those_of_other_implementations() {
    // scipy 1.17.1: maximum of the marginal likelihood over 61 abilities from -6 to 6, from the patterns
    // above. girth 0.8.0 (twopl_mml), which stops earlier, has 0.67182 1.05826 1.46494 1.02062 2.19552
    // 0.51666 and -1.10421 -0.47110 0.10514 0.54506 1.06304 -1.64199.
    let found = graded_response_model(&answers()).unwrap();
    let slopes = [0.671_872, 1.058_402, 1.465_190, 1.020_762, 2.195_695, 0.516_751];
    let difficulties = [-1.104_425, -0.471_884, 0.103_450, 0.543_914, 1.061_547, -1.641_774];
    let errors = [0.178_377, 0.224_038, 0.303_182, 0.209_715, 0.587_386, 0.177_158];
    for (at, curve) in found.curves.iter().enumerate() {
        assert_near(curve.discrimination, slopes[at], 1e-4);
        assert_near(curve.difficulties(ConfidenceLevel::P95).unwrap()[0].0, difficulties[at], 1e-4);
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

/// Steps of 240 answers on five criteria, which have 5, 4, 4, 2 and 3 steps; the last one is unrelated to the others.
const GRADED: &str = "\
    31300 40300 40212 42100 4121- 00002 12102 01010 10002 23200 13102 30100 42002 21100 10112 -0001 232-0 13010 31002 \
    03112 02002 13310 11000 21102 43310 01002 30000 21002 03102 01000 13100 12100 310-2 00002 33112 4331- 32212 42-10 \
    03112 33000 31202 23302 03300 00001 23300 2320- 22002 33112 -0000 21000 33112 33312 30212 43302 23102 30202 43210 \
    00312 11000 33112 33212 03311 13302 32100 13000 33112 20300 21002 10000 00002 43300 31100 20112 12202 03000 0-002 \
    23112 23102 30102 21210 11102 43202 30211 11110 11002 1200- 20000 11100 42311 20102 321-0 4330- 433-1 23112 31312 \
    31210 00000 32002 33302 33202 43312 01100 30212 33200 00002 43000 30110 12000 31310 31012 22100 21012 33301 21100 \
    31212 130-0 03002 40302 42212 01100 22102 02002 31101 43202 10-02 30310 41312 11100 0-212 13100 10000 00010 23211 \
    31200 30200 32112 21212 011-2 33000 23112 22010 13010 41210 4301- 03000 02110 22002 0-202 -1002 03100 13002 23000 \
    33-11 20112 43210 11202 00110 02002 01000 43-02 30310 03112 23-00 23212 31210 43102 10100 42002 1001- 11210 00102 \
    11000 11212 33302 10000 10002 31100 33210 02010 23010 13100 10100 01002 1110- 11112 21202 43212 23-00 00010 23010 \
    01002 33110 10002 41102 -2001 33300 31112 23210 2021- 33102 20010 21002 33312 10010 43112 33210 40202 21202 10210 \
    40310 20100 20110 00002 21002 00102 21002 00000 02002 32012 11000 42302 43312 13212 22302 12012 03102 03000 33210 \
    11202 03002 10-0- 00002 -1002 01000 3310- ---02 -3212 21202 2-010 31212";

#[test]
fn curves_of_scores_are_those_of_other_implementations() {
    // scipy 1.17.1: maximum of the marginal likelihood over 61 abilities from -6 to 6, written from the model's formula;
    // errors from the cross-product of numerical scores, and intervals from the roots of Fieller's equation. Without
    // missing decisions, girth 0.8.0 (grm_mml), which stops earlier, has slopes of 1.6118 0.5913 2.4528 0.8192, and this
    // maximum has 1.5869 0.5862 2.4940 0.8199.
    let answers: Vec<_> = GRADED.split_whitespace().map(row).collect();
    let found = graded_response_model(&answers).unwrap();
    let slopes = [1.685_323, 0.571_226, 2.228_475, 0.844_684, 0.081_114];
    let errors = [0.396_694, 0.162_254, 0.724_132, 0.230_282, 0.169_188];
    for (at, curve) in found.curves.iter().enumerate() {
        assert_near(curve.discrimination, slopes[at], 1e-4);
        assert_near(curve.discrimination_se, errors[at], 1e-4);
    }
    let first = found.curves[0].difficulties(ConfidenceLevel::P95).unwrap();
    let expected = [
        (-1.183_378, -1.879_025, -0.865_814),
        (-0.344_844, -0.702_504, -0.114_273),
        (0.421_045, 0.187_109, 0.753_275),
        (1.529_495, 1.174_445, 2.309_913),
    ];
    for ((difficulty, interval), (value, low, high)) in first.iter().zip(expected) {
        assert_near(*difficulty, value, 1e-4);
        assert_near(interval.low, low, 1e-4);
        assert_near(interval.high, high, 1e-4);
    }
    // At a slope that may be 0, half of the answers may reach a step at any ability.
    assert_eq!(found.curves[4].difficulties(ConfidenceLevel::P95), Err(UndefinedReason::FlatCurve));
    assert_near(found.abilities[0].0, 0.868_397, 1e-4);
    assert_near(found.abilities[0].1, 0.565_469, 1e-4);
    assert_near(found.reliability(&[0, 1, 2, 3, 4]), 0.681_524, 1e-4);
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
        answer[3] = Some(1);
    }
    assert_eq!(graded_response_model(&answers), Err(UndefinedReason::NoSpread));
    let places: Vec<usize> = (0..answers.len()).collect();
    let numbers = as_numbers(&answers);
    let found = item_rest_correlation(&numbers, &places, 3, ConfidenceLevel::P95);
    assert_eq!(found.correlation, Err(UndefinedReason::NoSpread));
    assert_eq!(graded_response_model(&answers[..99]), Err(UndefinedReason::TooFew));
    let few = item_rest_correlation(&numbers[..4], &places[..4], 0, ConfidenceLevel::P95);
    assert_eq!(few.correlation, Err(UndefinedReason::TooFew));

    // Three criteria that are always equal: the steeper the curves, the better the fit, without a limit.
    let same: Vec<Vec<Option<usize>>> = (0..200).map(|at| vec![Some(at % 2); 3]).collect();
    assert_eq!(graded_response_model(&same), Err(UndefinedReason::Unbounded));
}

#[test]
fn known_slopes_lie_within_two_standard_errors() {
    let truth = [(0.7, -1.0), (1.2, 0.0), (1.8, 0.5), (1.0, 1.0), (1.5, -0.5)];
    let (mut inside, mut all, mut unbounded) = (0, 0, 0);
    let mut state = 3;
    for _ in 0..10 {
        let answers: Vec<Vec<Option<usize>>> = (0..500)
            .map(|_| {
                // A sum of twelve uniform numbers is nearly normal.
                let ability = (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0;
                let met = |(slope, difficulty): &(f64, f64)| {
                    usize::from(uniform(&mut state) < 1.0 / (1.0 + (-slope * (ability - difficulty)).exp()))
                };
                truth.iter().map(met).map(Some).collect()
            })
            .collect();
        let Ok(found) = graded_response_model(&answers) else {
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
