//! A stored run of a scorecard, benchmark by benchmark.

use std::collections::HashSet;
use std::sync::Arc;

use assize_rubric::{BenchmarkFinding, BenchmarkState, CaseDecision, CaseTally, DecidedBy, Decision, Unit};
use assize_store::{CardInfo, CardPartKind, CaseRecord, ReviewRow, RunFolder, StoreError};

use super::CaseList;

/// A run of a scorecard: its tree and what each benchmark came to on each case.
#[derive(Debug, Clone, PartialEq)]
pub struct CardRun {
    /// The tree as it was run.
    pub info: CardInfo,
    /// For each part of the tree its cases; empty for what is no benchmark.
    pub parts: Vec<BenchmarkCases>,
    /// The places of all parts, in the order of their codes.
    by_code: Vec<usize>,
}

/// The cases of a benchmark.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BenchmarkCases {
    /// Cases it was planned for.
    pub planned: u64,
    /// What it came to on each of its cases.
    pub cases: CaseList,
}

/// The result of a benchmark on a case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseOfBenchmark {
    /// The finding.
    pub finding: BenchmarkFinding,
    /// Its score, where it has one.
    pub score: Option<Unit>,
    /// Why.
    pub reason: String,
    /// Judge calls made for it.
    pub calls: u64,
    /// Judge calls answered from the cache.
    pub cached_calls: u64,
    /// The votes it was made of; empty where one judge was asked once.
    pub votes: Vec<BenchmarkVote>,
}

/// What one judge of several said about a benchmark on a case.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkVote {
    /// The judge, as the user named it.
    pub judge: String,
    /// Which of its repeats, from 1.
    pub repeat: u32,
    /// Whether it was asked because the others were not sure.
    pub escalated: bool,
    /// The finding of this judge alone.
    pub finding: BenchmarkFinding,
    /// Its score, 0 to 1, where it has one.
    pub score: Option<Unit>,
    /// Why.
    pub reason: String,
}

/// Why a run can't be read as one of a scorecard.
#[derive(Debug, thiserror::Error)]
pub enum CardRunError {
    /// It was no scorecard that was run.
    #[error("`{0}` is not the run of a scorecard; `assize scorecard run DIR` makes one")]
    NotACard(String),
    /// It can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl CardRun {
    /// Reads a run from its folder.
    ///
    /// # Errors
    /// When it can't be read, or is not the run of a scorecard.
    pub fn read(folder: &RunFolder) -> Result<Self, CardRunError> {
        Self::of(folder, folder.info()?.scorecard)
    }

    /// Reads the decisions of a run whose tree is known; `None` is what a run without a scorecard has.
    ///
    /// # Errors
    /// When they can't be read, or there is no tree.
    pub fn of(folder: &RunFolder, tree: Option<CardInfo>) -> Result<Self, CardRunError> {
        let info = tree.ok_or_else(|| CardRunError::NotACard(folder.path().display().to_string()))?;
        let mut run = Self::new(info);
        let mut ids: HashSet<Arc<str>> = HashSet::new();
        for record in folder.cases()? {
            let CaseRecord { result, decisions } = record?;
            let id = ids.get(&result.case_id).cloned().unwrap_or_else(|| {
                ids.insert(Arc::clone(&result.case_id));
                result.case_id
            });
            for decided in decisions {
                run.add(&id, decided);
            }
        }
        for part in &mut run.parts {
            part.cases.settle();
        }
        Ok(run)
    }

    fn new(info: CardInfo) -> Self {
        let parts = info
            .nodes
            .iter()
            .map(|node| BenchmarkCases { planned: node.cases, cases: CaseList::default() })
            .collect();
        let mut by_code: Vec<usize> = (0..info.nodes.len()).collect();
        by_code.sort_by(|a, b| info.nodes[*a].code.cmp(&info.nodes[*b].code));
        Self { info, parts, by_code }
    }

