//! Variance components: between cases, between answers to a case, and between verdicts on an answer.

use crate::{
    UndefinedReason,
    rank::merge_ties,
    undefined::{check_all_finite, check_finite, check_not_empty},
};

/// Variance components of repeated scores of the same cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepeatVariance {
    /// Number of cases.
    pub cases: usize,
    /// Number of scores.
    pub scores: usize,
    /// Number of repeats per case; for unequal numbers the effective one, `(N - sum K_i^2 / N) / (cases -
    /// 1)`.
    pub repeats: f64,
    /// Mean square within cases: the variance of the noise.
    pub within: f64,
    /// Mean square between cases.
    pub between_square: f64,
    /// Variance between cases, `(between_square - within) / repeats`, 0 if that is negative.
    pub between: f64,
    /// True if the estimated variance between cases was negative.
    pub negative: bool,
    /// Share of the variance that is between cases, for one score: ICC(1).
    pub icc: Result<f64, UndefinedReason>,
    /// Reliability of the mean of the repeats: ICC(1, k).
    pub icc_mean: Result<f64, UndefinedReason>,
    /// Standard error of the mean over cases, `sqrt((between + within / repeats) / cases)`.
    pub se: f64,
}

struct SquareSum {
    sum: f64,
    count: f64,
    mean: f64,
}

fn sum_squares<'v>(values: impl Iterator<Item = &'v f64> + Clone) -> SquareSum {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    SquareSum { sum: values.map(|value| (value - mean).powi(2)).sum(), count, mean }
}

/// Fits one-way random effects to the scores of each case. Missing scores are absent from the list; cases
/// without any score are excluded. Scores within 1e-9 of each other are equal. Source: R. A. Fisher,
/// Statistical Methods for Research Workers (1925), chapter 7; unequal numbers: S. Searle, G. Casella and C.
/// McCulloch, Variance Components (1992), section 3.6; the error with repeats: E. Miller, arXiv 2411.00640,
/// section 3.
pub fn repeat_variance(cases: &[Vec<f64>]) -> Result<RepeatVariance, UndefinedReason> {
    let cases: Vec<&Vec<f64>> = cases.iter().filter(|case| !case.is_empty()).collect();
    for case in &cases {
        check_all_finite(case)?;
    }

    let merged = merge_ties(&cases.iter().copied().flatten().copied().collect::<Vec<f64>>());
    let mut rest = merged.as_slice();
    let cases: Vec<&[f64]> = cases
        .iter()
        .map(|case| {
            let (own, others) = rest.split_at(case.len());
            rest = others;
            own
        })
        .collect();
    let groups = cases.len() as f64;
    let all = sum_squares(cases.iter().copied().flatten());
    match cases.len() {
        0 => return Err(UndefinedReason::NoValues),
        1 => return Err(UndefinedReason::OneCluster),
        _ if all.count <= groups => return Err(UndefinedReason::OneValue),
        _ => {}
    }

    let parts: Vec<SquareSum> = cases.iter().map(|case| sum_squares(case.iter())).collect();
    let within = check_finite(parts.iter().map(|part| part.sum).sum::<f64>() / (all.count - groups))?;
    let apart: f64 = parts.iter().map(|part| part.count * (part.mean - all.mean).powi(2)).sum();
    let between_square = check_finite(apart / (groups - 1.0))?;
    let uneven: f64 = parts.iter().map(|part| part.count * part.count).sum();
    let repeats = (all.count - uneven / all.count) / (groups - 1.0);
    let raw = (between_square - within) / repeats;
    let share = |top: f64, bottom: f64| {
        if bottom > 0.0 { check_finite(top / bottom) } else { Err(UndefinedReason::NoSpread) }
    };

    Ok(RepeatVariance {
        cases: cases.len(),
        scores: all.count as usize,
        repeats,
        within,
        between_square,
        between: raw.max(0.0),
        negative: raw < 0.0,
        icc: share(between_square - within, between_square + (repeats - 1.0) * within),
        icc_mean: share(between_square - within, between_square),
        se: ((raw.max(0.0) + within / repeats) / groups).sqrt(),
    })
}

