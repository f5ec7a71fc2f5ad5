//! Several candidates compared with one base and with each other.

use serde::Serialize;

use super::Options;
use super::contrast::{Contrast, PairSample, contrast};
use super::pairing::{Comparison, Headline, compare};
use super::tables::adjust_all;
use crate::facts::{Names, RunFacts};
use crate::sample::Sample;

/// Comparison of several runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Many {
    /// Each candidate against the base. With several, their headline p values are adjusted for their number.
    pub comparisons: Vec<Comparison>,
    /// The runs, the base first.
    pub runs: Vec<String>,
    /// Change of the headline metric from the column's run to the row's, over the cases that those two share;
    /// null on the diagonal. p values are adjusted over all pairs of runs. Empty for two runs.
    pub matrix: Vec<Vec<Option<Contrast>>>,
}

/// Compares each candidate with the base, and each run with every other.
pub fn compare_many(base: &RunFacts, candidates: &[RunFacts], names: &Names, options: &Options) -> Many {
    let mut comparisons: Vec<Comparison> =
        candidates.iter().map(|candidate| compare(base, candidate, names, options)).collect();
    let runs: Vec<&RunFacts> = std::iter::once(base).chain(candidates).collect();
    let mut matrix = Vec::new();
    if comparisons.len() > 1 {
        adjust_all(comparisons.iter_mut().map(|comparison| &mut comparison.pass_rate), options);
        adjust_all(comparisons.iter_mut().map(|comparison| &mut comparison.score), options);
        comparisons.iter_mut().for_each(Comparison::conclude);
        matrix = each_with_each(&runs, names, options);
    }
    Many { comparisons, runs: runs.iter().map(|run| run.label.clone()).collect(), matrix }
}

fn each_with_each(runs: &[&RunFacts], names: &Names, options: &Options) -> Vec<Vec<Option<Contrast>>> {
    let mut below: Vec<((usize, usize), Contrast)> = Vec::new();
    for row in 0..runs.len() {
        for column in 0..row {
            below.push(((row, column), contrast(&pairs(runs[column], runs[row], names, options), options)));
        }
    }
    adjust_all(below.iter_mut().map(|(_, contrast)| contrast), options);
    let mut matrix = vec![vec![None; runs.len()]; runs.len()];
    for ((row, column), found) in below {
        matrix[column][row] = Some(found.turned(options));
        matrix[row][column] = Some(found);
    }
    matrix
}

/// Collects the headline metric of two runs over the cases they share.
fn pairs(base: &RunFacts, candidate: &RunFacts, names: &Names, options: &Options) -> PairSample {
    let figure = |case: &crate::CaseFact| match options.headline {
        Headline::Score => case.score,
        Headline::PassRate => case.passed().map(|passed| f64::from(u8::from(passed))),
    };
    let mut sample = PairSample { base: Vec::new(), candidate: Sample::default() };
    let mut theirs = candidate.cases.iter().peekable();
    for case in &base.cases {
        let key = crate::facts::key(case, names);
        while theirs.next_if(|other| crate::facts::key(other, names) < key).is_some() {}
        let same = theirs.next_if(|other| crate::facts::key(other, names) == key);
        if let Some((before, after)) = figure(case).zip(same.and_then(figure)) {
            sample.push(before, after, case.cluster);
        }
    }
    sample
}

impl Contrast {
    /// Returns the comparison with the two sides exchanged.
    fn turned(&self, options: &Options) -> Self {
        let mut turned = Self {
            base: self.candidate,
            candidate: self.base,
            higher: self.lower,
            lower: self.higher,
            difference: self.difference.map(|difference| 0.0 - difference),
            low: self.high.map(|high| 0.0 - high),
            high: self.low.map(|low| 0.0 - low),
            ..self.clone()
        };
        turned.judge(options);
        turned
    }
}