    /// Adds a decision on a case. Those on benchmarks that the tree does not have are left out.
    fn add(&mut self, id: &Arc<str>, decided: CaseDecision) {
        let Some(place) = self.place(&decided.grader) else { return };
        let CaseDecision { decision, vote, .. } = decided;
        let judge = decision.judge.name.to_string();
        let Some(found) = case_of(decision) else { return };
        let cases = &mut self.parts[place].cases;
        // The votes of a panel stand behind its decision; it is the decision that counts.
        let Some(vote) = vote else {
            cases.push(Arc::clone(id), found);
            return;
        };
        if let Some(decision) = cases.last_of(id) {
            decision.calls += found.calls;
            decision.cached_calls += found.cached_calls;
            decision.votes.push(BenchmarkVote {
                judge,
                repeat: vote.repeat,
                escalated: vote.is_escalation(),
                finding: found.finding,
                score: found.score,
                reason: found.reason,
            });
        }
    }

    /// The place of a part in the tree, by its code.
    pub fn place(&self, code: &str) -> Option<usize> {
        let at = self.by_code.partition_point(|place| self.info.nodes[*place].code.as_str() < code);
        let place = *self.by_code.get(at)?;
        (self.info.nodes[place].code == code).then_some(place)
    }

    /// The cases of a part as the arithmetic takes them. What was planned and has no decision is missing.
    pub fn tally(&self, place: usize) -> CaseTally {
        self.parts.get(place).map_or(CaseTally::NOT_APPLICABLE, BenchmarkCases::tally)
    }

    /// The same run with these cases only. What was planned for other cases is no longer.
    #[must_use]
    pub fn only(&self, takes: impl Fn(&str) -> bool) -> Self {
        let parts = self.parts.iter().map(|part| {
            let cases = part.cases.only(&takes);
            BenchmarkCases { planned: cases.len() as u64, cases }
        });
        Self { info: self.info.clone(), parts: parts.collect(), by_code: self.by_code.clone() }
    }

    /// What a person should look at, in the order of the tree, then of the ids.
    pub fn review(&self) -> Vec<ReviewRow> {
        let benchmarks = self.info.nodes.iter().zip(&self.parts);
        let benchmarks = benchmarks.filter(|(node, _)| node.kind == CardPartKind::Benchmark);
        let rows = benchmarks.flat_map(|(node, part)| {
            part.cases.iter().filter(|(_, case)| case.finding.state.is_for_review()).map(|(id, case)| {
                ReviewRow {
                    case_id: id.to_owned(),
                    benchmark: node.code.clone(),
                    why: case.finding.state,
                    evaluator: node.evaluator.clone().unwrap_or_default(),
                    reason: case.reason.clone(),
                    score: case.score,
                }
            })
        });
        rows.collect()
    }
}

impl BenchmarkCases {
    /// How many cases are in this state.
    pub fn count(&self, state: BenchmarkState) -> u64 {
        self.cases.values().filter(|case| case.finding.state == state).count() as u64
    }

    /// Cases that checks decided so that no judge was asked.
    pub fn settled_by_checks(&self) -> u64 {
        self.cases.values().filter(|case| case.finding.decided_by == Some(DecidedBy::Checks)).count() as u64
    }

    fn tally(&self) -> CaseTally {
        let scores: Vec<Unit> = self.cases.values().filter_map(|case| case.score).collect();
        let settled = scores.len() as u64 + self.count(BenchmarkState::NotApplicable);
        CaseTally::new(scores, self.planned.max(self.cases.len() as u64) - settled)
    }
}

fn case_of(decision: Decision) -> Option<CaseOfBenchmark> {
    let finding = decision.grader()?;
    let benchmark = *finding.benchmark()?;
    let score = finding.score();
    let state = match benchmark.state {
        // A row that says "scored" and has no score can't have been written by a run.
        BenchmarkState::Scored | BenchmarkState::Uncertain if score.is_none() => BenchmarkState::Missing,
        state => state,
    };
    let counts = matches!(state, BenchmarkState::Scored | BenchmarkState::Uncertain);
    let error = finding.error().map(str::to_owned);

    Some(CaseOfBenchmark {
        finding: BenchmarkFinding { state, ..benchmark },
        score: score.filter(|_| counts),
        reason: error.unwrap_or(decision.reason),
        calls: u64::from(decision.spent.attempts),
        cached_calls: u64::from(decision.spent.cached_calls),
        votes: Vec::new(),
    })
}