/// Variance components of verdicts on answers to cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NestedVariance {
    /// Number of cases.
    pub cases: usize,
    /// Number of answers.
    pub answers: usize,
    /// Number of verdicts.
    pub verdicts: usize,
    /// Variance between cases, which repeating does not reduce.
    pub between_cases: f64,
    /// Variance between answers to the same case: the system's noise.
    pub between_answers: f64,
    /// Variance between verdicts on the same answer: the judge's noise.
    pub between_verdicts: f64,
    /// True if an estimated variance was negative and set to 0.
    pub negative: bool,
}

impl NestedVariance {
    /// Returns the standard error of the mean over n cases with `answers` each, which are judged `verdicts`
    /// times each: `sqrt((between_cases + (between_answers + between_verdicts / verdicts) / answers) / n)`.
    pub fn standard_error_with(
        &self,
        cases: u64,
        answers: u64,
        verdicts: u64,
    ) -> Result<f64, UndefinedReason> {
        if cases == 0 || answers == 0 || verdicts == 0 {
            return Err(UndefinedReason::NoValues);
        }
        let noise = self.between_answers + self.between_verdicts / verdicts as f64;
        check_finite(((self.between_cases + noise / answers as f64) / cases as f64).sqrt())
    }
}

/// Computes the variance components of verdicts nested in answers nested in cases, with equal or unequal
/// numbers, by the method of moments. Source: R. Sokal and F. J. Rohlf, Biometry (3rd edition, 1995), box
/// 10.5; Searle, Casella and McCulloch (1992), section 5.3.
pub fn nested_variance(cases: &[Vec<Vec<f64>>]) -> Result<NestedVariance, UndefinedReason> {
    let cases: Vec<Vec<&Vec<f64>>> = cases
        .iter()
        .map(|answers| answers.iter().filter(|verdicts| !verdicts.is_empty()).collect::<Vec<_>>())
        .filter(|answers| !answers.is_empty())
        .collect();
    for verdicts in cases.iter().flatten() {
        check_all_finite(verdicts)?;
    }

    let all = sum_squares(cases.iter().flatten().copied().flatten());
    let (mut answers, mut verdict_squares, mut answer_squares, mut case_squares) = (0.0, 0.0, 0.0, 0.0);

    // Sums of squared sizes: of answers divided by the size of their case, of answers, and of cases.
    let (mut within_case, mut of_answers, mut of_cases) = (0.0, 0.0, 0.0);
    for case in &cases {
        let whole = sum_squares(case.iter().copied().flatten());
        case_squares += whole.count * (whole.mean - all.mean).powi(2);
        of_cases += whole.count * whole.count;

        for verdicts in case {
            let part = sum_squares(verdicts.iter());
            answers += 1.0;
            verdict_squares += part.sum;
            answer_squares += part.count * (part.mean - whole.mean).powi(2);
            within_case += part.count * part.count / whole.count;

            of_answers += part.count * part.count;
        }
    }

    let groups = cases.len() as f64;

    check_not_empty(cases.len())?;
    if groups < 2.0 {
        return Err(UndefinedReason::OneCluster);
    }
    if answers <= groups || all.count <= answers {
        return Err(UndefinedReason::OneValue);
    }

    let between_verdicts = check_finite(verdict_squares / (all.count - answers))?;
    let answer_size = (all.count - within_case) / (answers - groups);
    let raw_answers = check_finite((answer_squares / (answers - groups) - between_verdicts) / answer_size)?;
    let crossed = (within_case - of_answers / all.count) / (groups - 1.0);
    let case_size = (all.count - of_cases / all.count) / (groups - 1.0);
    let expected = between_verdicts + crossed * raw_answers.max(0.0);
    let raw_cases = check_finite((case_squares / (groups - 1.0) - expected) / case_size)?;

    Ok(NestedVariance {
        cases: cases.len(),
        answers: answers as usize,
        verdicts: all.count as usize,
        between_cases: raw_cases.max(0.0),
        between_answers: raw_answers.max(0.0),
        between_verdicts,
        negative: raw_answers < 0.0 || raw_cases < 0.0,
    })
}
