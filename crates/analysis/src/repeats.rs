//! Repeated scores: their noise, and the benefit of repeating.

use std::collections::BTreeMap;

use assize_stats::{
    ConfidenceLevel, MeanAccumulator, Proportion, UndefinedReason,
    combine::best_of,
    compare::{McNemarTest, PairedMean, PairedVerdicts, paired_mean},
    merge_ties, proportion,
    repeats::{RepeatVariance, repeat_variance},
};

use crate::calibrate::ItemKey;
use crate::labels::{LabelProblem, LabelRow};

/// Best-of-n accuracy if the first `k` scores of each answer are averaged.
#[derive(Debug, Clone, PartialEq)]
pub struct BestOfK {
    /// Number of averaged scores; failed ones among them are excluded.
    pub k: usize,
    /// Share of items on which the right answer alone has the best score. Items with an unscored answer are
    /// excluded.
    pub strict: Proportion,
    /// Number of items on which the right answer shares the best score.
    pub tied: u64,
    /// Mean credit: 1 if the right answer alone is best, else 1 divided by the number of answers tied.
    pub credit: Result<f64, UndefinedReason>,
}

/// Gain from more repeats, over the items that have both numbers of repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatGain {
    /// Smaller number of scores.
    pub from: usize,
    /// Larger number of scores.
    pub to: usize,
    /// Paired counts: right with both, only with more, only with fewer, with neither.
    pub pairs: PairedVerdicts,
    /// More minus fewer.
    pub difference: Result<PairedMean, UndefinedReason>,
    /// Test of the difference.
    pub test: McNemarTest,
}

/// Report on repeated scores.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatReport {
    /// Number of rows of the table.
    pub rows: u64,
    /// Number of answers that were scored.
    pub cells: u64,
    /// Number of scores that failed.
    pub failed: u64,
    /// Share of answers, scored twice or more, whose scores differ.
    pub differing: Proportion,
    /// Mean over answers of the variance of their scores.
    pub mean_variance: Result<f64, UndefinedReason>,
    /// Variance between and within answers.
    pub spread: Result<RepeatVariance, UndefinedReason>,
    /// Best-of-n accuracy by number of repeats; empty if the right answer is unknown.
    pub best: Vec<BestOfK>,
    /// Gain from the smallest to the largest requested number of repeats.
    pub gain: Option<RepeatGain>,
}

/// Analyses repeated scores. With `right`, the position of the right answer in each row from 0, it also
/// computes how often that answer has the best score when the first k scores are averaged, for each k.
pub fn analyze_repeats(
    rows: &[LabelRow],
    right: Option<usize>,
    ks: &[usize],
    level: ConfidenceLevel,
) -> Result<RepeatReport, Vec<LabelProblem>> {
    let mut problems = Vec::new();
    let mut first: BTreeMap<ItemKey, u64> = BTreeMap::new();
    for row in rows {
        let line = *first.entry(ItemKey::from_row(row)).or_insert(row.place.line);
        let message = match right {
            _ if line != row.place.line => {
                format!(
                    "case `{}` already has scores in line {line}; name the column that distinguishes them with `--columns`: `criterion=COLUMN` for criteria, `who=COLUMN` or `prompt=COLUMN` for judges and prompts",
                    row.case
                )
            }
            _ if row.scores.is_empty() => "the row has no scores".to_owned(),
            Some(right) if right >= row.scores.len() => {
                let answers = row.scores.len();
                format!("the right answer is number {right} from 0, and the row has {answers}")
            }
            _ => continue,
        };
        problems.push(LabelProblem { place: row.place.clone(), message });
    }

    if !problems.is_empty() {
        return Err(problems);
    }

    // Scores that differ only by rounding count as equal.
    let all: Vec<f64> = rows.iter().flat_map(|row| &row.scores).flatten().copied().flatten().collect();
    let mut merged = merge_ties(&all).into_iter();
    let cells: Vec<Vec<f64>> = rows
        .iter()
        .flat_map(|row| &row.scores)
        .map(|scores| merged.by_ref().take(scores.iter().flatten().count()).collect())
        .collect();

    let failed = rows.iter().flat_map(|row| &row.scores).flatten().filter(|score| score.is_none()).count();
    let twice: Vec<&Vec<f64>> = cells.iter().filter(|scores| scores.len() > 1).collect();
    let differing = twice.iter().filter(|scores| scores.iter().any(|score| *score != scores[0])).count();
    let variances: Result<Vec<f64>, UndefinedReason> = twice
        .iter()
        .map(|scores| {
            let spread = scores.iter().copied().collect::<MeanAccumulator>().mean(level);
            spread.sd.map(|sd| sd * sd)
        })
        .collect();

    let mean_variance =
        variances.and_then(|variances| variances.into_iter().collect::<MeanAccumulator>().mean(level).mean);
    let mut best = Vec::new();
    let mut outcomes: Vec<(usize, Vec<Option<bool>>)> = Vec::new();
    if let Some(right) = right {
        for &k in ks {
            let (found, strict) = best_of_k(rows, right, k, level);
            best.push(found);
            outcomes.push((k, strict));
        }
    }

    Ok(RepeatReport {
        rows: rows.len() as u64,
        cells: cells.len() as u64,
        failed: failed as u64,
        differing: proportion(differing as u64, twice.len() as u64, level),
        mean_variance,
        spread: repeat_variance(&cells),
        best,
        gain: repeat_gain(&outcomes, level),
    })
}

fn best_of_k(
    rows: &[LabelRow],
    right: usize,
    k: usize,
    level: ConfidenceLevel,
) -> (BestOfK, Vec<Option<bool>>) {
    let (mut n, mut alone, mut tied, mut credit) = (0u64, 0u64, 0u64, Vec::new());
    let strict = rows
        .iter()
        .map(|row| {
            let means: Option<Vec<f64>> = row
                .scores
                .iter()
                .map(|scores| {
                    let first = scores.iter().take(k).copied().flatten();
                    first.collect::<MeanAccumulator>().mean(level).mean.ok()
                })
                .collect();

            let found = best_of(&means?, right).ok()?;
            n += 1;
            alone += u64::from(found.strict);
            tied += u64::from(found.tied);
            credit.push(found.credit);

            Some(found.strict)
        })
        .collect();

    let credit = credit.into_iter().collect::<MeanAccumulator>().mean(level).mean;
    (BestOfK { k, strict: proportion(alone, n, level), tied, credit }, strict)
}

fn repeat_gain(outcomes: &[(usize, Vec<Option<bool>>)], level: ConfidenceLevel) -> Option<RepeatGain> {
    let few = outcomes.iter().min_by_key(|(k, _)| *k)?;
    let most = outcomes.iter().max_by_key(|(k, _)| *k)?;
    if few.0 == most.0 {
        return None;
    }

    let (more, fewer): (Vec<bool>, Vec<bool>) =
        most.1.iter().zip(&few.1).filter_map(|(more, fewer)| Some(((*more)?, (*fewer)?))).unzip();
    let pairs = PairedVerdicts::from_verdicts(&more, &fewer).ok()?;
    let number = |flags: &[bool]| flags.iter().map(|&flag| f64::from(u8::from(flag))).collect::<Vec<_>>();
    let test = pairs.mcnemar(level);
    // These are verdicts, so the interval is that of paired rates: it has a width even if no item differs.
    let difference = paired_mean(&number(&more), &number(&fewer), level);
    let difference = difference.map(|found| PairedMean { interval: test.interval, ..found });
    Some(RepeatGain { from: few.0, to: most.0, pairs, difference, test })
}
