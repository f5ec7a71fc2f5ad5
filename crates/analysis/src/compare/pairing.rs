//! Pairing of cases by suite, id and trial, and comparison of the pairs.

use std::cmp::Ordering;

use serde::Serialize;

use super::Options;
use super::comparable::{Mismatch, Mismatches};
use super::contrast::{Call, Contrast, PairSample, contrast};
use super::flips::Flip;
use super::tables::{Parts, Table};
use crate::facts::{CaseFact, Names, RunFacts, key};

/// Metric of the overall conclusion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Headline {
    /// The mean score.
    #[default]
    Score,
    /// The pass rate.
    PassRate,
}

/// Identity of a case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CaseName {
    /// Name of the suite.
    pub suite: String,
    /// Id of the case.
    pub case_id: String,
    /// Number of the repeat.
    pub repeat: u32,
}

/// A case that both sides have and that is incomplete on at least one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undecided {
    /// Identity of the case.
    #[serde(flatten)]
    pub name: CaseName,
    /// True if it passed in the base; null if incomplete.
    pub base_passed: Option<bool>,
    /// True if it passed in the candidate; null if incomplete.
    pub candidate_passed: Option<bool>,
}

/// Comparison of two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the base.
    pub base: String,
    /// Name of the candidate.
    pub candidate: String,
    /// Number of cases that both have.
    pub common: usize,
    /// Aspects in which the two runs differ although only the answers should.
    pub mismatches: Vec<Mismatch>,
    /// Metric that [`verdict`](Self::verdict) is about.
    pub headline: Headline,
    /// Overall conclusion.
    pub verdict: Call,
    /// Share of cases that passed, over pairs decided on both sides.
    pub pass_rate: Contrast,
    /// Mean score, over pairs with a score on both sides.
    pub score: Contrast,
    /// Lowest and highest change of the mean score over all common cases, whatever the outcome of incomplete
    /// ones; null if everything is decided.
    pub score_bounds: Option<[f64; 2]>,
    /// Tables by suite, tag, grader and criterion, each with two rows or more.
    pub tables: Vec<Table>,
    /// Cases that passed and no longer do.
    pub regressions: Vec<Flip>,
    /// Cases that did not pass and do now.
    pub improvements: Vec<Flip>,
    /// Cases that are incomplete on at least one side, which are excluded from the pass rates.
    pub undecided: Vec<Undecided>,
    /// Cases that only the candidate has.
    pub new: Vec<CaseName>,
    /// Cases that only the base has.
    pub gone: Vec<CaseName>,
    /// Number of removed cases that passed.
    pub gone_passed: usize,
    /// True if cases are trials of each other or share their origin: errors are computed over clusters.
    pub clustered: bool,
}

impl Comparison {
    /// Returns the comparison of the headline metric.
    pub fn main(&self) -> &Contrast {
        match self.headline {
            Headline::Score => &self.score,
            Headline::PassRate => &self.pass_rate,
        }
    }

    /// Updates the overall conclusion after the headline metric changed.
    pub(crate) fn conclude(&mut self) {
        self.verdict = self.main().call;
    }
}

/// Alignment of the sorted cases of two runs.
enum Match<'f> {
    Both(&'f CaseFact, &'f CaseFact),
    OnlyBase(&'f CaseFact),
    OnlyCandidate(&'f CaseFact),
}

/// Merges two sorted runs.
fn matches<'f>(base: &'f RunFacts, candidate: &'f RunFacts, names: &Names) -> Vec<Match<'f>> {
    let (mut ours, mut theirs) = (base.cases.iter().peekable(), candidate.cases.iter().peekable());
    let mut found = Vec::with_capacity(base.cases.len().max(candidate.cases.len()));
    loop {
        let order = match (ours.peek(), theirs.peek()) {
            (None, None) => return found,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => key(a, names).cmp(&key(b, names)),
        };
        let next = match order {
            Ordering::Less => ours.next().map(Match::OnlyBase),
            Ordering::Greater => theirs.next().map(Match::OnlyCandidate),
            Ordering::Equal => ours.next().zip(theirs.next()).map(|(a, b)| Match::Both(a, b)),
        };
        found.extend(next);
    }
}

/// Compares two runs.
pub fn compare(base: &RunFacts, candidate: &RunFacts, names: &Names, options: &Options) -> Comparison {
    let mut mismatches = Mismatches::default();
    let (mut passes, mut scores) = (PairSample::default(), PairSample::default());
    let (mut suites, mut tags, mut graders, mut criteria) =
        (Parts::default(), Parts::default(), Parts::default(), Parts::default());
    let (mut regressions, mut improvements, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
    let (mut new, mut gone, mut gone_passed) = (Vec::new(), Vec::new(), 0);
    let (mut common, mut open) = (0usize, false);
    let (mut low, mut high) = (0.0, 0.0);
    for side_by_side in matches(base, candidate, names) {
        let (a, b) = match side_by_side {
            Match::OnlyBase(case) => {
                gone_passed += usize::from(case.passed() == Some(true));
                gone.push(name(case, names));
                continue;
            }
            Match::OnlyCandidate(case) => {
                new.push(name(case, names));
                continue;
            }
            Match::Both(a, b) => (a, b),
        };
        common += 1;
        mismatches.look(a, b, names);
        low += b.low - a.high;
        high += b.high - a.low;
        match (a.passed(), b.passed()) {
            (Some(before), Some(after)) => {
                passes.push(f64::from(u8::from(before)), f64::from(u8::from(after)), a.cluster);
                match (before, after) {
                    (true, false) => regressions.push(Flip::of(a, b, names)),
                    (false, true) => improvements.push(Flip::of(a, b, names)),
                    _ => {}
                }
            }
            (base_passed, candidate_passed) => {
                undecided.push(Undecided { name: name(a, names), base_passed, candidate_passed });
            }
        }
        if let Some((before, after)) = a.score.zip(b.score) {
            scores.push(before, after, a.cluster);
            suites.suite((a, b), (before, after), names);
            tags.tags((a, b), (before, after), names);
        } else {
            open = true;
        }
        graders.graders((a, b), names);
        criteria.criteria((a, b), names);
    }
    let all = common as f64;
    let tables = [
        suites.table("suite", "score", options),
        tags.table("tag", "score", options),
        graders.table("grader", "score", options),
        criteria.table("criterion", "value", options),
    ];
    let pass_rate = contrast(&passes, options);
    let score = contrast(&scores, options);
    let mut comparison = Comparison {
        base: base.label.clone(),
        candidate: candidate.label.clone(),
        common,
        mismatches: mismatches.list(),
        headline: options.headline,
        verdict: Call::Inconclusive,
        clustered: score.clusters.is_some() || pass_rate.clusters.is_some(),
        pass_rate,
        score,
        score_bounds: (open && common > 0).then(|| [low / all, high / all]),
        // A table of one row would repeat the total.
        tables: tables
            .into_iter()
            .filter(|table| table.rows.len() + table.too_small > usize::from(table.by != "tag"))
            .collect(),
        regressions,
        improvements,
        undecided,
        new,
        gone,
        gone_passed,
    };
    comparison.conclude();
    comparison
}

fn name(case: &CaseFact, names: &Names) -> CaseName {
    CaseName {
        suite: names.text(case.suite).to_owned(),
        case_id: names.text(case.case).to_owned(),
        repeat: case.repeat,
    }
}
