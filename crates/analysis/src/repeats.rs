//! Repeated scores: how noisy one is, and whether repeating was worth it.

use std::collections::BTreeMap;

use assize_stats::{
    Accumulator, Level, Proportion, Undefined,
    combine::best_of,
    compare::{McNemar, PairedMean, Pairs, paired},
    proportion,
    repeats::{Repeated, repeated},
};

use crate::calibrate::ItemKey;
use crate::labels::{LabelProblem, Row};

/// How often the right answer scored best, if the first `k` scores of each answer are averaged.
#[derive(Debug, Clone, PartialEq)]
pub struct BestAt {
    /// How many scores are averaged; failed ones among them are left out.
    pub k: usize,
    /// Items on which the right answer alone is best. Items with an answer that has no score are no items.
    pub strict: Proportion,
    /// Items on which it shares the best score.
    pub tied: u64,
    /// Mean credit: 1 alone at the top, 1 over the number tied otherwise.
    pub credit: Result<f64, Undefined>,
}

/// What more repeats bring, on the items that both numbers of repeats have.
#[derive(Debug, Clone, PartialEq)]
pub struct Gain {
    /// From so many scores.
    pub from: usize,
    /// To so many.
    pub to: usize,
    /// The items: both right, only with more, only with fewer, neither.
    pub pairs: Pairs,
    /// More minus fewer.
    pub difference: Result<PairedMean, Undefined>,
    /// Whether the difference can be chance.
    pub test: McNemar,
}

/// Repeated scores taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatReport {
    /// Rows of the table.
    pub rows: u64,
    /// Answers that were scored.
    pub cells: u64,
    /// Scores that failed.
    pub failed: u64,
    /// Answers, scored twice or more, whose scores differ.
    pub differing: Proportion,
    /// Mean over answers of the variance of their scores.
    pub mean_variance: Result<f64, Undefined>,
    /// Spread between and within answers.
    pub spread: Result<Repeated, Undefined>,
    /// How often the right answer was best; empty if it is not known which is right.
    pub best: Vec<BestAt>,
    /// Between the fewest and the most repeats asked for.
    pub gain: Option<Gain>,
}

/// Takes repeated scores apart. With `right`, the place of the right answer in each row from 0, it says how
/// often that one scores best when the first k scores are averaged, for each k.
pub fn repeats(
    rows: &[Row],
    right: Option<usize>,
    ks: &[usize],
    level: Level,
) -> Result<RepeatReport, Vec<LabelProblem>> {
    let mut problems = Vec::new();
    let mut first: BTreeMap<ItemKey, u64> = BTreeMap::new();
    for row in rows {
        let line = *first.entry(ItemKey::of(row)).or_insert(row.place.line);
        let message = match right {
            _ if line != row.place.line => {
                format!(
                    "case `{}` has scores in line {line} already; name the column that tells the two apart, such as \
                     `--columns criterion=COLUMN`",
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
    let cells: Vec<Vec<f64>> = rows
        .iter()
        .flat_map(|row| &row.scores)
        .map(|scores| scores.iter().copied().flatten().collect())
        .collect();
    let failed = rows.iter().flat_map(|row| &row.scores).flatten().filter(|score| score.is_none()).count();
    let twice: Vec<&Vec<f64>> = cells.iter().filter(|scores| scores.len() > 1).collect();
    let differing = twice.iter().filter(|scores| scores.iter().any(|score| *score != scores[0])).count();
    let variances: Result<Vec<f64>, Undefined> = twice
        .iter()
        .map(|scores| {
            let spread = scores.iter().copied().collect::<Accumulator>().mean(level);
            spread.sd.map(|sd| sd * sd)
        })
        .collect();
    let mean_variance =
        variances.and_then(|variances| variances.into_iter().collect::<Accumulator>().mean(level).mean);
    let mut best = Vec::new();
    let mut outcomes: Vec<(usize, Vec<Option<bool>>)> = Vec::new();
    if let Some(right) = right {
        for &k in ks {
            let (found, strict) = best_at(rows, right, k, level);
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
        spread: repeated(&cells),
        best,
        gain: gain(&outcomes, level),
    })
}

fn best_at(rows: &[Row], right: usize, k: usize, level: Level) -> (BestAt, Vec<Option<bool>>) {
    let (mut n, mut alone, mut tied, mut credit) = (0u64, 0u64, 0u64, Vec::new());
    let strict = rows
        .iter()
        .map(|row| {
            let means: Option<Vec<f64>> = row
                .scores
                .iter()
                .map(|scores| {
                    let first = scores.iter().take(k).copied().flatten();
                    first.collect::<Accumulator>().mean(level).mean.ok()
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
    let credit = credit.into_iter().collect::<Accumulator>().mean(level).mean;
    (BestAt { k, strict: proportion(alone, n, level), tied, credit }, strict)
}

fn gain(outcomes: &[(usize, Vec<Option<bool>>)], level: Level) -> Option<Gain> {
    let few = outcomes.iter().min_by_key(|(k, _)| *k)?;
    let most = outcomes.iter().max_by_key(|(k, _)| *k)?;
    if few.0 == most.0 {
        return None;
    }
    let (more, fewer): (Vec<bool>, Vec<bool>) =
        most.1.iter().zip(&few.1).filter_map(|(more, fewer)| Some(((*more)?, (*fewer)?))).unzip();
    let pairs = Pairs::of(&more, &fewer).ok()?;
    let number = |flags: &[bool]| flags.iter().map(|&flag| f64::from(u8::from(flag))).collect::<Vec<_>>();
    Some(Gain {
        from: few.0,
        to: most.0,
        pairs,
        difference: paired(&number(&more), &number(&fewer), level),
        test: pairs.mcnemar(level),
    })
}
